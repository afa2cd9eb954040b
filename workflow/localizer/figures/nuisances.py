"""The figure of null p-values with a wrong reference."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, ScalarFormatter

from localizer.figures import style

_BINS = 10


@contextmanager
def null_p_values(p_values: pd.DataFrame) -> Iterator[Figure]:
    """Draw histograms of p-values of samples without signal, one panel for each true theta."""
    thetas = sorted(p_values["theta"].unique())
    edges = np.linspace(0, 1, _BINS + 1)
    with style.canvas(max(2, len(thetas)), height=2.4) as (figure, panels):
        for panel, theta in zip(panels, thetas, strict=False):
            here = p_values[p_values["theta"] == theta]
            for profiled, look in (
                (
                    False,
                    {"color": style.VERMILION, "linestyle": "--", "label": "nominal reference"},
                ),
                (True, {"color": style.BLUE, "linestyle": "-", "label": "profiled"}),
            ):
                p = here.loc[here["profiled"] == profiled, "p"]
                counts, _ = np.histogram(p, edges)
                panel.stairs(counts, edges, linewidth=1.2, **look)
            expected = len(p) / _BINS
            panel.axhline(expected, color=style.GREY, linewidth=0.6)
            panel.axhspan(
                expected - 2 * np.sqrt(expected * (1 - 1 / _BINS)),
                expected + 2 * np.sqrt(expected * (1 - 1 / _BINS)),
                color=style.GREY,
                alpha=0.2,
                linewidth=0,
            )
            panel.set_title(f"true $\\theta$ = {theta:g}")
            panel.set_xlabel("$p$")
            panel.set_xlim(0, 1)
            # linear where profiled p-values are, so that false alarms find room above
            panel.set_yscale("symlog", linthresh=2 * expected)
            panel.set_ylim(0, 1.3 * len(p))
            panel.yaxis.set_major_formatter(ScalarFormatter())
            panel.yaxis.set_minor_locator(NullLocator())
            panel.set_yticks([0, expected, 2 * expected, 5 * expected, 10 * expected])
        panels[0].set_ylabel("samples without signal")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
        yield figure
