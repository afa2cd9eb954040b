"""What the paper predicts: variances, functionals, scaling laws, posteriors, information."""
