"""The figures of the paper: one function a figure, one style for all of them."""
