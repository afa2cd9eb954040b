"""What Experiment III found of the scaling law (Fig. 9), one function a published id.

``fits`` are to all checkpoints; ``repeated`` are simulated repetitions of them, to all points and
to those that the paper shows; ``law`` has the fit to the points shown; ``lowest`` are runs at
the lowest exposure, far below ``fit_minimum``, the least R m^2 of the fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from localizer.verdicts.board import Finding, Published, judge, realization, statement
from localizer.verdicts.registry import finding


@finding("e3.alpha")
def alpha(repeated: pd.DataFrame, fits: pd.DataFrame, law: Mapping[str, float]) -> Finding:
    """Return the exponent of the points that the paper shows."""
    error = _error_of_alpha(repeated)
    free, finite = (_free(fits, form) for form in ("plain", "finite"))
    return Finding(
        value=law["alpha_shown"],
        error=error,
        n=int(law["points_shown"]),
        spread=error,
        toys=1,
        note=f"of the {int(law['points_shown'])} points of Figs. 7 and 8; of all "
        f"{int(free['points'])} nested checkpoints {free['alpha']:.5f} +- "
        f"{free['alpha_error']:.5f}, with the factors for finite m and exposure "
        f"{finite['alpha']:.5f} +- {finite['alpha_error']:.5f}",
    )


@finding("e3.alpha_is_one")
def alpha_is_one(repeated: pd.DataFrame, law: Mapping[str, float]) -> Finding:
    """Return how far that exponent is from the predicted one."""
    return statement(
        law["alpha_shown"] - 1,
        error=_error_of_alpha(repeated),
        note="fitted less predicted exponent, points of Figs. 7 and 8",
    )


@finding("e3.scatter")
def scatter(
    repeated: pd.DataFrame,
    fits: pd.DataFrame,
    law: Mapping[str, float],
    published: Mapping[str, Published],
) -> Finding:
    """Return the scatter in the reading that agrees least: which points, which logarithm."""
    draws = {
        "all checkpoints": _repeated(repeated, "all")["scatter"],
        "the points of Figs. 7 and 8": _repeated(repeated, "shown")["scatter"],
    }
    measured = f"measured {_free(fits, 'plain')['scatter']:.2g} and {law['scatter_shown']:.2g}"
    return _scatter(published["e3.scatter"], draws, measured)


@finding("e3.collapse")
def collapse(
    sweep: pd.DataFrame, fits: pd.DataFrame, repeated: pd.DataFrame, fit_minimum: float
) -> Finding:
    """Return how likely as large a scatter is if all points obey one law."""
    measured = float(_free(fits, "plain")["scatter"])
    every = _repeated(repeated, "all")["scatter"]
    within = _within(sweep, fit_minimum)
    return statement(
        (1 + int((every >= measured).sum())) / (1 + len(every)),
        scatter=measured,
        note="probability that simulated runs which obey one law scatter as much or more; "
        "scatter is the RMS of log q about it, all checkpoints of all m; a point's own error "
        f"is {np.median(within['log_q_error']):.2g}",
    )


@finding("e3.witness_variance")
def witness_variance(sweep: pd.DataFrame, fit_minimum: float) -> Finding:
    """Return the exponents of q, Var(xi) over Var(w), in R at the largest m and in m at one R."""
    pair = _within(sweep, fit_minimum)
    by_R = pair[pair["m"] == pair["m"].max()]
    R = pair.groupby("R")["m"].nunique().idxmax()
    of_R, of_m = (
        _exponent(part, name) for name, part in (("R", by_R), ("m", pair[pair["R"] == R]))
    )
    return statement(
        of_R[0],
        error=of_R[1],
        by_m=of_m,
        note=f"fitted exponents of q, Var(xi)/Var(w), within the range of the fit: in R at m = "
        f"{by_R['m'].iloc[0]}, whose checkpoints are prefixes of one run, and in m at R = {R}",
    )


@finding("e3.pre_asymptotic")
def pre_asymptotic(lowest: pd.DataFrame, fits: pd.DataFrame) -> Finding:
    """Return how much of the predicted deviation runs of the lowest exposure show."""
    law = _free(fits, "plain")["C_predicted"] / lowest["exposure"].iloc[0]
    predicted = math.log(lowest["q_predicted"].iloc[0] / law)
    mean, n = float(lowest["q"].mean()), len(lowest)
    error = float(lowest["q"].std(ddof=1)) / math.sqrt(n) / mean
    return statement(
        math.log(mean / law) / predicted,
        error=error / predicted,
        note=f"seen over predicted deviation of log q at R m^2 = {lowest['exposure'].iloc[0]:.3g}, "
        f"the mean of {n} further runs; held if nearer to 1 than to 0 or 2; predicted are "
        f"{100 * math.expm1(predicted):.0f} %",
    )


# --- helpers -------------------------------------------------------------------------------


def _pair(sweep: pd.DataFrame) -> pd.DataFrame:
    """Return the checkpoints of pair in the order of their exposure."""
    return sweep[sweep["estimator"] == "pair"].sort_values("exposure")


def _within(sweep: pd.DataFrame, fit_minimum: float) -> pd.DataFrame:
    """Return the checkpoints of pair in the range of the fit."""
    pair = _pair(sweep)
    return pair[pair["exposure"] >= fit_minimum]


def _free(fits: pd.DataFrame, form: str) -> pd.Series[Any]:
    """Return the fit of pair with a free exponent."""
    chosen = fits[(fits["estimator"] == "pair") & (fits["form"] == form)]
    return chosen[chosen["alpha_is"] == "free"].iloc[0]


def _repeated(repeated: pd.DataFrame, points: str) -> pd.DataFrame:
    return repeated[repeated["points"] == points]


def _error_of_alpha(repeated: pd.DataFrame) -> float:
    return float(_repeated(repeated, "shown")["alpha"].std(ddof=1))


def _scatter(row: Published, draws: Mapping[str, pd.Series[float]], measured: str) -> Finding:
    """Return the strictest reading of some draws of the scatter."""
    readings = {
        f"{points}, {name} logarithm": realization(values / unit)
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


def _exponent(points: pd.DataFrame, name: str) -> tuple[float, float]:
    """Return the exponent of q in a column, and its error."""
    x, y = np.log(points[name]), np.log(points["q"])
    weights = points["log_q_error"] ** -2
    x = x - np.average(x, weights=weights)
    square = float(np.sum(weights * x**2))
    return float(np.sum(weights * x * y)) / square, 1 / math.sqrt(square)
