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

from localizer.base import checks
from localizer.base.checks import Array
from localizer.kernels.features import FourierFeatures

Single: TypeAlias = npt.NDArray[np.float32]

# Features whose frequencies stay in the fastest cache while the events of a block pass.
_STRIPE = 512

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
    turns = _four_or_more(features.frequencies / (2 * math.pi), axis=0)
    offsets = np.asarray(features.offsets / (2 * math.pi), dtype=np.float32)
    amplitude = np.float32(math.sqrt(2 / features.D))
    events = _four_or_more(checks.points(x, "x", d=len(features.frequencies)), axis=1)
    z = np.empty((rows, features.D), dtype=np.float32)
    for start in range(0, len(events), rows):
        place = slice(start, min(start + rows, len(events)))
        block = z[: place.stop - place.start]
        _cosines(events[place], turns, offsets, amplitude, block)
        yield place, block


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


def _four_or_more(array: Array, *, axis: int) -> Single:
    """Return the array in float32, with zeros at the end of an axis that is shorter than four."""
    widths = [(0, max(0, 4 - size) if k == axis else 0) for k, size in enumerate(array.shape)]
    return np.pad(array.astype(np.float32), widths)


# sin(2 pi t) for |t| <= 1/4 as a Taylor series in t, which is right to 6e-8 there.
_SERIES = tuple(
    np.float32((-1) ** k * (2 * math.pi) ** (2 * k + 1) / math.factorial(2 * k + 1))
    for k in range(5, -1, -1)
)


@njit(cache=True, nogil=True, fastmath=True)
def _cosines(x, turns, offsets, amplitude, out):  # type: ignore[no-untyped-def]
    """Write amplitude cos(2 pi (x.turns + offsets)), one row an event.

    x has four columns or more. The sweep that adds the last four terms to the phases makes
    cosines of them while they are in registers: with four columns, as in the paper, nothing
    else is written. All events see a stripe of the frequencies while it is in cache.
    """
    half, quarter = np.float32(0.5), np.float32(0.25)
    s0, s1, s2, s3, s4, s5 = _SERIES
    last = x.shape[1] - 4
    for first in range(0, offsets.size, _STRIPE):
        stop = min(first + _STRIPE, offsets.size)
        begin = offsets[first:stop]
        phases = begin.copy()
        w0, w1 = turns[last, first:stop], turns[last + 1, first:stop]
        w2, w3 = turns[last + 2, first:stop], turns[last + 3, first:stop]
        for i in range(x.shape[0]):
            if last > 0:
                for k in range(phases.size):
                    phases[k] = begin[k]
            for c in range(last):
                value, w = x[i, c], turns[c, first:stop]
                for k in range(phases.size):
                    phases[k] += value * w[k]
            x0, x1, x2, x3 = x[i, last], x[i, last + 1], x[i, last + 2], x[i, last + 3]
            row = out[i, first:stop]
            for k in range(row.size):
                t = phases[k] + x0 * w0[k] + x1 * w1[k] + x2 * w2[k] + x3 * w3[k]
                t -= np.floor(t + half)
                t = quarter - abs(t)
                s = t * t
                p = ((((s0 * s + s1) * s + s2) * s + s3) * s + s4) * s + s5
                row[k] = amplitude * t * p


def compile_kernels() -> None:
    """Compile what numba compiles here, for a cache that many jobs read."""
    features = FourierFeatures(np.ones((4, 3)), np.zeros(3))
    weighted_means(features, np.zeros((2, 4)), np.ones((2, 1)))
