"""Cross-fitting: every event is scored by choices that never saw it (sec. direct-estimation).

Leaving an event out of its own kernel sum is enough while kernel and coordinates are fixed. Where
they are estimated from the sample, the event has already had a say in the rule that scores it.
Here the sample is cut into folds, and the events of a fold are scored by choices (and, where
asked, by a witness and a reference) made without the whole fold.

What is left is the reader's to account for: the largest of many scores is still the largest of
many (sec. global-local), and :mod:`localizer.own.significance` is there for that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array, IntArray
from localizer.own.recipe import Choices, Recipe, Streams, both, choose
from localizer.own.score import EventScores, scores_among

Witness: TypeAlias = Literal["loo", "held_out"]
Fit: TypeAlias = Callable[[Array, Array, Recipe, Streams], Choices]
"""Makes choices from a sample and a reference, as :func:`localizer.own.recipe.choose` does."""
Learn: TypeAlias = Callable[[Array], npt.ArrayLike]
"""Makes a reference from a sample, for example by a fit to its sidebands."""


def folds(N: int, k: int, rng: np.random.Generator) -> IntArray:
    """Return the fold of each event, 0 to k - 1; the sizes of folds differ by one at most.

    Examples
    --------
    >>> from localizer.base.randomness import stream
    >>> np.bincount(folds(11, 3, stream(1, "folds"))).tolist()
    [4, 4, 3]
    """
    size = checks.integer(N, "N", minimum=2)
    parts = checks.integer(k, "k", minimum=2, maximum=size)
    return rng.permutation(np.arange(size) % parts)


def cross_fit(
    sample: npt.ArrayLike,
    reference: npt.ArrayLike | Learn,
    recipe: Recipe,
    streams: Streams,
    *,
    k: int,
    witness: Witness = "loo",
    fit: Fit = choose,
) -> EventScores:
    """Return the scores of all events, each by the rule of its fold.

    Parameters
    ----------
    sample
        Of shape (N, d).
    reference
        Of shape (M, d); or a function that makes one from the events outside a fold.
    recipe
        How choices are made; each fold has its own d_med, and so its own kernel.
    streams
        As for :func:`localizer.own.score.score_events`, and ``folds``.
    k
        The number of folds; each rule is made from all but N/k events.
    witness
        ``loo``: the kernel is summed over all other events of the sample, the event's fold
        included. ``held_out``: over the events outside its fold, so that nothing of the rule
        has seen the event or its fold; for choices that adapt to single events.
    fit
        What makes the choices.
    """
    if witness not in get_args(Witness):
        raise ValueError(f"witness must be one of {', '.join(get_args(Witness))}, not {witness!r}")
    events = checks.points(sample, "sample")
    fold = folds(len(events), k, streams("folds"))
    decided: Recipe | None = None
    loo, inclusive, error_data, error_features = (np.empty(len(events)) for _ in range(4))
    for f in range(k):
        own = np.flatnonzero(fold == f)
        rest = events[fold != f]
        made = reference(rest) if callable(reference) else reference
        training, background = both(rest, made)
        # one method for all folds, that of the whole sample
        decided = decided or recipe.for_scores(len(events), len(background))
        chosen = fit(training, background, decided, streams)
        among = chosen.transform(events if witness == "loo" else training)
        scored = scores_among(
            chosen.transform(events[own]),
            among,
            chosen.transform(background),
            own if witness == "loo" else None,
            chosen.bank,
            decided,
            streams,
        )
        loo[own], inclusive[own] = scored.loo, scored.witness
        error_data[own], error_features[own] = scored.error_data, scored.error_features
    return EventScores(inclusive, loo, error_data, error_features, np.empty(0), scored.method)
