"""Kernel means and MMD^2 from all pairs of events."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from localizer.base.checks import Array, IntArray
from localizer.base.threads import in_threads
from localizer.kernels.bank import GaussianBank

# Kernels that a thread holds at a time: 4 MB.
_ENTRIES = 1 << 19


def means_and_variances(
    at: Array, among: Array, own: IntArray | None, bank: GaussianBank
) -> tuple[Array, Array]:
    """Return mean and sample variance of k(x_i, y_j) over j, the event itself left out."""
    first, second = np.empty(len(at)), np.empty(len(at))
    step = max(1, _ENTRIES // len(among))

    def work(start: int) -> None:
        rows = slice(start, start + step)
        k = bank.rows(at[rows], among)
        first[rows] = k.sum(axis=1)
        second[rows] = np.einsum("ij,ij->i", k, k)

    for _ in in_threads(work, range(0, len(at), step)):
        pass
    # k(x, x) = 1
    itself = 0.0 if own is None else (own >= 0).astype(np.float64)
    count = len(among) - itself
    mean = (first - itself) / count
    return mean, np.maximum(second - itself - count * mean**2, 0) / (count - 1)


def mmd2_of_sums(
    inside: npt.ArrayLike, outside: npt.ArrayLike, across: npt.ArrayLike, *, N: int, M: int
) -> Array:
    """Return MMD^2 from sums of k over all pairs, those of an event with itself included."""
    first = (np.asarray(inside) - N) / (N * (N - 1))
    second = (np.asarray(outside) - M) / (M * (M - 1))
    return np.asarray(first + second - 2 * np.asarray(across) / (N * M))
