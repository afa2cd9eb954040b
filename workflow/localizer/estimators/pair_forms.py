r"""The pair kernel of a sample, summed over the members of batches, in three forms.

:class:`KernelPairs` holds the matrix q_B and reads like the definition; :class:`FeaturePairs`
holds features with q_B(x_i, x_j) = z_i . z_j. :class:`RoundedPairs` holds such features in 16
bits and is the fast form. :func:`factor` leads from the first to the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array, IntArray
from localizer.estimators import batch_loops
from localizer.estimators.batch_loops import WIDTH
from localizer.estimators.vector_rows import AHEAD

Draws: TypeAlias = npt.NDArray[np.uint32]

Table: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]


@dataclass(frozen=True)
class Occurrences:
    """A group of batches, as drawn and ordered by event.

    Attributes
    ----------
    batches
        The events of each batch, of shape (batches, m).
    start
        Event i occurs in the batches ``batch_of[start[i]:start[i + 1]]``.
    batch_of
        The batch of each occurrence, by event, in the order of the batches.
    bits
        A tile is 2^bits events in a row.
    tile_start, runs
        Where the occurrences of each tile begin, and how many each batch has in each tile.
    local
        The event of each occurrence by tile, then by batch, counted from its tile's first event;
        with zeros at the end, as :func:`localizer.estimators.vector_rows.add_rows_ahead` asks.
    """

    batches: Draws
    start: IntArray
    batch_of: npt.NDArray[np.uint16]
    bits: int
    tile_start: IntArray
    runs: npt.NDArray[np.int32]
    local: npt.NDArray[np.uint16]

    @classmethod
    def of(cls, batches: Draws, N: int) -> Occurrences:
        """Return the occurrences of N events in the given batches."""
        rows = np.ascontiguousarray(batches)
        bits = _tile_bits(N, rows.shape[1])
        runs = batch_loops.tile_runs(rows, bits, ((N - 1) >> bits) + 1)
        local = np.zeros(rows.size + AHEAD, np.uint16)
        tile_start = batch_loops.sort_by_tile(rows, bits, runs, local)
        start, batch_of = batch_loops.sort_by_event(local, tile_start, runs, bits, N)
        return cls(rows, start, batch_of, bits, tile_start, runs, local)


def _tile_bits(N: int, m: int) -> int:
    """Return the size of a tile: at least 16 events of a batch in it, and at most 16 bits."""
    return min(16, max(11, math.ceil(math.log2(16 * N / m))))


class Pairs(Protocol):
    """A sample of N events as the engine sees it: its pair kernel, summed over batches."""

    @property
    def N(self) -> int:
        """The number of events."""

    @property
    def scale(self) -> float:
        """A power of two that no |q_B(x_i, x_j)| exceeds."""

    def sums(self, group: Occurrences) -> tuple[Array, Array]:
        """Return U of each batch, and the sum of d over the occurrences of each event."""


@dataclass(frozen=True)
class KernelPairs:
    """The exact pair kernel as a matrix; m^2 look-ups a batch.

    Parameters
    ----------
    q
        The symmetric matrix of q_B(x_i, x_j), diagonal included, in single or double
        precision.
    """

    q: Table
    scale: float = field(init=False)

    def __post_init__(self) -> None:
        matrix = _table(self.q, "q")
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"q must be a square matrix, not of shape {matrix.shape}")
        object.__setattr__(self, "q", matrix)
        object.__setattr__(self, "scale", power_of_two(float(np.abs(matrix).max())))
        for first in range(0, len(matrix), 512):
            band = slice(first, first + 512)
            if float(np.abs(matrix[band] - matrix[:, band].T).max()) > 1e-5 * self.scale:
                raise ValueError("q must be symmetric")

    @property
    def N(self) -> int:
        """The number of events."""
        return len(self.q)

    def sums(self, group: Occurrences) -> tuple[Array, Array]:
        """Return U of each batch, and the sum of d over the occurrences of each event."""
        U = np.zeros(len(group.batches))
        d = np.zeros(self.N)
        batch_loops.pair_sums(self.q, group.batches, U, d)
        return U, d


@dataclass(frozen=True)
class FeaturePairs:
    """The pair kernel as an inner product of features: 2 m D operations a batch.

    With S the sum of the features over a batch, U = |S|^2 - sum of |z_i|^2 and
    d_i = z_i . S - |z_i|^2. A group is worked through in the order of the events, so that
    each row of features is read once and not once an occurrence.

    Parameters
    ----------
    z
        Features centred on the background, q_B(x_i, x_j) = z_i . z_j, of shape (N, D). In
        single precision (which Experiment III uses) the sums over a batch are in single
        precision too; everything beyond a batch is in double precision.
    """

    z: InitVar[Table]
    scale: float = field(init=False)
    _slices: Table = field(init=False, repr=False)
    _squares: Array = field(init=False, repr=False)

    def __post_init__(self, z: Table) -> None:
        table = _table(z, "z")
        squares = np.einsum("ij,ij->i", table, table, dtype=np.float64)
        object.__setattr__(self, "scale", power_of_two(float(squares.max())))
        object.__setattr__(self, "_slices", _sliced(table))
        object.__setattr__(self, "_squares", squares)

    @property
    def N(self) -> int:
        """The number of events."""
        return len(self._squares)

    def sums(self, group: Occurrences) -> tuple[Array, Array]:
        """Return U of each batch, and the sum of d over the occurrences of each event."""
        start, batch_of = group.start, group.batch_of
        batches = len(group.batches)
        zero = self._slices.dtype.type(0)
        U = np.zeros(batches)
        batch_loops.subtract_squares(self._squares, start, batch_of, U)
        d = -np.diff(start) * self._squares
        for z in self._slices:
            S = aligned((batches, WIDTH), z.dtype)
            batch_loops.add_rows(z, start, batch_of, S)
            U += np.einsum("bw,bw->b", S, S, dtype=np.float64)
            batch_loops.add_products(z, start, batch_of, S, zero, d)
        return U, d


_LARGEST = 2**15 - 1
_MOST = 2**16
"""So many numbers of 16 bits add up to less than 2^31."""


@dataclass(frozen=True)
class RoundedPairs:
    """The same with features in 16 bits: all sums are sums of integers, exact in any order.

    Features are rounded to a grid of a power of two that the largest just fits; the sums S of a
    batch are exact in 32 bits, and so is U in 64. For the products z_i . S the sums of a group
    are rounded to 16 bits once more. Beside the scatter of d_i over batches, the error of one
    occurrence is some 1e-4 and independent from group to group: it disappears in the resampling
    noise, of whose variance it is 1e-8.

    Parameters
    ----------
    z
        As for :class:`FeaturePairs`.
    """

    z: InitVar[Table]
    scale: float = field(init=False)
    unit: float = field(init=False)
    _slices: npt.NDArray[np.int16] = field(init=False, repr=False)
    _squares: npt.NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self, z: Table) -> None:
        table = _table(z, "z")
        unit = power_of_two(float(np.abs(table).max()) / _LARGEST)
        rounded = np.rint(table / table.dtype.type(unit)).astype(np.int16)
        squares = np.einsum("ij,ij->i", rounded, rounded, dtype=np.int64, casting="safe")
        object.__setattr__(self, "unit", unit)
        object.__setattr__(self, "scale", power_of_two(float(squares.max()) * unit**2))
        object.__setattr__(self, "_slices", _sliced(rounded))
        object.__setattr__(self, "_squares", squares)

    @property
    def N(self) -> int:
        """The number of events."""
        return len(self._squares)

    def sums(self, group: Occurrences) -> tuple[Array, Array]:
        """Return U of each batch, and the sum of d over the occurrences of each event."""
        checks.integer(group.batches.shape[1], "m", maximum=_MOST)
        count = np.diff(group.start)
        checks.integer(int(count.max()), "the occurrences of an event in a group", maximum=_MOST)
        order = group.local, group.tile_start, group.runs, group.bits
        S = aligned((len(self._slices), len(group.batches), WIDTH), np.int32)
        U, d = np.zeros(len(group.batches), np.int64), np.zeros(self.N, np.int64)
        batch_loops.subtract_rounded_squares(self._squares, *order, U)
        for z, sums in zip(self._slices, S, strict=True):
            batch_loops.add_rounded_rows(z, *order, sums)
            batch_loops.add_squares(sums, U)
        step = power_of_two(max(int(S.max()), -int(S.min())) / _LARGEST) if S.any() else 1.0
        step = max(step, 1.0)
        for z, sums in zip(self._slices, S, strict=True):
            rounded = aligned(sums.shape, np.int16)
            np.rint(sums / step, out=rounded, casting="unsafe")
            batch_loops.add_rounded_products(z, group.start, group.batch_of, rounded, d)
        grid = self.unit**2
        return U.astype(np.float64) * grid, np.asarray((d * step - count * self._squares) * grid)


def aligned(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return zeros from the beginning of a cache line: no row of 64 bytes lies across two."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.zeros(size + 64, np.uint8)
    begin = -room.ctypes.data % 64
    return room[begin : begin + size].view(dtype).reshape(shape)


def factor(
    diagonal: npt.ArrayLike,
    column: Callable[[int], Array],
    *,
    tol: float,
    max_rank: int = 1024,
) -> Array:
    """Return F with |q_B - F F^T| at most ``tol`` in every entry, by pivoted Cholesky.

    The centred pair kernel is positive semidefinite and, for smooth kernels, of small
    numerical rank r: with F of shape (N, r) as features, the exact kernel of Experiment II
    costs m r a batch and not m^2. What is left over is positive semidefinite too, so that
    its largest entry lies on the diagonal, where it is known.

    Parameters
    ----------
    diagonal
        q_B(x_i, x_i) for all events.
    column
        A function that returns q_B(x_i, x_j) for all i, given j.
    tol
        The largest error of an entry, absolute.
    max_rank
        Refuse to go beyond this rank.
    """
    left = checks.vector(diagonal, "diagonal").copy()
    allowed = checks.positive(tol, "tol")
    largest = min(checks.integer(max_rank, "max_rank"), left.size)
    if left.min() < -allowed:
        raise ValueError("diagonal must not be negative, the pair kernel is a square there")
    rows = np.empty((largest, left.size))
    for rank in range(largest):
        pivot = int(np.argmax(left))
        if left[pivot] <= allowed:
            return np.ascontiguousarray(rows[:rank].T)
        values = checks.vector(column(pivot), "column", size=left.size)
        residual = values - rows[:rank, pivot] @ rows[:rank]
        rows[rank] = residual / np.sqrt(left[pivot])
        left -= rows[rank] ** 2
        left[pivot] = 0.0
        if left.min() < -allowed:
            raise ValueError("column must come from a positive semidefinite kernel")
    if left.max() > allowed:
        raise ValueError(
            f"tol must be larger or max_rank higher: {left.max():.3g} is left at rank {largest}"
        )
    return np.ascontiguousarray(rows.T)


def power_of_two(value: float) -> float:
    """Return the smallest power of two that is not below ``value`` (1 for 0)."""
    return float(2.0 ** np.ceil(np.log2(value))) if value > 0 else 1.0


def _table(x: npt.ArrayLike, name: str) -> Table:
    """Return a finite table that keeps its single precision, if it has it."""
    array = np.asarray(x)
    if array.dtype != np.float32 or array.ndim != 2 or array.size == 0:
        return np.ascontiguousarray(checks.points(x, name))
    bad = array.size - int(np.count_nonzero(np.isfinite(array)))
    if bad:
        raise ValueError(f"{name} must be finite, {bad} of its values are NaN or infinite")
    return np.ascontiguousarray(array)


def _sliced(z: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the columns of ``z`` in slices, of shape (slices, N, WIDTH), padded with zeros."""
    N, D = z.shape
    slices = aligned((-(-D // WIDTH), N, WIDTH), z.dtype)
    for s, block in enumerate(slices):
        columns = z[:, s * WIDTH : (s + 1) * WIDTH]
        block[:, : columns.shape[1]] = columns
    return slices
