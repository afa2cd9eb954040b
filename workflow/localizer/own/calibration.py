"""The sample against samples without a departure: p-values and bands (sec. global-local)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from localizer.base import metrics
from localizer.own.defaults import RankedBy
from localizer.own.significance import NullDraws, band, p_value

DEPARTS, HINT = 0.01, 0.05
"""Up to which p-value a departure is stated, and up to which a hint of one."""
WORDS = {
    "events": "events of the sample",
    "reference_events": "events of the reference",
    "mmd2": "squared MMD of the sample",
    "mmd2_null_sd": "its standard deviation without a departure",
    "p_value": "its p-value",
    "draws": "draws without a departure",
    "largest": "largest score",
    "p_largest": "p-value of the largest score (excess)",
    "lowest": "lowest score",
    "p_lowest": "p-value of the lowest score (deficit)",
    "auc": "AUC of the contribution, by the label",
    "auc_evidence": "AUC of the evidence, by the label",
    "d_med": "median distance of two events",
}
"""What the quantities are called where people read them."""
SCORES = {"contribution": "loo", "evidence": "studentized"}
"""The column by which events are ranked."""
COLUMNS = {
    "loo": "score",
    "error": "standard error",
    "error_features": "error by features",
    "witness": "witness, itself included",
    "studentized": "evidence",
    "cross_fitted": "cross-fitted score",
    "profiled": "profiled score",
    "profiled_error": "its standard error",
    "profiled_rank": "profiled rank",
    "absorbed": "absorbed by the variations",
    "theta": "size (theta)",
    "told": "told from noise",
    "shift": "shift / standard deviations",
    "variance_raw_over_matched": "variance, raw over matched",
    "correlation_with_loo": "correlation with the score",
}
"""What the columns of the tables are called where people read them."""
LEVELS = {"low": 0.025, "median": 0.5, "high": 0.975}
"""The band within which 95 % of the null draws lie, rank by rank, and its middle."""


def ranking(
    scores: pd.DataFrame, observed: NullDraws, null: NullDraws, *, by: RankedBy, alike: bool
) -> pd.DataFrame:
    """Return the largest scores beside the band of the null draws, rank by rank.

    Parameters
    ----------
    scores
        Columns ``rank``, and ``loo`` and ``error`` or ``studentized``.
    observed
        The data as one draw.
    by
        What events are ranked by.
    alike
        Whether the scores were made as the draws were. Where they were not, ``score`` is the
        data's as one draw, which the band belongs to.
    """
    top = null.largest.shape[1]
    listed = scores.nsmallest(top, "rank")
    column = SCORES[by]
    table = pd.DataFrame(
        {
            "rank": listed["rank"],
            "score": listed[column] if alike else observed.largest[0, : len(listed)],
            # the evidence is in units of its error under the null hypothesis
            "error": listed["error"] if by == "contribution" else np.nan,
        }
    )
    return table.assign(**{name: band(null.largest, level=level) for name, level in LEVELS.items()})


def stated(p: float, draws: int) -> str:
    """Return a p-value as it is written: an upper limit where no draw came near the data.

    >>> stated(0.25, 99), stated(0.001, 999)
    ('p = 0.25', 'p <= 0.001')
    """
    floor = 1 / (draws + 1)
    return f"p <= {floor:.3g}" if p < 1.5 * floor else f"p = {p:.3g}"


def answer(p: float, draws: int) -> str:
    """Return whether the sample departs from the reference, in a sentence.

    >>> answer(0.03, 999)
    'There is only a hint of a departure: p = 0.03 (0.01 to 0.05).'
    """
    if p <= DEPARTS:
        return f"The sample departs from the reference: {stated(p, draws)} (up to {DEPARTS})."
    if p <= HINT:
        said = f"There is only a hint of a departure: {stated(p, draws)} ({DEPARTS} to {HINT})."
    else:
        said = f"The sample as a whole shows no departure: {stated(p, draws)} (above {HINT})."
    if 1 / (draws + 1) > DEPARTS:
        said += f" With {draws} draws p cannot be smaller; score.calibration.draws: 999 allows it."
    return said


def places(extremes: Mapping[str, float], draws: int) -> str:
    """Return whether single events stand out of a sample that as a whole does not.

    >>> places({"largest": 0.004, "lowest": 0.3}, 999)
    ' But single places stand out: the largest score has p = 0.004.'
    """
    out = [
        f"the {name} score has {stated(p, draws)}" for name, p in extremes.items() if p <= DEPARTS
    ]
    return f" But single places stand out: {' and '.join(out)}." if out else ""


def summary(observed: NullDraws, null: NullDraws, *, draws_from: str) -> dict[str, Any]:
    """Return MMD^2, the largest and the lowest score with their p-values.

    Parameters
    ----------
    observed
        The data themselves, as one draw.
    draws_from
        Where the null draws come from, in a word.
    """
    p, draws = p_value(observed.mmd2[0], null.mmd2), len(null.mmd2)
    extremes = {
        "largest": p_value(observed.largest[0, 0], null.largest[:, 0]),
        "lowest": p_value(-observed.lowest[0], -null.lowest),
    }
    return {
        "answer": answer(p, draws) + (places(extremes, draws) if p > HINT else ""),
        "mmd2": float(observed.mmd2[0]),
        "mmd2_null_sd": float(null.mmd2.std(ddof=1)),
        "p_value": p,
        "draws": draws,
        "draws_from": draws_from,
        "largest": float(observed.largest[0, 0]),
        "p_largest": extremes["largest"],
        "lowest": float(observed.lowest[0]),
        "p_lowest": extremes["lowest"],
    }


def said(found: Mapping[str, Any]) -> list[str]:
    """Return what a reader must know of the p-values and of the scores, in sentences."""
    draws, by = found["draws"], found["ranking"]
    largest, lowest = (stated(found[name], draws) for name in ("p_largest", "p_lowest"))
    what = {
        "contribution": "how much each adds to the departure (the leave-one-out witness)",
        "evidence": "how significant the excess at each is (the studentized witness)",
    }[by]
    sentences = [
        f"Events are ranked by {what}. An excess has a positive score, a deficit a negative one.",
        f"Among all events, the largest score has {largest} and the lowest {lowest}: how often "
        f"samples without a departure ({draws} {_DRAWN[found['draws_from']]}) reach them anywhere.",
    ]
    if found["method"] == "rff":
        sentences.append(
            'The scores are computed with random Fourier features; the column "error by features" '
            "gives the error that they add."
        )
    if found["calibration_method"] != found["method"]:
        sentences.append(
            "The scores are exact kernel sums. Exact draws would take too long: p-values and null "
            "band are those of the same score by random Fourier features, for the data and the "
            "draws alike."
        )
    if "worth" in found:
        worth = found["worth"]
        sentences.append(
            f"With their weights, the events are worth {worth['sample']:.4g} of the sample and "
            f"{worth['reference']:.4g} of the reference."
        )
    return sentences


_DRAWN = {
    "permutations": "permutations of all events",
    "pseudoexperiments": "parts of the reference as large as the sample",
    "bootstrap": "fluctuations of both samples, drawn by a multiplier bootstrap",
}


def in_words(found: Mapping[str, Any]) -> pd.DataFrame:
    """Return the numbers among what was found, with what they are called."""
    names = {name: value for name, value in found.items() if isinstance(value, int | float)}
    return pd.DataFrame(
        {"quantity": [WORDS.get(name, name) for name in names], "value": list(names.values())}
    )


def auc_by_label(scores: pd.DataFrame) -> dict[str, float]:
    """Return the AUC of the scores, if there is a ``label`` with two values; else nothing."""
    if "label" not in scores or scores["label"].nunique() != 2:
        return {}
    names = {"loo": "auc", "studentized": "auc_evidence"}
    return {names[k]: metrics.auc(scores[k], scores["label"]) for k in names if k in scores}
