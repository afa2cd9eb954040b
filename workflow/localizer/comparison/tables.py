"""The tables of the comparison: means over mocks, paired differences, and what figures draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from localizer.comparison.known import BASELINE

_CASE = ["problem", "competitor", "label", "fraction", "background", "signal", "reference"]


def summary(scores: pd.DataFrame, *, measures: Sequence[str]) -> pd.DataFrame:
    """Return one row for each problem and competitor, the best of a problem first.

    Parameters
    ----------
    scores
        One row for each problem, mock and competitor. Every competitor has met the same mocks.
    measures
        The columns to average, the one that orders the competitors first. ``<measure>_error`` is
        the standard error from the spread over mocks; ``<measure>_gain`` is the mean difference
        to the paper's witness on the same mocks, ``<measure>_gain_error`` its standard error.
        Sizes that vary from mock to mock are means.
    """
    paired = scores.merge(
        scores.loc[scores["competitor"] == BASELINE, ["problem", "mock", *measures]],
        on=["problem", "mock"],
        suffixes=("", "_baseline"),
        validate="many_to_one",
    )
    if len(paired) != len(scores):
        raise ValueError(f"every mock must have a score of {BASELINE}, to be compared with it")
    rows = []
    for problem in scores["problem"].drop_duplicates():
        part = paired[paired["problem"] == problem]
        numbers = {name: tuple(sorted(group["mock"])) for name, group in part.groupby("competitor")}
        if len(set(numbers.values())) != 1:
            raise ValueError(f"the competitors must have met the same mocks of {problem}")
        found = [_row(group, measures) for _, group in part.groupby("competitor")]
        rows += sorted(found, key=lambda row: -np.nan_to_num(row[measures[0]], nan=-np.inf))
    return pd.DataFrame(rows)


def _row(group: pd.DataFrame, measures: Sequence[str]) -> dict[str, Any]:
    first = group.iloc[0]
    row: dict[str, Any] = {name: first[name] for name in _CASE}
    for name in ("background", "signal"):
        row[name] = float(group[name].mean())
    row["mocks"] = len(group)
    for measure in measures:
        row[measure], row[f"{measure}_error"] = _mean(group[measure])
    for measure in measures:
        gain = group[measure] - group[f"{measure}_baseline"]
        row[f"{measure}_gain"], row[f"{measure}_gain_error"] = (
            (np.nan, np.nan) if first["competitor"] == BASELINE else _mean(gain)
        )
    return row


def _mean(values: pd.Series) -> tuple[float, float]:
    """Return a mean over mocks and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def drawn_points(table: pd.DataFrame, *, measure: str) -> pd.DataFrame:
    """Return the points of the figure: SIC by signal fraction, and gains problem by problem.

    Parameters
    ----------
    table
        As :func:`summary` returns it.
    measure
        The SIC that the first panel shows, ``sic_<floor>``.
    """
    # the scan is at one size of the background, that of the first problem with a fraction
    of_lhco = table[table["fraction"].notna()]
    scan = of_lhco[of_lhco["background"] == of_lhco["background"].iloc[0]]
    columns = {"problem": "problem", "competitor": "competitor", "label": "label"}
    panels = [scan.assign(panel="scan", x=scan["fraction"], value=scan[measure])]
    panels[0]["error"] = scan[f"{measure}_error"]
    for name in ("auc", measure):
        panel = table[table["competitor"] != BASELINE]
        panel = panel.assign(panel=f"{name}_gain", x=np.nan, value=panel[f"{name}_gain"])
        panel["error"] = panel[f"{name}_gain_error"]
        panels.append(panel)
    kept = ["panel", *columns, "x", "value", "error"]
    return pd.concat([panel[kept] for panel in panels], ignore_index=True)


def cost_table(costs: pd.DataFrame, table: pd.DataFrame, *, measure: str) -> pd.DataFrame:
    """Return what each competitor costs on a problem, beside what it finds there."""
    found = (
        costs.groupby(["problem", "competitor", "label"], sort=False)
        .agg(seconds=("seconds", "mean"), memory_mib=("memory_mib", "max"))
        .reset_index()
    )
    kept = ["problem", "competitor", "background", "reference", measure, f"{measure}_error"]
    merged = found.merge(table[kept], on=["problem", "competitor"], validate="one_to_one")
    return merged.rename(columns={measure: "sic", f"{measure}_error": "sic_error"})
