"""The distributions of the paper: closed forms of the Gaussian benchmark, and toys."""
