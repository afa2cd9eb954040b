"""The figures of the paper: one function for each figure, one style for all of them."""
