"""How time and memory grow with the size of the work (the report's appendix)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from localizer.figures import style

LOOKS: dict[str, dict[str, Any]] = {
    "batch engine": {"color": style.BLACK, "marker": "o"},
    "exact, pairs": {"color": style.VERMILION, "marker": "^"},
    "exact, cosine series": {"color": style.BLUE, "marker": "s"},
    "random features": {"color": style.ORANGE, "marker": "D"},
}
NAMES = {
    "N": "events $N$",
    "m": "batch size $m$",
    "R": "batches $R$",
    "D": "features $D$",
}


@contextmanager
def growth(points: pd.DataFrame) -> Iterator[Figure]:
    """Draw seconds and memory against each size, with the counts as lines.

    A line is the count of operations or bytes, through the measurement at the largest size.
    """
    with style.canvas(len(NAMES), 2, height=2.0) as (figure, panels):
        quantities = (
            ("seconds", "operations", "processor seconds"),
            ("memory_mib", "counted_mib", "memory in MiB"),
        )
        for row, (column, counted, label) in zip(panels, quantities, strict=True):
            row[0].set_ylabel(label)
            low, high = points[column].min(), points[column].max()
            for axes, grows in zip(row, NAMES, strict=True):
                here = points[points["grows"] == grows]
                for way, part in here.groupby("way", sort=False):
                    last = part.iloc[-1]
                    axes.plot(part[grows], part[column], linestyle="none", label=way, **LOOKS[way])
                    axes.plot(
                        part[grows],
                        part[counted] * (last[column] / last[counted]),
                        color=LOOKS[way]["color"],
                        linewidth=0.8,
                    )
                style.decades(axes, "x", sorted(here[grows].unique())[::2])
                axes.set_yscale("log")
                axes.set_ylim(low / 2, high * 2)
                axes.yaxis.set_minor_formatter(NullFormatter())
                if axes is not row[0]:
                    axes.yaxis.set_major_formatter(NullFormatter())
        for axes, grows in zip(panels[-1], NAMES, strict=True):
            axes.set_xlabel(NAMES[grows])
        handles, labels = panels[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(LOOKS))
        yield figure
