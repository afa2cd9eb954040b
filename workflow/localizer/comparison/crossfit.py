"""Cross-fitting: no event is scored by a fit that has seen it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from localizer.base.checks import Array

FOLDS = 5


def cross_fitted(
    sample: Array, rng: np.random.Generator, fitted: Callable[[Array, Array], Array]
) -> Array:
    """Return the scores of all events, each from the folds of the sample without it.

    Parameters
    ----------
    fitted
        Called with the events to learn from and the events to score; returns their scores.
    """
    fold = rng.permutation(len(sample)) % FOLDS
    out = np.empty(len(sample))
    for number in range(FOLDS):
        held_out = fold == number
        out[held_out] = fitted(sample[~held_out], sample[held_out])
    return out
