"""The ceiling: a classifier trained on labelled events, which no search has.

Ten boosted-tree classifiers of independent signal events against the reference, with the settings
of :mod:`localizer.comparison.boosting`.
"""

from __future__ import annotations

import numpy as np

from localizer.base.checks import Array
from localizer.comparison.boosting import ensemble

LABEL = "supervised (sees labels)"
ORACLE = True


def score(sample: Array, reference: Array, rng: np.random.Generator, *, signal: Array) -> Array:
    """Return the probability that an event is signal."""
    return ensemble(signal, reference, sample, rng, members=10)
