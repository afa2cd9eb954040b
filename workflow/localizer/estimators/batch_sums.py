r"""What remains of batches: a count and two or three sums for each event, and its scores.

With U and d_i of :mod:`localizer.estimators.batches`, the raw score of an event is the mean of
T_m over its occurrences and the pair score that of J_i; the marginal follows from the two.

The contribution of a group of batches to an event is rounded to a fixed grid, far below any
rounding of single precision, on which sums in double precision are exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array, BoolArray, IntArray
from localizer.estimators import batch_loops
from localizer.estimators.pair_forms import Occurrences, Pairs, power_of_two

LARGEST_GROUP = 2**16
"""Batches of a group are numbered in 16 bits."""

_GRID_BITS = 36
"""An event may occur 2^(53 - 36) times whatever the data before its sums leave the grid; for
data whose T and J scatter about zero, as they do, it is thousands of times more."""


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
    """

    m: int
    batches: int
    replacement: bool
    scale: float
    count: IntArray
    total: Array
    pair: Array

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
        for name in ("N", "m", "replacement", "scale"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise ValueError(f"other must have the same {name}: {mine} against {theirs}")
        return replace(
            self,
            batches=self.batches + sign * other.batches,
            count=self.count + sign * other.count,
            total=self.total + sign * other.total,
            pair=self.pair + sign * other.pair,
        )

    def as_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything as arrays, for ``np.savez``."""
        return {name: np.asarray(getattr(self, name)) for name in self.__dataclass_fields__}

    @classmethod
    def from_dict(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> BatchSums:
        """Return the sums that :meth:`as_dict` wrote."""
        missing = set(cls.__dataclass_fields__) - set(arrays)
        if missing:
            raise ValueError(f"arrays must hold all that as_dict writes, not so {sorted(missing)}")
        values: dict[str, Any] = {name: arrays[name] for name in cls.__dataclass_fields__}
        return cls(**{name: x if x.ndim else x.item() for name, x in values.items()})


@dataclass(frozen=True)
class BatchScores:
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
    """

    m: int
    drawn: BoolArray
    raw: Array
    pair: Array

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


def sum_batches(pairs: Pairs, batches: npt.ArrayLike, *, replacement: bool) -> BatchSums:
    """Return the sums of the given batches, one group.

    Parameters
    ----------
    pairs
        The sample.
    batches
        The events of each batch, of shape (batches, m).
    replacement
        Whether a batch may hold an event twice.
    """
    drawn = np.asarray(batches)
    if drawn.ndim != 2 or drawn.dtype.kind not in "ui" or drawn.size == 0:
        raise ValueError("batches must be a table of event numbers, of shape (batches, m)")
    checks.integer(drawn.shape[0], "the number of batches in a group", maximum=LARGEST_GROUP)
    checks.integer(drawn.size, "the number of occurrences in a group", maximum=2**31 - 1)
    m = checks.integer(drawn.shape[1], "m", minimum=2)
    if drawn.min() < 0 or drawn.max() >= pairs.N:
        raise ValueError(f"batches must hold event numbers from 0 to {pairs.N - 1}")
    group = Occurrences.of(drawn.astype(np.uint32, copy=False), pairs.N)
    if not replacement and batch_loops.has_twins(group.start, group.batch_of):
        raise ValueError("batches must hold an event once only, without replacement")
    U, d = pairs.sums(group)
    T = U / (m * (m - 1))
    total = np.zeros(pairs.N)
    batch_loops.spread(T, group.start, group.batch_of, total)
    unit_total, unit_pair = _units(pairs.scale, m)
    return BatchSums(
        m=m,
        batches=len(drawn),
        replacement=bool(replacement),
        scale=pairs.scale,
        count=np.diff(group.start),
        total=np.rint(total / unit_total) * unit_total,
        pair=np.rint(d * (2 / (m * (m - 1)) / unit_pair)) * unit_pair,
    )


def scores(sums: BatchSums) -> BatchScores:
    """Return the raw, marginal and pair scores of each event."""
    drawn = sums.count > 0
    if not drawn.any():
        raise ValueError("sums must hold at least one batch")

    def mean(values: Array) -> Array:
        own = values / np.maximum(sums.count, 1)
        return np.where(drawn, own, own[drawn].mean())

    return BatchScores(m=sums.m, drawn=drawn, raw=mean(sums.total), pair=mean(sums.pair))


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
    return unit, 2 * unit / power_of_two(m)
