"""What is found in a user's own data: scores, p-values, figures and the page."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import matplotlib
import pandas as pd
from matplotlib.figure import Figure

from localizer.own import calibration
from localizer.own.nuisances import Nuisances
from localizer.own.problem import Problem

#: the columns that come first
_FIRST = ("witness", "loo", "error", "studentized", "rank")


class Figures(dict[str, Figure]):
    """Figures by their names."""

    def _repr_html_(self) -> str:
        """Return the pictures, for a notebook."""
        return "".join(
            f'<img alt="{name}" src="data:image/png;base64,{_picture(figure)}">'
            for name, figure in self.items()
        )


def _picture(figure: Figure) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=90, bbox_inches="tight")
    return base64.b64encode(buffer.getvalue()).decode()


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The answer of :func:`localizer.score`.

    Attributes
    ----------
    scores
        A row for every event, by the caller's index: ``witness`` (the event itself included),
        ``loo`` (leave-one-out), its standard ``error``, ``studentized`` (the evidence), ``rank``,
        ``departure`` (excess or deficit), and what else was asked for.
    found
        What is known of the whole sample: MMD^2, p-values, method, bandwidths.
    ranking
        The largest scores beside the band of samples without a departure, rank by rank.
    tables
        What the figures draw.
    nuisances
        What profiling over variations found: ``table``, ``found`` and ``said``; None without any.
    """

    scores: pd.DataFrame
    found: Mapping[str, Any]
    ranking: pd.DataFrame
    tables: Mapping[str, pd.DataFrame]
    features: tuple[str, ...]
    left_out: Mapping[str, str]
    nuisances: Nuisances | None
    _events: pd.DataFrame

    @classmethod
    def of(
        cls,
        scores: pd.DataFrame,
        events: pd.DataFrame,
        index: pd.Index,
        found: Mapping[str, Any],
        ranking: pd.DataFrame,
        tables: Mapping[str, pd.DataFrame],
        problem: Problem,
        nuisances: Nuisances | None = None,
    ) -> Result:
        """Return a result by the caller's index."""
        order = [*_FIRST, *(name for name in scores.columns if name not in _FIRST)]
        return cls(
            scores[order].set_index(index),
            found,
            ranking,
            tables,
            problem.features,
            problem.left_out,
            nuisances,
            events.set_index(index),
        )

    @property
    def p_value(self) -> float:
        """The p-value of the squared MMD, for the sample as a whole."""
        return float(self.found["p_value"])

    @property
    def p_largest(self) -> float:
        """The p-value of the largest score among all events, for an excess anywhere."""
        return float(self.found["p_largest"])

    @property
    def p_lowest(self) -> float:
        """The p-value of the lowest score among all events, for a deficit anywhere."""
        return float(self.found["p_lowest"])

    def top(
        self, n: int = 10, *, departure: Literal["excess", "deficit"] = "excess"
    ) -> pd.DataFrame:
        """Return the events with the largest scores, with their features.

        Parameters
        ----------
        departure
            ``excess``: positive scores, largest first. ``deficit``: negative ones, lowest first.
            With variations these are the profiled scores.
        """
        if departure not in ("excess", "deficit"):
            raise ValueError(f"departure must be excess or deficit, not {departure!r}")
        first = self.scores[["rank", "departure"]]
        whole = pd.concat([first, self.scores.drop(columns=first), self._events], axis=1)
        rank, side = "rank", self.scores["departure"] == departure
        if self.nuisances is not None:
            rank, sign = "profiled_rank", 1 if departure == "excess" else -1
            side = sign * self.scores["profiled"] > 0
        return whole[side].sort_values(rank, ascending=departure == "excess").head(n)

    def plot(self) -> Figures:
        """Return the figures of the page: ``ranking``, ``features``, ``pairs``, and ``pulls``.

        The last one shows fitted variations, where there are some. A notebook shows them all.
        """
        backend = matplotlib.get_backend()
        # only those who draw load the style of the figures, which chooses a backend of its own
        from localizer.figures import pulls
        from localizer.figures import score as figures

        matplotlib.use(backend)

        tables = self.tables
        drawn: dict[str, AbstractContextManager[Figure]] = {
            "ranking": figures.ranking(self.ranking),
            "features": figures.features(tables["histograms"], tables["features"]["feature"]),
            "pairs": figures.pairs(tables["fields"], tables["top"]),
        }
        if self.nuisances is not None:
            drawn["pulls"] = pulls.pulls(self.nuisances.table)
        found = Figures()
        for name, drawing in drawn.items():
            with drawing as figure:
                found[name] = figure
        return found

    def report(self, path: str | Path) -> Path:
        """Write the page, one file that is readable offline, and return where it is."""
        from localizer.own import page

        return page.write(self, Path(path))

    def __repr__(self) -> str:
        found = self.found
        by = found["ranking"]
        largest = calibration.stated(found["p_largest"], found["draws"])
        lowest = calibration.stated(found["p_lowest"], found["draws"])
        how = {"exact": "exact", "rff": "random features"}
        names = ", ".join(map(str, self.top(3).index))
        profiled = f" {self.nuisances.answer}" if self.nuisances is not None else ""
        which = " against the profiled reference" if self.nuisances is not None else ""
        return (
            f"{found['answer']}{profiled}\n"
            f"{found['events']} events against {found['reference_events']}, ranked by {by} "
            f"({how[found['method']]}): largest score {largest}, lowest {lowest}.\n"
            f"Most responsible{which}: {names or 'none'}."
        )
