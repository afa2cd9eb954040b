"""Scores and MMD^2 from random features, cosines and sines side by side: z(x).z(x) = 1.

Each frequency w gives an unbiased estimate of the witness by itself; the n frequencies of a
bandwidth are independent, and the scatter of their estimates is the error of the mean.
"""

from __future__ import annotations

import numpy as np

from localizer.base.checks import Array
from localizer.base.threads import in_threads
from localizer.kernels import feature_products, features
from localizer.kernels.bank import GaussianBank
from localizer.kernels.features import FourierFeatures
from localizer.own.recipe import Recipe, Streams

# Rows that a thread takes at a time. Sums over them are added in order: a part of the content.
_CHUNK = 16_384


def draw_features(bank: GaussianBank, d: int, recipe: Recipe, streams: Streams) -> FourierFeatures:
    """Return the random features of a bank, cosines and sines: z(x).z(x) = 1.

    Another bank gets the same directions, in other units.
    """
    return features.fourier_features(
        bank, d, streams("features"), n_per_bandwidth=recipe.n_per_bandwidth, form="paired"
    )


def chunks(x: Array) -> list[slice]:
    """Return the rows that threads take, in order."""
    return [slice(a, min(a + _CHUNK, len(x))) for a in range(0, len(x), _CHUNK)]


def feature_mean(z: FourierFeatures, x: Array) -> Array:
    """Return the mean of the features over events, by all threads."""
    total = np.zeros(z.D)
    for part in in_threads(
        lambda rows: feature_products.plain_mean(z, x[rows]) * len(x[rows]), chunks(x)
    ):
        total += part
    return total / len(x)


def rff_scores(
    z: FourierFeatures,
    at: Array,
    mean: Array,
    mean_reference: Array,
    *,
    N: int | None,
    bank: GaussianBank,
) -> tuple[Array, Array, Array]:
    """Return eq. rff-loo, eq. rff-witness and the error of the features.

    With z(x).z(x) = 1 the first is z(x).v - 1/(N-1), v = N/(N-1) mean - mean_reference, and the
    frequencies differ in z(x).v only.
    """
    left_out = 0.0 if N is None else 1 / (N - 1)
    v = ((1 + left_out) * mean - mean_reference).astype(np.float32)
    of_sample = mean.astype(np.float32)
    per_bandwidth = z.D // len(bank.bandwidths)
    shape = (len(bank.bandwidths), 2, per_bandwidth // 2)

    def work(rows: slice) -> tuple[Array, Array, Array]:
        loo, own, variance = (np.empty(len(at[rows])) for _ in range(3))
        for place, block in feature_products.feature_rows(z, at[rows]):
            own[place] = block @ of_sample
            parts = np.multiply(block, v).reshape(len(block), *shape)
            one = parts[:, :, 0] + parts[:, :, 1]
            total = one.sum(axis=2, dtype=np.float64)
            square = np.einsum("ibf,ibf->ib", one, one, dtype=np.float64)
            n = shape[2]
            scatter = np.maximum(square - total**2 / n, 0) * n / (n - 1)
            loo[place], variance[place] = total.sum(axis=1), scatter.sum(axis=1)
        return loo - left_out, own, variance

    parts = zip(*in_threads(work, chunks(at)), strict=True)
    loo, own, variance = (np.concatenate(part) for part in parts)
    return loo, loo + left_out * (1 - own), np.sqrt(variance)


def mmd2_of_means(mean: Array, mean_reference: Array, *, N: int, M: int) -> Array:
    """Return MMD^2 from the mean features with z(x).z(x) = 1, by the last axis."""
    biased = np.sum((mean - mean_reference) ** 2, axis=-1)
    own = (1 - np.sum(mean**2, axis=-1)) / (N - 1)
    own_reference = (1 - np.sum(mean_reference**2, axis=-1)) / (M - 1)
    return np.asarray(biased - own - own_reference)
