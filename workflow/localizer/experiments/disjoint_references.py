"""Disjoint references of equal size beside Gaussian ones: what a reference's own scatter does."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.sic import Heads, Standing
from localizer.experiments.experiment3 import Coordinates
from localizer.experiments.weighted_pool import reference_means
from localizer.experiments.witness_draws import Draws, spread_in
from localizer.kernels.feature_products import (
    plain_mean,
    projections,
    weighted_means,
)
from localizer.kernels.features import FourierFeatures


def disjoint_references(
    features: FourierFeatures,
    sample: Coordinates,
    pool: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    parts: int,
    draws: int,
) -> Draws:
    """Return AUC, SIC and C for disjoint references of equal size, and for Gaussian ones.

    The mean of one of K parts of a pool of P events differs from the pool's mean by a
    Gaussian of covariance Cov (K/P - 1/P): what the parts do is compared with ``draws``
    such Gaussians about the same pool.
    """
    events = checks.points(pool, "pool")
    K = checks.integer(parts, "parts", minimum=2)
    size = len(events) // K
    used = events[: size * K]
    # every K-th event, so that an order in the file makes no difference between the parts
    member = np.arange(len(used)) % K
    means = weighted_means(features, used, K * (member[:, None] == np.arange(K)))
    gaussian = reference_means(features, used, rng, n=size, draws=draws)
    mean = plain_mean(features, sample.mixed)
    spread = spread_in(features, sample, means.mean(axis=0), rng, points=())
    rows, heads = [], []
    for name, some in (("part", means), ("gaussian", gaussian)):
        scores = projections(features, sample.mixed, mean - some)
        for number, score in enumerate(scores.T.astype(np.float64)):
            standing = Standing.of(score, sample.labels)
            variance = float(score.var())
            rows.append(
                {
                    **{"kind": name, "number": number, "reference_events": size},
                    **{"auc": standing.auc, "variance": variance},
                    "C": len(sample.mixed) * spread.mean / variance,
                }
            )
            heads.append(Heads.of([standing]))
    return Draws(pd.DataFrame(rows), {"": Heads.joined(heads)})


def reference_table(
    rows: pd.DataFrame, closed: tuple[float, float], *, source: str
) -> pd.DataFrame:
    """Return mean and spread over references: disjoint parts, Gaussians, and in closed form.

    Parameters
    ----------
    rows
        Of :func:`disjoint_references`, judged, with a column ``source``.
    closed
        Mean and standard deviation of Var(w) from :func:`predicted_variance`.
    source
        The source that ``closed`` belongs to.
    """
    found = []
    for (where, kind), part in rows.groupby(["source", "kind"], sort=False):
        row: dict[str, object] = {
            **{"source": where, "references": kind, "count": len(part)},
            "events": int(part["reference_events"].iloc[0]),
        }
        for name in ("auc", "sic", "variance", "C"):
            row[name] = float(part[name].mean())
            row[f"{name}_spread"] = float(part[name].std(ddof=1))
        found.append(row)
        if where == source and kind == "gaussian":
            events = row["events"]
            exact = {"source": where, "references": "closed form", "events": events}
            found.append({**exact, "variance": closed[0], "variance_spread": closed[1]})
    return pd.DataFrame(found)


def closed_form(
    z: npt.ArrayLike,
    features: FourierFeatures,
    pool: npt.ArrayLike,
    *,
    centre: Array,
    basis: Array,
    parts: int,
) -> tuple[float, float]:
    """Return mean and standard deviation of Var(w) over the disjoint parts of a pool.

    Parameters
    ----------
    z
        The compressed features of the mixed sample.
    pool
        The background events that the parts come from.
    centre, basis
        What was subtracted from the features, and the directions they were compressed to.
    """
    events = checks.points(pool, "pool")
    size = len(events) // parts
    shift = (plain_mean(features, events) - centre) @ basis
    return predicted_variance(z, shift, tau=1 / size - 1 / (size * parts))


def predicted_variance(
    z: npt.ArrayLike, shift: npt.ArrayLike, *, tau: float
) -> tuple[float, float]:
    """Return mean and standard deviation of Var_i(w_i) over references, in closed form.

    With u the pool's direction and S the covariance of the features, taken to be the same in
    the mixed sample and in the background, a reference whose mean differs from the pool's by a
    Gaussian d of covariance tau S has Var(w) = (u-d)^T S (u-d):

        mean u^T S u + tau tr S^2,    variance 4 tau u^T S^3 u + 2 tau^2 tr S^4.

    Parameters
    ----------
    z
        The features of the mixed sample, centred on some reference.
    shift
        The pool's mean in the same centred features.
    tau
        1/n - 1/P.
    """
    table = checks.points(z, "z", minimum=3)
    u = table.mean(axis=0)
    S = table.T @ table / len(table) - np.outer(u, u)
    u = u - checks.vector(shift, "shift", size=u.size)
    Su, SS = S @ u, S @ S
    mean = u @ Su + tau * np.trace(SS)
    variance = 4 * tau * (Su @ S @ Su) + 2 * tau**2 * np.sum(SS * SS)
    return float(mean), float(np.sqrt(variance))
