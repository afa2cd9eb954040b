"""What the batches of Experiment III found: correlations, convergence and the scaling law.

A correlation with the witness depends on sample and features through the constant C alone: it is
carried over to the published C by the scaling law and compared in every edition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from localizer.experiments.experiment3 import Point
from localizer.theory import scaling
from localizer.theory.scaling import PairMoments
from localizer.verdicts.board import Finding, Published, realization, statement


def of_correlations(
    sweep: pd.DataFrame, moments: PairMoments, published: Mapping[str, Published]
) -> list[Finding]:
    """Return the correlations with the witness, carried over to the published constant.

    q_rho is in proportion to C for the pair score and follows from it for raw: the measured
    q, times the law at the published C over the law at the sample's own, is what the author's
    sample should give. Both sides have the error of one run.
    """
    C, alpha = published["e3.C"].number, published["e3.alpha"].number
    found = []
    for row in sweep.itertuples():
        name = f"e3.rho_{Point(row.estimator, row.m, row.R).name}"
        if name not in published:
            continue
        there = PairMoments.from_constant(
            C * row.exposure ** (1 - alpha),
            N=moments.N,
            replacement=moments.replacement,
            aligned=moments.aligned / moments.pair,
        )
        point = {"m": int(row.m), "R": int(row.R)}
        ratio = there.q(row.estimator, **point) / moments.q(row.estimator, **point)
        q = row.q * ratio
        rho = float(scaling.correlation(q))
        error = rho**3 / 2 * q * row.log_q_error
        found.append(
            Finding(
                name,
                rho,
                error,
                1,
                spread=error,
                toys=1,
                note=f"measured {row.rho:.6f} (predicted {row.rho_predicted:.6f}), carried over "
                f"from C = {moments.C:.3g} to the published one by the law",
            )
        )
    return found


def of_convergence(
    sweep: pd.DataFrame, *, m: int, m_scan_R: int, identical: float, essentially: float
) -> list[Finding]:
    """Return what is said in words about convergence with m and with R.

    Parameters
    ----------
    sweep
        All checkpoints.
    m
        The batch size of the convergence with R.
    m_scan_R
        The number of batches of the convergence with m.
    identical
        What identical means for two AUCs.
    essentially
        What essentially the same means for two errors, as a relative difference.
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
    above = (excess["auc"] - direct) / excess["auc_predicted_spread"]
    gain = float(by_number["q"]["raw"].iloc[-1] / by_number["q"]["pair"].iloc[-1])
    rising = {name: bool(np.all(np.diff(by_m["rho"][name]) > 0)) for name in ("marginal", "pair")}
    growing = {name: bool(np.all(np.diff(rho[name]) > 0)) for name in ("marginal", "pair")}
    largest = float(auc["pair"].iloc[-1] - direct)
    return [
        statement(
            "e3.raw_slope",
            worst < 5,
            value=worst,
            note=f"largest distance of slope m/2 from 1 in errors among {len(raw)} points; at the "
            f"largest run the slope is {raw['slope_over_2_m'].iloc[-1]:.4f} of 2/m",
        ),
        statement(
            "e3.raw_slow",
            float(rho["raw"].iloc[-1]) < float(rho["pair"].iloc[0]),
            value=float(rho["raw"].iloc[-1]),
            note=f"correlation of raw at R = {last}; pair has {rho['pair'].iloc[0]:.4f} at "
            f"R = {rho.index[0]}",
        ),
        statement(
            "e3.improves_with_m",
            all(rising.values()),
            value=float(by_m["rho"]["pair"].iloc[-1]),
            note=f"correlation of pair at m = {by_m.index[-1]}, from "
            f"{by_m['rho']['pair'].iloc[0]:.3f} at m = {by_m.index[0]}, rising at every step",
        ),
        statement(
            "e3.marginal_is_pair",
            abs(together) < essentially,
            value=together,
            note="relative difference of their errors, the root of q_rho, at the largest run; "
            f"almost means {essentially:g}",
        ),
        statement(
            "e3.auc_saturated",
            saturated < identical,
            value=saturated,
            note=f"largest distance from the witness's AUC from R = {enough} on; "
            f"saturated means {identical:g}",
        ),
        statement(
            "e3.sic_slower",
            lag > 0,
            value=lag,
            note="mean over R of the relative deficit in SIC less that in correlation",
        ),
        statement(
            "e3.tail_slower",
            tail > 0 and deficit[enough] > bulk[enough],
            value=tail,
            note="mean over R of the relative deficit in SIC less that in AUC above 1/2; at "
            f"R = {enough}, where the AUC is said to be saturated, {deficit[enough]:.3f} and "
            f"{bulk[enough]:.5f}",
        ),
        statement(
            "e3.approach",
            all(growing.values()) and bool((rho["raw"] < rho["pair"]).all()),
            value=float(rho["pair"].iloc[-1]),
            note=f"correlation of pair at the largest run; raw has {rho['raw'].iloc[-1]:.3f}",
        ),
        statement(
            "e3.excursions",
            float(above.max()) < 5,
            value=float(above.max()),
            note="largest excess of AUC over the witness's, in spreads of the predicted noise",
        ),
        statement(
            "e3.auc_identical",
            abs(largest) < identical,
            value=largest,
            note=f"AUC of pair less that of the witness; essentially identical means {identical:g}",
        ),
        statement(
            "e3.efficiency",
            gain > 10,
            value=gain,
            note="q of raw over q of pair at the largest run: as many times more batches for raw",
        ),
    ]


def of_scaling(
    sweep: pd.DataFrame,
    fits: pd.DataFrame,
    repeated: pd.DataFrame,
    law: Mapping[str, float],
    *,
    fit_minimum: float,
    alpha_tolerance: float,
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
    fit_minimum
        Least R m^2 of the fit.
    alpha_tolerance
        What close means for the exponent.
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
    typical = float(np.median(within["log_q_error"]))
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
        replace(
            realization("e3.scatter", shown["scatter"]),
            note="simulated repetitions of the fit to the points of Figs. 7 and 8, measured "
            f"{law['scatter_shown']:.2g}; to every checkpoint of every m "
            f"{every['scatter'].mean():.2g} +- {every['scatter'].std(ddof=1):.1g}, measured "
            f"{free['scatter']:.2g}",
        ),
        statement(
            "e3.alpha_is_one",
            abs(law["alpha_shown"] - 1) < alpha_tolerance,
            value=law["alpha_shown"] - 1,
            note=f"fitted less predicted exponent; remarkably close means {alpha_tolerance:g}",
        ),
        statement(
            "e3.collapse",
            rarer > 0.001,
            value=float(free["scatter"]),
            note="RMS of log q about one law for all checkpoints of all m; simulated runs that "
            f"obey the law scatter as much or more with probability {rarer:.3g}; a point's own "
            f"error is {typical:.2g}",
        ),
        statement(
            "e3.pre_asymptotic",
            abs(law["deviation"] - 1) < 3 * law["deviation_error"],
            value=float(law["deviation"]),
            note="seen over predicted deviation of log q below the fit's range, +- "
            f"{law['deviation_error']:.2f}; predicted are {100 * predicted:.0f} % at the lowest "
            "exposure",
        ),
    ]
