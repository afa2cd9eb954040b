"""What Experiment II found with batches (Fig. 6), one function a published id.

The author has one toy of each construction; ours are ranked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from localizer.experiments import experiment2
from localizer.verdicts.board import (
    Finding,
    Published,
    in_errors,
    pulled,
    realization,
    statement,
)
from localizer.verdicts.registry import finding

CONSTRUCTIONS = {"e2.one": "shared", "e2.control": "independent"}
"""The construction of the toy that the author shows, by the start of its ids."""

# --- the author's toys ---------------------------------------------------------------------


@finding(
    *("e2.one_auc_mmd", "e2.one_auc_loo", "e2.one_auc_pair_target", "e2.one_rho_pair_target"),
    *("e2.control_auc_loo", "e2.control_auc_pair_target", "e2.control_rho_pair_target"),
)
def exact_of_one(name: str, targets: pd.DataFrame) -> Finding:
    """Return an exact number of single toys."""
    prefix, column = name.split("_", maxsplit=1)
    return realization(_of(targets, CONSTRUCTIONS[prefix])[column])


@finding(
    *("e2.one_auc_marginal", "e2.one_auc_pair"),
    *("e2.control_auc_marginal", "e2.control_auc_pair"),
)
def auc_of_one(name: str, runs: pd.DataFrame) -> Finding:
    """Return the AUC of an estimator at the largest R, in single toys."""
    prefix, estimator = name.split("_auc_")
    return realization(_at(runs, CONSTRUCTIONS[prefix], max)["auc"][estimator])


@finding(
    *("e2.one_rho_marginal", "e2.one_rho_pair"),
    *("e2.control_rho_marginal", "e2.control_rho_pair"),
)
def rho_of_one(name: str, targets: pd.DataFrame) -> Finding:
    """Return the predicted correlation of an estimator with the LOO witness, in single toys."""
    prefix, column = name.split("_", maxsplit=1)
    order = experiment2.probability_of_order(targets)
    return realization(
        _of(targets, CONSTRUCTIONS[prefix])[column],
        note="predicted for every toy from its own spread of the witness; the "
        f"independent toy has the higher one with probability {order:.2f}",
    )


# --- what batches cost ---------------------------------------------------------------------


@finding("e2.exposure")
def exposure(runs: pd.DataFrame, recovery_m: int, recovery_N: int) -> Finding:
    """Return how many batches hold an event."""
    return Finding(value=int(runs["R"].max()) * recovery_m / recovery_N, error=0.0)


@finding("e2.direct_cost")
def direct_cost(runs: pd.DataFrame, recovery_m: int, recovery_N: int) -> Finding:
    """Return the kernel values of all batches over those of the exact witness."""
    R, m, N = int(runs["R"].max()), recovery_m, recovery_N
    return statement(
        R * m * (m - 1) / (N * (N - 1)),
        note=f"kernel values in R = {R} batches of m = {m} over those of the exact LOO "
        f"witness of {N} events: counted, not timed",
    )


# --- what batches converge to --------------------------------------------------------------


@finding("e2.target_is_loo")
def target_is_loo(targets: pd.DataFrame) -> Finding:
    """Return the correlation of the pair target with the LOO witness."""
    return statement(
        float(targets["rho_pair_target"].min()),
        note="smallest correlation of pair target and LOO witness over all toys",
    )


@finding("e2.remaining_loss")
def remaining_loss(targets: pd.DataFrame) -> Finding:
    """Return what the exact target itself loses to the known-mu witness."""
    exact = _of(targets, "shared")
    loss = exact["auc_mmd"] - exact["auc_loo"]
    return pulled(
        in_errors(loss),
        note=f"mean AUC of the known-mu witness less that of the exact LOO target, "
        f"{loss.mean():.4f}, which no number of batches regains, over its error, {len(loss)} "
        "toys of the same |mu|",
    )


@finding("e2.excursion")
def excursion(
    targets: pd.DataFrame, runs: pd.DataFrame, published: Mapping[str, Published]
) -> Finding:
    """Return the published excess of an estimator over its exact target, in spreads of ours."""
    last = _at(runs, "shared", max)["auc"]
    target = _of(targets, "shared").set_index("toy")["auc_pair_target"].loc[last.index]
    ours = np.concatenate([last[name] - target for name in ("marginal", "pair")])
    spread = float(np.sqrt(np.mean(ours**2)))
    known = published["e2.one_auc_pair_target"].number
    theirs = {name: published[f"e2.one_auc_{name}"].number - known for name in ("marginal", "pair")}
    return pulled(
        max(theirs.values()) / spread,
        note="larger published excess of an estimator's AUC over its exact target, in root "
        f"mean square distances of ours over toys, {spread:.4f}; the published excesses are "
        + " and ".join(f"{value:.4f} ({name})" for name, value in theirs.items()),
    )


@finding("e2.converge_to_target")
def converge_to_target(runs: pd.DataFrame) -> Finding:
    """Return the median correlation of the estimators at the largest R, and what it gained."""
    final, early = (
        [
            float(_at(runs, construction, end)["rho"][estimator].median())
            for construction in CONSTRUCTIONS.values()
            for estimator in ("marginal", "pair")
        ]
        for end in (max, min)
    )
    return statement(
        min(final),
        gain=min(late - soon for late, soon in zip(final, early, strict=True)),
        note="smallest median correlation with the LOO witness at the largest R; at the "
        f"smallest R it is {min(early):.2f}",
    )


@finding("e2.indistinguishable")
def indistinguishable(runs: pd.DataFrame) -> Finding:
    """Return how far the errors of marginal and pair are apart."""
    differences = []
    for construction in CONSTRUCTIONS.values():
        rho = _at(runs, construction, max)["rho"]
        noise = {name: np.sqrt(rho[name] ** -2 - 1) for name in ("marginal", "pair")}
        differences.append(float((noise["marginal"] / noise["pair"] - 1).abs().median()))
    return statement(
        max(differences),
        note="median over toys of the relative difference of their errors, the root of q_rho, "
        "at the largest R, in the construction where it is larger",
    )


# --- helpers -------------------------------------------------------------------------------


def _of(table: pd.DataFrame, construction: str) -> pd.DataFrame:
    return table[table["construction"] == construction]


def _at(
    runs: pd.DataFrame, construction: str, end: Callable[[pd.Series[int]], int]
) -> pd.DataFrame:
    """Return the runs at the smallest or the largest R, by toy and estimator."""
    run = _of(runs, construction)
    return run[run["R"] == end(run["R"])].pivot(index="toy", columns="estimator")
