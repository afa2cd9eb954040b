"""The figures of a wrong reference on the LHC Olympics sample."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from localizer.figures import style
from localizer.figures.experiment3 import stamp

__all__ = ["learned", "nuisances", "stamp"]

_LOOKS: dict[str, dict[str, Any]] = {
    "plain": {
        "color": style.VERMILION,
        "marker": "o",
        "linestyle": "--",
        "label": "nominal reference",
    },
    "profiled": {"color": style.BLUE, "marker": "s", "linestyle": "-", "label": "profiled"},
}


@contextmanager
def nuisances(scan: pd.DataFrame) -> Iterator[Figure]:
    """Draw AUC, SIC, the p-value of samples without signal and theta against the mis-scaling."""
    percent = 100 * scan["mass"]
    with style.canvas(2, 2, height=2.3) as (figure, panels):
        (auc, sic), (p, theta) = panels
        for name, look in _LOOKS.items():
            auc.plot(percent, scan[f"{name}_auc"], **look)
            sic.plot(percent, scan[f"{name}_sic"], **look)
            low, middle, high = (scan[f"{name}_p{end}"] for end in ("_least", "", "_largest"))
            p.errorbar(percent, middle, [middle - low, high - middle], **look)
        auc.axhline(0.5, color=style.GREY, linewidth=0.6)
        auc.set_ylabel("AUC")
        auc.set_ylim(0, 1)
        sic.axhline(1, color=style.GREY, linewidth=0.6)
        sic.set_ylabel("largest SIC")
        sic.set_ylim(bottom=0)
        p.axhline(0.05, color=style.GREY, linewidth=0.6)
        p.set_yscale("log")
        p.set_ylabel("$p$ without signal")
        # the variations are about the wrong reference: they are to take it back
        for name, label, colour, marker in (
            ("masses", "masses", style.BLACK, "D"),
            ("tau21", "$\\tau_{21}$", style.ORANGE, "^"),
        ):
            theta.errorbar(
                percent,
                scan[f"theta_{name}"],
                scan[f"theta_{name}_error"],
                color=colour,
                marker=marker,
                linestyle=":",
                label=label,
            )
        theta.axhline(0, color=style.GREY, linewidth=0.6)
        theta.set_ylabel("fitted $\\hat\\theta$")
        theta.legend()
        for panel in (p, theta):
            panel.set_xlabel("masses of the reference too large by [%]")
        handles, labels = auc.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
        yield figure


@contextmanager
def learned(table: pd.DataFrame) -> Iterator[Figure]:
    """Draw AUC and SIC of each learned reference, alone and profiled over others."""
    fits = table[table["reference"] != "true background"]
    names = list(fits["reference"].unique())
    counts = sorted(fits["profiled_over"].unique())
    place = {name: k for k, name in enumerate(names)}
    colours = (style.VERMILION, style.ORANGE, style.BLUE, style.GREEN)
    with style.canvas(2, height=3.0) as (figure, panels):
        for panel, column, label in zip(
            panels, ("auc", "sic"), ("AUC", "largest SIC"), strict=True
        ):
            true = table.loc[table["reference"] == "true background", column].iloc[0]
            panel.axvline(true, color=style.BLACK, linewidth=0.9, label="true background")
            for k, count in enumerate(counts):
                part = fits[fits["profiled_over"] == count]
                panel.plot(
                    part[column],
                    [place[name] for name in part["reference"]],
                    linestyle="none",
                    marker="osD^"[k % 4],
                    color=colours[k % 4],
                    label=f"profiled over {count}" if count else "alone",
                )
            panel.set_xlabel(label)
            panel.set_yticks(np.arange(len(names)), names)
            panel.invert_yaxis()
        panels[1].set_yticklabels([])
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        yield figure
