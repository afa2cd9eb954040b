"""Kernel means with their errors, and MMD^2, from all pairs of events."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from localizer.base.checks import Array
from localizer.kernels.moments import KernelMoments


def mean_and_variance(
    sums: KernelMoments, squares: KernelMoments, weights: Array, own: Array | float
) -> tuple[Array, Array]:
    """Return the weighted mean of k(x_i, y_j) over j, the event itself left out, and its variance.

    The variance is that of a ratio of weighted sums, sum_j w_j^2 (k_j - mean)^2 / (sum_j w_j)^2,
    times n/(n - 1) with the number n that the weights are worth. Without weights it is the
    sample variance over the number of events.

    Parameters
    ----------
    sums, squares
        Sums with the weights w and with w^2 (the same where all weights are 1).
    weights
        Those of the y_j.
    own
        The weight of x_i itself where it is one of the y_j, 0 where it is not.
    """
    # k(x, x) = 1
    total, total_squared = weights.sum() - own, weights @ weights - np.square(own)
    mean = (sums.first - own) / total
    spread = (
        squares.second
        - np.square(own)
        - 2 * mean * (squares.first - np.square(own))
        + mean**2 * total_squared
    )
    worth = total**2 / total_squared
    return mean, np.maximum(spread, 0) / total**2 * worth / (worth - 1)


def mmd2_of_sums(
    inside: npt.ArrayLike, outside: npt.ArrayLike, across: npt.ArrayLike, *, N: int, M: int
) -> Array:
    """Return MMD^2 from sums of k over all pairs, those of an event with itself included."""
    first = (np.asarray(inside) - N) / (N * (N - 1))
    second = (np.asarray(outside) - M) / (M * (M - 1))
    return np.asarray(first + second - 2 * np.asarray(across) / (N * M))
