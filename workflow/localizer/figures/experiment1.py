"""The figures of Experiment I (sec. exp-known-signal)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pandas as pd
from matplotlib.figure import Figure

from localizer.figures import style


@contextmanager
def separation(targets: pd.DataFrame) -> Iterator[Figure]:
    """Draw the exact class separation against m, eq. mmd-localization-class-separation."""
    with style.canvas() as (figure, axes):
        axes.plot(targets["m"], targets["class_separation"], "o-", color=style.BLUE)
        style.decades(axes, "x", targets["m"])
        axes.set_yscale("log")
        axes.set_xlabel("batch size $m$")
        axes.set_ylabel(r"class separation $\Delta G_m$")
        yield figure
