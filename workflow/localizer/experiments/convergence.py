"""How the scores of random batches converge to the direct witness (sec. exp-lhco).

At every checkpoint of a sweep: correlation, AUC and SIC of the raw, marginal and pair scores
beside what the laws of :mod:`localizer.theory.scaling` predict; then the power law
q = C (R m^2)^-alpha over the grid of m and R (eq. q-rho-scaling), with errors that account for
nested checkpoints.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from localizer.base import checks, metrics
from localizer.base.checks import Array, BoolArray
from localizer.base.vocabulary import BATCH_ESTIMATORS
from localizer.estimators import batch_sums
from localizer.estimators.batch_sums import BatchSums
from localizer.experiments.experiment3 import Point, performance
from localizer.theory import scaling
from localizer.theory.scaling import PairMoments


def score_rows(
    sums: BatchSums,
    *,
    target: Array,
    labels: BoolArray,
    moments: PairMoments,
    rho_limit: float,
    sic_floor: int,
) -> list[dict[str, Any]]:
    """Return how near each estimator comes to the target at one checkpoint.

    Parameters
    ----------
    sums
        The batches up to the checkpoint.
    target
        The direct witness.
    labels
        Which events are signal.
    moments
        The moments of the pair kernel, for the predicted correlation.
    rho_limit
        The correlation of the target with what the batches converge to.
    sic_floor
        Background events that a SIC threshold must keep.
    """
    scores = batch_sums.scores(sums)
    rows = []
    for estimator in BATCH_ESTIMATORS:
        values = getattr(scores, estimator)
        predicted = moments.q(estimator, m=sums.m, R=sums.batches)
        predicted = (1 + predicted) / rho_limit**2 - 1
        slope = float(np.cov(values, target)[0, 1] / np.var(target, ddof=1))
        row = {
            **{"m": sums.m, "R": sums.batches, "exposure": sums.batches * sums.m**2},
            "estimator": estimator,
            **performance(values, labels, sic_floor=sic_floor),
            "rho": metrics.correlation(values, target),
            "rho_predicted": float(scaling.correlation(predicted)),
            "q": scaling.q_rho(values, target),
            "q_predicted": predicted,
            # eq. mmd-localization: the slope is 2/m for all three estimators
            "slope_over_2_m": slope * sums.m / 2,
            "slope_error": slope_error(moments, estimator, m=sums.m, R=sums.batches),
        }
        rows.append(row)
    return rows


def slope_error(moments: PairMoments, estimator: str, *, m: int, R: int) -> float:
    """Return the relative standard error of the slope of a score against the witness.

    The slope of raw is a mean over batches of T A, where A is the sum over the batch of the
    centred witness. T is (2/m) A and a degenerate part, quadratic in the sum of the features:
    for Gaussian sums the mean square of that part times A is q_raw / N with a factor
    1 + 4 aligned / pair, because both follow the leading eigenvectors. In the slope of pair
    the noise of the companions' mean along the witness is left.
    """
    if estimator == "raw":
        shared = 1 + 4 * moments.aligned / moments.pair
        return math.sqrt(moments.q("raw", m=m, R=R) / moments.N * shared + 2 / R)
    own = moments.pair / (m - 1)
    return math.sqrt((moments.aligned + own) / (R * m * moments.witness))


def pair_spreads(z: npt.ArrayLike) -> Array:
    """Return Var_j[q_B(x_i, x_j)] of each event, from features with q_B(x_i, x_j) = z_i.z_j."""
    table = np.asarray(z)
    mean = np.mean(table, axis=0, dtype=np.float64)
    second = sum((rows.T @ rows for rows in _chunks(table)), start=np.zeros((mean.size, mean.size)))
    spread = second / len(table) - np.outer(mean, mean)
    return np.concatenate([np.einsum("ij,ij->i", rows @ spread, rows) for rows in _chunks(table)])


def _chunks(table: npt.NDArray[Any]) -> Iterator[Array]:
    return (table[i : i + 4096].astype(np.float64) for i in range(0, len(table), 4096))


class Expectation:
    """AUC and SIC that batch runs of a sample should have, with no fit.

    The score of a run is the target plus noise. That of raw is independent for each event.
    In the pair and marginal scores two events share the part m/N of their batches, and with it
    the noise of the companions' mean: a field z_i.d with d of covariance Cov / (R (m-1)),
    the same d for all events, takes that part of each event's variance.

    Parameters
    ----------
    z
        The features of the sample.
    target
        The direct witness.
    labels
        Which events are signal.
    rng
        The source of the noise.
    draws
        How many times the noise is drawn.
    """

    def __init__(
        self,
        z: npt.ArrayLike,
        target: Array,
        labels: BoolArray,
        rng: np.random.Generator,
        *,
        draws: int,
    ) -> None:
        table = np.asarray(z)
        count = checks.integer(draws, "draws", minimum=2)
        self.target, self.labels = target, labels
        self.v = pair_spreads(table)
        self.own = rng.standard_normal((count, len(table)))
        weights = rng.standard_normal((count, len(table)), dtype=table.dtype)
        weights -= weights.mean(axis=1, keepdims=True)
        # of covariance Cov over the draws: the features' own scatter, weighted at random
        directions = weights @ table / math.sqrt(len(table))
        self.fields = (directions @ table.T).astype(np.float64)

    def __call__(self, point: Point, *, sic_floor: int) -> dict[str, float]:
        """Return mean and spread over the noise of AUC and maximum SIC."""
        variance = point.noise(self.v, float(self.target.var()))
        shared = 0.0 if point.estimator == "raw" else 1 / (point.R * (point.m - 1))
        alone = np.sqrt(np.maximum(variance - shared * self.v, 0))
        found = [
            performance(
                self.target + math.sqrt(shared) * field + alone * noise,
                self.labels,
                sic_floor=sic_floor,
            )
            for field, noise in zip(self.fields, self.own, strict=True)
        ]
        values = {name: [one[name] for one in found] for name in ("auc", "sic")}
        return {
            **{f"{name}_predicted": float(np.mean(some)) for name, some in values.items()},
            **{
                f"{name}_predicted_spread": float(np.std(some, ddof=1))
                for name, some in values.items()
            },
        }


# --- the scaling law ---------------------------------------------------------------------


def convergence_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one line for each m and R: rho, AUC and SIC of each estimator, side by side."""
    wide = rows.pivot(index=["m", "R"], columns="estimator")
    columns = {
        f"{name}_{estimator}": wide[name][estimator]
        for name in ("rho", "rho_predicted", "auc", "sic")
        for estimator in BATCH_ESTIMATORS
    }
    columns |= {
        "slope_over_2_m": wide["slope_over_2_m"]["raw"],
        "slope_error": wide["slope_error"]["raw"],
    }
    return pd.DataFrame(columns).reset_index()
