r"""Is there a departure at all: p-values and null bands that repeat every choice.

Sec. global-local of the paper.

There are three ways to see what the null hypothesis would have given: mix sample and reference up
(:func:`permutations`), draw samples from a model of the background, or draw them from the
reference itself (:func:`pseudoexperiments`). For each draw the choices of coordinates and
bandwidths are made again as :func:`localizer.score.choose` made them for the data, and the same
numbers are kept: the unbiased MMD^2 and the largest leave-one-out scores.

Choices from the pooled events are the same in every permutation. They are then made once, and
all permutations share one pass over the kernels: with k the matrix over the pooled events and A
the members of the sample in each permutation, k A holds every sum that is needed. In random
features, k A = z (z^T A), two passes over the rows of z and no matrix of them.

A permutation is the order of as many uniform numbers as there are pooled events, from a stream
of its own: runs can be cut anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from localizer import checks, linear
from localizer.checks import Array, IntArray
from localizer.features import FourierFeatures
from localizer.kernels import GaussianBank, kernel_sums
from localizer.score import (
    Choices,
    Recipe,
    Streams,
    both,
    choose,
    chunks,
    draw_features,
    feature_mean,
    in_threads,
    kernel_rows,
    mmd2_of_means,
    mmd2_of_sums,
)

Sampler: TypeAlias = Callable[[np.random.Generator, int], npt.ArrayLike]
Members: TypeAlias = npt.NDArray[np.uint8]

# Permutations are multiplied in groups by their number, always as many columns at a time: the
# last digits of a matrix product depend on its shape, and so do not depend on where a run is cut.
_GROUP = 40

# Rows of kernels that are held at a time.
_ROWS = 256


@dataclass(frozen=True, eq=False)
class NullDraws:
    """The statistics of some draws, one row a draw.

    Attributes
    ----------
    numbers
        Which draws these are.
    mmd2
        The unbiased MMD^2 of each.
    largest
        The largest leave-one-out scores of each, in falling order; shape (draws, top).
    """

    numbers: IntArray
    mmd2: Array
    largest: Array

    def as_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything as arrays, for ``np.savez``."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def from_dict(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> NullDraws:
        """Return what :meth:`as_dict` wrote."""
        return cls(**{name: arrays[name] for name in cls.__dataclass_fields__})


def joined(parts: Sequence[NullDraws]) -> NullDraws:
    """Return the draws of several jobs in the order of their numbers."""
    if not parts:
        raise ValueError("parts must hold the draws of at least one job")
    numbers = np.concatenate([part.numbers for part in parts])
    order = np.argsort(numbers)
    if np.any(np.diff(numbers[order]) == 0):
        raise ValueError("parts must not hold the same draw twice")
    return NullDraws(
        numbers[order],
        np.concatenate([part.mmd2 for part in parts])[order],
        np.concatenate([part.largest for part in parts])[order],
    )


# --- the data and the null -----------------------------------------------------------------


def observe(
    sample: npt.ArrayLike,
    reference: npt.ArrayLike,
    recipe: Recipe,
    streams: Streams,
    *,
    top: int = 100,
) -> NullDraws:
    """Return the statistics of the data themselves, as one draw.

    Parameters
    ----------
    top
        How many of the largest scores are kept (all, if the sample has no more).
    """
    x, y = both(sample, reference)
    chosen = choose(x, y, recipe, streams)
    x, y = chosen.transform(x), chosen.transform(y)
    N, M = len(x), len(y)
    keep = min(checks.integer(top, "top"), N)
    if recipe.used((N + M) ** 2) == "exact":
        inside, outside = (kernel_sums(events, chosen.bank) for events in (x, y))
        across = kernel_sums(x, chosen.bank, sample=y)
        value = mmd2_of_sums(inside.sum(), outside.sum(), across.sum(), N=N, M=M)
        loo = ((inside - 1) / (N - 1) - across / M)[:, None]
    else:
        z = draw_features(chosen.bank, x.shape[1], recipe, streams)
        mean, mean_reference = feature_mean(z, x), feature_mean(z, y)
        value = mmd2_of_means(mean, mean_reference, N=N, M=M)
        direction = (N / (N - 1) * mean - mean_reference)[None]
        parts = in_threads(lambda rows: linear.projections(z, x[rows], direction), chunks(x))
        loo = np.concatenate(list(parts)).astype(np.float64) - 1 / (N - 1)
    return NullDraws(np.zeros(1, dtype=np.int64), np.atleast_1d(value), _first(loo, keep).T)


def permutations(
    sample: npt.ArrayLike,
    reference: npt.ArrayLike,
    recipe: Recipe,
    streams: Streams,
    *,
    numbers: range,
    top: int = 100,
) -> NullDraws:
    """Return the statistics after the pooled events were dealt out anew.

    If sample and reference come from one distribution, the data are but one more permutation,
    whatever is done with them, as long as the same is done in each: p-values are then exact for
    any sizes.

    Parameters
    ----------
    numbers
        Which permutations; the numbers key their streams.
    top
        As in :func:`observe`.

    Notes
    -----
    With ``source="reference"`` every permutation has choices, and so kernels, of its own: it
    costs as much as the data themselves.
    """
    x, y = both(sample, reference)
    pooled, N = np.concatenate([x, y]), len(x)
    _check(numbers)
    if recipe.source == "reference":
        draws = []
        for p in numbers:
            order = np.argsort(streams("permutation", p).random(len(pooled)), kind="stable")
            mixed = pooled[order]
            draws.append(observe(mixed[:N], mixed[N:], recipe, streams, top=top))
        return _listed(numbers, draws)
    chosen = choose(x, y, recipe, streams)
    first = numbers.start // _GROUP * _GROUP
    columns = -(-(numbers.stop - first) // _GROUP) * _GROUP
    members = np.zeros((len(pooled), columns), dtype=np.uint8)

    def deal(p: int) -> None:
        places = np.argpartition(streams("permutation", p).random(len(pooled)), N)[:N]
        members[places, p - first] = 1

    for _ in in_threads(deal, numbers):
        pass
    # columns of permutations that were not asked for hold a permutation that was
    empty = [c for c in range(columns) if c + first not in numbers]
    members[:, empty] = members[:, [numbers.start - first]]
    values, largest = _splits(chosen.transform(pooled), N, members, chosen, recipe, streams, top)
    wanted = np.asarray(numbers) - first
    return NullDraws(np.asarray(numbers), values[wanted], largest[wanted])


def pseudoexperiments(
    N: int,
    reference: npt.ArrayLike,
    recipe: Recipe,
    streams: Streams,
    *,
    numbers: range,
    sampler: Sampler | None = None,
    top: int = 100,
) -> NullDraws:
    """Return the statistics of samples that hold background only.

    Parameters
    ----------
    N
        The size of the sample.
    sampler
        A model of the background: a function of a generator and a number that returns so many
        events. The reference is then the same in every pseudoexperiment. Left out, each takes N
        events of the reference as its sample and keeps the others as its reference. Its
        scatter, which goes as 1/N + 1/(M - N), is then larger than that of the data, and the
        p-value errs on the safe side; for a reference that is not several times larger than the
        sample, permutations are sharper.
    numbers, top
        As in :func:`permutations`.
    """
    events = checks.points(reference, "reference", minimum=3)
    size = checks.integer(N, "N", minimum=3)
    _check(numbers)
    if sampler is None and len(events) < 2 * size:
        raise ValueError(
            f"reference must hold at least twice the {size} events of the sample to give "
            f"pseudoexperiments, it holds {len(events)}: use permutations"
        )
    draws = []
    for p in numbers:
        rng = streams("pseudoexperiment", p)
        if sampler is None:
            mixed = events[rng.permutation(len(events))]
            sample, others = mixed[:size], mixed[size:]
        else:
            sample = checks.points(sampler(rng, size), "sampler's events", d=events.shape[1])
            others = events
            if len(sample) != size:
                raise ValueError(f"sampler must return the {size} events it was asked for")
        draws.append(observe(sample, others, recipe, streams, top=top))
    return _listed(numbers, draws)


def _check(numbers: range) -> None:
    if len(numbers) == 0 or numbers.step != 1 or numbers.start < 0:
        raise ValueError(f"numbers must be a range of consecutive numbers from 0 on, not {numbers}")


def _listed(numbers: range, draws: Sequence[NullDraws]) -> NullDraws:
    return NullDraws(
        np.asarray(numbers),
        np.concatenate([draw.mmd2 for draw in draws]),
        np.concatenate([draw.largest for draw in draws]),
    )


# --- what they say -------------------------------------------------------------------------


def p_value(observed: float, null: npt.ArrayLike) -> float:
    """Return (count + 1) / (n + 1), with the count of null values not below the observed one.

    A permutation can give the data themselves again, up to rounding: what lies below by less
    than a millionth of the null's own spread counts.

    Examples
    --------
    >>> p_value(2.5, [1.0, 2.0, 3.0])
    0.5
    """
    values = checks.vector(null, "null")
    value = float(checks.vector([observed], "observed")[0])
    count = np.count_nonzero(values >= value - 1e-6 * np.std(values))
    return (int(count) + 1) / (values.size + 1)


def band(largest: npt.ArrayLike, *, level: float) -> Array:
    """Return what the k-th largest score stays below with probability ``level``, for every k.

    The value at rank k is the order statistic number ceil(level (n + 1)) of n null draws: the
    score of one more draw stays at or below it with at least this probability, for any n. Ranks
    are taken one by one: all of them together stay below the band less often.

    Parameters
    ----------
    largest
        The scores of null draws, of shape (draws, top).
    level
        The probability, for example 0.95.

    Examples
    --------
    >>> band([[4.0, 1.0], [3.0, 2.0], [5.0, 0.0]], level=0.75).tolist()
    [5.0, 2.0]
    """
    table = checks.points(largest, "largest")
    place = int(np.ceil(checks.fraction(level, "level") * (len(table) + 1) - 1e-9))
    if place > len(table):
        raise ValueError(
            f"level must be at most {len(table) / (len(table) + 1):.4g} with {len(table)} draws, "
            f"it is {level:g}: make more draws"
        )
    return np.asarray(np.sort(table, axis=0)[place - 1])


# --- one pass for many splits ----------------------------------------------------------------


def _splits(
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
        k = kernel_rows(pooled[start : start + _ROWS], pooled, bank)
        of_sample = np.concatenate([k @ some for some in columns], axis=1)
        of_reference = k.sum(axis=1)[:, None] - of_sample
        inside = members[start : start + _ROWS].astype(bool)
        loo = (of_sample - 1) / (N - 1) - of_reference / M
        sums = [
            np.where(inside, of_sample, 0).sum(axis=0),
            np.where(inside, 0, of_reference).sum(axis=0),
            np.where(inside, of_reference, 0).sum(axis=0),
        ]
        return np.array(sums), _first(np.where(inside, loo, -np.inf), top)

    total, largest = np.zeros((3, members.shape[1])), np.empty((0, members.shape[1]))
    for sums, some in in_threads(work, range(0, len(pooled), _ROWS)):
        total += sums
        largest = _first(np.concatenate([largest, some]), top)
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
        largest = _first(np.concatenate([largest, some]), top)
    # z(x).z(x) = 1, see localizer.score
    return mmd2_of_means(mean, mean_reference, N=N, M=M), (largest - 1 / (N - 1)).T


def _sums(
    pooled: Array, z: FourierFeatures, members: Members, slices: list[slice], rows: slice
) -> tuple[Array, Array]:
    """Return the sums of features over some rows: over all, and over the members of each split."""
    everything, total = np.zeros(z.D), np.zeros((members.shape[1], z.D))
    belongs = members[rows]
    for place, block in linear.feature_rows(z, pooled[rows], rows=_ROWS):
        everything += block.sum(axis=0, dtype=np.float64)
        for s in slices:
            total[s] += belongs[place, s].astype(np.float32).T @ block
    return everything, total


def _largest_scores(
    pooled: Array,
    z: FourierFeatures,
    members: Members,
    slices: list[slice],
    directions: linear.Single,
    top: int,
    rows: slice,
) -> Array:
    """Return the largest z(x).direction among the members in some rows, for each split."""
    scores = np.full((rows.stop - rows.start, len(directions)), -np.inf, dtype=np.float32)
    belongs = members[rows].astype(bool)
    for place, block in linear.feature_rows(z, pooled[rows], rows=_ROWS):
        for s in slices:
            np.copyto(scores[place, s], block @ directions[s].T, where=belongs[place, s])
    return _first(scores.astype(np.float64), top)


def _slices(members: Members) -> list[slice]:
    return [slice(a, a + _GROUP) for a in range(0, members.shape[1], _GROUP)]


def _first(values: Array, top: int) -> Array:
    """Return the largest values of each column, in falling order."""
    if len(values) > top:
        values = np.partition(values, len(values) - top, axis=0)[len(values) - top :]
    return np.sort(values, axis=0)[::-1]
