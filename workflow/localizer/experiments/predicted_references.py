r"""What a missing reference would give on the real mixed sample (sec. exp-lhco).

The published AUC, SIC and C belong to a reference of n background events. If it is missing,
its mean features can still be predicted: P available background events determine the mean of the
population up to a Gaussian error of covariance Cov/P, and a new reference scatters about that mean
with Cov/n. The
prediction is the Gaussian of the pool's mean and the covariance Cov (1/P + 1/n), given the very
mixed sample that the author had.

The pool holds the background of the mixed sample, found by its labels. Labels are used to
predict the missing file and to measure AUC and SIC; no score uses them.
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
from localizer.experiments.reference_draws import (
    GROUPS,
    Evaluated,
    WeightedPool,
    one_bandwidth_each,
    rows_of_draws,
)
from localizer.kernels.feature_products import feature_rows, plain_mean
from localizer.kernels.features import FourierFeatures


def rows_of_predictions(
    sample: Coordinates,
    d_med: float,
    streams: Callable[[int], np.random.Generator],
    *,
    sizes: Mapping[str, int],
    draws: int,
    draws_per_map: int,
    folds: int,
    bandwidths: Sequence[float],
    sic_floor: int,
    points: Sequence[Point],
    floors: Sequence[int],
    **features: Any,
) -> list[dict[str, float]]:
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
    folds, sic_floor, points, floors
        As for :func:`predicted_means` and
        :func:`localizer.experiments.reference_draws.rows_of_draws`.
    bandwidths, features
        The bank and its features, see :func:`localizer.experiments.experiment3.draw_bank`.
    """
    rows: list[dict[str, float]] = []
    for number, first in enumerate(range(0, draws, draws_per_map)):
        rng = streams(number)
        bank = draw_bank(d_med, bandwidths, rng, **features)
        count = min(draws_per_map, draws - first)
        predicted = predicted_means(
            bank, pool_of(sample), rng, n=sizes["reference"], draws=count, folds=folds
        )
        at = held_out(
            bank,
            sample,
            predicted,
            bandwidths=len(bandwidths),
            published_background=sizes["evaluation_background"],
        )
        found = rows_of_draws(
            bank,
            sample,
            predicted.means,
            rng,
            points=points,
            sic_floor=sic_floor,
            bandwidths=len(bandwidths),
            floors=floors,
            at=at,
            subsample=1500,
        )
        rows += [{"map_number": number, **row} for row in found]
    return rows


@dataclass(frozen=True, eq=False)
class PredictedMeans:
    """Mean features of references that were not seen.

    Attributes
    ----------
    means
        One for each draw, of shape (draws, D), from the whole pool.
    held_out
        The same without the events of one fold, of shape (folds, draws, D): what an event of that
        fold is scored with, so that no event helps to predict the reference that judges it.
    fold_of
        The fold of each event of the pool.
    """

    means: Array
    held_out: Array
    fold_of: npt.NDArray[np.int64]


def predicted_means(
    features: FourierFeatures,
    pool: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    n: int,
    draws: int,
    folds: int,
    groups: int = GROUPS,
) -> PredictedMeans:
    """Return the mean features of ``draws`` references of n events that the pool predicts.

    Parameters
    ----------
    n
        Events of a reference; it may be larger than the pool.
    folds
        Into how many parts the pool is divided, at least 2.
    groups
        As in :class:`localizer.experiments.reference_draws.WeightedPool`.
    """
    parts = checks.integer(folds, "folds", minimum=2)
    events = checks.integer(n, "n")
    weighted = WeightedPool.of(features, pool, rng, draws=draws, folds=parts, groups=groups)

    def drawn(fold: int | None = None) -> Array:
        return weighted.means(lambda P: P / events + 1, without=fold)

    held_out = np.stack([drawn(fold) for fold in range(parts)])
    return PredictedMeans(drawn(), held_out, weighted.fold_of)


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


def held_out(
    features: FourierFeatures,
    sample: Coordinates,
    predicted: PredictedMeans,
    *,
    bandwidths: int,
    published_background: int,
) -> Evaluated:
    """Return the witness at all background at hand and at the evaluation signal.

    An event of the pool is scored with the references predicted without its fold; if it is part of
    the mixed sample, it is left out of that sample's mean too (eq. rff-loo). A signal event is
    scored with the folds in turn. A floor of SIC stands for the same fraction of the background
    as among ``published_background`` events.
    """
    mean = plain_mean(features, sample.mixed)
    N, inside = len(sample.mixed), int((~sample.labels).sum())
    pool, signal = pool_of(sample), sample.evaluation_signal
    events = np.concatenate([pool, signal])
    parts = len(predicted.held_out)
    folds = np.concatenate([predicted.fold_of, np.arange(len(signal)) % parts])
    directions = mean - predicted.held_out
    draws = directions.shape[1]
    scores = np.empty((len(events), draws))
    alone = np.empty((len(events) - inside, bandwidths * draws), dtype=np.float32)
    for fold in range(parts):
        (own,) = np.nonzero(folds == fold)
        columns = np.vstack([directions[fold], mean]).astype(np.float32).T
        single = one_bandwidth_each(directions[fold], bandwidths).astype(np.float32).T
        for rows, z in feature_rows(features, events[own]):
            place = own[rows]
            *value, at_mean = (z @ columns).astype(np.float64).T
            self_term = (np.einsum("ij,ij->i", z, z) - at_mean) / (N - 1)
            scores[place] = np.transpose(value - np.where(place < inside, self_term, 0))
            # the pool begins with the mixed sample, and the places rise
            first = int(np.searchsorted(place, inside))
            alone[place[first:] - inside] = z[first:] @ single
    labels = np.arange(len(events)) >= len(pool)
    return Evaluated(
        scores,
        labels,
        alone.reshape(len(alone), bandwidths, -1),
        labels[inside:],
        len(pool) / published_background,
    )
