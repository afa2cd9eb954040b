"""What the batches of Experiment III found: correlations and convergence, one function an id.

A correlation with the witness depends on sample and features through the constant C. What the law
makes of it at the published C stands beside it and does not count: it would be the same for any C
of ours.

``sweep`` has all checkpoints; ``m`` is the batch size of the convergence with R, ``m_scan_R`` the
number of batches of the convergence with m.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from localizer.experiments.experiment3 import Point
from localizer.theory import scaling
from localizer.theory.scaling import PairMoments
from localizer.verdicts.board import Finding, Published, pulled, statement
from localizer.verdicts.findings3 import SAMPLES, is_predicted, predicted
from localizer.verdicts.registry import finding

MATCHED = ["marginal", "pair"]


@finding(
    *(f"e3.rho_{name}_m1000_R5000000" for name in ("raw", "marginal", "pair")),
    *(f"e3.rho_pair_m1000_R{R}00000" for R in (1, 2, 5, 10, 20)),
    "e3.rho_pair_m20_R1000000",
)
def correlation(
    name: str,
    sweep: pd.DataFrame,
    moments: PairMoments,
    seeds: pd.DataFrame,
    published: Mapping[str, Published],
    surrogates: pd.DataFrame,
    edition: str,
) -> Finding | None:
    """Return a measured correlation with the witness, and what it is at the published C.

    On the paper's own sample it is compared with one predicted for each draw of features,
    from its own C; where the reference is predicted, with those of the predicted ones; elsewhere
    it belongs to another reference sample.
    """
    column = name.removeprefix("e3.")
    names = [f"rho_{Point(row.estimator, row.m, row.R).name}" for row in sweep.itertuples()]
    if column not in names:
        return None
    row = sweep.iloc[names.index(column)]
    rho, error = _carried_over(row, moments, published)
    carried = f"carried over to the published C by the law: {rho:.6f}, whatever our own C"
    if is_predicted(surrogates):
        ours = predicted(published[name], surrogates, {column: ""})
        note = f"{ours.note}; measured with our own reference: {row['rho']:.6f}; {carried}"
        return replace(ours, note=note)
    draws = [float(scaling.correlation(_q_at(C, row, moments))) for C in seeds["C"]]
    reason = f"edition {edition}: another reference sample, and so another C"
    return Finding(
        value=float(row["rho"]),
        error=float(np.std(draws, ddof=1)),
        n=len(draws),
        draws=draws,
        carried=(rho, error),
        not_comparable="" if edition in SAMPLES else reason,
        note=f"error: spread over draws of features; predicted {row['rho_predicted']:.6f} at "
        f"C = {moments.C:.3g}; {carried}",
    )


# --- the correlation -----------------------------------------------------------------------


@finding("e3.raw_slope")
def raw_slope(sweep: pd.DataFrame) -> Finding:
    """Return how far the slope of raw against the witness is from 2/m."""
    raw = sweep[sweep["estimator"] == "raw"]
    return pulled(
        float(((raw["slope_over_2_m"] - 1) / raw["slope_error"]).abs().max()),
        note=f"largest distance of slope m/2 from 1 in errors among {len(raw)} points; at the "
        f"largest run the slope is {raw['slope_over_2_m'].iloc[-1]:.4f} of 2/m",
    )


@finding("e3.raw_slow")
def raw_slow(sweep: pd.DataFrame, m: int) -> Finding:
    """Return how far raw with the most batches is behind pair with the fewest."""
    rho = _by_R(sweep, m)["rho"]
    return statement(
        float(rho["pair"].iloc[0] - rho["raw"].iloc[-1]),
        note=f"correlation of pair at R = {rho.index[0]} less that of raw at R = {rho.index[-1]}, "
        f"{rho['raw'].iloc[-1]:.4f}",
    )


@finding("e3.improves_with_m")
def improves_with_m(sweep: pd.DataFrame, m_scan_R: int) -> Finding:
    """Return the smallest step of the correlation from one m to the next, and the whole gain."""
    part = sweep[sweep["R"] == m_scan_R]
    rho = part.pivot(index="m", columns="estimator", values="rho")
    first, final = (float(rho["pair"].iloc[i]) for i in (0, -1))
    return statement(
        _smallest_step(rho),
        gain=final / first,
        note="smallest step of the correlation of marginal or pair from one m to the next; "
        f"gain is that of pair from m = {rho.index[0]}, {first:.3f}, to {rho.index[-1]}, "
        f"{final:.4f}",
    )


@finding("e3.marginal_is_pair")
def marginal_is_pair(sweep: pd.DataFrame, m: int) -> Finding:
    """Return how far the errors of marginal and pair are apart at the largest run."""
    errors = np.sqrt(_by_R(sweep, m)["q"].iloc[-1])
    return statement(
        float(errors["marginal"] / errors["pair"] - 1),
        note="relative difference of their errors, the root of q_rho, at the largest run",
    )


@finding("e3.approach")
def approach(sweep: pd.DataFrame, m: int) -> Finding:
    """Return the smallest step of the correlation from one R to the next, and pair's lead."""
    rho = _by_R(sweep, m)["rho"]
    return statement(
        _smallest_step(rho),
        ahead=float((rho["pair"] - rho["raw"]).min()),
        note="smallest step of the correlation of marginal or pair from one R to the next; "
        "ahead is the smallest lead of pair over raw",
    )


@finding("e3.efficiency")
def efficiency(sweep: pd.DataFrame, m: int) -> Finding:
    """Return how many times more batches raw needs."""
    last = _by_R(sweep, m)["q"].iloc[-1]
    return statement(
        float(last["raw"] / last["pair"]),
        note="q of raw over q of pair at the largest run: as many times more batches for raw",
    )


# --- AUC and SIC ---------------------------------------------------------------------------


@finding("e3.auc_saturated")
def auc_saturated(sweep: pd.DataFrame, m: int, m_scan_R: int) -> Finding:
    """Return how far the AUC of pair is from the witness's from some R on."""
    auc = _by_R(sweep, m)["auc"]["pair"]
    enough = _enough(auc.index, m_scan_R)
    return statement(
        float((auc[auc.index >= enough] - _witness(sweep, "auc")).abs().max()),
        note=f"largest distance from the witness's AUC from R = {enough} on",
    )


@finding("e3.sic_slower")
def sic_slower(sweep: pd.DataFrame, m: int) -> Finding:
    """Return how much more of its SIC than of its correlation pair lacks."""
    by_R = _by_R(sweep, m)
    return statement(
        float((_deficit_in_sic(sweep, m) - (1 - by_R["rho"]["pair"])).mean()),
        note="mean over R of the relative deficit in SIC less that in correlation",
    )


@finding("e3.tail_slower")
def tail_slower(sweep: pd.DataFrame, m: int, m_scan_R: int) -> Finding:
    """Return how much more of its SIC than of its AUC pair lacks."""
    auc = _by_R(sweep, m)["auc"]["pair"]
    bulk = 1 - (auc - 0.5) / (_witness(sweep, "auc") - 0.5)
    behind = _deficit_in_sic(sweep, m) - bulk
    enough = _enough(auc.index, m_scan_R)
    return statement(
        float(behind.mean()),
        there=float(behind[enough]),
        note="mean over R of the relative deficit in SIC less that in AUC above 1/2; there is "
        f"the same at R = {enough}, where the AUC is said to be saturated",
    )


@finding("e3.excursions")
def excursions(sweep: pd.DataFrame, published: Mapping[str, Published], m: int) -> Finding:
    """Return the published excess over the witness's AUC in spreads of the predicted noise."""
    ours = sweep[sweep["estimator"].isin(MATCHED) & (sweep["m"] == m)]
    above = (ours["auc"] - ours["auc_predicted"]) / ours["auc_predicted_spread"]
    at_end = ours[ours["R"] == ours["R"].max()]
    rows = [f"e3.auc_{Point(row.estimator, m, row.R).name}" for row in at_end.itertuples()]
    known = published["e3.auc_witness"].number
    # the published sample has the larger C, so that its AUCs scatter more than ours
    spread = float(at_end["auc_predicted_spread"].max())
    expected = float((at_end["auc_predicted"] - _witness(sweep, "auc")).mean())
    theirs = [published[row].number - known for row in rows if row in published]
    seen = max(theirs, default=expected)
    return pulled(
        (seen - expected) / spread,
        largest=float(above.max()),
        note=f"largest published excess over the witness's AUC at the largest run, {seen:.1e}, "
        f"less the expected {expected:.1e}, in spreads of the noise predicted here, "
        f"{spread:.1e}; largest is that of all checkpoints of ours",
    )


@finding("e3.auc_identical")
def auc_identical(sweep: pd.DataFrame, m: int) -> Finding:
    """Return the AUC of pair at the largest run less that of the witness."""
    return statement(
        float(_by_R(sweep, m)["auc"]["pair"].iloc[-1] - _witness(sweep, "auc")),
        note="AUC of pair less that of the witness at the largest run",
    )


@finding("e3.almost_exact")
def almost_exact(sweep: pd.DataFrame, published: Mapping[str, Published], m: int) -> Finding:
    """Return the SIC of pair at the largest run over that of the witness, and its correlation."""
    by_R = _by_R(sweep, m)
    last = by_R.iloc[-1]
    sic = _witness(sweep, "sic")
    return statement(
        float(last["sic"]["pair"]) / sic,
        error=float(last["sic_predicted_spread"]["pair"]) / sic,
        correlation=float(last["rho"]["pair"]),
        note="maximum SIC of pair at the largest run over that of the witness, both with our "
        "floor, and the spread predicted for a run; in the paper it is "
        f"{_published_sic(published, m, by_R.index[-1])}",
    )


# --- helpers -------------------------------------------------------------------------------


def _q_at(C: float, row: pd.Series[Any], moments: PairMoments) -> float:
    """Return the law's q at a point, for a sample like ours with another C."""
    law = PairMoments.from_constant(
        C,
        N=moments.N,
        replacement=moments.replacement,
        aligned=moments.aligned / moments.pair,
    )
    return law.q(row["estimator"], m=int(row["m"]), R=int(row["R"]))


def _carried_over(
    row: pd.Series[Any], moments: PairMoments, published: Mapping[str, Published]
) -> tuple[float, float]:
    """Return what the measured correlation comes to at the published C, and its error."""
    C, alpha = published["e3.C"].number, published["e3.alpha"].number
    own = moments.q(row["estimator"], m=int(row["m"]), R=int(row["R"]))
    q = row["q"] * _q_at(C * row["exposure"] ** (1 - alpha), row, moments) / own
    rho = float(scaling.correlation(q))
    return rho, rho**3 / 2 * q * row["log_q_error"]


def _by_R(sweep: pd.DataFrame, m: int) -> pd.DataFrame:
    """Return the checkpoints of one m by R, and each column by estimator."""
    return sweep[sweep["m"] == m].pivot(index="R", columns="estimator")


def _smallest_step(rho: pd.DataFrame) -> float:
    """Return the smallest change of a correlation from one row to the next."""
    return float(np.diff(rho[MATCHED], axis=0).min())


def _witness(sweep: pd.DataFrame, metric: str) -> float:
    return float(sweep[f"{metric}_witness"].iloc[0])


def _enough(R: pd.Index[int], m_scan_R: int) -> int:
    """Return the first R of as many batches as the convergence with m has."""
    return int(R[min(m_scan_R, R[-1]) <= R][0])


def _deficit_in_sic(sweep: pd.DataFrame, m: int) -> pd.Series[float]:
    """Return what pair lacks of the witness's SIC, by R."""
    return 1 - _by_R(sweep, m)["sic"]["pair"] / _witness(sweep, "sic")


def _published_sic(published: Mapping[str, Published], m: int, R: int) -> str:
    """Return the published SIC of pair over that of the witness, if both are printed."""
    pair = published.get(f"e3.sic_{Point('pair', m, R).name}")
    return f"{pair.number / published['e3.sic_witness'].number:.3f}" if pair else "not printed"
