r"""Many ways to split pooled events into sample and reference, in one pass over the kernels.

With k the matrix over the pooled events and A the members of the sample in each split, k A holds
every sum that is needed. In random features, k A = z (z^T A), two passes over the rows of z and
no matrix of them.
"""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.threads import in_threads
from localizer.kernels import feature_products
from localizer.kernels.bank import GaussianBank
from localizer.kernels.features import FourierFeatures
from localizer.own.exact import mmd2_of_sums
from localizer.own.random_features import chunks, draw_features, mmd2_of_means
from localizer.own.recipe import Choices, Recipe, Streams

Members: TypeAlias = npt.NDArray[np.uint8]

# Permutations are multiplied in groups by their number, always as many columns at a time: the
# last digits of a matrix product depend on its shape, and so do not depend on where a run is cut.
GROUP = 40

# Rows of kernels that are held at a time.
_ROWS = 256


def of_splits(
    pooled: Array,
    N: int,
    members: Members,
    chosen: Choices,
    recipe: Recipe,
    streams: Streams,
    top: int,
) -> tuple[Array, Array]:
    """Return MMD^2 and the largest scores for each way to split the pooled events.

    Parameters
    ----------
    pooled
        The events in the kernel's coordinates.
    members
        1 where a pooled event belongs to the sample, one column a split; each has N ones.
    """
    M = len(pooled) - N
    keep = min(checks.integer(top, "top"), N)
    if recipe.used(len(pooled) ** 2) == "exact":
        return _exact(pooled, chosen.bank, members, keep, N=N, M=M)
    z = draw_features(chosen.bank, pooled.shape[1], recipe, streams)
    return _rff(pooled, z, members, keep, N=N, M=M)


def _exact(
    pooled: Array, bank: GaussianBank, members: Members, top: int, *, N: int, M: int
) -> tuple[Array, Array]:
    columns = [members[:, s].astype(np.float64) for s in _slices(members)]

    def work(start: int) -> tuple[Array, Array]:
        k = bank.rows(pooled[start : start + _ROWS], pooled)
        of_sample = np.concatenate([k @ some for some in columns], axis=1)
        of_reference = k.sum(axis=1)[:, None] - of_sample
        inside = members[start : start + _ROWS].astype(bool)
        loo = (of_sample - 1) / (N - 1) - of_reference / M
        sums = [
            np.where(inside, of_sample, 0).sum(axis=0),
            np.where(inside, 0, of_reference).sum(axis=0),
            np.where(inside, of_reference, 0).sum(axis=0),
        ]
        return np.array(sums), largest_first(np.where(inside, loo, -np.inf), top)

    total, largest = np.zeros((3, members.shape[1])), np.empty((0, members.shape[1]))
    for sums, some in in_threads(work, range(0, len(pooled), _ROWS)):
        total += sums
        largest = largest_first(np.concatenate([largest, some]), top)
    return mmd2_of_sums(*total, N=N, M=M), largest.T


def _rff(
    pooled: Array, z: FourierFeatures, members: Members, top: int, *, N: int, M: int
) -> tuple[Array, Array]:
    slices = _slices(members)
    everything, total = np.zeros(z.D), np.zeros((members.shape[1], z.D))
    for of_all, of_sample in in_threads(partial(_sums, pooled, z, members, slices), chunks(pooled)):
        everything += of_all
        total += of_sample
    mean, mean_reference = total / N, (everything - total) / M
    directions = (N / (N - 1) * mean - mean_reference).astype(np.float32)
    largest = np.empty((0, members.shape[1]))
    work = partial(_largest_scores, pooled, z, members, slices, directions, top)
    for some in in_threads(work, chunks(pooled)):
        largest = largest_first(np.concatenate([largest, some]), top)
    # z(x).z(x) = 1, see localizer.own.score
    return mmd2_of_means(mean, mean_reference, N=N, M=M), (largest - 1 / (N - 1)).T


def _sums(
    pooled: Array, z: FourierFeatures, members: Members, slices: list[slice], rows: slice
) -> tuple[Array, Array]:
    """Return the sums of features over some rows: over all, and over the members of each split."""
    everything, total = np.zeros(z.D), np.zeros((members.shape[1], z.D))
    belongs = members[rows]
    for place, block in feature_products.feature_rows(z, pooled[rows], rows=_ROWS):
        everything += block.sum(axis=0, dtype=np.float64)
        for s in slices:
            total[s] += belongs[place, s].astype(np.float32).T @ block
    return everything, total


def _largest_scores(
    pooled: Array,
    z: FourierFeatures,
    members: Members,
    slices: list[slice],
    directions: feature_products.Single,
    top: int,
    rows: slice,
) -> Array:
    """Return the largest z(x).direction among the members in some rows, for each split."""
    scores = np.full((rows.stop - rows.start, len(directions)), -np.inf, dtype=np.float32)
    belongs = members[rows].astype(bool)
    for place, block in feature_products.feature_rows(z, pooled[rows], rows=_ROWS):
        for s in slices:
            np.copyto(scores[place, s], block @ directions[s].T, where=belongs[place, s])
    return largest_first(scores.astype(np.float64), top)


def _slices(members: Members) -> list[slice]:
    return [slice(a, a + GROUP) for a in range(0, members.shape[1], GROUP)]


def largest_first(values: Array, top: int) -> Array:
    """Return the largest values of each column, in falling order."""
    if len(values) > top:
        values = np.partition(values, len(values) - top, axis=0)[len(values) - top :]
    return np.sort(values, axis=0)[::-1]
