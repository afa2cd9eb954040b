"""Scores and MMD^2 from random features, cosines and sines side by side: z(x).z(x) = 1.

Each frequency w gives an unbiased estimate of the witness by itself; the n frequencies of a
bandwidth are independent, and the scatter of their estimates is the error of the mean.
"""

from __future__ import annotations

import numpy as np

from localizer.base.checks import Array
from localizer.base.randomness import subsample
from localizer.base.threads import in_threads
from localizer.estimators.studentized import StudentizedFeatures
from localizer.estimators.weights import Weights
from localizer.kernels import features
from localizer.kernels.bank import GaussianBank
from localizer.kernels.feature_means import chunks
from localizer.kernels.feature_products import scatter_of_frequencies
from localizer.kernels.features import FourierFeatures, feature_rows
from localizer.own.recipe import Recipe, Streams

# Pooled events from which the covariance of the evidence's features is found.
_FOR_COVARIANCE = 20_000

# More features of a bandwidth would make its covariance the largest part of the work.
_MOST_FOR_COVARIANCE = 1024


def draw_features(bank: GaussianBank, d: int, recipe: Recipe, streams: Streams) -> FourierFeatures:
    """Return the random features of a bank, cosines and sines: z(x).z(x) = 1.

    Another bank gets the same directions, in other units.
    """
    return features.fourier_features(
        bank, d, streams("features"), n_per_bandwidth=recipe.n_per_bandwidth, form="paired"
    )


def evidence_features(
    ladder: tuple[float, ...],
    sample: Array,
    reference: Array,
    recipe: Recipe,
    streams: Streams,
    weights: Weights | None = None,
) -> StudentizedFeatures:
    """Return the random features of the evidence, their covariance that of some pooled events.

    Which events these are does not depend on which of them belong to the sample.
    """
    z = features.fourier_features(
        *(GaussianBank(ladder), sample.shape[1], streams("ladder")),
        n_per_bandwidth=min(recipe.n_per_bandwidth, _MOST_FOR_COVARIANCE),
        form="paired",
    )
    pooled = np.concatenate([sample, reference])
    few = subsample(streams("covariance"), len(pooled), _FOR_COVARIANCE)
    shares = weights.pooled[few] if weights else None
    return StudentizedFeatures.of(z, pooled[few], bandwidths=len(ladder), weights=shares)


def rff_scores(
    z: FourierFeatures,
    at: Array,
    mean: Array,
    mean_reference: Array,
    left_out: float | Array,
    *,
    bank: GaussianBank,
) -> tuple[Array, Array, Array]:
    """Return eq. rff-loo, eq. rff-witness and the error of the features.

    With z(x).z(x) = 1 the first is (1 + l) z(x).mean - l - z(x).mean_reference, with l the
    weight of the event over that of all others: 1/(N-1) where all weights are 1.

    Parameters
    ----------
    left_out
        l of all events, one number or one for each; 0 where they are not in the sample.
    """
    common = left_out if isinstance(left_out, float) else 0.0
    v = ((1 + common) * mean - mean_reference).astype(np.float32)
    of_sample = mean.astype(np.float32)
    left = np.broadcast_to(left_out, len(at))

    def work(rows: slice) -> tuple[Array, Array, Array]:
        loo, own, variance = (np.empty(len(at[rows])) for _ in range(3))
        for place, block in feature_rows(z, at[rows]):
            own[place] = block @ of_sample
            products = np.multiply(block, v)
            if not isinstance(left_out, float):
                products += left[rows][place, None].astype(np.float32) * block * of_sample
            loo[place] = products.sum(axis=1, dtype=np.float64)
            variance[place] = scatter_of_frequencies(products, len(bank.bandwidths))
        return loo - left[rows], own, variance

    parts = zip(*in_threads(work, chunks(at)), strict=True)
    loo, own, variance = (np.concatenate(part) for part in parts)
    return loo, loo + left * (1 - own), np.sqrt(variance)


def mmd2_of_means(mean: Array, mean_reference: Array, *, N: int, M: int) -> Array:
    """Return MMD^2 from the mean features with z(x).z(x) = 1, by the last axis."""
    biased = np.sum((mean - mean_reference) ** 2, axis=-1)
    own = (1 - np.sum(mean**2, axis=-1)) / (N - 1)
    own_reference = (1 - np.sum(mean_reference**2, axis=-1)) / (M - 1)
    return np.asarray(biased - own - own_reference)
