"""The figures of a user's own data: which events drive the departure, and where they lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from localizer.figures import style

#: more panels than this are no picture any more; the csv beside it has all features
MOST = 12
_KINDS: dict[str, dict[str, Any]] = {
    "reference": {"color": style.GREY, "linestyle": "-", "linewidth": 0.9},
    "sample": {"color": style.BLUE, "linestyle": "--", "linewidth": 1.1},
    "responsible": {"color": style.VERMILION, "linestyle": "-", "linewidth": 1.3},
}


@contextmanager
def ranking(table: pd.DataFrame) -> Iterator[Figure]:
    """Draw the largest scores by rank, over the band that samples without departure give.

    ``table`` has rank, score and error, and of the band low, median and high. The evidence, in
    units of its error, has none.
    """
    with style.canvas(height=2.8) as (figure, axes):
        axes.fill_between(
            table["rank"],
            table["low"],
            table["high"],
            color=style.GREY,
            alpha=0.35,
            linewidth=0,
            label="no departure, 95 %",
        )
        axes.plot(table["rank"], table["median"], color=style.GREY, linewidth=0.9)
        evidence = bool(table["error"].isna().all())
        if not evidence:
            # the errors of neighbouring ranks go together, so that a band says more than bars
            axes.fill_between(
                table["rank"],
                table["score"] - table["error"],
                table["score"] + table["error"],
                color=style.VERMILION,
                alpha=0.2,
                linewidth=0,
                label="its standard error",
            )
        style.points(
            axes, table["rank"], table["score"], series="LOO witness", label="this sample", ms=2.5
        )
        axes.set_xscale("log")
        axes.set_xlabel("rank of the event")
        axes.set_ylabel("evidence / standard errors" if evidence else "leave-one-out witness")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.18), ncols=3, fontsize=6)
        yield figure


@contextmanager
def features(histograms: pd.DataFrame, order: Sequence[str]) -> Iterator[Figure]:
    """Draw each feature in the reference, the sample and its responsible events."""
    shown = list(order)[:MOST]
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    with style.canvas(columns, rows, height=1.7) as (figure, grid):
        panels = np.atleast_1d(grid).ravel()
        for axes, name in zip(panels, shown, strict=False):
            part = histograms[histograms["feature"] == name]
            for kind, look in _KINDS.items():
                one = part[part["kind"] == kind]
                edges = [*one["low"], one["high"].iloc[-1]]
                axes.stairs(one["density"], edges, label=kind, **look)
            axes.set_xlabel(_literal(name))
            axes.set_yticks([])
        for axes in panels[len(shown) :]:
            axes.axis("off")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3)
        yield figure


@contextmanager
def pairs(fields: pd.DataFrame, top: pd.DataFrame) -> Iterator[Figure]:
    """Draw the mean score over pairs of features, with the responsible events on top.

    ``fields`` has the columns of ``responsible.field`` and x, y (names of the features);
    ``top`` has a column for each feature.
    """
    planes = list(dict.fromkeys(zip(fields["x"], fields["y"], strict=True)))
    columns = min(3, len(planes))
    rows = -(-len(planes) // columns)
    with style.canvas(columns, rows, height=2.3 if columns > 1 else 2.8) as (figure, grid):
        panels = np.atleast_1d(grid).ravel()
        # a cell with one event may have any score: the cells with most events set the scale
        full = fields[fields["events"] >= fields["events"].median()]
        limit = float(np.abs(full["score"]).max()) or 1.0
        norm = TwoSlopeNorm(0.0, -limit, limit)
        for axes, (x, y) in zip(panels, planes, strict=False):
            part = fields[(fields["x"] == x) & (fields["y"] == y)]
            _cells(axes, part, norm)
            axes.plot(
                *(top[x], top[y]),
                **{"linestyle": "none", "marker": "o", "markersize": 2.2},
                **{"markerfacecolor": "none", "markeredgecolor": style.BLACK},
                markeredgewidth=0.5,
            )
            # an event beyond the cells would squash them
            axes.set_xlim(part["x_low"].min(), part["x_high"].max())
            axes.set_ylim(part["y_low"].min(), part["y_high"].max())
            axes.set(xlabel=_literal(x), ylabel=_literal(y))
        for axes in panels[len(planes) :]:
            axes.axis("off")
        scale = plt.cm.ScalarMappable(norm=norm, cmap="RdBu_r")
        figure.colorbar(scale, ax=list(panels), label="mean witness", shrink=0.8)
        yield figure


def _literal(name: str) -> str:
    """Return a user's name so that no part of it is taken for a formula."""
    return name.replace("$", r"\$")


def _cells(axes: Axes, part: pd.DataFrame, norm: TwoSlopeNorm) -> None:
    x = np.unique(np.concatenate([part["x_low"], part["x_high"]]))
    y = np.unique(np.concatenate([part["y_low"], part["y_high"]]))
    mean = np.full((y.size - 1, x.size - 1), np.nan)
    mean[np.searchsorted(y, part["y_low"]), np.searchsorted(x, part["x_low"])] = part["score"]
    axes.pcolormesh(x, y, mean, norm=norm, cmap="RdBu_r", rasterized=True)
    axes.grid(visible=False)
