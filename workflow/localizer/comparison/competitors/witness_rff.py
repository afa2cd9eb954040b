"""The paper's witness: five Gaussian kernels, 512 random Fourier features each (eq. rff-witness).

The same choices as in Experiment III: copula coordinates, bandwidths from a quarter of the
background's median distance to four times it, features of the form cos(w.x + b).
"""

from __future__ import annotations

import numpy as np

from localizer.base.checks import Array
from localizer.comparison.coordinates import bandwidths, copula
from localizer.kernels.bank import GaussianBank
from localizer.kernels.feature_products import plain_mean, projections
from localizer.kernels.features import fourier_features

LABEL = "witness, random features (the paper's)"


def score(sample: Array, reference: Array, rng: np.random.Generator) -> Array:
    """Return z(x).(z_mean - z_B) for every event."""
    x, y = copula(sample, reference)
    features = fourier_features(
        GaussianBank(bandwidths(y, rng)), x.shape[1], rng, n_per_bandwidth=512
    )
    direction = plain_mean(features, x) - plain_mean(features, y)
    return projections(features, x, direction[None])[:, 0].astype(np.float64)
