"""The sample against samples without a departure: p-values and bands (sec. global-local)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from localizer.base import metrics
from localizer.own.significance import NullDraws, band, p_value

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


def summary(observed: NullDraws, null: NullDraws, *, draws_from: str) -> dict[str, Any]:
    """Return MMD^2 and the largest score with their p-values.

    Parameters
    ----------
    observed
        The data themselves, as one draw.
    draws_from
        Where the null draws come from, in a word.
    """
    return {
        "mmd2": float(observed.mmd2[0]),
        "mmd2_null_sd": float(null.mmd2.std(ddof=1)),
        "p_value": p_value(observed.mmd2[0], null.mmd2),
        "draws": len(null.mmd2),
        "draws_from": draws_from,
        "largest": float(observed.largest[0, 0]),
        "p_largest": p_value(observed.largest[0, 0], null.largest[:, 0]),
    }


def auc_by_label(scores: pd.DataFrame) -> dict[str, float]:
    """Return the AUC of the scores, if there is a ``label`` with two values; else nothing."""
    if "label" not in scores or scores["label"].nunique() != 2:
        return {}
    return {"auc": metrics.auc(scores["loo"], scores["label"])}
