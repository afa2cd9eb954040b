"""How the scores of random batches converge to the direct witness (sec. exp-lhco).

At every checkpoint of a sweep: correlation, AUC and SIC of the raw, marginal and pair scores
beside what the laws of :mod:`localizer.scaling` predict; then the power law q = C (R m^2)^-alpha
over the grid of m and R (eq. q-rho-scaling), with errors that know that checkpoints are
prefixes of one run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from localizer import batches, checks, metrics, scaling
from localizer.batches import BatchSums
from localizer.checks import Array, BoolArray
from localizer.experiment3 import Point, performance, quick_performance
from localizer.scaling import PairMoments, PowerLaw

ESTIMATORS = ("raw", "marginal", "pair")


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
    scores = batches.scores(sums)
    rows = []
    for estimator in ESTIMATORS:
        values = getattr(scores, estimator)
        predicted = moments.q(estimator, m=sums.m, R=sums.batches)  # type: ignore[arg-type]
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
            quick_performance(
                self.target + math.sqrt(shared) * field + alone * noise,
                self.labels,
                sic_floor=sic_floor,
            )
            for field, noise in zip(self.fields, self.own, strict=True)
        ]
        values = dict(zip(("auc", "sic"), zip(*found, strict=True), strict=True))
        return {
            **{f"{name}_predicted": float(np.mean(some)) for name, some in values.items()},
            **{
                f"{name}_predicted_spread": float(np.std(some, ddof=1))
                for name, some in values.items()
            },
        }


# --- the scaling law ---------------------------------------------------------------------


def log_q_errors(sweep: pd.DataFrame, pair_error: Array, N: int) -> Array:
    """Return the standard error of log q for each row of a sweep.

    Pair and marginal share their noise. That of raw is the batch's own: two events have the
    part m/N of it in common, and the logarithm of its variance over N events scatters by
    sqrt((2/N) (1 + m^2/N)).

    Parameters
    ----------
    sweep
        Rows of :func:`score_rows`.
    pair_error
        The error of each row of the pair estimator, in their order.
    N
        The number of events.
    """
    errors = np.empty(len(sweep))
    for estimator in ("pair", "marginal"):
        errors[(sweep["estimator"] == estimator).to_numpy()] = pair_error
    raw = sweep["estimator"] == "raw"
    part = sweep[raw]
    errors[raw.to_numpy()] = np.sqrt(
        2 / N * (1 + part["m"] ** 2 / N) + 4 * part["slope_error"] ** 2
    )
    return errors


def law_curves(moments: PairMoments, sweep: pd.DataFrame, *, rho_limit: float) -> pd.DataFrame:
    """Return the predicted q of every estimator along R, for each batch size of a sweep."""
    rows = []
    for m, part in sweep.groupby("m", sort=True):
        grid = np.geomspace(part["R"].min() / 2, part["R"].max() * 2, 40)
        for R in np.unique(grid.astype(int)).tolist():
            for estimator in ESTIMATORS:
                q = moments.q(estimator, m=int(m), R=R)  # type: ignore[arg-type]
                rows.append(
                    {
                        **{"m": int(m), "R": R, "exposure": R * int(m) ** 2},
                        **{"estimator": estimator, "q_predicted": (1 + q) / rho_limit**2 - 1},
                    }
                )
    return pd.DataFrame(rows)


def convergence_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one line for each m and R: rho, AUC and SIC of each estimator, side by side."""
    wide = rows.pivot(index=["m", "R"], columns="estimator")
    columns = {
        f"{name}_{estimator}": wide[name][estimator]
        for name in ("rho", "rho_predicted", "auc", "sic")
        for estimator in ESTIMATORS
    }
    columns |= {
        "slope_over_2_m": wide["slope_over_2_m"]["raw"],
        "slope_error": wide["slope_error"]["raw"],
    }
    return pd.DataFrame(columns).reset_index()


def fits(
    sweep: pd.DataFrame, covariance: npt.ArrayLike, *, estimator: str, fit_minimum: float, C: float
) -> list[tuple[dict[str, str], PowerLaw]]:
    """Return the power-law fits of one estimator, eq. q-rho-scaling, each with its name.

    ``plain`` fits log q with equal weights, as one would on paper; its errors know that
    checkpoints are nested. ``weighted`` uses their covariance as weights too. ``finite``
    divides q by the estimator's own predicted factors for finite m and exposure first. Each is
    done with alpha free and with alpha = 1.

    Parameters
    ----------
    sweep
        Rows of :func:`score_rows`.
    covariance
        Of log q over the rows of this estimator, in their order.
    fit_minimum
        Points with smaller R m^2 are left out.
    C
        The predicted constant, which the factors are relative to.
    """
    part = sweep[sweep["estimator"] == estimator]
    keep = (part["exposure"] >= fit_minimum).to_numpy()
    if np.count_nonzero(keep) < 3:
        raise ValueError(
            f"fit_minimum must leave at least 3 points, {fit_minimum:g} leaves "
            f"{np.count_nonzero(keep)}"
        )
    V = checks.points(covariance, "covariance", d=len(part))[np.ix_(keep, keep)]
    points = part[keep]
    exposure, q = points["exposure"].to_numpy(float), points["q"].to_numpy()
    finite = q / (points["q_predicted"].to_numpy() * exposure / C)
    found = []
    for form, values in (("plain", q), ("weighted", q), ("finite", finite)):
        for alpha in (None, 1.0):
            law = scaling.fit_power_law(
                exposure, values, alpha=alpha, covariance=None if form == "plain" else V
            )
            if form == "plain":
                law = _with_nested_errors(law, exposure, V, alpha)
            name = {
                "estimator": estimator,
                "form": form,
                "alpha_is": "free" if alpha is None else "fixed",
            }
            found.append((name, law))
    return found


def _with_nested_errors(law: PowerLaw, exposure: Array, V: Array, alpha: float | None) -> PowerLaw:
    """Return an unweighted fit with the errors that the covariance of its points implies."""
    design = np.column_stack([np.ones_like(exposure), -np.log(exposure)])
    design = design if alpha is None else design[:, :1]
    solve = np.linalg.pinv(design)
    full = np.zeros((2, 2))
    full[: len(solve), : len(solve)] = solve @ V @ solve.T
    return PowerLaw(law.alpha, law.log_constant, full, law.scatter, law.points)


def fit_table(found: Iterable[tuple[Mapping[str, str], PowerLaw]], C: float) -> pd.DataFrame:
    """Return the fits as a table beside the predicted constant."""
    return pd.DataFrame(
        {
            **name,
            "points": law.points,
            "alpha": law.alpha,
            "alpha_error": law.alpha_error,
            "C": law.C,
            "C_error": law.C * law.log_constant_error,
            "C_predicted": C,
            "C_over_predicted": law.C / C,
            "scatter": law.scatter,
        }
        for name, law in found
    )


def fit_realizations(
    rng: np.random.Generator,
    points: pd.DataFrame,
    covariance: npt.ArrayLike,
    *,
    draws: int,
) -> pd.DataFrame:
    """Return alpha, C and the scatter of the plain fit in simulated repetitions of a sweep.

    Each repetition puts Gaussian fluctuations about the predicted law and fits them as the
    measured points were fitted.

    Parameters
    ----------
    points
        The fitted rows, with exposure and predicted q.
    covariance
        Of log q over these rows.
    """
    root = np.linalg.cholesky(checks.points(covariance, "covariance", d=len(points)))
    exposure = points["exposure"].to_numpy(float)
    centre = np.log(points["q_predicted"].to_numpy())
    rows = []
    for noise in rng.standard_normal((draws, len(points))):
        law = scaling.fit_power_law(exposure, np.exp(centre + root @ noise))
        rows.append({"alpha": law.alpha, "C": law.C, "scatter": law.scatter})
    return pd.DataFrame(rows)


def finite_deviation(
    points: pd.DataFrame, covariance: npt.ArrayLike, *, C: float
) -> tuple[float, float]:
    """Return how much of the predicted deviation from C/(R m^2) some points show, with error.

    log(q R m^2 / C) is fitted in proportion to its prediction, with the covariance of the
    points as weights: 1 if the deviation is the predicted one, 0 if there is none.
    """
    scale = C / points["exposure"].to_numpy(float)
    seen = np.log(points["q"].to_numpy() / scale)
    expected = np.log(points["q_predicted"].to_numpy() / scale)
    weighted = np.linalg.solve(checks.points(covariance, "covariance", d=len(points)), expected)
    information = float(expected @ weighted)
    return float(seen @ weighted) / information, 1 / math.sqrt(information)
