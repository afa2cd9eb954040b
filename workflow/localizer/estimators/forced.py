"""Forced inclusion: one event placed in many random contexts (sec. practical-estimators).

A *probe* x joins ``R`` contexts of m - 1 companions. In each context the same
companions serve all estimators (matched contexts, eqs. three-G, three-add, three-rep,
event-pair-contribution):

- ``raw``          T_m(x, C),
- ``addition``     T_m(x, C) - T_{m-1}(C),
- ``replacement``  T_m(x, C) - T_m(Y, C), with one further event Y,
- ``pair``         the terms of T_m(x, C) that contain x (for MMD).

:func:`forced_scores` takes any symmetric statistic of a batch, :func:`matched_scores` one of
many batches at once; :func:`mmd_scores` is the fast form for MMD with a Gaussian kernel and the
known background N(0, I). Given the same generators all see the same companions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import NotRequired, TypeAlias, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.vocabulary import FORCED_ESTIMATORS, MATCHED_ESTIMATORS
from localizer.estimators.context_moments import ContextMoments, ForcedScores
from localizer.kernels.matched_sums import MatchedSums
from localizer.models import toys
from localizer.models.gaussian import GaussianBenchmark

Sampler: TypeAlias = Callable[[np.random.Generator, int], Array]
"""A population: (rng, n) to n independent events of shape (n, d)."""

ContextSampler: TypeAlias = Callable[[np.random.Generator, int, int], Array]
"""Contexts: (rng, contexts, size) to an array of shape (contexts, size, d)."""

Values: TypeAlias = Callable[[Array], Array]
"""What a block of contexts says of a probe x: shape (estimators, contexts)."""

# Contexts are drawn a block at a time to stay in cache. The size of a block is part of
# the definition of the random numbers, so it depends on m alone.
_BLOCK_EVENTS = 2**15


def population(model: GaussianBenchmark) -> Sampler:
    """Return the sampler of the mixture P of ``model`` (of B at epsilon 0, of S at 1)."""
    return partial(toys.mixture, model=model)


def fresh(sampler: Sampler) -> ContextSampler:
    """Return contexts of independent events from a population."""

    def draw(rng: np.random.Generator, contexts: int, size: int) -> Array:
        events = np.asarray(sampler(rng, contexts * size), dtype=np.float64)
        if events.ndim != 2 or len(events) != contexts * size:
            raise ValueError(
                f"sampler must return a table of {contexts * size} events, "
                f"not an array of shape {events.shape}"
            )
        return events.reshape(contexts, size, -1)

    return draw


def from_sample(sample: npt.ArrayLike, *, probe: int, replacement: bool) -> ContextSampler:
    """Return contexts drawn from a sample D_N without its event ``probe``.

    With replacement this is the bootstrap analogue of independent draws; without, the
    events of a context are distinct, the further event Y of the replacement included.
    """
    events = checks.points(sample, "sample", minimum=2)
    left_out = checks.integer(probe, "probe", minimum=0, maximum=len(events) - 1)
    others = len(events) - 1

    def draw(rng: np.random.Generator, contexts: int, size: int) -> Array:
        if replacement:
            chosen = rng.integers(others, size=(contexts, size))
        elif size > others:
            raise ValueError(
                f"sample must hold at least {size + 1} events for contexts of {size} distinct "
                f"companions, it holds {len(events)}"
            )
        else:
            chosen = np.stack([rng.choice(others, size, replace=False) for _ in range(contexts)])
        return events[chosen + (chosen >= left_out)]

    return draw


class Contexts(TypedDict):
    """The contexts that probes meet: what every forced score is asked with.

    Attributes
    ----------
    m
        The size of a batch, the probe included.
    R
        The number of contexts of each probe.
    contexts
        Where companions come from: one sampler for all probes, or one for each.
    rngs
        One generator for each probe, so that its score does not depend on which other
        probes are scored beside it; with ``shared_contexts`` a single one.
    shared_contexts
        Whether all probes meet the same contexts. Each probe's mean and standard error
        are as valid as with its own contexts, and MMD costs far less; but the errors of
        different probes are then correlated (strongly so for ``raw``), so that an
        average over probes is less certain than its number of probes suggests.
    """

    m: int
    R: int
    contexts: ContextSampler | Sequence[ContextSampler]
    rngs: Sequence[np.random.Generator]
    shared_contexts: NotRequired[bool]


def forced_scores(
    statistic: Callable[[Array], float],
    probes: npt.ArrayLike,
    *,
    pair: Callable[[Array, Array], float] | None = None,
    **contexts: Unpack[Contexts],
) -> ForcedScores:
    """Return raw, addition and replacement for any symmetric statistic of one batch.

    Parameters
    ----------
    statistic
        T, of a batch of shape (m, d) and of one of m - 1 events.
    probes
        The events to score, of shape (probes, d).
    pair
        The event-containing term of (x, C), where there is one.
    contexts
        See :class:`Contexts`.
    """

    def evaluate(batches: Array) -> Array:
        values = np.array([float(statistic(batch)) for batch in batches])
        if not np.isfinite(values).all():
            bad = values[~np.isfinite(values)][0]
            raise ValueError(f"statistic must return finite numbers, it returned {bad}")
        return values

    return matched_scores(evaluate, probes, pair=pair, **contexts)


def matched_scores(
    evaluate: Callable[[Array], Array],
    probes: npt.ArrayLike,
    *,
    pair: Callable[[Array, Array], float] | None = None,
    **contexts: Unpack[Contexts],
) -> ForcedScores:
    """Return the same for a statistic of many batches, of shape (batches, m, d), at once."""

    def prepare(block: Array) -> Values:
        companions = block[:, :-1]
        without, replaced = evaluate(companions), evaluate(block)

        def values(x: Array) -> Array:
            joined = block.copy()
            joined[:, -1] = x
            forced = evaluate(joined)
            rows = [forced, forced - without, forced - replaced]
            if pair is not None:
                rows.append(np.array([pair(x, C) for C in companions]))
            return np.stack(rows)

        return values

    names = MATCHED_ESTIMATORS if pair is None else FORCED_ESTIMATORS
    return over_contexts(prepare, names, probes, **contexts)


def mmd_scores(probes: npt.ArrayLike, *, h: float, **contexts: Unpack[Contexts]) -> ForcedScores:
    """Return raw, addition, replacement and pair for the MMD of eq. mmd-u-pair.

    The kernel is Gaussian of bandwidth ``h``, the background N(0, I) is known. The mean kernel
    over a context's pairs is right to 3e-7, see :mod:`localizer.kernels.context_pairs`; the pair
    estimator does not depend on it.

    Examples
    --------
    The null test of Experiment I, in small: an extreme event among background events.

    >>> from localizer.base.randomness import stream
    >>> null = GaussianBenchmark(mean=(1.5, 0.0), sigma_s=0.5, epsilon=0.0, h=1.0)
    >>> scores = mmd_scores([[5.0, 0.0]], m=20, R=500, h=1.0,
    ...                     contexts=fresh(population(null)), rngs=[stream(1, "null")])
    >>> bool(abs(scores["raw"].mean[0]) < 4 * scores["raw"].standard_error[0])
    True
    """
    size = checks.integer(contexts["m"], "m", minimum=3)
    width = checks.positive(h, "h")

    def prepare(block: Array) -> Values:
        sums = MatchedSums.of(block, h=width)
        without = sums.context.unbiased()
        replaced = sums.replaced.unbiased()

        def values(x: Array) -> Array:
            forced = sums.forced(x).unbiased()
            return np.stack(
                [forced, forced - without, forced - replaced, forced - (size - 2) / size * without]
            )

        return values

    return over_contexts(prepare, FORCED_ESTIMATORS, probes, **contexts)


def over_contexts(
    prepare: Callable[[Array], Values],
    names: Sequence[str],
    probes: npt.ArrayLike,
    **options: Unpack[Contexts],
) -> ForcedScores:
    """Average estimators over matched contexts: the loop behind every forced score.

    ``prepare`` turns a block of shape (contexts, m, d), m - 1 companions and the further
    event Y in the last place, into the function of x that gives the value of each
    estimator of ``names`` in each context. What does not depend on x is done there once.
    """
    events = checks.points(probes, "probes")
    m = checks.integer(options["m"], "m", minimum=2)
    R = checks.integer(options["R"], "R")
    contexts, rngs = options["contexts"], options["rngs"]
    shared = options.get("shared_contexts", False)
    groups = [events] if shared else [events[i : i + 1] for i in range(len(events))]
    samplers = [contexts] * len(groups) if callable(contexts) else list(contexts)
    if len(samplers) != len(groups):
        raise ValueError(
            "contexts must be one sampler for all probes, or without shared contexts one for each"
        )
    if len(rngs) != len(groups) or len({id(rng) for rng in rngs}) != len(groups):
        raise ValueError(f"rngs must hold {len(groups)} different generators, it holds {len(rngs)}")

    def block_scores(
        group: Array, sampler: ContextSampler, rng: np.random.Generator, size: int
    ) -> ForcedScores:
        block = np.ascontiguousarray(sampler(rng, size, m))
        if block.shape != (size, m, events.shape[1]):
            raise ValueError(
                f"contexts must be of shape {(size, m, events.shape[1])}, not {block.shape}"
            )
        if not np.isfinite(block).all():
            raise ValueError("contexts must be finite")
        values = prepare(block)
        rows = np.stack([values(x) for x in group], axis=1)
        return ForcedScores(
            m, {k: ContextMoments.of(row) for k, row in zip(names, rows, strict=True)}
        )

    return ForcedScores.stack(
        [
            reduce(ForcedScores.merge, (block_scores(*each, size) for size in _blocks(R, m)))
            for each in zip(groups, samplers, rngs, strict=True)
        ]
    )


def _blocks(R: int, m: int) -> Iterator[int]:
    """Yield the numbers of contexts that are drawn together."""
    step = max(1, _BLOCK_EVENTS // m)
    for start in range(0, R, step):
        yield min(step, R - start)
