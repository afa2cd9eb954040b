"""The sample against samples without a departure: p-values and bands (sec. global-local)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from localizer.base import metrics
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
    "p_largest": "p-value of the largest score",
    "auc": "AUC of the scores, by the label",
    "d_med": "median distance of two events",
}
"""What the quantities are called where people read them."""
COLUMNS = {
    "loo": "score",
    "error": "standard error",
    "error_features": "error by features",
    "witness": "witness, itself included",
    "cross_fitted": "cross-fitted score",
    "shift": "shift / standard deviations",
}
"""What the columns of the tables are called where people read them."""
LEVELS = {"low": 0.025, "median": 0.5, "high": 0.975}
"""The band within which 95 % of the null draws lie, rank by rank, and its middle."""


def ranking(scores: pd.DataFrame, null: NullDraws) -> pd.DataFrame:
    """Return the largest scores beside the band of the null draws, rank by rank.

    Parameters
    ----------
    scores
        Columns ``rank``, ``loo`` and ``error``.
    """
    largest = scores.nsmallest(null.largest.shape[1], "rank")[["rank", "loo", "error"]]
    return largest.assign(
        **{name: band(null.largest, level=level) for name, level in LEVELS.items()}
    )


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
    'A hint of a departure, no more: p = 0.03 (0.01 to 0.05).'
    """
    if p <= DEPARTS:
        return f"The sample departs from the reference: {stated(p, draws)} (up to {DEPARTS})."
    if p <= HINT:
        said = f"A hint of a departure, no more: {stated(p, draws)} ({DEPARTS} to {HINT})."
    else:
        said = f"No departure of the whole is seen: {stated(p, draws)} (above {HINT})."
    if 1 / (draws + 1) > DEPARTS:
        said += f" {draws} draws cannot say more; score.calibration.draws: 999 can."
    return said


def summary(observed: NullDraws, null: NullDraws, *, draws_from: str) -> dict[str, Any]:
    """Return MMD^2 and the largest score with their p-values.

    Parameters
    ----------
    observed
        The data themselves, as one draw.
    draws_from
        Where the null draws come from, in a word.
    """
    p, draws = p_value(observed.mmd2[0], null.mmd2), len(null.mmd2)
    return {
        "answer": answer(p, draws),
        "mmd2": float(observed.mmd2[0]),
        "mmd2_null_sd": float(null.mmd2.std(ddof=1)),
        "p_value": p,
        "draws": draws,
        "draws_from": draws_from,
        "largest": float(observed.largest[0, 0]),
        "p_largest": p_value(observed.largest[0, 0], null.largest[:, 0]),
    }


def auc_by_label(scores: pd.DataFrame) -> dict[str, float]:
    """Return the AUC of the scores, if there is a ``label`` with two values; else nothing."""
    if "label" not in scores or scores["label"].nunique() != 2:
        return {}
    return {"auc": metrics.auc(scores["loo"], scores["label"])}
