r"""What a missing reference would give on the real mixed sample (sec. exp-lhco).

The published AUC, SIC and C belong to a reference of n background events. If it is missing,
its mean features can still be predicted: P available background events determine the mean of the
population up to a Gaussian error of covariance Cov/P, and a new reference scatters about that mean
with Cov/n. The
prediction is the Gaussian of the pool's mean and the covariance Cov (1/P + 1/n), given the very
mixed sample that the author had.

The pool holds the background of the mixed sample, found by its labels. Labels are used to
predict the missing file and to measure AUC and SIC; no score uses them. An event of the pool
that is scored as evaluation background is left out of all that it is scored with, exactly. Ten
folds instead would each have a witness of their own, and scores of different witnesses do not
compare: the maximum SIC would come out a quarter too small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.copula import BackgroundCDF, CopulaScores
from localizer.experiments.experiment3 import Coordinates, Point, draw_bank
from localizer.experiments.weighted_pool import GROUPS, WeightedPool
from localizer.experiments.witness_draws import (
    Draws,
    Evaluated,
    by_bandwidth,
    draws_of_scores,
    spread_in,
)
from localizer.kernels.feature_products import Single, plain_mean, projections
from localizer.kernels.features import FourierFeatures, feature_rows


def draws_of_predictions(
    sample: Coordinates,
    d_med: float,
    streams: Callable[[int], np.random.Generator],
    *,
    sizes: Mapping[str, int],
    draws: int,
    draws_per_map: int,
    bandwidths: Sequence[float],
    points: Sequence[Point],
    **features: Any,
) -> Draws:
    """Return AUC, SIC, C and correlations on the mixed sample for predicted references.

    Parameters
    ----------
    sample, d_med
        The samples and the scale of their background.
    streams
        The generator of each draw of features.
    sizes
        Of the paper's samples: ``reference`` events are predicted, and a floor of SIC is a
        fraction of ``evaluation_background``.
    draws, draws_per_map
        Predicted references, and how many of them share a draw of features; each row says
        which, in ``map_number``.
    points
        As for :func:`localizer.experiments.witness_draws.draws_of_means`.
    bandwidths, features
        The bank and its features, see :func:`localizer.experiments.experiment3.draw_bank`.
    """
    found = []
    for number, first in enumerate(range(0, draws, draws_per_map)):
        rng = streams(number)
        bank = draw_bank(d_med, bandwidths, rng, **features)
        count = min(draws_per_map, draws - first)
        predicted = predicted_means(bank, pool_of(sample), rng, n=sizes["reference"], draws=count)
        some = draws_of_predicted(
            bank,
            sample,
            predicted,
            rng,
            points=points,
            bandwidths=len(bandwidths),
            published_background=sizes["evaluation_background"],
        )
        found.append(some.labelled(map_number=number))
    return Draws.joined(found)


def draws_of_predicted(
    features: FourierFeatures,
    sample: Coordinates,
    predicted: PredictedMeans,
    rng: np.random.Generator,
    *,
    points: Sequence[Point],
    bandwidths: int,
    published_background: int,
) -> Draws:
    """Return the witness for predicted references that share a draw of features."""
    spread = spread_in(features, sample, predicted.means[0], rng, points=points, subsample=1500)
    products, there = products_and_evaluation(
        features,
        sample,
        predicted,
        spread.directions,
        bandwidths=bandwidths,
        published_background=published_background,
    )
    return draws_of_scores(sample.labels, products, spread, there, rng, points=points)


@dataclass(frozen=True, eq=False)
class PredictedMeans:
    """Mean features of references that were not seen.

    Attributes
    ----------
    means
        One for each draw, of shape (draws, D).
    pool
        The weighted events that they were drawn from; None if the pool has no part in the means.
    spread
        What its weighted sums are multiplied by.
    """

    means: Array
    pool: WeightedPool | None = None
    spread: float = 0.0

    def without_itself(self, products: Single, norm: Single, rows: slice) -> Array:
        """Return z_i.(mean - mean_k) for the means of the pool without event i.

        Without it the pool's mean and its weighted sum are known in closed form. A change of the
        spread by a part of 1/2P is left out.

        Parameters
        ----------
        products
            z_i.(mean - mean_k) for each draw, z_i.mean and z_i.(mean of the pool), of shape
            (events, ..., draws + 2), for all features or for some of them.
        norm
            z_i.z_i, of shape (events, ...).
        rows
            The place of these events in the pool.
        """
        along, at_mean, at_pool = np.split(products.astype(np.float64), [-2, -1], axis=-1)
        if self.pool is None:
            return along
        P, n = self.pool.group_of.size, norm[..., None].astype(np.float64)
        # the sum of w_j (z_j - mean) loses g (z_i - mean), and its mean moves by (z_i - mean)/(P-1)
        lost = (self.pool.weights * P - self.pool.sizes @ self.pool.weights) / (P - 1)
        lost = lost[self.pool.group_of[rows]].reshape(len(n), *(1,) * (n.ndim - 2), -1)
        own = self.spread * (n - at_pool) * lost
        return np.asarray(along + (n - at_mean + along + own) / (P - 1))


def predicted_means(
    features: FourierFeatures,
    pool: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    n: int,
    draws: int,
    groups: int = GROUPS,
) -> PredictedMeans:
    """Return the mean features of ``draws`` references of n events that the pool predicts.

    Parameters
    ----------
    n
        Events of a reference; it may be larger than the pool.
    groups
        As in :class:`localizer.experiments.weighted_pool.WeightedPool`.
    """
    events = checks.integer(n, "n")
    weighted = WeightedPool.of(features, pool, rng, draws=draws, groups=groups)

    def variance(P: float) -> float:
        return P / events + 1

    return PredictedMeans(weighted.means(variance), weighted, weighted.spread(variance))


def pool_of(sample: Coordinates) -> Array:
    """Return all background at hand: that of the mixed sample by its labels, then the others."""
    return np.concatenate([sample.mixed[~sample.labels], sample.background])


def in_coordinates_of_the_pool(
    samples: Mapping[str, Any], *, copula: CopulaScores, max_events: int
) -> Coordinates:
    """Return raw samples in the copula coordinates that all background at hand gives.

    They are nearer to those of the missing reference than the coordinates of a small one.
    """
    names = ("mixed", "reference", "evaluation_background", "evaluation_signal")
    background = samples["mixed"][~samples["labels"].astype(bool)]
    cdf = BackgroundCDF.of(
        np.concatenate([background, samples["reference"], samples["evaluation_background"]])
    )
    events = {name: cdf.transform(samples[name], scores=copula) for name in names}
    return Coordinates.of({**events, "labels": samples["labels"]}, max_events=max_events)


def mean_of_mixed(
    features: FourierFeatures, sample: Coordinates, predicted: PredictedMeans
) -> Array:
    """Return the mean features of the mixed sample, from the pool that holds its background."""
    if predicted.pool is None:
        return plain_mean(features, sample.mixed)
    outside, signal = sample.background, sample.mixed[sample.labels]
    total = predicted.pool.group_of.size * predicted.pool.mean
    total -= len(outside) * plain_mean(features, outside)
    total += len(signal) * plain_mean(features, signal)
    return np.asarray(total / len(sample.mixed))


def products_and_evaluation(
    features: FourierFeatures,
    sample: Coordinates,
    predicted: PredictedMeans,
    others: Array,
    *,
    bandwidths: int,
    published_background: int,
) -> tuple[Single, Evaluated]:
    """Return the witness in the mixed sample, and at all background at hand and the other signal.

    The first are products of the features of the mixed sample with the direction of each draw and
    with ``others``, of shape (N, draws + others). In the second each background event is left out
    of the pool that predicts the references and, if it is part of the mixed sample, of that
    sample's mean (eq. rff-loo). A floor of SIC stands for the same fraction of the background as
    among ``published_background`` events. Features of the background are evaluated once for both.
    """
    pool, signal = pool_of(sample), sample.evaluation_signal
    N, inside = len(sample.mixed), int((~sample.labels).sum())
    mean = mean_of_mixed(features, sample, predicted)
    at_pool = mean if predicted.pool is None else predicted.pool.mean
    columns = np.vstack([mean - predicted.means, mean, at_pool, others]).astype(np.float32)
    draws, own = len(predicted.means), len(predicted.means) + 2
    wanted = [*range(draws), *range(own, len(columns))]
    products = np.empty((N, len(wanted)), dtype=np.float32)
    products[sample.labels] = projections(features, sample.mixed[sample.labels], columns[wanted])
    (background,) = np.nonzero(~sample.labels)
    values = np.empty((inside, own), dtype=np.float32)
    norms = np.empty(inside, dtype=np.float32)
    for rows, z in feature_rows(features, pool[:inside]):
        value = z @ columns.T
        values[rows] = value[:, :own]
        products[background[rows]] = value[:, wanted]
        np.einsum("ij,ij->i", z, z, out=norms[rows])
    events = np.concatenate([pool[inside:], signal])
    single = np.empty((len(events), bandwidths, own), dtype=np.float32)
    single_norms = np.empty((len(events), bandwidths), dtype=np.float32)
    for rows, z in feature_rows(features, events):
        single[rows] = by_bandwidth(z, columns[:own], bandwidths)
        parts = z.reshape(len(z), bandwidths, -1)
        np.einsum("ijk,ijk->ij", parts, parts, out=single_norms[rows])
    scores = predicted.without_itself(values, norms, slice(inside))
    scores -= ((norms - values[:, draws]) / (N - 1))[:, None]
    outside = len(pool) - inside
    alone = np.asarray(single[..., :draws], dtype=np.float64)
    alone[:outside] = predicted.without_itself(
        single[:outside], single_norms[:outside], slice(inside, len(pool))
    )
    labels = np.arange(len(pool) + len(signal)) >= len(pool)
    fraction = len(pool) / published_background
    scores = np.concatenate([scores, alone.sum(axis=1)])
    return products, Evaluated(scores, labels, alone, labels[inside:], fraction)
