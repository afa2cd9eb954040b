"""The scoreboard at a glance: one point for each published number, by experiment."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from localizer.figures import style
from localizer.verdicts.board import AGREES, DISAGREES, RARE, VERDICTS

PULL, RANK, MARK, APART = "pull", "rank p", "mark", "not comparable"
TRACKS = (PULL, RANK, MARK, APART)
IDENTITY = "identity"

#: marks stand in lines of this many
PER_LINE = 14
#: a larger pull is drawn at the edge, as an arrow
EDGE = 7.0
#: the smallest rank p with a place of its own on the axis
FLOOR = 1e-3

_LOOKS: dict[str, dict[str, Any]] = {
    "agrees": {"color": style.BLUE, "marker": "o"},
    "borderline": {"color": style.ORANGE, "marker": "v"},
    "tension": {"color": style.ORANGE, "marker": "D"},
    "disagrees": {"color": style.VERMILION, "marker": "X"},
    APART: {"color": style.GREY, "marker": "s"},
}
_TITLES = {"-": "Theory", "I": "Experiment I", "II": "Experiment II", "III": "Experiment III"}
#: the height of a line of marks in inches, and how many a panel of pulls asks for
_LINE, _LEAST = 0.17, 8.0
#: lines that the words above the hollow marks take
_HEADING = 1.5


def points(scores: pd.DataFrame) -> pd.DataFrame:
    """Return what the figure draws: for each row of the scoreboard its track and place.

    Identities that hold are left out.

    In the tracks of pulls and ranks, x is the measure and y the row's place in the order of
    the paper, from 0 (first) to 1 (last); a mark stands in a column x of a line y.
    """
    unknown = sorted(set(scores["verdict"]) - set(VERDICTS))
    if unknown:
        raise ValueError(f"scoreboard: the verdict {unknown[0]!r} is none of {', '.join(VERDICTS)}")
    drawn = scores[["id", "experiment", "kind", "measure", "value", "verdict"]].copy()
    # an identity that holds says nothing of the paper
    drawn = drawn[(drawn["kind"] != IDENTITY) | (drawn["verdict"] == "disagrees")]
    apart = drawn["verdict"] == APART
    measured = drawn["measure"].where(drawn["measure"].isin([PULL, RANK]), MARK)
    drawn["track"] = measured.where(~apart, APART)
    places = [
        place
        for _, part in drawn.groupby(["experiment", "track"], sort=False)
        for place in _places(part)
    ]
    return drawn.join(pd.DataFrame(places, columns=["id", "x", "y"]).set_index("id"), on="id")


def _places(part: pd.DataFrame) -> Iterator[tuple[str, float, float]]:
    """Yield each row's id and where it stands in its track."""
    measured = part["track"].iloc[0] in (PULL, RANK)
    for number, (name, value) in enumerate(zip(part["id"], part["value"], strict=True)):
        if measured:
            yield str(name), float(value), (number + 0.5) / len(part)
        else:
            yield str(name), float(number % PER_LINE), float(number // PER_LINE)


@contextmanager
def scoreboard(
    drawn: pd.DataFrame, *, other_sizes: str = "", edition: str = "full"
) -> Iterator[Figure]:
    """Draw the pulls, the ranks and the marks of every experiment.

    Parameters
    ----------
    drawn
        What :func:`points` returns.
    other_sizes
        Why no verdict applies (smoke sizes), if none does; written on the figure's face.
    edition
        The edition of the LHC Olympics sample; on the face too, unless it is the full one.
    """
    experiments = list(dict.fromkeys(drawn["experiment"]))
    heights = tuple(
        max(_height(part), _LEAST if part["track"].isin([PULL, RANK]).any() else 0.0)
        for _, part in drawn.groupby("experiment", sort=False)
    )
    # titles, ticks and labels take as much as two lines
    height = _LINE * (sum(heights) / len(heights) + 2)
    with style.canvas(3, len(experiments), height=height, heights=heights) as (figure, axes):
        figure.set_layout_engine("constrained", w_pad=0.03, h_pad=0.04)
        for row, (experiment, panels) in enumerate(
            zip(experiments, np.atleast_2d(axes), strict=True)
        ):
            part = drawn[drawn["experiment"] == experiment]
            _pulls(panels[0], part[part["track"] == PULL])
            _ranks(panels[1], part[part["track"] == RANK])
            _marks(panels[2], part, heights[row])
            title = _TITLES.get(experiment, experiment)
            panels[0].set_title(f"{title}: {_said(part)}", loc="left")
            if row == len(experiments) - 1:
                panels[0].set_xlabel("pull: an ensemble, a fit, few draws")
                panels[1].set_xlabel("rank $p$ of one realization of the author's")
                panels[2].set_xlabel("exact values and statements")
        stamps = [f"{other_sizes}: verdicts do not apply"] if other_sizes else []
        if edition != "full":
            stamps.append(f"Experiment III: edition {edition} of the LHC Olympics sample")
        if stamps:
            figure.suptitle("\n".join(stamps), fontsize=7.5, color=style.VERMILION)
        yield figure


def _said(part: pd.DataFrame) -> str:
    counts = {verdict: int((part["verdict"] == verdict).sum()) for verdict in VERDICTS}
    words = {"agrees": "agree", "tension": "in tension", "disagrees": "disagree"}
    said = [f"{count} {words.get(name, name)}" for name, count in counts.items() if count]
    return ", ".join(said)


def _scatter(axes: Axes, part: pd.DataFrame) -> None:
    """Draw the points of a track by verdict, and name those that do not agree."""
    for verdict, look in _LOOKS.items():
        here = part[part["verdict"] == verdict]
        axes.plot(here["x"], here["y"], **look, linestyle="none", markersize=3.2)
    for _, point in part[part["verdict"] != "agrees"].iterrows():
        left = point["x"] < np.mean(axes.get_xlim())
        axes.annotate(
            point["id"],
            (point["x"], point["y"]),
            # inside the panel, also for the first row
            xytext=(4 if left else -4, 3 if point["y"] > 0.1 else -7),
            textcoords="offset points",
            ha="left" if left else "right",
            fontsize=5.5,
        )


def _pulls(axes: Axes, part: pd.DataFrame) -> None:
    """Draw pulls over the bands of the verdicts."""
    axes.axvspan(-AGREES, AGREES, color=style.GREEN, alpha=0.13, linewidth=0)
    for side in (-1, 1):
        axes.axvspan(side * AGREES, side * DISAGREES, color=style.ORANGE, alpha=0.2, linewidth=0)
    if len(part):
        axes.axvline(0, color=style.GREY, linewidth=0.7)
    axes.set_xlim(-EDGE - 0.5, EDGE + 0.5)
    axes.set_xticks([-DISAGREES, -AGREES, 0, AGREES, DISAGREES])
    _ordered(axes, part)
    far = part["x"].abs() > EDGE
    for side, marker in ((-1, "<"), (1, ">")):
        beyond = part[far & (np.sign(part["x"]) == side)]
        axes.plot(
            np.full(len(beyond), side * EDGE),
            beyond["y"],
            marker=marker,
            color=style.VERMILION,
            linestyle="none",
        )
    _scatter(axes, part.assign(x=part["x"].clip(-EDGE, EDGE)))


def _ranks(axes: Axes, part: pd.DataFrame) -> None:
    """Draw two-sided ranks on a logarithmic axis, from rare on the left to typical."""
    axes.set_xscale("log")
    axes.set_xlim(FLOOR / 2, 1.4)
    axes.axvspan(RARE, 1.4, color=style.GREEN, alpha=0.13, linewidth=0)
    axes.axvspan(FLOOR / 2, RARE, color=style.ORANGE, alpha=0.2, linewidth=0)
    _ordered(axes, part)
    _scatter(axes, part.assign(x=part["x"].clip(FLOOR)))


def _ordered(axes: Axes, part: pd.DataFrame) -> None:
    axes.set_ylim(1.02, -0.02)
    axes.set_yticks([])
    axes.grid(visible=False, axis="y")
    if part.empty:
        axes.text(0.5, 0.55, "none", transform=axes.transAxes, ha="center", color=style.GREY)


def _marks(axes: Axes, part: pd.DataFrame, height: float) -> None:
    """Draw a mark for each row that is met or not, and hollow ones for those set apart."""
    axes.grid(visible=False)
    axes.tick_params(bottom=False, top=False, left=False, right=False)
    axes.set_xticks([])
    axes.set_yticks([])
    marks, apart = (part[part["track"] == track] for track in (MARK, APART))
    for verdict, look in _LOOKS.items():
        here = marks[marks["verdict"] == verdict]
        axes.plot(here["x"], here["y"], **look, linestyle="none", markersize=4)
    top = _lines(marks)
    for _, row in marks[marks["verdict"] != "agrees"].iterrows():
        axes.plot([0], [top], **_LOOKS[row["verdict"]], markersize=4)
        axes.text(0.8, top, row["id"], va="center", fontsize=5.5)
        top += 1
    if len(apart):
        axes.text(-0.3, top + 0.4, "not comparable:", va="center", fontsize=6.5, color=style.GREY)
        axes.plot(
            apart["x"],
            apart["y"] + top + _HEADING,
            **_LOOKS[APART],
            markerfacecolor="none",
            linestyle="none",
            markersize=4,
        )
    axes.set_xlim(-1, PER_LINE)
    axes.set_ylim(height - 1, -1)


def _height(part: pd.DataFrame) -> float:
    """Return how many lines the marks of an experiment take, a margin included."""
    marks, apart = (part[part["track"] == track] for track in (MARK, APART))
    named = int((marks["verdict"] != "agrees").sum())
    return 1 + _lines(marks) + named + (_HEADING + _lines(apart) if len(apart) else 0.0)


def _lines(part: pd.DataFrame) -> int:
    return math.ceil(len(part) / PER_LINE)
