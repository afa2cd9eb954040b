"""The floor: a quadratic discriminant of sample against reference, cross-fitted.

Two normal distributions in the normal scores of the features; whatever a difference in means and
covariances cannot tell, it does not see.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from localizer.base.checks import Array
from localizer.comparison.coordinates import copula
from localizer.comparison.crossfit import cross_fitted

LABEL = "quadratic discriminant"


def score(sample: Array, reference: Array, rng: np.random.Generator) -> Array:
    """Return the log-likelihood ratio of the two normal distributions."""
    x, y = (ndtri(u) for u in copula(sample, reference))

    def fitted(seen: Array, at: Array) -> Array:
        classes = np.arange(len(seen) + len(y)) < len(seen)
        discriminant = QuadraticDiscriminantAnalysis(priors=[0.5, 0.5])
        discriminant.fit(np.concatenate([seen, y]), classes)
        return np.asarray(discriminant.decision_function(at))

    return cross_fitted(x, rng, fitted)
