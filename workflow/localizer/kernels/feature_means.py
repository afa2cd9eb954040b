"""Means of random features over many events, by all threads, with no matrix of features held."""

from __future__ import annotations

import numpy as np

from localizer.base.checks import Array
from localizer.base.threads import in_threads
from localizer.kernels import feature_products
from localizer.kernels.features import FourierFeatures

# Rows that a thread takes at a time. Sums over them are added in order: a part of the content.
CHUNK = 16_384


def chunks(x: Array) -> list[slice]:
    """Return the rows that threads take, in order."""
    return [slice(a, min(a + CHUNK, len(x))) for a in range(0, len(x), CHUNK)]


def feature_sums(z: FourierFeatures, x: Array, weights: Array | None = None) -> Array:
    """Return the weighted sums of the features over each chunk of events, of shape (chunks, D)."""
    w = np.ones(len(x)) if weights is None else weights

    def sums(rows: slice) -> Array:
        means = feature_products.weighted_means(z, x[rows], w[rows, None])
        return np.asarray(means[0] * len(x[rows]))

    return np.array(list(in_threads(sums, chunks(x)))).reshape(-1, z.D)


def mean_of(sums: Array, weights: Array) -> Array:
    """Return the mean from the sums over all chunks, which are added in order."""
    total = np.zeros(sums.shape[1])
    for part in sums:
        total += part
    return np.asarray(total / weights.sum())


def feature_mean(z: FourierFeatures, x: Array, weights: Array | None = None) -> Array:
    """Return the mean of the features over events, with the weights of these where there are some.

    Weights may be negative; their sum may not.
    """
    w = np.ones(len(x)) if weights is None else weights
    return mean_of(feature_sums(z, x, w), w)
