"""The figure of the supplementary study of other statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from localizer.figures import style

_LABELS = {
    "bayes": "Bayes: $P(S\\,|\\,x)$",
    "mmd": "MMD",
    "energy": "energy distance",
    "ks": "Kolmogorov-Smirnov",
    "ad": "Anderson-Darling",
    "classifier": "classifier",
}
_LOOKS: dict[str, dict[str, Any]] = {
    "bayes": {"color": style.BLACK, "marker": "", "linestyle": "-"},
    "mmd": {"color": style.BLUE, "marker": "s", "linestyle": "--"},
    "energy": {"color": style.ORANGE, "marker": "^", "linestyle": "-."},
    "ks": {"color": style.GREEN, "marker": "D", "linestyle": ":"},
    "ad": {"color": style.VERMILION, "marker": "v", "linestyle": (0, (5, 1))},
    "classifier": {"color": style.PURPLE, "marker": "o", "linestyle": (0, (3, 1, 1, 1, 1, 1))},
}
_COLUMNS = 3


@contextmanager
def statistics(points: pd.DataFrame, *, mean: Sequence[float], sigma_s: float) -> Iterator[Figure]:
    """Draw the score of each statistic over the plane, its ROC curve, its AUC and its gain.

    The circle holds the events within two standard deviations of the signal's mean.
    """
    maps = points[points["panel"] == "map"]
    names = list(maps["statistic"].unique())
    above = -(-len(names) // _COLUMNS)
    with style.canvas(_COLUMNS, above + 1, height=2.25) as (figure, grid):
        panels = list(grid[:above].flat)
        for panel, name in zip(panels, names, strict=False):
            colours = _map(panel, maps[maps["statistic"] == name])
            panel.add_patch(Circle((mean[0], mean[1]), 2 * sigma_s, fill=False, linewidth=0.8))
            panel.set_title(_LABELS[name])
            panel.set_xlabel("$x_1$", labelpad=0)
            panel.set_ylabel("$x_2$", labelpad=-2)
        for panel in panels[len(names) :]:
            panel.set_axis_off()
        bar = figure.colorbar(colours, ax=list(grid[:above].flat), shrink=0.6, pad=0.01)
        bar.set_label("score over its largest size")
        bar.set_ticks([-1, 0, 1])
        _curves(grid[above], points)
        handles = [Line2D([], [], label=_LABELS[name], **_LOOKS[name]) for name in names]
        figure.legend(handles=handles, loc="outside lower center", ncols=_COLUMNS)
        yield figure


def _map(panel: Axes, part: pd.DataFrame) -> Any:
    """Draw one score over the plane, in units of its largest absolute value."""
    field = part.pivot(index="y", columns="x", values="value")
    values = field.to_numpy() / np.abs(field.to_numpy()).max()
    colours = panel.pcolormesh(
        field.columns, field.index, values, cmap="RdBu_r", vmin=-1, vmax=1, rasterized=True
    )
    panel.set_aspect("equal")
    panel.grid(visible=False)
    return colours


def _curves(row: Any, points: pd.DataFrame) -> None:
    roc, auc, gain = row
    for name, part in points[points["panel"] == "roc"].groupby("statistic", sort=False):
        look = {**_LOOKS[str(name)], "marker": ""}
        roc.plot(part["x"], part["value"], linewidth=0.9, **look)
    roc.plot([0, 1], [0, 1], color=style.GREY, linewidth=0.5)
    roc.set_xlabel("background efficiency")
    roc.set_ylabel("signal efficiency")
    for axes, panel, label in ((auc, "auc", "AUC"), (gain, "gain", "variance, raw / addition")):
        shown = points[points["panel"] == panel]
        for name, part in shown.groupby("statistic", sort=False):
            look = {**_LOOKS[str(name)], "linewidth": 0.8}
            axes.errorbar(part["x"], part["value"], part["error"], **look)
        axes.set_ylabel(label)
        axes.set_xlabel("batch size $m$")
        style.decades(axes, "x", sorted(shown["x"].astype(int).unique()))
    gain.set_yscale("log")
