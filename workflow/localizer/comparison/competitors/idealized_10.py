"""The idealized anomaly detector of weak supervision, ten classifiers a fold.

A classifier of sample against reference, cross-fitted over five folds of the sample: with a
reference that is pure background its output rises with the likelihood ratio of signal and
background. Boosted trees, for they suit tabular features (arXiv 2309.13111); the settings are
those of :mod:`localizer.comparison.boosting`.
"""

from __future__ import annotations

import numpy as np

from localizer.base.checks import Array
from localizer.comparison.boosting import ensemble
from localizer.comparison.crossfit import cross_fitted

LABEL = "idealized detector, 10 classifiers"


def score(sample: Array, reference: Array, rng: np.random.Generator) -> Array:
    """Return the probability that an event belongs to the sample, by classifiers without it."""
    return cross_fitted(
        sample, rng, lambda seen, at: ensemble(seen, reference, at, rng, members=10)
    )
