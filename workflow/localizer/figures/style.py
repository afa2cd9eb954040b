"""The one style of every figure: readable at column width, in grey, and colour-blind safe.

Colour never carries a meaning alone: each estimator and each class also has its own
marker and line style.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# The palette of Okabe and Ito, told apart by every common colour vision and, in this
# order, by its lightness in grey.
BLACK, BLUE, ORANGE, GREEN = "#000000", "#0072b2", "#e69f00", "#009e73"
VERMILION, SKY, PURPLE, GREY = "#d55e00", "#56b4e9", "#cc79a7", "#7f7f7f"

COLUMN, PAGE = 3.4, 7.0  # widths in inches

#: How each series is drawn, in every figure that has it.
SERIES: dict[str, dict[str, Any]] = {
    "signal": {"color": VERMILION, "marker": "o"},
    "background": {"color": BLUE, "marker": "s"},
    "raw": {"color": BLACK, "marker": "o", "linestyle": "-"},
    "addition": {"color": BLUE, "marker": "s", "linestyle": "--"},
    "marginal": {"color": BLUE, "marker": "s", "linestyle": "--"},
    "replacement": {"color": PURPLE, "marker": "D", "linestyle": ":"},
    "pair": {"color": ORANGE, "marker": "^", "linestyle": "-."},
    "likelihood ratio": {"color": BLACK, "marker": "o", "linestyle": "-"},
    "population witness": {"color": BLUE, "marker": "s", "linestyle": "--"},
    "LOO witness": {"color": VERMILION, "marker": "^", "linestyle": "-."},
    "independent": {"color": GREEN, "marker": "D", "linestyle": ":"},
    "posterior": {"color": PURPLE, "marker": "v", "linestyle": (0, (5, 1))},
}

_RC: Any = {
    "font.family": "serif",
    "font.serif": ["DejaVu Serif"],
    "mathtext.fontset": "dejavuserif",
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "grid.linewidth": 0.3,
    "grid.color": "#d0d0d0",
    "axes.axisbelow": True,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.5,
    "errorbar.capsize": 1.5,
    "legend.frameon": False,
    "xtick.direction": "in",
    "ytick.direction": "in",
    "xtick.top": True,
    "ytick.right": True,
    "figure.constrained_layout.use": True,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
    "svg.hashsalt": "localizer",
}


@contextmanager
def canvas(
    columns: int = 1,
    rows: int = 1,
    *,
    height: float = 2.6,
    heights: tuple[float, ...] | None = None,
) -> Iterator[tuple[Figure, Any]]:
    """Yield a figure in the house style with its axes (one, or an array of them).

    ``height`` is that of a row in inches, ``heights`` are the shares of unequal rows.
    """
    with plt.rc_context(_RC):
        size = (COLUMN if columns == 1 else PAGE, height * rows)
        figure, axes = plt.subplots(rows, columns, figsize=size, height_ratios=heights)
        try:
            yield figure, axes
        finally:
            plt.close(figure)


def points(axes: Axes, x: Any, y: Any, error: Any = None, *, series: str, **options: Any) -> None:
    """Draw Monte Carlo points with their errors, as the series is drawn everywhere."""
    look = {**SERIES[series], "linestyle": "none", "label": series, **options}
    axes.errorbar(
        np.asarray(x), np.asarray(y), None if error is None else np.asarray(error), **look
    )


def trend(axes: Axes, table: Any, x: str, y: str, *, series: str, **options: Any) -> None:
    """Draw the column ``y`` with its errors (column ``y_error``), joined by the series' line."""
    line = {"linestyle": SERIES[series]["linestyle"], "linewidth": 0.7}
    points(axes, table[x], table[y], table[f"{y}_error"], series=series, **{**line, **options})


def curve(axes: Axes, x: Any, y: Any, *, series: str, **options: Any) -> None:
    """Draw an exact curve in the colour and line style of its series."""
    look = {**SERIES[series], "marker": "", "linewidth": 0.9, **options}
    axes.plot(np.asarray(x), np.asarray(y), **look)


def decades(axes: Axes, which: str, values: Any) -> None:
    """Make an axis logarithmic and label exactly the given values on it."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    axis.set_major_locator(matplotlib.ticker.FixedLocator(list(values)))
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(matplotlib.ticker.NullLocator())
