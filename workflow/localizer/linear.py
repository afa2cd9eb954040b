"""Linear functionals of random Fourier features: means and products, with no matrix held.

Features are evaluated by a compiled kernel in float32, a few rows at a time, and multiplied at
once with all weights or directions that are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from localizer import checks
from localizer.checks import Array
from localizer.features import FourierFeatures

Single: TypeAlias = npt.NDArray[np.float32]


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


def feature_rows(
    features: FourierFeatures, x: npt.ArrayLike, *, rows: int = 128
) -> Iterator[tuple[slice, Single]]:
    """Yield z(x) a few rows at a time, with the place of these rows in x.

    Parameters
    ----------
    rows
        Rows of a block. 128 of 2560 features are 1.3 MB, which stay in cache for products. A
        row is computed alone: it does not depend on this number.

    Notes
    -----
    All blocks are written to the same memory: copy what is to be kept.
    """
    turns = np.ascontiguousarray(features.frequencies / (2 * math.pi), dtype=np.float32)
    offsets = np.asarray(features.offsets / (2 * math.pi), dtype=np.float32)
    amplitude = np.float32(math.sqrt(2 / features.D))
    events = checks.points(x, "x", d=len(turns)).astype(np.float32)
    z = np.empty((rows, features.D), dtype=np.float32)
    for start in range(0, len(events), rows):
        place = slice(start, min(start + rows, len(events)))
        block = z[: place.stop - place.start]
        _cosines(events[place], turns, offsets, amplitude, block)
        yield place, block


# sin(2 pi t) for |t| <= 1/4 as a Taylor series in t, which is right to 6e-8 there.
_SERIES = tuple(
    np.float32((-1) ** k * (2 * math.pi) ** (2 * k + 1) / math.factorial(2 * k + 1))
    for k in range(5, -1, -1)
)


@njit(cache=True, nogil=True, fastmath=True)
def _cosines(x, turns, offsets, amplitude, out):  # type: ignore[no-untyped-def]
    """Write amplitude cos(2 pi (x.turns + offsets)), one row an event."""
    half, quarter = np.float32(0.5), np.float32(0.25)
    s0, s1, s2, s3, s4, s5 = _SERIES
    for i in range(x.shape[0]):
        row = out[i]
        for k in range(row.size):
            row[k] = offsets[k]
        for c in range(x.shape[1]):
            value = x[i, c]
            for k in range(row.size):
                row[k] += value * turns[c, k]
        for k in range(row.size):
            t = row[k]
            t -= np.floor(t + half)
            t = quarter - abs(t)
            s = t * t
            p = ((((s0 * s + s1) * s + s2) * s + s3) * s + s4) * s + s5
            row[k] = amplitude * t * p


def compile_kernels() -> None:
    """Compile what numba compiles here, for a cache that many jobs read."""
    features = FourierFeatures(np.ones((4, 3)), np.zeros(3))
    weighted_means(features, np.zeros((2, 4)), np.ones((2, 1)))
