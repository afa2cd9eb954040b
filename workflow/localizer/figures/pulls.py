"""The figure of fitted variations of a user's own reference."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from localizer.figures import style


@contextmanager
def pulls(table: pd.DataFrame) -> Iterator[Figure]:
    """Draw theta of each variation with its error, over its prior where it has one.

    Parameters
    ----------
    table
        Columns variation, theta, error and width (empty for a free variation).
    """
    place = np.arange(len(table))
    with style.canvas(height=0.8 + 0.3 * len(table)) as (figure, axes):
        prior = table["width"].to_numpy(dtype=float)
        with_prior = ~np.isnan(prior)
        if with_prior.any():
            axes.barh(
                place[with_prior],
                2 * prior[with_prior],
                left=-prior[with_prior],
                height=0.6,
                color=style.GREY,
                alpha=0.3,
                label="prior",
            )
        axes.errorbar(
            table["theta"],
            place,
            xerr=table["error"],
            linestyle="none",
            marker="o",
            color=style.BLUE,
            label="fit",
        )
        axes.axvline(0, color=style.BLACK, linewidth=0.6)
        axes.axvline(1, color=style.GREY, linewidth=0.6, linestyle=":")
        axes.set_yticks(place, table["variation"])
        axes.set_ylim(len(table) - 0.5, -0.5)
        axes.set_xlabel("$\\hat\\theta$: 0 the reference, 1 the variation as given")
        if with_prior.any():
            axes.legend()
        yield figure
