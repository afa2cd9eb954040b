"""What the batches of Experiment III found: correlations, convergence and the scaling law.

A correlation with the witness depends on sample and features through the constant C. What the law
makes of it at the published C stands beside it and does not count: it would be the same for any C
of ours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from localizer.experiments.experiment3 import Point
from localizer.theory import scaling
from localizer.theory.scaling import PairMoments
from localizer.verdicts.board import Finding, Published, judge, pulled, realization, statement
from localizer.verdicts.findings3 import SAMPLES, is_predicted, predicted


def of_correlations(
    sweep: pd.DataFrame,
    moments: PairMoments,
    seeds: pd.DataFrame,
    published: Mapping[str, Published],
    predictions: pd.DataFrame,
    *,
    edition: str,
) -> list[Finding]:
    """Return the measured correlations with the witness, and what they are at the published C.

    On the paper's own sample they are compared with one predicted for each draw of features,
    from its own C; where the reference is predicted, with those of the predicted ones; elsewhere
    they belong to another reference sample.
    """
    C, alpha = published["e3.C"].number, published["e3.alpha"].number

    def law(constant: float) -> PairMoments:
        return PairMoments.from_constant(
            constant,
            N=moments.N,
            replacement=moments.replacement,
            aligned=moments.aligned / moments.pair,
        )

    found = []
    for row in sweep.itertuples():
        name = f"e3.rho_{Point(row.estimator, row.m, row.R).name}"
        if name not in published:
            continue
        point = {"m": int(row.m), "R": int(row.R)}
        own = moments.q(row.estimator, **point)
        q = row.q * law(C * row.exposure ** (1 - alpha)).q(row.estimator, **point) / own
        rho = float(scaling.correlation(q))
        draws = [
            float(scaling.correlation(law(each).q(row.estimator, **point))) for each in seeds["C"]
        ]
        carried = f"carried over to the published C by the law: {rho:.6f}, whatever our own C"
        reason = f"edition {edition}: another reference sample, and so another C"
        if is_predicted(predictions):
            column = name.removeprefix("e3.")
            ours = predicted(published[name], predictions, {column: ""})
            note = f"{ours.note}; measured with our own reference: {row.rho:.6f}; {carried}"
            found.append(replace(ours, note=note))
            continue
        found.append(
            Finding(
                name,
                float(row.rho),
                float(np.std(draws, ddof=1)),
                len(draws),
                draws=draws,
                carried=(rho, rho**3 / 2 * q * row.log_q_error),
                not_comparable="" if edition in SAMPLES else reason,
                note=f"error: spread over draws of features; predicted {row.rho_predicted:.6f} at "
                f"C = {moments.C:.3g}; {carried}",
            )
        )
    return found


def of_convergence(
    sweep: pd.DataFrame, published: Mapping[str, Published], *, m: int, m_scan_R: int
) -> list[Finding]:
    """Return what is said in words about convergence with m and with R.

    Parameters
    ----------
    sweep
        All checkpoints.
    published
        The published rows, by id.
    m
        The batch size of the convergence with R.
    m_scan_R
        The number of batches of the convergence with m.
    """
    by_number = sweep[sweep["m"] == m].pivot(index="R", columns="estimator")
    by_m = sweep[sweep["R"] == m_scan_R].pivot(index="m", columns="estimator")
    rho, auc, sic = by_number["rho"], by_number["auc"], by_number["sic"]
    direct = float(sweep["auc_witness"].iloc[0])
    last = rho.index[-1]
    raw = sweep[sweep["estimator"] == "raw"]
    slopes = (raw["slope_over_2_m"] - 1) / raw["slope_error"]
    worst = float(slopes.abs().max())
    enough = rho.index[rho.index >= min(m_scan_R, last)][0]
    saturated = float((auc["pair"][auc.index >= enough] - direct).abs().max())
    deficit = 1 - sic["pair"] / float(sweep["sic_witness"].iloc[0])
    lag = float((deficit - (1 - rho["pair"])).mean())
    bulk = 1 - (auc["pair"] - 0.5) / (direct - 0.5)
    tail = float((deficit - bulk).mean())
    errors = np.sqrt(by_number["q"].iloc[-1])
    together = float(errors["marginal"] / errors["pair"] - 1)
    excess = sweep[sweep["estimator"].isin(["pair", "marginal"]) & (sweep["m"] == m)]
    above = (excess["auc"] - excess["auc_predicted"]) / excess["auc_predicted_spread"]
    at_end = excess[excess["R"] == last]
    known = published["e3.auc_witness"].number
    theirs = [
        published[f"e3.auc_{Point(row.estimator, m, last).name}"].number - known
        for row in at_end.itertuples()
        if f"e3.auc_{Point(row.estimator, m, last).name}" in published
    ]
    # the published sample has the larger C, so that its AUCs scatter more than ours
    spread = float(at_end["auc_predicted_spread"].max())
    expected = float((at_end["auc_predicted"] - direct).mean())
    seen = max(theirs, default=expected)
    gain = float(by_number["q"]["raw"].iloc[-1] / by_number["q"]["pair"].iloc[-1])
    by_step = {"m": by_m["rho"], "R": rho}
    steps = {
        scan: min(float(np.diff(table[name]).min()) for name in ("marginal", "pair"))
        for scan, table in by_step.items()
    }
    first, final = (float(by_m["rho"]["pair"].iloc[i]) for i in (0, -1))
    largest = sweep[(sweep["estimator"] == "pair") & (sweep["m"] == m) & (sweep["R"] == last)]
    witness_sic = float(sweep["sic_witness"].iloc[0])
    return [
        pulled(
            "e3.raw_slope",
            worst,
            note=f"largest distance of slope m/2 from 1 in errors among {len(raw)} points; at the "
            f"largest run the slope is {raw['slope_over_2_m'].iloc[-1]:.4f} of 2/m",
        ),
        statement(
            "e3.raw_slow",
            float(rho["pair"].iloc[0] - rho["raw"].iloc[-1]),
            note=f"correlation of pair at R = {rho.index[0]} less that of raw at R = {last}, "
            f"{rho['raw'].iloc[-1]:.4f}",
        ),
        statement(
            "e3.improves_with_m",
            steps["m"],
            gain=final / first,
            note="smallest step of the correlation of marginal or pair from one m to the next; "
            f"gain is that of pair from m = {by_m.index[0]}, {first:.3f}, to {by_m.index[-1]}, "
            f"{final:.4f}",
        ),
        statement(
            "e3.marginal_is_pair",
            together,
            note="relative difference of their errors, the root of q_rho, at the largest run",
        ),
        statement(
            "e3.auc_saturated",
            saturated,
            note=f"largest distance from the witness's AUC from R = {enough} on",
        ),
        statement(
            "e3.sic_slower",
            lag,
            note="mean over R of the relative deficit in SIC less that in correlation",
        ),
        statement(
            "e3.tail_slower",
            tail,
            there=float(deficit[enough] - bulk[enough]),
            note="mean over R of the relative deficit in SIC less that in AUC above 1/2; there is "
            f"the same at R = {enough}, where the AUC is said to be saturated",
        ),
        statement(
            "e3.approach",
            steps["R"],
            ahead=float((rho["pair"] - rho["raw"]).min()),
            note="smallest step of the correlation of marginal or pair from one R to the next; "
            "ahead is the smallest lead of pair over raw",
        ),
        pulled(
            "e3.excursions",
            (seen - expected) / spread,
            largest=float(above.max()),
            note=f"largest published excess over the witness's AUC at the largest run, {seen:.1e}, "
            f"less the expected {expected:.1e}, in spreads of the noise predicted here, "
            f"{spread:.1e}; largest is that of all checkpoints of ours",
        ),
        statement(
            "e3.auc_identical",
            float(auc["pair"].iloc[-1] - direct),
            note="AUC of pair less that of the witness at the largest run",
        ),
        statement(
            "e3.almost_exact",
            float(largest["sic"].iloc[0]) / witness_sic,
            error=float(largest["sic_predicted_spread"].iloc[0]) / witness_sic,
            correlation=float(largest["rho"].iloc[0]),
            note="maximum SIC of pair at the largest run over that of the witness, both with our "
            "floor, and the spread predicted for a run; in the paper it is "
            f"{_published_sic(published, m, last)}",
        ),
        statement(
            "e3.efficiency",
            gain,
            note="q of raw over q of pair at the largest run: as many times more batches for raw",
        ),
    ]


def _published_sic(published: Mapping[str, Published], m: int, R: int) -> str:
    """Return the published SIC of pair over that of the witness, if both are printed."""
    pair = published.get(f"e3.sic_{Point('pair', m, R).name}")
    return f"{pair.number / published['e3.sic_witness'].number:.3f}" if pair else "not printed"


def of_scaling(
    sweep: pd.DataFrame,
    fits: pd.DataFrame,
    repeated: pd.DataFrame,
    law: Mapping[str, float],
    published: Mapping[str, Published],
    *,
    fit_minimum: float,
) -> list[Finding]:
    """Return the scaling law: exponent, scatter, collapse and the deviation at low exposure.

    Parameters
    ----------
    sweep, fits
        All checkpoints, and the fits.
    repeated
        Simulated repetitions of the fit: to all points, and to those that the paper shows.
    law
        How much of the predicted deviation the points below the fit's range show, and its error;
        exponent, scatter and number of the points that the paper shows.
    published
        The published rows, by id.
    fit_minimum
        Least R m^2 of the fit.
    """
    chosen = fits[(fits["estimator"] == "pair") & (fits["form"] == "plain")]
    free = chosen[chosen["alpha_is"] == "free"].iloc[0]
    finite = fits[(fits["estimator"] == "pair") & (fits["form"] == "finite")].iloc[0]
    pair = sweep[sweep["estimator"] == "pair"].sort_values("exposure")
    lowest = pair.iloc[0]
    predicted = float(lowest["q_predicted"] * lowest["exposure"] / free["C_predicted"] - 1)
    every, shown = (repeated[repeated["points"] == name] for name in ("all", "shown"))
    alpha_error = float(shown["alpha"].std(ddof=1))
    within = pair[pair["exposure"] >= fit_minimum]
    rarer = (1 + int((every["scatter"] >= free["scatter"]).sum())) / (1 + len(every))
    return [
        Finding(
            "e3.alpha",
            law["alpha_shown"],
            alpha_error,
            int(law["points_shown"]),
            spread=alpha_error,
            toys=1,
            note=f"of the {int(law['points_shown'])} points of Figs. 7 and 8; of all "
            f"{int(free['points'])} nested checkpoints {free['alpha']:.5f} +- "
            f"{free['alpha_error']:.5f}, with the factors for finite m and exposure "
            f"{finite['alpha']:.5f} +- {finite['alpha_error']:.5f}",
        ),
        _scatter(
            published["e3.scatter"],
            {"all checkpoints": every["scatter"], "the points of Figs. 7 and 8": shown["scatter"]},
            f"measured {free['scatter']:.2g} and {law['scatter_shown']:.2g}",
        ),
        statement(
            "e3.alpha_is_one",
            law["alpha_shown"] - 1,
            error=alpha_error,
            note="fitted less predicted exponent, points of Figs. 7 and 8",
        ),
        _witness_variance(within),
        statement(
            "e3.collapse",
            rarer,
            scatter=float(free["scatter"]),
            note="probability that simulated runs which obey one law scatter as much or more; "
            "scatter is the RMS of log q about it, all checkpoints of all m; a point's own error "
            f"is {np.median(within['log_q_error']):.2g}",
        ),
        statement(
            "e3.pre_asymptotic",
            float(law["deviation"]),
            error=float(law["deviation_error"]),
            note="seen over predicted deviation of log q below the fit's range; held if nearer to "
            f"1 than to 0 or 2; predicted are {100 * predicted:.0f} % at the lowest exposure",
        ),
    ]


def _scatter(row: Published, draws: Mapping[str, pd.Series[float]], measured: str) -> Finding:
    """Return the scatter in the reading that agrees least: which points, which logarithm."""
    readings = {
        f"{points}, {name} logarithm": realization(row.id, values / unit)
        for points, values in draws.items()
        for name, unit in (("natural", 1.0), ("decimal", math.log(10)))
    }
    judged = {reading: judge(row, finding) for reading, finding in readings.items()}
    strictest = min(judged, key=lambda reading: _agreement(judged[reading]))
    others = "; ".join(
        f"{reading}: {found['reproduced']:.2g} +- {found['reproduced_error']:.1g}, "
        f"{found['measure']} {found['value']:.2g}"
        for reading, found in judged.items()
        if reading != strictest
    )
    return replace(
        readings[strictest],
        note=f"simulated repetitions of the fit to {strictest}, the strictest reading; {others}; "
        f"{measured} (natural)",
    )


def _agreement(found: Mapping[str, Any]) -> float:
    """Return a number that is smaller for what agrees less."""
    return float(found["value"]) if found["measure"] == "rank p" else -abs(float(found["value"]))


def _witness_variance(pair: pd.DataFrame) -> Finding:
    """Return the exponents of q, Var(xi) over Var(w), in R at the largest m and in m at one R."""
    by_R = pair[pair["m"] == pair["m"].max()]
    R = pair.groupby("R")["m"].nunique().idxmax()
    exponents = {}
    for name, part in (("R", by_R), ("m", pair[pair["R"] == R])):
        x, y = np.log(part[name]), np.log(part["q"])
        weights = part["log_q_error"] ** -2
        x = x - np.average(x, weights=weights)
        square = float(np.sum(weights * x**2))
        exponents[name] = float(np.sum(weights * x * y)) / square, 1 / math.sqrt(square)
    return statement(
        "e3.witness_variance",
        exponents["R"][0],
        error=exponents["R"][1],
        by_m=exponents["m"],
        note=f"fitted exponents of q, Var(xi)/Var(w), within the range of the fit: in R at m = "
        f"{by_R['m'].iloc[0]}, whose checkpoints are prefixes of one run, and in m at R = {R}",
    )
