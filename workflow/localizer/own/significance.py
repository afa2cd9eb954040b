r"""Is there a departure at all: p-values and null bands that repeat every choice.

Sec. global-local of the paper.

There are several ways to see what the null hypothesis would have given: mix sample and reference
up (:func:`permutations`), draw samples from a model of the background, or draw them from the
reference itself (:func:`pseudoexperiments`); for events with weights there is
:mod:`localizer.own.bootstrap`. For each draw the choices of coordinates and bandwidths are made
again as :func:`localizer.own.recipe.choose` made them for the data, and the same numbers are kept:
the unbiased MMD^2, and the largest and the lowest scores, of the kind that events are ranked by.

Where many events make exact draws too costly, the data and the draws alike are scored by random
features (``recipe.for_calibration``), whatever the scores of the events are.

Choices from the pooled events are the same in every permutation. They are then made once, and
all permutations share one pass over the kernels (:mod:`localizer.own.splits`).

A permutation is the order of as many uniform numbers as there are pooled events, from a stream
of its own: runs can be cut anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array, IntArray
from localizer.base.threads import in_threads
from localizer.estimators.studentized import rff_studentized, studentized
from localizer.estimators.weights import Weights, own_noise
from localizer.kernels import feature_products
from localizer.kernels.feature_means import chunks, feature_mean
from localizer.kernels.features import FourierFeatures
from localizer.kernels.moments import kernel_moments
from localizer.own.progress import Advance, unseen
from localizer.own.random_features import (
    draw_features,
    evidence_features,
    mmd2_of_means,
)
from localizer.own.recipe import Choices, Recipe, Streams, both, choose
from localizer.own.splits import GROUP, largest_first, of_splits

Sampler: TypeAlias = Callable[[np.random.Generator, int], npt.ArrayLike]


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
        The largest scores of each, in falling order; shape (draws, top).
    lowest
        The lowest score of each.
    """

    numbers: IntArray
    mmd2: Array
    largest: Array
    lowest: Array

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
    rest = (
        np.concatenate([getattr(part, name) for part in parts])[order]
        for name in ("mmd2", "largest", "lowest")
    )
    return NullDraws(numbers[order], *rest)


# --- the data and the null -----------------------------------------------------------------


def observe(
    sample: npt.ArrayLike,
    reference: npt.ArrayLike,
    recipe: Recipe,
    streams: Streams,
    *,
    top: int = 100,
    weights: Weights | None = None,
) -> NullDraws:
    """Return the statistics of the data themselves, as one draw.

    Parameters
    ----------
    top
        How many of the largest scores are kept (all, if the sample has no more).
    weights
        Those of the events; left out, every event counts once.
    """
    x, y = both(sample, reference)
    chosen = choose(x, y, recipe, streams)
    x, y = chosen.transform(x), chosen.transform(y)
    N, M = len(x), len(y)
    keep = min(checks.integer(top, "top"), N)
    w = weights or Weights.none(N, M)
    decided = recipe.for_calibration(N, M)
    form = _observe_exactly if decided.method == "exact" else _observe_by_features
    value, scores = form(x, y, chosen, decided, streams, w)
    return NullDraws(
        np.zeros(1, dtype=np.int64),
        np.array([value]),
        largest_first(scores[:, None], keep).T,
        scores.min(keepdims=True),
    )


def _observe_exactly(
    x: Array, y: Array, chosen: Choices, recipe: Recipe, _: Streams, w: Weights
) -> tuple[float, Array]:
    """Return MMD^2 and the scores from all pairs of events."""
    h, u, v = chosen.bank.bandwidths, w.sample, w.reference
    ladder = chosen.ladder if recipe.ranking == "evidence" else ()
    inside = kernel_moments(x, x, h, each=ladder, weights=u)
    across = kernel_moments(x, y, h, each=ladder, weights=v)
    outside = kernel_moments(y, y, h, weights=v)
    value = -2 * u @ across.first / (u.sum() * v.sum())
    for sums, of_events in ((inside, u), (outside, v)):
        at = sums.first / of_events.sum()
        value += of_events @ at / of_events.sum() - own_noise(at, of_events)
    if recipe.ranking == "evidence":
        return value, studentized(inside, across, w)
    return value, (inside.first - u) / (u.sum() - u) - across.first / v.sum()


def _observe_by_features(
    x: Array, y: Array, chosen: Choices, recipe: Recipe, streams: Streams, w: Weights
) -> tuple[float, Array]:
    """Return MMD^2 and the scores from random features."""
    z = draw_features(chosen.bank, x.shape[1], recipe, streams)
    mean, mean_reference = feature_mean(z, x, w.sample), feature_mean(z, y, w.reference)
    value = float(mmd2_of_means(mean, mean_reference, N=len(x), M=len(y)))
    if not w.are_equal:
        value = float(np.sum((mean - mean_reference) ** 2))
        value -= own_noise(_at(z, x, mean)[:, 0], w.sample)
        value -= own_noise(_at(z, y, mean_reference)[:, 0], w.reference)
    if recipe.ranking == "evidence":
        features = evidence_features(chosen.ladder, x, y, recipe, streams, w)
        mean, mean_reference = (
            feature_mean(features.z, t, of_t) for t, of_t in ((x, w.sample), (y, w.reference))
        )
        return value, rff_studentized(features, x, mean, mean_reference, w)
    difference, of_sample = _at(z, x, mean - mean_reference, mean).T
    return value, difference + w.left_out * (of_sample - 1)


def _at(z: FourierFeatures, x: Array, *directions: Array) -> Array:
    """Return the products of features with directions, by all threads."""
    parts = in_threads(lambda rows: feature_products.projections(z, x[rows], directions), chunks(x))
    return np.concatenate(list(parts)).astype(np.float64)


def permutations(
    sample: npt.ArrayLike,
    reference: npt.ArrayLike,
    recipe: Recipe,
    streams: Streams,
    *,
    numbers: range,
    top: int = 100,
    advance: Advance = unseen,
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
    advance
        Is told how many events were visited.

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
            advance(len(pooled))
        return _listed(numbers, draws)
    chosen = choose(x, y, recipe, streams)
    first = numbers.start // GROUP * GROUP
    columns = -(-(numbers.stop - first) // GROUP) * GROUP
    members = np.zeros((len(pooled), columns), dtype=np.uint8)

    def deal(p: int) -> None:
        places = np.argpartition(streams("permutation", p).random(len(pooled)), N)[:N]
        members[places, p - first] = 1

    for _ in in_threads(deal, numbers):
        pass
    # columns of permutations that were not asked for hold a permutation that was
    empty = [c for c in range(columns) if c + first not in numbers]
    members[:, empty] = members[:, [numbers.start - first]]
    found = of_splits(chosen.transform(pooled), N, members, chosen, recipe, streams, top, advance)
    wanted = np.asarray(numbers) - first
    return NullDraws(np.asarray(numbers), *(values[wanted] for values in found))


def pseudoexperiments(
    N: int,
    reference: npt.ArrayLike,
    recipe: Recipe,
    streams: Streams,
    *,
    numbers: range,
    sampler: Sampler | None = None,
    top: int = 100,
    advance: Advance = unseen,
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
    numbers, top, advance
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
    # as the data are scored, although these samples and references are smaller
    decided = recipe.for_calibration(size, len(events))
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
        draws.append(observe(sample, others, decided, streams, top=top))
        advance(len(sample) + len(others))
    return _listed(numbers, draws)


def _check(numbers: range) -> None:
    if len(numbers) == 0 or numbers.step != 1 or numbers.start < 0:
        raise ValueError(f"numbers must be a range of consecutive numbers from 0 on, not {numbers}")


def _listed(numbers: range, draws: Sequence[NullDraws]) -> NullDraws:
    return joined(
        [replace(draw, numbers=np.array([p])) for p, draw in zip(numbers, draws, strict=True)]
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
