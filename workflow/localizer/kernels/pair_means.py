"""Means over the pairs of many batches at once, compiled.

Each function takes batches of shape (R, m, k) and returns one number for each; a batch's
number does not depend on which other batches are computed beside it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from localizer.base.checks import Array


def kernel_pairs(batches: Array, bandwidths: tuple[float, ...]) -> Array:
    """Return the mean over the pairs i < j of a batch of the Gaussian bank's k(x_i, x_j).

    The bank is :class:`localizer.kernels.bank.GaussianBank`; its values are right to 1e-12.
    """
    scales = np.array([0.5 / (h * h) for h in bandwidths])
    return np.asarray(_pair_means(batches, scales))


def distance_pairs(batches: Array) -> Array:
    """Return the mean over the pairs i < j of a batch of |x_i - x_j|."""
    return np.asarray(_pair_means(batches, np.empty(0)))


_TAYLOR = tuple(1 / math.factorial(n) for n in range(10, -1, -1))

# The helpers are inlined, so that one compiled function holds all the arithmetic: how the
# compiler joins separate functions, and with it the last digits, may depend on its cache.


@njit(inline="always")
def exp_minus(u: float) -> float:
    """Return exp(-u) for u >= 0: a form that the compiler can vectorise.

    exp(-u / 64) by its series, then six squarings; beyond u = 40 the value is 4e-18.
    """
    r = max(-u, -40.0) / 64
    p = 0.0
    for c in _TAYLOR:
        p = p * r + c
    for _ in range(6):
        p *= p
    return p


@njit(inline="always")
def pair_sum(z: Array, scales: Array, square: Array) -> float:
    """Return the sum over the pairs of the columns of z of exp(-scale |x - y|^2), for all scales.

    Where there are none, that of the distance |x - y|. ``square`` is room for a row of pairs.
    """
    d, n = z.shape
    total = 0.0
    for i in range(1, n):
        square[:i] = 0.0
        for c in range(d):
            at = z[c, i]
            for j in range(i):
                gap = at - z[c, j]
                square[j] += gap * gap
        row = 0.0
        for scale in scales:
            for j in range(i):
                row += exp_minus(scale * square[j])
        if not scales.size:
            for j in range(i):
                row += math.sqrt(square[j])
        total += row
    return total


@njit(cache=True, nogil=True, fastmath=True)
def _pair_means(batches, scales):  # type: ignore[no-untyped-def]
    """Return the mean over pairs of a bank of kernels or, where it is empty, of the distance."""
    contexts, m, d = batches.shape
    means = np.empty(contexts)
    z = np.empty((d, m))
    square = np.empty(m)
    for r in range(contexts):
        for c in range(d):
            for j in range(m):
                z[c, j] = batches[r, j, c]
        means[r] = pair_sum(z, scales, square) / (0.5 * m * (m - 1) * max(scales.size, 1))
    return means


def compile_kernels() -> None:
    """Compile what numba compiles here, for a cache that many jobs read."""
    batches = np.linspace(-1.0, 1.0, 12).reshape(2, 3, 2)
    kernel_pairs(batches, (1.0,))
    distance_pairs(batches)
