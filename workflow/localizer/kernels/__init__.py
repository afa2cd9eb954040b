"""The Gaussian kernel bank and its sums over pairs, and random Fourier features."""
