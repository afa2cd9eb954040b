"""Sums of k and of k^2 in one pass over all pairs: of a bank, and of single bandwidths.

What a mean of kernel values and its error need, and beside it every bandwidth by itself. A row is
computed alone, its columns in a fixed order: its bytes depend neither on the number of threads
nor on the rows that are asked for beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.threads import in_threads
from localizer.kernels.sums import (
    EXPONENTIAL,
    FASTMATH,
    LARGEST_RANGE,
    Precision,
    frame,
    ladders,
    two_to_minus,
)

# The squares, kernels and sums of a block of columns stay in the first cache.
_COLUMNS = 1024
_ROWS = 256

# Pairs from which float32 is worth its rounding: a tenth of a second in float64.
_MANY = 10**8


@dataclass(frozen=True, eq=False)
class KernelMoments:
    """Sums over the events y_j for every event x_i, with weights v_j (1 where there are none).

    Attributes
    ----------
    first, second
        sum_j v_j k(x_i, y_j) and sum_j v_j k(x_i, y_j)^2, k the mean over the bank.
    each_first, each_second
        The same of single bandwidths, of shape (bandwidths, n).
    dtype
        The precision of the pairs.
    """

    first: Array
    second: Array
    each_first: Array
    each_second: Array
    dtype: Precision


def kernel_moments(
    x: Array,
    y: Array,
    bank: Sequence[float],
    *,
    each: Sequence[float] = (),
    weights: Array | None = None,
    dtype: Precision = np.float64,
) -> KernelMoments:
    """Return the sums of k and k^2 of a bank, and of each of some bandwidths, in one pass.

    Parameters
    ----------
    x, y
        Events of shapes (n, d) and (m, d).
    bank
        The bandwidths of k.
    each
        Bandwidths that are summed one by one.
    weights
        A number for each y_j, of any sign.
    dtype
        The precision of a pair, see :func:`precision`. float32 is right to 3e-5 of the sum of
        ``|v_j| k``, or to 1e-8 of that of ``|v_j|``.

    Notes
    -----
    One exponential serves up to five bandwidths in ratio 2, because k_{h/2} = k_h^4; any other
    bandwidth takes one of its own. Rows are shared out over ``numba.get_num_threads()`` threads.

    Examples
    --------
    >>> found = kernel_moments(np.zeros((1, 1)), np.array([[0.0], [1.0]]), (1.0,), each=(1.0, 0.5))
    >>> found.first.round(4), found.second.round(4), found.each_first.round(4).ravel()
    (array([1.6065]), array([1.3679]), array([1.6065, 1.1353]))
    """
    at = checks.points(x, "x")
    among = checks.points(y, "y", d=at.shape[1])
    h = checks.bandwidths((*bank, *each))
    if dtype is np.float32 and (wide := span(at, among, h)) > LARGEST_RANGE[dtype]:
        raise ValueError(
            f"x must span at most {LARGEST_RANGE[dtype]:g} of the smallest bandwidths for pairs "
            f"in float32, it spans {wide:.4g}"
        )
    groups = ladders(sorted(set(h)))
    rungs = [top / 2**rung for top, length in groups for rung in range(length)]
    # a rung is found again by its place: top / 2 / 2 may miss the number given in the last digit
    place = {one: int(np.argmin([abs(rung / one - 1) for rung in rungs])) for one in set(h)}
    first_of_ladder = np.cumsum([0, *(length for _, length in groups)])[:-1]
    # the exponent of a ladder's top in units of the first one's; 0: the fourth power of the last
    steps = np.zeros(len(rungs))
    steps[first_of_ladder] = [(rungs[0] / top) ** 2 for top, _ in groups]
    shares, alone = np.zeros(len(rungs)), np.zeros(len(rungs), dtype=np.bool_)
    np.add.at(shares, [place[one] for one in bank], 1.0)
    alone[[place[one] for one in each]] = True

    # float32 needs small coordinates; float64 keeps each event's own digits, outliers or not
    origin = frame(among, None)[0] if dtype is np.float32 else np.zeros(at.shape[1])
    scale = math.sqrt(math.log2(math.e) / 2) / rungs[0]
    columns = _pairs_of_features((among - origin) * scale, dtype)
    v = np.ones(0, dtype)
    if weights is not None:
        v = checks.vector(weights, "weights", size=len(among)).astype(dtype)
    plan = steps.astype(dtype), shares.astype(dtype), alone

    def work(start: int) -> Array:
        rows = _pairs_of_features((at[start : start + _ROWS] - origin) * scale, dtype)
        sums: Array = _sums(rows, columns, v, *plan, *EXPONENTIAL[dtype])
        return sums

    total = np.concatenate(list(in_threads(work, range(0, len(at), _ROWS))), axis=1)
    size = len(bank)
    single = np.array([place[one] for one in each], dtype=int)
    return KernelMoments(
        first=total[0] / size,
        second=total[1] / size**2,
        each_first=total[2 + 2 * single],
        each_second=total[3 + 2 * single],
        dtype=dtype,
    )


def span(x: Array, y: Array, bandwidths: Sequence[float]) -> float:
    """Return the widest range of a feature in units of the smallest bandwidth."""
    return float(np.max(frame(x, y)[1])) / min(bandwidths)


def precision(x: Array, y: Array, bandwidths: Sequence[float]) -> Precision:
    """Return the precision for a problem, whose rows may then be cut: float32 for many pairs.

    That is for more than 10^8 pairs, within 100 of the smallest bandwidths.
    """
    many = len(x) * (len(x) + len(y)) > _MANY
    return (
        np.float32 if many and span(x, y, bandwidths) <= LARGEST_RANGE[np.float32] else np.float64
    )


def _pairs_of_features(x: Array, dtype: Precision) -> Array:
    """Return the events as columns; an odd feature is completed by a constant one."""
    block = np.zeros((x.shape[1] + x.shape[1] % 2, len(x)), dtype)
    block[: x.shape[1]] = x.T
    return block


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def _sums(x, y, v, steps, shares, alone, series, limits):  # type: ignore[no-untyped-def]
    """Return the sums of k and k^2 of the bank (unnormalised) and of the rungs, row by row."""
    half, largest, floor = limits
    zero = half - half
    rows, all_columns = x.shape[1], y.shape[1]
    out = np.zeros((2 + 2 * steps.size, rows))
    square, k, bank = np.empty((3, _COLUMNS), x.dtype)
    for start in range(0, all_columns, _COLUMNS):
        n = min(_COLUMNS, all_columns - start)
        w = v[start : start + n]
        for i in range(rows):
            for c in range(0, x.shape[0], 2):
                a, b = x[c, i], x[c + 1, i]
                ya, yb = y[c, start : start + n], y[c + 1, start : start + n]
                if c == 0:
                    for j in range(n):
                        square[j] = (a - ya[j]) * (a - ya[j]) + (b - yb[j]) * (b - yb[j])
                else:
                    for j in range(n):
                        square[j] += (a - ya[j]) * (a - ya[j]) + (b - yb[j]) * (b - yb[j])
            for g in range(steps.size):
                if steps[g] > zero:
                    step = steps[g]
                    for j in range(n):
                        r = min(square[j] * step, largest)
                        whole = np.floor(r + half)
                        p = series[0]
                        for c in range(1, len(series)):
                            p = p * (whole - r) + series[c]
                        k[j] = p * two_to_minus(whole)
                else:
                    for j in range(n):
                        p = max(k[j], floor)
                        p *= p
                        k[j] = p * p
                share = shares[g]
                if g == 0:
                    for j in range(n):
                        bank[j] = share * k[j]
                elif share > zero:
                    for j in range(n):
                        bank[j] += share * k[j]
                if alone[g]:
                    one, two = zero, zero
                    if w.size:
                        for j in range(n):
                            one += w[j] * k[j]
                            two += w[j] * k[j] * k[j]
                    else:
                        for j in range(n):
                            one += k[j]
                            two += k[j] * k[j]
                    out[2 + 2 * g, i] += one
                    out[3 + 2 * g, i] += two
            one, two = zero, zero
            if w.size:
                for j in range(n):
                    one += w[j] * bank[j]
                    two += w[j] * bank[j] * bank[j]
            else:
                for j in range(n):
                    one += bank[j]
                    two += bank[j] * bank[j]
            out[0, i] += one
            out[1, i] += two
    return out


def compile_kernels() -> None:
    """Compile what numba compiles here, for a cache that many jobs read."""
    x = np.linspace(0.0, 1.0, 8).reshape(-1, 2)
    for dtype in (np.float64, np.float32):
        kernel_moments(x, x, (1.0,), dtype=dtype)
