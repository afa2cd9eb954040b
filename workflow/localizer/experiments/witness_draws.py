r"""How far the direct witness of Experiment III scatters, and with what (sec. exp-lhco).

A published AUC, SIC or C belongs to one draw of random features, one mixed sample and one
reference. Here such draws are made by the hundred. With u the difference of the mean features
of the mixed sample and of the reference, the witness is z(x).u.

Features are multiplied at once with all directions that are asked for, a few rows at a time
(:mod:`localizer.kernels.feature_products`): no matrix of features is ever held. A draw keeps its
AUCs and the heads of its scores, from which :func:`judged` reads SIC at any floor.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from localizer.base import checks
from localizer.base.checks import Array, BoolArray
from localizer.base.metrics import correlation
from localizer.base.sic import Heads, Standing, heads_from_arrays
from localizer.experiments.experiment3 import Coordinates, Point
from localizer.kernels.feature_products import Single, plain_mean, projections
from localizer.kernels.features import FourierFeatures, feature_rows

# Directions that carry the spread of single events: a few eigenvalues dominate. On the paper's
# sample 6 directions of 1500 events give the variance of each event's pairs to 7 %.
_DIRECTIONS = 6


# --- the noise of a batch run -------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PairSpread:
    """How far the pair kernel of one event with all others spreads.

    Attributes
    ----------
    mean
        mean_i Var_j[q_B(x_i, x_j)].
    directions, origin
        Var_j[q_B(x_i, x_j)] is proportional to sum_k (z_i.directions[k] - origin[k])^2.
    """

    mean: float
    directions: Array
    origin: Array

    def of_events(self, products: npt.ArrayLike) -> Array:
        """Return Var_j[q_B(x_i, x_j)] of each event from its products with the directions."""
        v = np.sum((np.asarray(products, dtype=np.float64) - self.origin) ** 2, axis=1)
        return np.asarray(v * (self.mean / v.mean()))


def pair_spread(
    features: FourierFeatures, x: npt.ArrayLike, mean_background: Array, *, directions: int = 0
) -> PairSpread:
    """Return how far the pair kernel spreads, from all pairs of the given events.

    Var_j[q_B(x_i, x_j)] = z~_i.Cov z~_i, of which ``directions`` leading eigenvectors of the
    covariance of these events carry nearly all.
    """
    events = checks.points(x, "x", minimum=3)
    z = np.concatenate([z.copy() for _, z in feature_rows(features, events)])
    z -= mean_background.astype(np.float32)
    n = len(events)
    q = (z @ z.T).astype(np.float64)
    columns = _leading(q, directions) @ z
    np.fill_diagonal(q, 0)
    mean = q.sum(axis=1) / (n - 1)
    square = np.einsum("ij,ij->i", q, q) / (n - 1)
    spread = float(np.mean(square - mean**2)) * (n - 1) / (n - 2)
    return PairSpread(spread, columns, columns @ mean_background)


def _leading(q: Array, count: int) -> Array:
    """Return V / sqrt(n) of shape (count, n), V the leading eigenvectors of the centred q."""
    mean = q.mean(axis=0)
    gram = q - mean - mean[:, None] + mean.mean()
    space = gram[:, : 4 * count]
    for _ in range(3 if count else 0):  # more vectors than wanted make it converge at once
        space = gram @ np.linalg.qr(space)[0]
    space = np.linalg.qr(space)[0]
    _, rotation = np.linalg.eigh(space.T @ gram @ space)
    return np.asarray((space @ rotation[:, ::-1][:, :count]).T / math.sqrt(len(q)))


# --- draws --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of the witness: AUC, C and correlations in a table, SIC in the heads of the scores.

    Attributes
    ----------
    rows
        One for each draw.
    heads
        The heads of each score over the draws: ``witness``, ``evaluation`` and the points, or of
        the only score, whose name is empty.
    """

    rows: pd.DataFrame
    heads: Mapping[str, Heads]

    @classmethod
    def read(cls, rows: pd.DataFrame, arrays: Mapping[str, npt.NDArray[Any]]) -> Draws:
        """Return the draws whose rows and :meth:`arrays` were kept."""
        return cls(rows, heads_from_arrays(arrays))

    def labelled(self, **columns: Any) -> Draws:
        """Return the draws with further columns in front."""
        return Draws(self.rows.assign(**columns)[[*columns, *self.rows]], self.heads)

    @classmethod
    def joined(cls, parts: Sequence[Draws]) -> Draws:
        """Return the draws of all parts, in their order."""
        rows = pd.concat([part.rows for part in parts], ignore_index=True)
        names = parts[0].heads
        return cls(rows, {n: Heads.joined([part.heads[n] for part in parts]) for n in names})

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the heads by name, for a file."""
        return dict(chain(*(heads.arrays(name).items() for name, heads in self.heads.items())))


def judged(draws: Draws, *, sic_floor: int, floors: Sequence[int] = ()) -> pd.DataFrame:
    """Return the rows with the maximum SIC of each score, beside its AUC.

    ``sic_<name>`` is that with ``sic_floor``, ``sic_<name>_floor_<n>`` that with another floor.
    Beside ``auc``, the AUC of the only score, it is ``sic``.
    """
    columns = {}
    for column in draws.rows:
        columns[column] = draws.rows[column]
        kind, _, name = str(column).partition("_")
        if kind == "auc" and name in draws.heads:
            heads = draws.heads[name]
            sic = str(column).replace("auc", "sic", 1)
            columns[sic] = heads.sic(floor=sic_floor)
            columns |= {f"{sic}_floor_{n}": heads.sic(floor=n) for n in floors}
    return pd.DataFrame(columns)


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


def by_bandwidth(z: Single, directions: Single, bandwidths: int) -> Single:
    """Return z.direction with the features of each bandwidth alone, (events, bandwidths, draws)."""
    draws, D = directions.shape
    out = np.empty((len(z), bandwidths, draws), dtype=np.float32)
    for b in range(bandwidths):
        own = slice(b * (D // bandwidths), (b + 1) * (D // bandwidths))
        out[:, b] = z[:, own] @ directions[:, own].T
    return out


def evaluated(
    features: FourierFeatures, sample: Coordinates, means: Array, *, bandwidths: int
) -> Evaluated:
    """Return the witness at the evaluation sample, for each of some reference means."""
    directions = plain_mean(features, sample.mixed) - means
    x, labels = sample.evaluation
    # at most so many events of each class: enough for an AUC
    few = np.concatenate([np.flatnonzero(labels == label)[:20_000] for label in (False, True)])
    blocks = feature_rows(features, x[few])
    single = [by_bandwidth(z, directions.astype(np.float32), bandwidths) for _, z in blocks]
    scores = projections(features, x, directions)
    return Evaluated(scores, labels, np.concatenate(single), labels[few])


def draws_of_means(
    features: FourierFeatures,
    sample: Coordinates,
    means: Array,
    rng: np.random.Generator,
    *,
    points: Sequence[Point],
    bandwidths: int,
) -> Draws:
    """Return the witness for each of some reference means.

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
    bandwidths
        How many bandwidths the bank has; each alone is a single-scale witness.
    """
    spread = spread_in(features, sample, means[0], rng, points=points)
    directions = plain_mean(features, sample.mixed) - means
    products = projections(features, sample.mixed, np.concatenate([directions, spread.directions]))
    there = evaluated(features, sample, means, bandwidths=bandwidths)
    return draws_of_scores(sample.labels, products, spread, there, rng, points=points)


def spread_in(
    features: FourierFeatures,
    sample: Coordinates,
    mean_background: Array,
    rng: np.random.Generator,
    *,
    points: Sequence[Point],
    subsample: int = 3000,
) -> PairSpread:
    """Return the spread of the pair kernel among some events of the mixed sample.

    That of single events is known too if there are points that need it.
    """
    N = len(sample.mixed)
    chosen = sample.mixed[rng.choice(N, size=min(subsample, N), replace=False)]
    kept = min(_DIRECTIONS, len(chosen) // 2) if points else 0
    return pair_spread(features, chosen, mean_background, directions=kept)


def draws_of_scores(
    labels: BoolArray,
    products: Single,
    spread: PairSpread,
    there: Evaluated,
    rng: np.random.Generator,
    *,
    points: Sequence[Point],
) -> Draws:
    """Return the draws of :func:`draws_of_means` from the products of the features.

    Parameters
    ----------
    labels
        Which events of the mixed sample are signal.
    products
        Products of their features with the direction of each draw, then with those of ``spread``.
    there
        The witness at independent events.
    """
    N, draws = len(labels), there.scores.shape[1]
    v = spread.of_events(products[:, draws:]) if points else np.zeros(N)
    rows, heads = [], defaultdict[str, list[Heads]](list)
    for k in range(draws):
        w = products[:, k].astype(np.float64)
        variance, noise = float(w.var()), rng.standard_normal(N)
        simulated = {p.name: w + np.sqrt(p.noise(v, variance)) * noise for p in points}
        standings = {
            "witness": Standing.of(w, labels),
            "evaluation": Standing.of(there.scores[:, k], there.labels),
            **{name: Standing.of(score, labels) for name, score in simulated.items()},
        }
        for name, standing in standings.items():
            fraction = there.fraction if name == "evaluation" else 1.0
            heads[name].append(Heads.of([standing], fraction=fraction))
        single = [Standing.of(score, there.single_labels).auc for score in there.single[:, :, k].T]
        rows.append(
            {
                **{f"auc_{name}": standing.auc for name, standing in standings.items()},
                **{"auc_single": max(single), "variance": variance},
                "C": N * spread.mean / variance,
                **{f"rho_{name}": correlation(w, score) for name, score in simulated.items()},
            }
        )
    return Draws(pd.DataFrame(rows), {name: Heads.joined(some) for name, some in heads.items()})


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
