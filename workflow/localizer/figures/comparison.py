"""The figures of the comparison with other scores of events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from localizer.figures import style
from localizer.figures.experiment3 import stamp as stamp

_COLOURS = (
    *(style.VERMILION, style.BLUE, style.ORANGE, style.GREEN),
    *(style.BLACK, style.PURPLE, style.SKY, style.GREY),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
_LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 1)))
_PROBLEMS = {
    "lhco_whole": "LHCO, whole",
    "gaussian": "Experiment I",
    "latent": "Experiment II",
    "bump": "bump, noise features",
    "deficit": "deficit",
}


@contextmanager
def comparison(points: pd.DataFrame) -> Iterator[Figure]:
    """Draw SIC against the signal fraction, and the gain over the paper's witness."""
    looks = _looks(points)
    scan = points[points["panel"] == "scan"]
    problems = [name for name in points["problem"].unique() if name not in set(scan["problem"])]
    # with the paper's signal fraction, if the scan has it
    problems = [name for name in ("lhco_1",) if name in set(scan["problem"])] + problems
    with style.canvas(3, height=3.6) as (figure, (left, middle, right)):
        for name, part in scan.groupby("competitor"):
            rows = part.sort_values("x")
            left.errorbar(
                rows["x"], rows["value"], rows["error"], **{**looks[name], "linewidth": 0.8}
            )
        style.decades(left, "x", sorted(scan["x"].unique()))
        left.set_xlabel("signal fraction / the paper's")
        left.set_ylabel("maximum SIC")
        names = ("auc_gain", next(p for p in points["panel"].unique() if p.startswith("sic")))
        for axes, panel, label in zip(
            (middle, right), names, ("gain in AUC", "gain in maximum SIC"), strict=True
        ):
            _gains(axes, points[points["panel"] == panel], problems, looks)
            axes.set_xlabel(label)
        right.set_yticklabels([])
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        yield figure


@contextmanager
def comparison_cost(cost: pd.DataFrame) -> Iterator[Figure]:
    """Draw what is found against what it costs, where the sample is largest."""
    looks = _looks(cost)
    of_lhco = cost[cost["problem"].str.startswith("lhco")]
    largest = of_lhco["problem"][(of_lhco["background"] + of_lhco["reference"]).idxmax()]
    # a scan has several problems of that size: the one with the paper's signal fraction
    chosen = "lhco_1" if largest != "lhco_whole" and "lhco_1" in set(cost["problem"]) else largest
    rows = cost[cost["problem"] == chosen].sort_values("competitor")
    with style.canvas(2, height=2.8) as (figure, (left, right)):
        for _, row in rows.iterrows():
            look = looks[row["competitor"]]
            for axes, x in ((left, "seconds"), (right, "memory_mib")):
                axes.errorbar([row[x]], [row["sic"]], [row["sic_error"]], **look)
        for axes, label in ((left, "processor seconds"), (right, "memory [MiB]")):
            axes.set_xscale("log")
            axes.set_xlabel(label)
        left.set_ylabel("maximum SIC")
        size = int(rows["background"].iloc[0]), int(rows["reference"].iloc[0])
        left.set_title(f"{size[0]} background events, {size[1]} in the reference")
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        yield figure


def _gains(
    axes: Axes, points: pd.DataFrame, problems: list[str], looks: dict[str, dict[str, Any]]
) -> None:
    """Draw the gain of each competitor, one line of the panel a problem."""
    names = sorted(points["competitor"].unique())
    for shift, name in zip(np.linspace(-0.32, 0.32, max(2, len(names))), names, strict=False):
        part = points[points["competitor"] == name].set_index("problem").reindex(problems)
        place = np.arange(len(problems)) + shift
        look = {**looks[name], "linestyle": "none", "label": None}
        axes.errorbar(part["value"], place, xerr=part["error"], **look)
    axes.axvline(0, color=looks["witness_rff"]["color"], linewidth=0.7)
    axes.set_yticks(np.arange(len(problems)), [_called(name) for name in problems])
    axes.set_ylim(len(problems) - 0.5, -0.5)
    axes.yaxis.grid(visible=False)


def _called(problem: str) -> str:
    """Return the name of a problem in a figure.

    Examples
    --------
    >>> _called("lhco_0.25")
    'LHCO, x 0.25'
    """
    return _PROBLEMS.get(problem, f"LHCO, x {problem.removeprefix('lhco_')}")


def _looks(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return how each competitor is drawn: by its place in the alphabet."""
    found = table[["competitor", "label"]].drop_duplicates().sort_values("competitor")
    return {
        name: {
            "label": label,
            "color": _COLOURS[number % len(_COLOURS)],
            "marker": _MARKERS[number % len(_MARKERS)],
            "linestyle": _LINES[number % len(_LINES)],
        }
        for number, (name, label) in enumerate(found.itertuples(index=False))
    }
