"""Linear functionals of random Fourier features: means and products, with no matrix held.

Features are evaluated a few rows at a time and multiplied at once with all weights or directions
that are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.kernels.features import FourierFeatures, feature_rows

Single: TypeAlias = npt.NDArray[np.float32]

# Sums over groups that are multiplied at once, 10 MB of 2560 features: so many that adding up
# the products costs little beside making them.
_SUMS = 1024


def weighted_means(features: FourierFeatures, x: npt.ArrayLike, weights: npt.ArrayLike) -> Array:
    """Return (1/n) sum_i weights[i, k] z(x_i) for every column k, of shape (k, D)."""
    events = checks.points(x, "x")
    table = np.asarray(weights, dtype=np.float32)
    if table.ndim != 2 or len(table) != len(events):
        raise ValueError(f"weights must have one row for each of the {len(events)} events")
    total: Array = np.zeros((table.shape[1], features.D))
    for rows, z in feature_rows(features, events):
        total += table[rows].T @ z
    return np.asarray(total / len(events))


def plain_mean(features: FourierFeatures, x: npt.ArrayLike) -> Array:
    """Return the mean of z over a sample."""
    events = checks.points(x, "x")
    return np.asarray(weighted_means(features, events, np.ones((len(events), 1)))[0])


def projections(features: FourierFeatures, x: npt.ArrayLike, directions: npt.ArrayLike) -> Single:
    """Return z(x_i).directions[k] for every event and every direction, of shape (n, k)."""
    events = checks.points(x, "x")
    columns = checks.points(directions, "directions", d=features.D).astype(np.float32).T
    out = np.empty((len(events), columns.shape[1]), dtype=np.float32)
    for rows, z in feature_rows(features, events):
        np.matmul(z, columns, out=out[rows])
    return out


def scatter_of_frequencies(products: npt.NDArray[np.floating], bandwidths: int) -> Array:
    """Return the variance of sums over random features, cosines and sines side by side.

    Each frequency gives an unbiased estimate by itself; the n frequencies of a bandwidth are
    independent, and the scatter of their estimates is the error of the sum.

    Parameters
    ----------
    products
        Of shape (events, features), the sum of each row being the estimate.
    """
    parts = products.reshape(len(products), bandwidths, 2, -1)
    one = parts[:, :, 0] + parts[:, :, 1]
    n = one.shape[2]
    total = one.sum(axis=2, dtype=np.float64)
    square = np.einsum("ibf,ibf->ib", one, one, dtype=np.float64)
    return np.asarray((np.maximum(square - total**2 / n, 0) * n / (n - 1)).sum(axis=1))


def sums_of_groups(features: FourierFeatures, x: npt.ArrayLike, *, group: int) -> Iterator[Single]:
    """Yield the sums of z over groups of consecutive events, a row for each group.

    Parameters
    ----------
    group
        Events of a group; the last group has those that are left.

    Notes
    -----
    As for :func:`feature_rows`, all blocks are written to the same memory.
    """
    size = checks.integer(group, "group")
    sums = np.empty((_SUMS, features.D), dtype=np.float32)
    filled = 0
    for _, z in feature_rows(features, x, rows=size * max(1, 128 // size)):
        whole, left = divmod(len(z), size)
        if filled + whole + 1 > _SUMS:
            yield sums[:filled]
            filled = 0
        together = z[: whole * size].reshape(whole, size, features.D)
        together.sum(axis=1, out=sums[filled : filled + whole])
        filled += whole
        if left:
            z[-left:].sum(axis=0, out=sums[filled])
            filled += 1
    yield sums[:filled]
