"""The scaling law of Experiment III over the grid of m and R: errors, fits, repetitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.vocabulary import BATCH_ESTIMATORS
from localizer.theory import power_law, scaling
from localizer.theory.power_law import PowerLaw
from localizer.theory.scaling import PairMoments


@dataclass(frozen=True, eq=False)
class ScalingStudy:
    """What a sweep says of the law q = C / (R m^2).

    Attributes
    ----------
    sweep
        Its rows, with the standard error of log q.
    fits
        The fits of the pair and the marginal estimator, see :func:`fits`.
    repeated
        The plain fit in simulated repetitions, of ``all`` points and of the ``shown`` ones.
    numbers
        The fit to the shown points.
    """

    sweep: pd.DataFrame
    fits: pd.DataFrame
    repeated: pd.DataFrame
    numbers: dict[str, float]


def study(
    sweep: pd.DataFrame,
    z: npt.ArrayLike,
    moments: PairMoments,
    streams: Callable[[str], np.random.Generator],
    *,
    fit_minimum: float,
    m_scan_R: int,
    r_scan_m: int,
    draws: int,
) -> ScalingStudy:
    """Return errors, fits and repetitions of a sweep.

    Parameters
    ----------
    sweep
        Rows of :func:`localizer.experiments.convergence.score_rows`, all estimators at each point.
    z
        The features that the batches saw.
    moments
        What the law predicts q from.
    streams
        The generator of the repetitions of ``all`` points, and of the ``shown`` ones.
    fit_minimum
        Points with smaller R m^2 are not fitted.
    m_scan_R, r_scan_m
        The R and the m at which the paper's Figs. 7 and 8 show points.
    draws
        The number of repetitions.
    """
    pair = sweep[sweep["estimator"] == "pair"]
    covariance = scaling.log_q_covariance(z, m=pair["m"].tolist(), R=pair["R"].tolist())
    error = np.sqrt(np.diag(covariance))
    sweep = sweep.assign(log_q_error=log_q_errors(sweep, error, moments.N))
    found = [
        fit
        for estimator in ("pair", "marginal")
        for fit in fits(
            sweep, covariance, estimator=estimator, fit_minimum=fit_minimum, C=moments.C
        )
    ]
    used = (pair["exposure"] >= fit_minimum).to_numpy()
    shown = used & ((pair["R"] == m_scan_R) | (pair["m"] == r_scan_m)).to_numpy()
    repeated = [
        fit_realizations(
            streams(name), pair[keep], covariance[np.ix_(keep, keep)], draws=draws
        ).assign(points=name)
        for name, keep in (("all", used), ("shown", shown))
    ]
    law = power_law.fit_power_law(pair[shown]["exposure"], pair[shown]["q"])
    return ScalingStudy(
        sweep,
        fit_table(found, moments.C),
        pd.concat(repeated, ignore_index=True),
        {"alpha_shown": law.alpha, "scatter_shown": law.scatter, "points_shown": law.points},
    )


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
            for estimator in BATCH_ESTIMATORS:
                q = moments.q(estimator, m=int(m), R=R)
                rows.append(
                    {
                        **{"m": int(m), "R": R, "exposure": R * int(m) ** 2},
                        **{"estimator": estimator, "q_predicted": (1 + q) / rho_limit**2 - 1},
                    }
                )
    return pd.DataFrame(rows)


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
            law = power_law.fit_power_law(
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
        law = power_law.fit_power_law(exposure, np.exp(centre + root @ noise))
        rows.append({"alpha": law.alpha, "C": law.C, "scatter": law.scatter})
    return pd.DataFrame(rows)
