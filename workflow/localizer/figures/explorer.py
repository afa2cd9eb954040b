"""The events of a user's sample to look through: linked figures and a table, for a browser.

What is brushed in one figure is selected in the other and listed in the table. The page works
without a network: the library's script is a part of it.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from bokeh.document import Document
from bokeh.embed import components
from bokeh.events import DocumentReady
from bokeh.models import (
    BooleanFilter,
    CDSView,
    ColumnDataSource,
    CustomJS,
    LinearColorMapper,
)
from bokeh.models.widgets.tables import DataTable, ScientificFormatter, StringFormatter, TableColumn
from bokeh.palettes import interp_palette
from bokeh.plotting import figure
from bokeh.resources import Resources

from localizer.figures import style

#: more features than this make a large page; the csv beside it has all of them
MOST = 12
_TOOLS = "box_select,lasso_select,tap,pan,box_zoom,wheel_zoom,reset"
#: what the shadow root of the table takes from the page, in light and dark
_SHEET = """
:host { --background-color: var(--page); }
.slick-header-column, .slick-row, .slick-cell, .slick-pane, .slick-viewport, .grid-canvas {
  background: var(--page) !important; color: var(--ink) !important;
  border-color: var(--line) !important; }
.slick-cell.selected { background: var(--soft) !important; font-weight: bold; }
"""


@dataclass(frozen=True)
class Explorer:
    """The parts of the explorer, as HTML for a page.

    Attributes
    ----------
    resources
        The script of the library, for the head of the page.
    script
        The script that fills the parts; it calls ``explore`` of the page when they are there.
    ranking, pairs, table
        Where each part goes.
    features
        The features that can be chosen, by the name of their column.
    numbers
        The columns of the table that hold numbers, likewise.
    columns
        All of its columns.
    events
        The number of events drawn.
    left_out
        The number of features for which there is no room.
    """

    resources: str
    script: str
    ranking: str
    pairs: str
    table: str
    features: Mapping[str, str]
    numbers: Mapping[str, str]
    columns: Mapping[str, str]
    events: int
    left_out: int

    @property
    def size(self) -> int:
        """The bytes that the explorer adds to a page."""
        parts = (self.resources, self.script, self.ranking, self.pairs, self.table)
        return sum(len(part.encode()) for part in parts)


def explorer(
    drawn: pd.DataFrame,
    ranking: pd.DataFrame,
    *,
    features: Sequence[str],
    words: Mapping[str, str],
    score: str = "loo",
) -> Explorer:
    """Return the linked parts for some events.

    Parameters
    ----------
    drawn
        Columns event, rank, the score, other results, and the features.
    ranking
        The null band: columns rank, low and high.
    features
        The names of the features, those to show first in front; at most :data:`MOST` are used.
    words
        What columns of results are called where people read them.
    score
        The column by which the events are ranked.
    """
    chosen = {f"f{k}": name for k, name in enumerate(list(features)[:MOST])}
    results = [name for name in drawn.columns if name not in set(features)]
    # what is looked at stands first
    front = ["event", "rank", score]
    named = {name: words.get(name, name) for name in (*front, *results)}
    titles = {name: named[name] for name in front} | chosen | named
    # a user's column may be called as one of the results is called here
    ordered = drawn.sort_values("rank", ascending=False, ignore_index=True)
    data = {name: ordered[name].to_numpy() for name in results}
    data |= {key: ordered[name].to_numpy(dtype=np.float64) for key, name in chosen.items()}
    data["event"] = [str(name) for name in ordered["event"]]
    # the pair that is shown: filled in the browser, so that no feature is sent twice
    data |= {axis: np.zeros(len(ordered), dtype=np.uint8) for axis in ("x", "y")}
    limit = float(np.quantile(np.abs(ordered[score]), 0.99)) or 1.0
    colours = LinearColorMapper(
        palette=interp_palette((style.BLUE, "#a8adb5", style.VERMILION), 64),
        low=-limit,
        high=limit,
    )
    points = ColumnDataSource(data)
    empty = {name: values[:0] for name, values in data.items()}
    rows, marked = ColumnDataSource(empty), ColumnDataSource(empty)
    kept = BooleanFilter()
    ranks = _panel("rank of the event", titles[score], x_axis_type="log")
    ranks.varea(
        "rank",
        "low",
        "high",
        source=ColumnDataSource(
            {name: ranking[name].to_numpy() for name in ("rank", "low", "high")}
        ),
        color=style.GREY,
        alpha=0.35,
    )
    planes = _panel("", "")  # named in the browser
    for panel, x, y in ((ranks, "rank", score), (planes, "x", "y")):
        panel.scatter(
            x,
            y,
            source=points,
            view=CDSView(filter=kept),
            size=5,
            line_color=None,
            fill_alpha=0.75,
            fill_color={"field": score, "transform": colours},
            nonselection_fill_alpha=0.08,
        )
        panel.scatter(
            x, y, source=marked, size=13, fill_color=None, line_color=style.GREEN, line_width=3
        )
        # without this the rectangle of an earlier selection would widen a range that starts anew
        panel.x_range.renderers = panel.y_range.renderers = list(panel.renderers)
    table = DataTable(
        source=rows,
        columns=[_column(name, title, data[name]) for name, title in titles.items()],
        index_position=None,
        reorderable=False,  # needs another library
        autosize_mode="none",
        sizing_mode="stretch_width",
        height=330,
        stylesheets=[_SHEET],
    )
    document = Document()
    parts = {"ranking": ranks, "pairs": planes, "table": table}
    for part in parts.values():
        document.add_root(part)
    handed: dict[str, Any] = {
        **{"points": points, "rows": rows, "marked": marked, "kept": kept},
        **{"ranking": ranks, "pairs": planes},
        "columns": [[name, chosen.get(name, name)] for name in titles],
    }
    linked = f"window.explore({{{', '.join(handed)}}})"
    document.js_on_event(DocumentReady, CustomJS(args=handed, code=linked))
    script, places = components(parts)
    inline = Resources(
        mode="inline", log_level="error", components=["bokeh", "bokeh-widgets", "bokeh-tables"]
    )
    return Explorer(
        resources=inline.render_js(),
        script=script,
        **places,
        features=chosen,
        numbers={
            name: title
            for name, title in titles.items()
            if pd.api.types.is_numeric_dtype(np.asarray(data[name]).dtype)
        },
        columns=titles,
        events=len(ordered),
        left_out=len(features) - len(chosen),
    )


def _panel(x: str, y: str, **words: Any) -> Any:
    panel = figure(
        tools=_TOOLS,
        active_drag="box_select",
        toolbar_location="below",
        height=380,
        sizing_mode="stretch_width",
        background_fill_alpha=0,
        border_fill_alpha=0,
        outline_line_alpha=0,
        x_axis_label=x,
        y_axis_label=y,
        **words,
    )
    panel.toolbar.logo = None
    return panel


def _column(name: str, title: str, values: Any) -> TableColumn:
    number = pd.api.types.is_float_dtype(np.asarray(values).dtype)
    return TableColumn(
        field=name,
        title=html.escape(title),
        width=max(90, 9 * len(title)),
        formatter=ScientificFormatter(precision=4, power_limit_low=-3, power_limit_high=5)
        if number
        else StringFormatter(),
    )
