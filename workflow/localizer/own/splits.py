r"""Many ways to split pooled events into sample and reference, in one pass over the kernels.

With k the matrix over the pooled events and A the members of the sample in each split, k A holds
every sum that is needed. In random features, k A = z (z^T A), two passes over the rows of z and
no matrix of them. The evidence has a kernel of its own, k_h(x, y) / se_h(x), whose errors do not
depend on the split (:mod:`localizer.estimators.studentized`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.threads import in_threads
from localizer.estimators.studentized import StudentizedFeatures, inverse_errors, kernel_rows
from localizer.kernels import feature_products
from localizer.kernels.feature_means import chunks
from localizer.kernels.features import FourierFeatures, feature_rows
from localizer.kernels.moments import kernel_moments
from localizer.own.exact import mmd2_of_sums
from localizer.own.progress import Advance, unseen
from localizer.own.random_features import draw_features, evidence_features, mmd2_of_means
from localizer.own.recipe import Choices, Recipe, Streams

Members: TypeAlias = npt.NDArray[np.uint8]

# Permutations are multiplied in groups by their number, always as many columns at a time: the
# last digits of a matrix product depend on its shape, and so do not depend on where a run is cut.
GROUP = 40

# Rows of kernels that are held at a time.
ROWS = 256


def of_splits(
    pooled: Array,
    N: int,
    members: Members,
    chosen: Choices,
    recipe: Recipe,
    streams: Streams,
    top: int,
    advance: Advance = unseen,
) -> tuple[Array, Array, Array]:
    """Return MMD^2, the largest scores and the lowest score for each way to split the events.

    Parameters
    ----------
    pooled
        The events in the kernel's coordinates.
    members
        1 where a pooled event belongs to the sample, one column a split; each has N ones.
    """
    M = len(pooled) - N
    keep = min(checks.integer(top, "top"), N)
    form = _exact if recipe.for_calibration(N, M).method == "exact" else _rff
    return form(pooled, N, members, chosen, recipe, streams, keep, advance)


class Extremes:
    """The largest scores and the lowest score of each split, of all rows that were added."""

    def __init__(self, splits: int, top: int) -> None:
        self.largest = np.empty((0, splits))
        self.lowest = np.full(splits, np.inf)
        self._top = top

    def add(self, part: tuple[Array, Array]) -> None:
        """Add the largest scores and the lowest of some rows."""
        self.largest = largest_first(np.concatenate([self.largest, part[0]]), self._top)
        self.lowest = np.minimum(self.lowest, part[1])


def extremes(
    scores: npt.NDArray[np.floating[Any]], inside: npt.NDArray[np.bool_], top: int
) -> tuple[Array, Array]:
    """Return the largest scores and the lowest among the members of each split."""
    return (
        largest_first(np.where(inside, scores, -np.inf), top),
        np.where(inside, scores, np.inf).min(axis=0),
    )


def _exact(
    pooled: Array,
    N: int,
    members: Members,
    chosen: Choices,
    recipe: Recipe,
    _: Streams,
    top: int,
    advance: Advance,
) -> tuple[Array, Array, Array]:
    M = len(pooled) - N
    columns = [members[:, s].astype(np.float64) for s in slices(members)]
    per_error = _per_error(pooled, N, chosen.ladder) if recipe.ranking == "evidence" else None

    def sums(k: Array) -> tuple[Array, Array]:
        of_sample = np.concatenate([k @ some for some in columns], axis=1)
        return of_sample, k.sum(axis=1)[:, None] - of_sample

    def work(start: int) -> tuple[Array, tuple[Array, Array]]:
        rows = slice(start, start + ROWS)
        inside = members[rows].astype(bool)
        of_sample, of_reference = sums(chosen.bank.rows(pooled[rows], pooled))
        total = [
            np.where(inside, of_sample, 0).sum(axis=0),
            np.where(inside, 0, of_reference).sum(axis=0),
            np.where(inside, of_reference, 0).sum(axis=0),
        ]
        itself: Array | float = 1.0
        if per_error is not None:
            errors = per_error[:, rows]
            of_sample, of_reference = sums(kernel_rows(pooled[rows], pooled, chosen.ladder, errors))
            itself = errors.mean(axis=0)[:, None]
        scores = (of_sample - itself) / (N - 1) - of_reference / M
        return np.array(total), extremes(scores, inside, top)

    total, found = np.zeros((3, members.shape[1])), Extremes(members.shape[1], top)
    for part, some in in_threads(work, range(0, len(pooled), ROWS)):
        total += part
        found.add(some)
        advance(ROWS)
    return mmd2_of_sums(*total, N=N, M=M), found.largest.T, found.lowest


def _per_error(pooled: Array, N: int, ladder: tuple[float, ...]) -> Array:
    """Return 1 / se_h at every pooled event: the same whichever of them are the sample."""
    sums = kernel_moments(pooled, pooled, ladder[:1], each=ladder)
    n, M = len(pooled), len(pooled) - N
    return inverse_errors(
        sums.each_first / n, sums.each_second / n, 1 / n, 1 / (N - 1) + 1 / M, dtype=sums.dtype
    )


def _rff(
    pooled: Array,
    N: int,
    members: Members,
    chosen: Choices,
    recipe: Recipe,
    streams: Streams,
    top: int,
    advance: Advance,
) -> tuple[Array, Array, Array]:
    n, M, d = len(pooled), len(pooled) - N, pooled.shape[1]
    z = draw_features(chosen.bank, d, recipe, streams)
    mean, mean_reference = _means(pooled, z, members, N)
    advance(n // 2)
    value = mmd2_of_means(mean, mean_reference, N=N, M=M)
    rows: RowsOf = partial(plain_rows, z)
    if recipe.ranking == "evidence":
        features = evidence_features(chosen.ladder, pooled[:N], pooled[N:], recipe, streams)
        mean, mean_reference = _means(pooled, features.z, members, N)
        rows = partial(_evidence_rows, features, 1 / n, 1 / (N - 1) + 1 / M)
    directions = (N / (N - 1) * mean - mean_reference).astype(np.float32)
    found = Extremes(members.shape[1], top)
    work = partial(_scores, pooled, rows, members, directions, 1 / (N - 1), top)
    for part, some in zip(chunks(pooled), in_threads(work, chunks(pooled)), strict=True):
        found.add(some)
        advance((part.stop - part.start) // 2)
    return value, found.largest.T, found.lowest


def _means(pooled: Array, z: FourierFeatures, members: Members, N: int) -> tuple[Array, Array]:
    """Return the mean features of sample and reference in each split."""
    everything, total = np.zeros(z.D), np.zeros((members.shape[1], z.D))
    work = partial(_sums, pooled, z, members)
    for of_all, of_sample in in_threads(work, chunks(pooled)):
        everything += of_all
        total += of_sample
    return total / N, (everything - total) / (len(pooled) - N)


def _sums(pooled: Array, z: FourierFeatures, members: Members, rows: slice) -> tuple[Array, Array]:
    """Return the sums of features over some rows: over all, and over the members of each split."""
    everything, total = np.zeros(z.D), np.zeros((members.shape[1], z.D))
    belongs = members[rows]
    for place, block in feature_rows(z, pooled[rows], rows=ROWS):
        everything += block.sum(axis=0, dtype=np.float64)
        for s in slices(members):
            total[s] += belongs[place, s].astype(np.float32).T @ block
    return everything, total


RowsOf: TypeAlias = Callable[[Array], Iterator[tuple[slice, feature_products.Single, Array]]]
"""Yields rows of features with what an event's product with itself is."""


def plain_rows(
    z: FourierFeatures, x: Array
) -> Iterator[tuple[slice, feature_products.Single, Array]]:
    """Yield rows of features, whose product with themselves is 1."""
    for place, block in feature_rows(z, x, rows=ROWS):
        yield place, block, np.ones(len(block))


def _evidence_rows(
    features: StudentizedFeatures, share: float, scale: float, x: Array
) -> Iterator[tuple[slice, feature_products.Single, Array]]:
    return features.rows(x, np.full(len(x), share), np.full(len(x), scale))


def _scores(
    pooled: Array,
    rows_of: RowsOf,
    members: Members,
    directions: feature_products.Single,
    left_out: float,
    top: int,
    rows: slice,
) -> tuple[Array, Array]:
    """Return the largest scores and the lowest among the members in some rows, for each split."""
    scores = np.empty((rows.stop - rows.start, len(directions)), dtype=np.float32)
    for place, block, itself in rows_of(pooled[rows]):
        for s in slices(members):
            scores[place, s] = block @ directions[s].T
        scores[place] -= (left_out * itself[:, None]).astype(np.float32)
    largest, lowest = extremes(scores, members[rows].astype(bool), top)
    return largest.astype(np.float64), lowest.astype(np.float64)


def slices(members: Members) -> list[slice]:
    """Return the columns that are multiplied at once."""
    return [slice(a, a + GROUP) for a in range(0, members.shape[1], GROUP)]


def largest_first(values: Array, top: int) -> Array:
    """Return the largest values of each column, in falling order."""
    if len(values) > top:
        values = np.partition(values, len(values) - top, axis=0)[len(values) - top :]
    return np.sort(values, axis=0)[::-1]
