"""Sums of Gaussian kernels over a sample: pair by pair, and as a cosine series.

Both forms return sum_j k(x_i, y_j) for every row of x, k the mean over a bank's
bandwidths. The first visits every pair, in any dimension; the second is exact to a stated
tolerance in O(N p^2), for one or two features. :func:`localizer.kernels.bank.kernel_sums` is
the door to both and checks what it is given.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit, types
from numba.extending import overload

from localizer.base.checks import Array
from localizer.base.threads import in_threads

Precision: TypeAlias = type[np.float32] | type[np.float64]
Block: TypeAlias = npt.NDArray[Any]

# The events of a block fit into the first cache; sums over so many rows are made in the
# precision of the pairs and then added in float64.
_BLOCK = 2048
_TILE = 256

# Coordinates in float32 move an event by 6e-8 of the range, so that this many of the
# smallest bandwidths still leave sums that are right to 1e-5. Squares of more than the
# second number overflow.
LARGEST_RANGE: dict[Precision, float] = {np.float32: 100.0, np.float64: 1e150}

# A rung carries four times the rounding error of the one above it.
_LONGEST_LADDER = 5

_CHUNK = 4096
_LARGEST_ORDER = 1024

# NaN cannot occur (the input is finite); otherwise only the order of operations is free.
FASTMATH = {"reassoc", "contract", "nsz", "arcp", "nnan"}


def pairwise(
    x: Array, y: Array | None, bandwidths: Sequence[float], *, dtype: Precision = np.float64
) -> Array:
    """Return sum_j k(x_i, y_j), every pair visited; ``y`` None stands for x itself.

    Parameters
    ----------
    dtype
        The precision of a pair. Bandwidths in ratio 2 need one exponential, in either.

    Notes
    -----
    Pairs of blocks are shared out over ``numba.get_num_threads()`` threads and added in a
    fixed order: the result does not depend on the number of threads.
    """
    middle, extent = frame(x, y)
    span = float(np.max(extent)) / min(bandwidths)
    if span > LARGEST_RANGE[dtype]:
        raise ValueError(
            f"x must span at most {LARGEST_RANGE[dtype]:g} of the smallest bandwidths for pairs "
            f"in {dtype.__name__}, it spans {span:.4g}"
        )
    # float32 needs small coordinates; float64 keeps each event's own digits, outliers or not
    origin = middle if dtype is np.float32 else np.zeros_like(middle)
    total = np.zeros(len(x))
    for top, rungs in ladders(bandwidths):
        rows = _blocks(x, origin, top, dtype)
        columns = None if y is None else _blocks(y, origin, top, dtype)
        total += _sums_of_blocks(rows, columns, rungs)
    return total / len(bandwidths)


def ladders(bandwidths: Sequence[float]) -> list[tuple[float, int]]:
    """Split bandwidths into ladders (top, rungs) of top, top/2, top/4, ... of at most 5 rungs.

    One exponential serves a whole ladder, because k_{h/2} = k_h^4.

    Examples
    --------
    >>> ladders([1.0, 4.0, 2.0, 3.0])
    [(4.0, 3), (3.0, 1)]
    """
    left = sorted(bandwidths, reverse=True)
    found = []
    while left:
        top = left.pop(0)
        rungs = 1
        while rungs < _LONGEST_LADDER:
            below = [h for h in left if math.isclose(h * 2**rungs, top, rel_tol=1e-12)]
            if not below:
                break
            left.remove(below[0])
            rungs += 1
        found.append((top, rungs))
    return found


def fourier(x: Array, y: Array | None, bandwidths: Sequence[float], *, tolerance: float) -> Array:
    r"""Return sum_j k(x_i, y_j) from the kernel's cosine series, for one or two features.

    On a range T the Gaussian is sum_n a_n cos(n D t) with D = 2 pi / (T + g h) and
    a_n = (h D / sqrt(2 pi)) exp(-(h n D)^2 / 2), doubled for n > 0: its periodic images
    lie at least g h away, and the series ends where h n D exceeds g. The cosine of a
    difference is a sum of products, so that the sum over j is done once for all i.

    Parameters
    ----------
    tolerance
        The largest absolute error of one pair's kernel, and so of a mean over pairs.

    Notes
    -----
    Rows are taken in chunks of a fixed size; the products are BLAS's, whose last digits
    depend on its number of threads.
    """
    middle, extent = frame(x, y)
    if math.isinf(fourier_cost(x, y, bandwidths, tolerance=tolerance)):
        raise ValueError(
            f"x must have one or two features and span at most some {_LARGEST_ORDER // 2} of the "
            f"smallest bandwidths for a cosine series, it has {x.shape[1]} and spans "
            f"{np.max(extent) / min(bandwidths):.4g}"
        )
    total = np.zeros(len(x))
    for h in bandwidths:
        series = [_series(float(length), h, x.shape[1], tolerance) for length in extent]
        moments: Array | float = 0.0
        for chunk in _chunks(x if y is None else y, _CHUNK):
            first, second = _waves(chunk - middle, h, series)
            moments = moments + second @ first.T
        parts = []
        for chunk in _chunks(x, _CHUNK):
            first, second = _waves(chunk - middle, h, series)
            parts.append(np.einsum("pn,pn->n", moments @ first, second))
        total += np.concatenate(parts)
    return total / len(bandwidths)


def fourier_cost(
    x: Array, y: Array | None, bandwidths: Sequence[float], *, tolerance: float
) -> float:
    """Return the products p1 p2 that :func:`fourier` makes for an event; inf if it refuses."""
    d = x.shape[1]
    if d > 2:
        return math.inf
    cost = 0.0
    for h in bandwidths:
        orders = [_series(float(length), h, d, tolerance)[1] for length in frame(x, y)[1]]
        if max(orders) > _LARGEST_ORDER:
            return math.inf
        cost += math.prod(2 * order + 1 for order in orders)
    return cost


def _series(extent: float, h: float, d: int, tolerance: float) -> tuple[float, float]:
    """Return the spacing D of one feature's frequencies and its highest order.

    With e = exp(-g^2 / 2) the images add at most 3 e and the orders left out at most e to
    each of d factors, which are at most 1: 5 d e covers the error of their product.
    """
    g = math.sqrt(2 * math.log(5 * d / tolerance))
    period = extent + g * h
    return 2 * math.pi / period, float(np.ceil(g * period / (2 * math.pi * h)))


def _waves(x: Array, h: float, series: list[tuple[float, float]]) -> tuple[Array, Array]:
    """Return the weighted cosines and sines of two features, of shapes (p1, n) and (p2, n)."""
    waves = []
    for t, (spacing, highest) in zip(x.T, series, strict=True):
        n = np.arange(int(highest) + 1)
        powers = np.ones((n.size, t.size), dtype=np.complex128)
        powers[1] = np.exp(1j * spacing * t)
        known = 2
        while known < n.size:  # doubling: rounding errors grow with log n only
            more = min(known - 1, n.size - known)
            np.multiply(powers[1 : more + 1], powers[known - 1], out=powers[known : known + more])
            known += more
        weight = h * spacing / math.sqrt(2 * math.pi) * np.exp(-((h * spacing * n) ** 2) / 2)
        root = np.sqrt(np.where(n > 0, 2 * weight, weight))[:, None]
        waves.append(np.concatenate([root * powers.real, root[1:] * powers.imag[1:]]))
    first, second = waves if len(waves) == 2 else (*waves, np.ones((1, len(x))))
    return first, second


def frame(x: Array, y: Array | None) -> tuple[Array, Array]:
    """Return the middle and the extent of all events in each feature."""
    low, high = x.min(axis=0), x.max(axis=0)
    if y is not None:
        low, high = np.minimum(low, y.min(axis=0)), np.maximum(high, y.max(axis=0))
    with np.errstate(over="ignore"):
        return low / 2 + high / 2, high - low


def _chunks(x: Array, size: int) -> Iterator[Array]:
    return (x[start : start + size] for start in range(0, len(x), size))


def _sums_of_blocks(rows: list[Block], columns: list[Block] | None, rungs: int) -> Array:
    """Return the kernel sums of all events in ``rows`` over those in ``columns``, or in rows.

    A block's kernels serve its rows and its columns: within one sample, where k is
    symmetric, each pair of blocks is visited once.
    """
    if columns is None:
        tasks = list(combinations_with_replacement(range(len(rows)), 2))
    else:
        tasks = list(product(range(len(rows)), range(len(columns))))
    partners = columns or rows
    lengths = (0.0,) * len(rows[0]), (0.0,) * rungs
    arithmetic = EXPONENTIAL[rows[0].dtype.type]

    def work(task: tuple[int, int]) -> tuple[Array, Array]:
        sums: tuple[Array, Array] = _block(rows[task[0]], partners[task[1]], *lengths, *arithmetic)
        return sums

    totals = [np.zeros(block.shape[1]) for block in rows]
    for (a, b), (across, down) in zip(tasks, in_threads(work, tasks), strict=True):
        totals[a] += across
        if columns is None and a != b:
            totals[b] += down
    return np.concatenate(totals)


def _blocks(x: Array, origin: Array, h: float, dtype: Precision) -> list[Block]:
    """Return the events in blocks of shape (d, n), in units where k_h(x, y) = 2^(-|x - y|^2).

    An odd feature is completed by a constant one: fewer kernels to compile.
    """
    scale = math.sqrt(math.log2(math.e) / 2) / h
    blocks = []
    for events in _chunks(x, _BLOCK):
        block = np.zeros((x.shape[1] + x.shape[1] % 2, len(events)), dtype)
        block[: x.shape[1]] = ((events - origin) * scale).T
        blocks.append(block)
    return blocks


# What a compiled pair needs in its own precision: the Taylor series of 2^f on |f| <= 1/2
# (highest power first), one half, the largest exponent, and a floor that keeps the fourth
# power of a rung out of the denormal numbers, which are slow (it adds less than 1e-35).
EXPONENTIAL: dict[Precision, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    dtype: (
        tuple(dtype(math.log(2) ** n / math.factorial(n)) for n in range(degree, -1, -1)),
        (dtype(0.5), dtype(exponent), dtype(2.0 ** -(exponent // 4 - 1))),
    )
    for dtype, degree, exponent in ((np.float32, 7, 126), (np.float64, 12, 1022))
}


def two_to_minus(whole: Any) -> Any:
    """Return 2^-whole from the bits of a float's exponent; compiled from its overload."""
    raise NotImplementedError


@overload(two_to_minus, inline="always")
def _two_to_minus(whole):  # type: ignore[no-untyped-def]
    if whole == types.float32:
        return lambda whole: np.int32((127 - np.int32(whole)) << 23).view(np.float32)
    return lambda whole: np.int64((1023 - np.int64(whole)) << 52).view(np.float64)


# Inlined, so that one compiled function holds all the arithmetic: of a helper numba may run
# one copy when it has just compiled and another, with other last digits, from its cache.
@njit(inline="always")
def _ladder(x, i, y, j, dims, rungs, series, limits):  # type: ignore[no-untyped-def]
    """Return the sum over a ladder's rungs of k(x_i, y_j).

    The compiler knows the lengths of ``dims`` and ``rungs`` from their types: it unrolls
    their loops and can then work on several j at once.
    """
    half, largest, floor = limits
    r = half - half
    for c in range(len(dims)):
        difference = x[c, i] - y[c, j]
        r += difference * difference
    r = min(r, largest)
    whole = np.floor(r + half)
    k = series[0]
    for c in range(1, len(series)):
        k = k * (whole - r) + series[c]
    k *= two_to_minus(whole)
    total = k
    for _ in range(1, len(rungs)):
        k = max(k, floor)
        k *= k
        k *= k
        total += k
    return total


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def _block(x, y, dims, rungs, series, limits):  # type: ignore[no-untyped-def]
    """Return the row sums and the column sums of k(x_i, y_j) for two blocks."""
    n, m = x.shape[1], y.shape[1]
    rows, columns = np.zeros(n), np.zeros(m)
    down = np.zeros(m, x.dtype)
    for start in range(0, n, _TILE):
        for i in range(start, min(start + _TILE, n)):
            across = limits[0] - limits[0]
            for j in range(m):
                k = _ladder(x, i, y, j, dims, rungs, series, limits)
                across += k
                down[j] += k
            rows[i] = across
        columns += down
        down[:] = 0
    return rows, columns


def compile_kernels() -> None:
    """Compile what numba compiles here, for a cache that many jobs read.

    The kernel of a bank is compiled for each dimension and number of bandwidths: one in
    the plane (Experiments I and II), five in four dimensions (Experiment III).
    """
    for d, bandwidths in ((2, (1.0,)), (4, (0.25, 0.5, 1.0, 2.0, 4.0))):
        x = np.linspace(0.0, 1.0, 4 * d).reshape(-1, d)
        for dtype in (np.float64, np.float32):
            pairwise(x, None, bandwidths, dtype=dtype)
            pairwise(x, x, bandwidths, dtype=dtype)
