r"""The global-batch engine: raw, marginal and pair scores from one pass.

Sec. algorithm-localization: R batches of size m are drawn from the N events of a sample, and
each batch is handed back to the events that it contains. With the centred pair kernel q_B (eq.
mmd-U-kernel), the sum d_i of q_B(x_i, x_j) over the other members j of a batch, and the
sum U of the d_i over the batch,

    T_m = U / (m (m-1)),    J_i = 2 d_i / (m (m-1)),
    T_{m-1}^{(-i)} = (U - 2 d_i) / ((m-1) (m-2)) = m (T_m - J_i) / (m-2),

so that the matched marginal T_m - T_{m-1}^{(-i)} = J_i - (2/m) T_{m-1}^{(-i)} is
(m J_i - 2 T_m) / (m-2). All three estimators follow from a count, a sum of T and a sum of
J for each event (:class:`BatchSums`).

Drawn with replacement (Experiment III), an event can meet its twin: each occurrence pairs
with every other occurrence, twins included, and m J_i / 2 converges to the self-inclusive
mean over j of q_B(x_i, x_j). Without replacement (Experiment II) it converges to the pair
target, the mean over j != i.

Two forms of the pair kernel share one interface: :class:`KernelPairs` holds the matrix
q_B and reads like the definition; :class:`FeaturePairs` holds features with q_B(x_i, x_j)
= z_i . z_j and is the fast form. :func:`factor` leads from the first to the second.

Batches come in groups. A group is the unit of random numbers and of work: its result
depends on its own stream only. The contribution of a group to an event is rounded to a
fixed grid, far below any rounding of single precision, on which sums in double precision
are exact. Hence sums of groups are the same to the byte in any order, for any number of
threads and for any division into jobs, and a checkpoint in R is a sum of leading groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import InitVar, dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from localizer import checks
from localizer.checks import Array, BoolArray, IntArray
from localizer.randomness import stream

Draws: TypeAlias = npt.NDArray[np.uint32]
Table: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]

LARGEST_GROUP = 2**16
"""Batches of a group are numbered in 16 bits."""

_WIDTH = 64
"""Features are worked through in slices of this width, so that the sums over the batches of
a group (256 bytes a batch and slice) stay in cache; rows of 64 are also what the compiler
turns into full vectors."""

_GRID_BITS = 36
"""An event may occur 2^(53 - 36) times whatever the data before its sums leave the grid; for
data whose T and J scatter about zero, as they do, it is thousands of times more."""


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
    """

    batches: Draws
    start: IntArray
    batch_of: npt.NDArray[np.uint16]


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
        object.__setattr__(self, "scale", _power_of_two(float(np.abs(matrix).max())))
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
        _pair_sums(self.q, group.batches, U, d)
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
        object.__setattr__(self, "scale", _power_of_two(float(squares.max())))
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
        _subtract_squares(self._squares, start, batch_of, U)
        d = -np.diff(start) * self._squares
        for z in self._slices:
            S = np.zeros((batches, _WIDTH), dtype=z.dtype)
            _add_rows(z, start, batch_of, S)
            U += np.einsum("bw,bw->b", S, S, dtype=np.float64)
            _add_products(z, start, batch_of, S, zero, d)
        return U, d


@dataclass(frozen=True)
class BatchSums:
    """What a number of batches leaves behind: a count and two or three sums for each event.

    Sums of the same sample, m and way of drawing add and subtract exactly.

    Attributes
    ----------
    m, batches, replacement
        The batch size, the number R of batches, and whether they were drawn with replacement.
    scale
        The scale of the pair kernel, which fixes the grid of the sums.
    count
        How often each event occurs.
    total
        The sum of T_m over the occurrences of each event.
    pair
        The sum of J_i over the occurrences of each event.
    threshold, exceed
        If a threshold was given: how many occurrences saw T_m above it.
    """

    m: int
    batches: int
    replacement: bool
    scale: float
    count: IntArray
    total: Array
    pair: Array
    threshold: float | None = None
    exceed: IntArray | None = None

    def __post_init__(self) -> None:
        if self.count.min() < 0:
            raise ValueError("count must not be negative: more batches were taken than there are")
        for name, unit in zip(("total", "pair"), _units(self.scale, self.m), strict=True):
            if float(np.abs(getattr(self, name)).max()) >= 2.0**53 * unit:
                raise ValueError(f"{name} is too large to be summed exactly, draw fewer batches")

    @property
    def N(self) -> int:
        """The number of events."""
        return len(self.count)

    def __add__(self, other: BatchSums) -> BatchSums:
        return self._combined(other, 1)

    def __sub__(self, other: BatchSums) -> BatchSums:
        return self._combined(other, -1)

    def _combined(self, other: BatchSums, sign: int) -> BatchSums:
        for name in ("N", "m", "replacement", "scale", "threshold"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise ValueError(f"other must have the same {name}: {mine} against {theirs}")
        exceed = None
        if self.exceed is not None and other.exceed is not None:
            exceed = self.exceed + sign * other.exceed
        return replace(
            self,
            batches=self.batches + sign * other.batches,
            count=self.count + sign * other.count,
            total=self.total + sign * other.total,
            pair=self.pair + sign * other.pair,
            exceed=exceed,
        )

    def as_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything as arrays, for ``np.savez``."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: np.asarray(value) for name, value in values.items() if value is not None}

    @classmethod
    def from_dict(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> BatchSums:
        """Return the sums that :meth:`as_dict` wrote."""
        values: dict[str, Any] = {
            name: arrays[name] for name in cls.__dataclass_fields__ if name in arrays
        }
        missing = set(cls.__dataclass_fields__) - set(values) - {"threshold", "exceed"}
        if missing:
            raise ValueError(f"arrays must hold all that as_dict writes, not so {sorted(missing)}")
        return cls(**{name: x if x.ndim else x.item() for name, x in values.items()})


@dataclass(frozen=True)
class Scores:
    """The estimators of each event (sec. practical-estimators), eq. historical-average-score.

    An event that no batch contains has no score of its own. It gets the mean score of the
    others, which ranks it nowhere and adds nothing to a correlation; ``drawn`` tells.

    Attributes
    ----------
    m
        The batch size.
    drawn
        Which events occur in a batch.
    raw
        The mean T_m over the occurrences of an event, eq. historical-average-score.
    pair
        The mean J_i, eq. event-pair-contribution.
    exceedance
        With a threshold, the share of occurrences that saw T_m above it: the binary score of
        Inverse Bagging.
    """

    m: int
    drawn: BoolArray
    raw: Array
    pair: Array
    exceedance: Array | None

    @property
    def marginal(self) -> Array:
        """The mean matched contribution T_m - T_{m-1}^{(-i)}, eq. three-add."""
        if self.m < 3:
            raise ValueError("m must be at least 3 for the marginal score: T_1 is no statistic")
        return (self.m * self.pair - 2 * self.raw) / (self.m - 2)

    @property
    def witness(self) -> Array:
        """The pair score in the normalisation of the witness, (m / 2) J_i."""
        return self.m / 2 * self.pair


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


def draw(rng: np.random.Generator, *, N: int, m: int, batches: int, replacement: bool) -> Draws:
    """Return the events of each batch, uniform among the N, of shape (batches, m).

    Without replacement, a batch takes events from a uniform sequence and passes over those
    that it has already, which gives every subset (and order) the same probability.
    """
    size = (checks.integer(batches, "batches"), checks.integer(m, "m"))
    highest = checks.integer(N, "N", maximum=2**32)
    if replacement:
        return rng.integers(highest, size=size, dtype=np.uint32)
    if m > N:
        raise ValueError(f"m must be at most N = {N} without replacement, it is {m}")
    drawn = np.empty(size, dtype=np.uint32)
    last_batch = np.full(N, -1, dtype=np.int64)
    filled = 0
    while filled < drawn.size:
        # a batch that is almost all of the sample waits long for its last events
        wanted = drawn.size - filled + N // 8
        filled = _take_new(
            rng.integers(highest, size=wanted, dtype=np.uint32), last_batch, filled, drawn
        )
    return drawn


def sum_batches(
    pairs: Pairs, batches: npt.ArrayLike, *, replacement: bool, threshold: float | None = None
) -> BatchSums:
    """Return the sums of the given batches, one group.

    Parameters
    ----------
    pairs
        The sample.
    batches
        The events of each batch, of shape (batches, m).
    replacement
        Whether a batch may hold an event twice.
    threshold
        Count the batches with T_m above this, too.
    """
    drawn = np.asarray(batches)
    if drawn.ndim != 2 or drawn.dtype.kind not in "ui" or drawn.size == 0:
        raise ValueError("batches must be a table of event numbers, of shape (batches, m)")
    checks.integer(drawn.shape[0], "the number of batches in a group", maximum=LARGEST_GROUP)
    checks.integer(drawn.size, "the number of occurrences in a group", maximum=2**31 - 1)
    m = checks.integer(drawn.shape[1], "m", minimum=2)
    if drawn.min() < 0 or drawn.max() >= pairs.N:
        raise ValueError(f"batches must hold event numbers from 0 to {pairs.N - 1}")
    limit = None if threshold is None else float(checks.vector([threshold], "threshold")[0])
    group = _by_event(drawn.astype(np.uint32, copy=False), pairs.N)
    if not replacement and _has_twins(group.start, group.batch_of):
        raise ValueError("batches must hold an event once only, without replacement")
    U, d = pairs.sums(group)
    T = U / (m * (m - 1))
    total = np.zeros(pairs.N)
    _spread(T, group.start, group.batch_of, total)
    exceed = None
    if limit is not None:
        above = np.zeros(pairs.N)
        _spread((limit < T).astype(np.float64), group.start, group.batch_of, above)
        exceed = above.astype(np.int64)
    unit_total, unit_pair = _units(pairs.scale, m)
    return BatchSums(
        m=m,
        batches=len(drawn),
        replacement=bool(replacement),
        scale=pairs.scale,
        count=np.diff(group.start),
        total=np.rint(total / unit_total) * unit_total,
        pair=np.rint(d * (2 / (m * (m - 1)) / unit_pair)) * unit_pair,
        threshold=limit,
        exceed=exceed,
    )


def run(
    pairs: Pairs,
    *,
    m: int,
    groups: range,
    group_size: int,
    streams: Callable[[int], np.random.Generator],
    replacement: bool,
    threshold: float | None = None,
    threads: int = 1,
) -> BatchSums:
    """Draw the batches of some groups and return their sums.

    Parameters
    ----------
    pairs
        The sample.
    m
        The batch size.
    groups
        Which groups to run, for example from :func:`group_range`.
    group_size
        Batches a group; a part of the content, since the random numbers are keyed by group.
        The fast form reads all features twice a group, which 10 to 30 occurrences of an event
        (group_size * m / N) make up for.
    streams
        The generator of a group, for example
        ``functools.partial(stream, seed, "experiment2", toy, "group")``.
    replacement
        Whether a batch may hold an event twice (Experiment III) or not (Experiment II).
    threshold
        Count the batches with T_m above this, too.
    threads
        Work on as many groups at a time; the result is the same to the byte.

    Examples
    --------
    >>> from functools import partial
    >>> from localizer.randomness import stream
    >>> z = stream(1, "sample").normal(size=(50, 3))
    >>> sums = run(FeaturePairs(z), m=10, groups=group_range(2000, group_size=500),
    ...            group_size=500, streams=partial(stream, 1, "group"), replacement=False)
    >>> target = (z @ z.sum(axis=0) - (z**2).sum(axis=1)) / 49
    >>> float(np.corrcoef(scores(sums).witness, target)[0, 1]) > 0.8
    True
    """
    size = checks.integer(group_size, "group_size", maximum=LARGEST_GROUP)
    checks.integer(m, "m", minimum=2, maximum=None if replacement else pairs.N)
    workers = checks.integer(threads, "threads")
    if groups.step != 1 or groups.start < 0 or len(groups) == 0:
        raise ValueError(f"groups must be a range of consecutive groups from 0 on, not {groups}")

    def part(some: range) -> BatchSums:
        return reduce(add, (one(g) for g in some))

    def one(g: int) -> BatchSums:
        drawn = draw(streams(g), N=pairs.N, m=m, batches=size, replacement=replacement)
        return sum_batches(pairs, drawn, replacement=replacement, threshold=threshold)

    if workers == 1:
        return part(groups)
    ends = np.linspace(groups.start, groups.stop, min(workers, len(groups)) + 1).astype(int)
    shares = [range(a, b) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
    with ThreadPoolExecutor(workers) as pool:
        return reduce(add, pool.map(part, shares))


def group_range(stop: int, *, start: int = 0, group_size: int) -> range:
    """Return the groups that hold the batches from ``start`` up to ``stop``.

    Examples
    --------
    The increment from R = 1e4 to R = 3e4, in groups of 1000:

    >>> group_range(30_000, start=10_000, group_size=1000)
    range(10, 30)
    """
    size = checks.integer(group_size, "group_size", maximum=LARGEST_GROUP)
    ends = {"start": checks.integer(start, "start", minimum=0)}
    ends["stop"] = checks.integer(stop, "stop", minimum=ends["start"] + 1)
    for name, value in ends.items():
        if value % size:
            raise ValueError(f"{name} must be a multiple of group_size = {size}, it is {value}")
    return range(ends["start"] // size, ends["stop"] // size)


def scores(sums: BatchSums) -> Scores:
    """Return the raw, marginal and pair scores of each event, and the share above threshold."""
    drawn = sums.count > 0
    if not drawn.any():
        raise ValueError("sums must hold at least one batch")

    def mean(values: Array | IntArray) -> Array:
        own = values / np.maximum(sums.count, 1)
        return np.where(drawn, own, own[drawn].mean())

    return Scores(
        m=sums.m,
        drawn=drawn,
        raw=mean(sums.total),
        pair=mean(sums.pair),
        exceedance=None if sums.exceed is None else mean(sums.exceed),
    )


def standard_errors(parts: Sequence[BatchSums]) -> dict[str, Array]:
    """Return the standard errors of the scores of a run, from the scatter of its parts.

    A score is a ratio s = S / C of an event's sum and its count. Over B independent parts its
    error is that of a ratio, sqrt(B / (B-1) sum of (S_b - s C_b)^2) / C: how far the score is
    from that of endlessly many batches. NaN for an event that fewer than two parts drew.

    Parameters
    ----------
    parts
        At least 2, with different batches each; 20 fix an error to about a sixth.
    """
    B = checks.integer(len(parts), "the number of parts", minimum=2)
    whole = _ratios(reduce(add, parts))
    count = np.maximum(sum(part.count for part in parts), 1)
    known = sum(part.count > 0 for part in parts) > 1
    left = {name: np.zeros(len(count)) for name in whole}
    for part in parts:
        for name, score in _ratios(part).items():
            left[name] += (part.count * (score - whole[name])) ** 2
    scale = np.where(known, np.sqrt(B / (B - 1)) / count, np.nan)
    return {name: scale * np.sqrt(squares) for name, squares in left.items()}


def _ratios(sums: BatchSums) -> dict[str, Array]:
    found = scores(sums)
    names = ("raw", "pair") if sums.m == 2 else ("raw", "pair", "marginal")
    return {name: getattr(found, name) for name in names}


def _units(scale: float, m: int) -> tuple[float, float]:
    """Return the grids of the sums of T (at most ``scale``) and of J (at most 2 scale / m)."""
    unit = scale * 2.0**-_GRID_BITS
    return unit, 2 * unit / _power_of_two(m)


def _power_of_two(value: float) -> float:
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


def _sliced(z: Table) -> Table:
    """Return the columns of ``z`` in slices, of shape (slices, N, _WIDTH), padded with zeros."""
    N, D = z.shape
    slices = np.zeros((-(-D // _WIDTH), N, _WIDTH), dtype=z.dtype)
    for s, block in enumerate(slices):
        columns = z[:, s * _WIDTH : (s + 1) * _WIDTH]
        block[:, : columns.shape[1]] = columns
    return slices


def _by_event(batches: Draws, N: int) -> Occurrences:
    start, batch_of = _counting_sort(np.ascontiguousarray(batches), N)
    return Occurrences(batches, start, batch_of)


@njit(cache=True, nogil=True)
def _take_new(sequence, last_batch, filled, drawn):  # type: ignore[no-untyped-def]
    m = drawn.shape[1]
    flat = drawn.ravel()
    for event in sequence:
        if filled == flat.size:
            break
        batch = filled // m
        if last_batch[event] != batch:
            last_batch[event] = batch
            flat[filled] = event
            filled += 1
    return filled


@njit(cache=True, nogil=True)
def _counting_sort(batches, N):  # type: ignore[no-untyped-def]
    start = np.zeros(N + 1, np.int64)
    for b in range(batches.shape[0]):
        for a in range(batches.shape[1]):
            start[batches[b, a] + 1] += 1
    for i in range(N):
        start[i + 1] += start[i]
    position = start[:-1].astype(np.int32)
    batch_of = np.empty(batches.size, np.uint16)
    for b in range(batches.shape[0]):
        for a in range(batches.shape[1]):
            i = batches[b, a]
            batch_of[position[i]] = b
            position[i] += 1
    return start, batch_of


@njit(cache=True, nogil=True)
def _has_twins(start, batch_of):  # type: ignore[no-untyped-def]
    for i in range(start.size - 1):
        for k in range(start[i] + 1, start[i + 1]):
            if batch_of[k] == batch_of[k - 1]:
                return True
    return False


@njit(cache=True, nogil=True)
def _pair_sums(q, batches, U, d):  # type: ignore[no-untyped-def]
    m = batches.shape[1]
    for b in range(batches.shape[0]):
        for a in range(m):
            row = q[batches[b, a]]
            others = 0.0
            for c in range(m):
                if c != a:
                    others += row[batches[b, c]]
            d[batches[b, a]] += others
            U[b] += others


@njit(cache=True, nogil=True)
def _subtract_squares(squares, start, batch_of, U):  # type: ignore[no-untyped-def]
    for i in range(squares.size):
        for k in range(start[i], start[i + 1]):
            U[batch_of[k]] -= squares[i]


@njit(cache=True, nogil=True)
def _spread(values, start, batch_of, total):  # type: ignore[no-untyped-def]
    for i in range(total.size):
        for k in range(start[i], start[i + 1]):
            total[i] += values[batch_of[k]]


@njit(cache=True, nogil=True)
def _add_rows(z, start, batch_of, S):  # type: ignore[no-untyped-def]
    for i in range(z.shape[0]):
        for k in range(start[i], start[i + 1]):
            b = batch_of[k]
            for w in range(_WIDTH):
                S[b, w] += z[i, w]


# fastmath lets the compiler reorder the sum over features; the inputs are finite
@njit(cache=True, nogil=True, fastmath=True)
def _add_products(z, start, batch_of, S, zero, d):  # type: ignore[no-untyped-def]
    for i in range(z.shape[0]):
        k = start[i]
        end = start[i + 1]
        # four occurrences at a time share one pass over the row of features
        while k + 4 <= end:
            b0, b1, b2, b3 = batch_of[k], batch_of[k + 1], batch_of[k + 2], batch_of[k + 3]
            dot = zero
            for w in range(_WIDTH):
                dot += ((S[b0, w] + S[b1, w]) + (S[b2, w] + S[b3, w])) * z[i, w]
            d[i] += dot
            k += 4
        while k < end:
            b = batch_of[k]
            dot = zero
            for w in range(_WIDTH):
                dot += S[b, w] * z[i, w]
            d[i] += dot
            k += 1


def compile_kernels() -> None:
    """Compile what numba compiles here, for a cache that many jobs read.

    Features in double precision serve Experiment II, in single precision Experiment III.
    """
    for dtype in (np.float64, np.float32):
        z = np.ones((4, 2), dtype=dtype)
        for pairs in (FeaturePairs(z), KernelPairs(z @ z.T)):
            for replacement in (False, True):
                drawn = draw(stream(0, "compile"), N=4, m=3, batches=2, replacement=replacement)
                sum_batches(pairs, drawn, replacement=replacement)
