r"""How far the direct witness of Experiment III scatters, and with what (sec. exp-lhco).

A published AUC, SIC or C belongs to one draw of random features, one mixed sample and one
reference. Here such draws are made by the hundred. With u the difference of the mean features
of the mixed sample and of the reference, the witness is z(x).u; another reference of n events
moves u by a Gaussian of covariance Cov/n (the central limit theorem), which weights drawn
for the events of a pool realise without any matrix: sum_j g_j (z_j - mean) / P has the
covariance Cov/P for standard normal g. A pool of P > n events and a further Gaussian of
covariance Cov (1/n - 1/P) make references that each have exactly the right spread.

Features are multiplied at once with all directions that are asked for, a few rows at a time
(:mod:`localizer.kernels.feature_products`): no matrix of features is ever held.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from localizer.base import checks
from localizer.base.checks import Array, BoolArray
from localizer.base.copula import BackgroundCDF, CopulaScores, median_distance
from localizer.experiments.experiment3 import Coordinates, Point, draw_bank, performance
from localizer.kernels.feature_products import (
    Single,
    feature_rows,
    plain_mean,
    projections,
    sums_of_groups,
)
from localizer.kernels.features import FourierFeatures
from localizer.lhco.surrogate import Surrogate

# Into so many groups, at least, a pool is divided whose events share the weights of a reference.
# A reference is then drawn with the covariance of the groups' sums instead of the events' own, a
# Wishart matrix about it of as many degrees of freedom: sqrt(2/32768) = 0.8 % on a variance and
# 0.4 % on a spread, where 400 references know a spread to 3.5 %. Of the paper's background 16 to
# 18 events share a weight, and the products with 400 references cost as much as the features.
GROUPS = 32_768

# Events from whose pairs with all others each event's spread of the pair kernel is estimated.
_COMPANIONS = 64


# --- one draw ----------------------------------------------------------------------------


def pair_variance(
    features: FourierFeatures, x: npt.ArrayLike, mean_background: Array
) -> tuple[float, Single]:
    """Return mean_i Var_j[q_B(x_i, x_j)] from pairs of the given events, and these as z~."""
    events = checks.points(x, "x", minimum=3)
    z = np.concatenate([z.copy() for _, z in feature_rows(features, events)])
    z -= mean_background.astype(np.float32)
    q = z @ z.T
    n = len(events)
    others = n - 1
    np.fill_diagonal(q, 0)
    mean = q.sum(axis=1, dtype=np.float64) / others
    square = np.einsum("ij,ij->i", q, q, dtype=np.float64) / others
    return float(np.mean(square - mean**2)) * others / (others - 1), z


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The witness of each draw at events that are no part of the mixed sample.

    Attributes
    ----------
    scores, labels
        Of shape (events, draws), and which events are signal.
    single, single_labels
        Those of each bandwidth alone, of shape (events, bandwidths, draws), for some events.
    fraction
        By how much a floor of SIC is smaller here than among the published background events.
    """

    scores: npt.NDArray[np.floating[Any]]
    labels: BoolArray
    single: npt.NDArray[np.floating[Any]]
    single_labels: BoolArray
    fraction: float = 1.0


def one_bandwidth_each(directions: Array, bandwidths: int) -> Array:
    """Return the directions (draws, D) cut to the features of each bandwidth.

    The shape is (bandwidths * draws, D); a row is zero outside its bandwidth.
    """
    draws, D = directions.shape
    width = D // bandwidths
    alone = np.zeros((bandwidths, draws, D))
    for b in range(bandwidths):
        own = slice(b * width, (b + 1) * width)
        alone[b, :, own] = directions[:, own]
    return alone.reshape(-1, D)


def evaluated(
    features: FourierFeatures, sample: Coordinates, means: Array, *, bandwidths: int
) -> Evaluated:
    """Return the witness at the evaluation sample, for each of some reference means."""
    directions = plain_mean(features, sample.mixed) - means
    x, labels = sample.evaluation
    few_x, few_labels = _fewer(x, labels, most=20_000)
    single = projections(features, few_x, one_bandwidth_each(directions, bandwidths))
    return Evaluated(
        projections(features, x, directions),
        labels,
        single.reshape(len(few_x), bandwidths, len(means)),
        few_labels,
    )


def rows_of_draws(
    features: FourierFeatures,
    sample: Coordinates,
    means: Array,
    rng: np.random.Generator,
    *,
    points: Sequence[Point],
    sic_floor: int,
    bandwidths: int,
    floors: Sequence[int] = (),
    at: Evaluated | None = None,
    subsample: int = 3000,
) -> list[dict[str, float]]:
    """Return AUC, SIC and C of the witness for each of some reference means.

    Parameters
    ----------
    features
        The bank.
    sample
        The mixed sample and the evaluation sample.
    means
        One mean of the background's features for each draw, of shape (draws, D).
    rng
        For the resampling noise of ``points`` and for the events that C is estimated from.
    points
        Batch runs whose scores are simulated: the witness plus Gaussian noise with the
        variance that the run leaves to each event.
    sic_floor
        Background events that a SIC threshold must keep.
    bandwidths
        How many bandwidths the bank has; each alone is a single-scale witness.
    floors
        Other floors.
    at
        The witness at independent events; without it, at the evaluation sample.
    subsample
        Events among whose pairs the spread of the pair kernel is estimated.
    """
    N, draws = len(sample.mixed), len(means)
    mean = plain_mean(features, sample.mixed)
    chosen = rng.choice(N, size=min(subsample, N), replace=False)
    zeta, some = pair_variance(features, sample.mixed[chosen], means[0])
    companions = some[:_COMPANIONS].astype(np.float64)
    scores = projections(features, sample.mixed, np.concatenate([mean - means, companions]))
    # z_i.z~_c is q_B(x_i, x_c) but for a constant of each companion
    q = scores[:, draws:] - (companions @ means[0]).astype(np.float32)
    v = q.var(axis=1, ddof=1, dtype=np.float64)
    v *= zeta / v.mean()

    there = at or evaluated(features, sample, means, bandwidths=bandwidths)

    def judged(
        score: npt.ArrayLike, name: str, labels: BoolArray = sample.labels, fraction: float = 1.0
    ) -> dict[str, float]:
        least = [max(1, round(fraction * floor)) for floor in (sic_floor, *floors)]
        found = performance(score, labels, sic_floor=least[0], floors=least[1:])
        others = {
            f"sic_{name}_floor_{floor}": found[f"sic_floor_{n}"]
            for floor, n in zip(floors, least[1:], strict=True)
        }
        return {f"auc_{name}": found["auc"], f"sic_{name}": found["sic"], **others}

    rows = []
    for k in range(draws):
        w = scores[:, k].astype(np.float64)
        variance = float(w.var())
        alone = [
            performance(there.single[:, b, k], there.single_labels, sic_floor=1)["auc"]
            for b in range(bandwidths)
        ]
        row = {
            **judged(w, "witness"),
            **judged(there.scores[:, k], "evaluation", there.labels, there.fraction),
            "auc_single": max(alone),
            **{"variance": variance, "C": N * zeta / variance},
        }
        noise = rng.standard_normal(N)
        for point in points:
            simulated = w + np.sqrt(point.noise(v, variance)) * noise
            row |= judged(simulated, point.name)
            row[f"rho_{point.name}"] = float(np.corrcoef(w, simulated)[0, 1])
        rows.append(row)
    return rows


def _fewer(x: Array, labels: BoolArray, *, most: int) -> tuple[Array, BoolArray]:
    """Return at most ``most`` events of each class: enough for an AUC."""
    keep = np.concatenate([np.flatnonzero(labels == label)[:most] for label in (False, True)])
    return x[keep], labels[keep]


@dataclass(frozen=True, eq=False)
class WeightedPool:
    """Sums over a pool whose events have standard normal weights, one for each draw.

    Where the pool has twice as many events as there are groups, or more, the events of a group
    share their weights. All groups have the same size, but for a smaller one at the end. The pool
    is shuffled first, so that an order of its events makes no difference. The sum of k events
    chosen among P has covariance k Cov (P - k)/(P - 1) about k means, so the weights of all groups
    are scaled by sqrt(P (P - 1) / (P^2 - sum k^2)): over the shuffles the covariance is exactly
    that of the events, whatever the last group is, and in one shuffle it fluctuates about it like
    the sample covariance of as many normal events as there are groups.

    Attributes
    ----------
    number, squares
        Events of each fold, and the sum of the squared sizes of its groups.
    total, moved, of_sizes
        Sums over each fold: of the features, of the weighted features by draw, and of the
        weighted group sizes by draw.
    fold_of
        The fold of each event.
    """

    number: Array
    squares: Array
    total: Array
    moved: Array
    of_sizes: Array
    fold_of: npt.NDArray[np.int64]

    @classmethod
    def of(
        cls,
        features: FourierFeatures,
        pool: npt.ArrayLike,
        rng: np.random.Generator,
        *,
        draws: int,
        folds: int = 1,
        groups: int = GROUPS,
    ) -> WeightedPool:
        """Return the sums over a pool; a fold takes every ``folds``-th group."""
        events = checks.points(pool, "pool", minimum=2)
        P, count, parts = (
            len(events),
            checks.integer(draws, "draws"),
            checks.integer(folds, "folds"),
        )
        size = max(1, P // checks.integer(groups, "groups", minimum=max(2, parts)))
        sizes = np.diff(np.arange(0, P, size), append=P).astype(float)
        order = rng.permutation(P)
        number, squares = np.zeros(parts), np.zeros(parts)
        total = np.zeros((parts, features.D))
        moved, of_sizes = np.zeros((parts, count, features.D)), np.zeros((parts, count))
        first = 0
        for sums in sums_of_groups(features, events[order], group=size):
            weights = rng.standard_normal((len(sums), count), dtype=np.float32)
            for fold in range(parts):
                some = slice((fold - first) % parts, None, parts)
                own = sizes[first : first + len(sums)][some]
                number[fold] += own.sum()
                squares[fold] += np.sum(own**2)
                total[fold] += sums[some].sum(axis=0, dtype=np.float64)
                moved[fold] += weights[some].T @ sums[some]
                of_sizes[fold] += own @ weights[some]
            first += len(sums)
        fold_of = np.empty(P, dtype=np.int64)
        fold_of[order] = np.arange(P) // size % parts
        return cls(number, squares, total, moved, of_sizes, fold_of)

    def means(self, variance: Callable[[float], float], *, without: int | None = None) -> Array:
        """Return mean features of the draws, of shape (draws, D).

        Parameters
        ----------
        variance
            Which part of Cov their covariance is, times P, for a pool of P events.
        without
            A fold that is left out.
        """
        used = [fold for fold in range(len(self.number)) if fold != without]
        P = float(self.number[used].sum())
        spread = math.sqrt(variance(P))
        spread *= math.sqrt(P * (P - 1) / (P**2 - float(self.squares[used].sum())))
        mean = self.total[used].sum(axis=0) / P
        shift = self.moved[used].sum(axis=0) - np.outer(self.of_sizes[used].sum(axis=0), mean)
        return np.asarray(mean + spread / P * shift)


def reference_means(
    features: FourierFeatures,
    pool: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    n: int,
    draws: int,
    groups: int = GROUPS,
) -> Array:
    """Return mean features of ``draws`` references of n events, of shape (draws, D).

    Each is the pool's mean plus a Gaussian of covariance Cov (1/n - 1/P): its own spread
    about the population is Cov/n. A pool of n events gives its mean again and again.

    Parameters
    ----------
    pool
        The events, in any order.
    n
        Events of a reference, at most those of the pool.
    groups
        The least number of groups. If it is more than half the pool's size, every event has
        weights of its own.
    """
    weighted = WeightedPool.of(features, pool, rng, draws=draws, groups=groups)
    events = checks.integer(n, "n", maximum=int(weighted.number.sum()))
    return weighted.means(lambda P: P / events - 1)


# --- the studies -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Drawn:
    """Surrogate samples in copula coordinates, and the pool that references come from."""

    sample: Coordinates
    pool: Array
    d_med: float


def draw_surrogate(
    surrogate: Surrogate,
    streams: Callable[[str], np.random.Generator],
    *,
    sizes: Mapping[str, int],
    pool: int,
    copula: CopulaScores,
) -> Drawn:
    """Return surrogate samples of given sizes.

    Parameters
    ----------
    streams
        The generator of each sample, by its name.
    sizes
        Events of mixed_background, mixed_signal, reference, evaluation_background and
        evaluation_signal.
    pool
        Background events of the pool, the reference included.
    copula
        The form of the coordinates, see :mod:`localizer.base.copula`.
    """

    def events(name: str, kind: str, n: int) -> Array:
        return surrogate.sample(streams(name), n, kind)[:, 1:]

    background = events("reference", "qcd", max(pool, sizes["reference"]))
    cdf = BackgroundCDF.of(background[: sizes["reference"]])
    mixed = np.concatenate(
        [
            events("mixed background", "qcd", sizes["mixed_background"]),
            events("mixed signal", "signal", sizes["mixed_signal"]),
        ]
    )
    everything = cdf.transform(background, scores=copula)
    reference = everything[: sizes["reference"]]
    evaluation = {
        "evaluation_background": ("qcd", sizes["evaluation_background"]),
        "evaluation_signal": ("signal", sizes["evaluation_signal"]),
    }
    sample = Coordinates(
        mixed=cdf.transform(mixed, scores=copula),
        labels=np.arange(len(mixed)) >= sizes["mixed_background"],
        reference=reference,
        **{
            name: cdf.transform(events(name, kind, n), scores=copula)
            for name, (kind, n) in evaluation.items()
        },
    )
    distance = median_distance(reference, streams("d_med"), pairs=200_000)
    return Drawn(sample, everything[: max(pool, sizes["reference"])], distance.value)


def rows_of_surrogate(
    surrogate: Surrogate,
    streams: Callable[[str], np.random.Generator],
    *,
    copula: CopulaScores,
    sizes: Mapping[str, int],
    draws: int,
    bandwidths: Sequence[float],
    sic_floor: int,
    points: Sequence[Point],
    floors: Sequence[int],
    **features: Any,
) -> list[dict[str, float]]:
    """Return AUC, SIC, C and correlations in one surrogate sample for ``draws`` references.

    The arguments are those of :func:`draw_surrogate` and :func:`rows_of_draws`; the mixed sample
    has one draw of features, which all references share.
    """
    drawn = draw_surrogate(
        surrogate, streams, sizes=sizes, pool=2 * sizes["reference"], copula=copula
    )
    rng = streams("features and references")
    bank = draw_bank(drawn.d_med, bandwidths, rng, **features)
    means = reference_means(bank, drawn.pool, rng, n=sizes["reference"], draws=draws)
    found = rows_of_draws(
        bank,
        drawn.sample,
        means,
        rng,
        points=points,
        sic_floor=sic_floor,
        bandwidths=len(bandwidths),
        floors=floors,
    )
    return [{"map_number": 0, **row} for row in found]


def rank_summary(
    draws: pd.DataFrame, seeds: pd.DataFrame, published: Mapping[str, str]
) -> pd.DataFrame:
    """Return mean, spread and quantiles of each quantity, and where the published one lies.

    Parameters
    ----------
    draws
        One row for each draw of surrogate samples and features.
    seeds
        One row for each draw of features on the sample at hand.
    published
        The published values as printed, by column of both.
    """
    rows = []
    for name, digits in published.items():
        column = draws[name].to_numpy()
        low, middle, high = np.quantile(column, [0.16, 0.5, 0.84])
        rows.append(
            {
                **{"quantity": name, "published": digits, "draws": column.size},
                **{"mean": column.mean(), "spread": column.std(ddof=1)},
                **{"quantile_16": low, "median": middle, "quantile_84": high},
                "share_below_published": float(np.mean(column < float(digits))),
                "draws_of_features_here": len(seeds),
                "mean_here": seeds[name].mean(),
                "spread_here": seeds[name].std(ddof=1),
            }
        )
    return pd.DataFrame(rows)
