r"""What a reference that is not at hand would give on the real mixed sample (sec. exp-lhco).

The published AUC, SIC and C belong to a reference of n background events. Where it cannot be had,
its mean features can still be predicted: P background events at hand know the population's mean up
to a Gaussian of covariance Cov/P, and a fresh reference scatters about that mean with Cov/n. The
prediction is the Gaussian of the pool's mean and the covariance Cov (1/P + 1/n), given the very
mixed sample that the author had.

The pool holds the background of the mixed sample, found by its labels. Labels serve to predict the
missing file and to measure AUC and SIC; no score uses them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array, BoolArray
from localizer.experiments.experiment3 import Coordinates
from localizer.kernels.feature_products import feature_rows, plain_mean, sums_of_groups
from localizer.kernels.features import FourierFeatures

_GROUPS = 32_768


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
    groups: int = _GROUPS,
) -> PredictedMeans:
    """Return the mean features of ``draws`` references of n events that the pool predicts.

    As in :func:`localizer.experiments.reference_draws.reference_means`, standard normal weights
    of the pool's events make a Gaussian of their covariance without any matrix, and in a large
    pool the events share their weights in shuffled groups.

    Parameters
    ----------
    n
        Events of a reference; it may be larger than the pool.
    folds
        Into how many parts the pool is divided, at least 2.
    groups
        The least number of groups.
    """
    events = checks.points(pool, "pool", minimum=2)
    P, count = len(events), checks.integer(draws, "draws")
    parts = checks.integer(folds, "folds", minimum=2)
    size = max(1, P // checks.integer(groups, "groups", minimum=parts))
    sizes = np.diff(np.arange(0, P, size), append=P).astype(float)
    order = rng.permutation(P)

    # sums over each fold; a fold takes every ``parts``-th group
    number = np.zeros(parts)
    squares = np.zeros(parts)
    mean = np.zeros((parts, features.D))
    moved = np.zeros((parts, count, features.D))
    of_sizes = np.zeros((parts, count))
    first = 0
    for sums in sums_of_groups(features, events[order], group=size):
        weights = rng.standard_normal((len(sums), count), dtype=np.float32)
        for fold in range(parts):
            some = slice((fold - first) % parts, None, parts)
            own = sizes[first : first + len(sums)][some]
            number[fold] += own.sum()
            squares[fold] += np.sum(own**2)
            mean[fold] += sums[some].sum(axis=0, dtype=np.float64)
            moved[fold] += weights[some].T @ sums[some]
            of_sizes[fold] += own @ weights[some]
        first += len(sums)
    fold_of = np.empty(P, dtype=np.int64)
    fold_of[order] = np.arange(P) // size % parts

    def drawn(left_out: int | None) -> Array:
        used = [fold for fold in range(parts) if fold != left_out]
        Q = float(number[used].sum())
        centre = mean[used].sum(axis=0) / Q
        # sampling groups without replacement takes a little of their covariance away
        whole = Q * (Q - 1) / (Q**2 - float(squares[used].sum()))
        spread = math.sqrt(whole * (1 / checks.integer(n, "n") + 1 / Q) / Q)
        shift = moved[used].sum(axis=0) - np.outer(of_sizes[used].sum(axis=0), centre)
        return np.asarray(centre + spread * shift)

    held_out = np.stack([drawn(fold) for fold in range(parts)])
    return PredictedMeans(drawn(None), held_out, fold_of)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Scores of signal and background that had no part in the reference they are scored with.

    Attributes
    ----------
    scores
        Of shape (events, draws).
    labels
        Which events are signal.
    """

    scores: Array
    labels: BoolArray


def pool_of(sample: Coordinates) -> Array:
    """Return all background at hand: that of the mixed sample by its labels, then the others."""
    return np.concatenate([sample.mixed[~sample.labels], sample.background])


def held_out_scores(
    features: FourierFeatures, sample: Coordinates, predicted: PredictedMeans
) -> HeldOut:
    """Return the witness at the pool's events and at the evaluation signal.

    An event of the pool is scored with the references predicted without its fold; if it is part of
    the mixed sample, it is left out of that sample's mean too (eq. rff-loo). A signal event is
    scored with the folds in turn.
    """
    mean = plain_mean(features, sample.mixed)
    N, inside = len(sample.mixed), int((~sample.labels).sum())
    pool = pool_of(sample)
    signal = sample.evaluation_signal
    parts = len(predicted.held_out)
    directions = (mean - predicted.held_out).astype(np.float32)
    folds = np.concatenate([predicted.fold_of, np.arange(len(signal)) % parts])
    events = np.concatenate([pool, signal])
    scores = np.empty((len(events), directions.shape[1]))
    for fold in range(parts):
        (own,) = np.nonzero(folds == fold)
        for rows, z in feature_rows(features, events[own]):
            value = (z @ directions[fold].T).astype(np.float64)
            place = own[rows]
            among = place < inside
            norm = np.einsum("ij,ij->i", z[among], z[among], dtype=np.float64)
            self_term = (norm - z[among] @ mean) / (N - 1)
            value[among] -= self_term[:, None]
            scores[place] = value
    return HeldOut(scores, np.arange(len(events)) >= len(pool))
