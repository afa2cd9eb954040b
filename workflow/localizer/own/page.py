"""The page of a result, in one file that is readable offline."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import pandas as pd

from localizer.figures.explorer import Explorer, explorer
from localizer.own import calibration, top_events

if TYPE_CHECKING:
    from localizer.own.result import Result


def write(result: Result, path: Path) -> Path:
    """Write the page; a file of that name is there whole, or as it was before."""
    if path.suffix.lower() not in (".html", ".htm") or path.is_dir() or not path.parent.is_dir():
        raise ValueError(f"{path} must be the name of an html file in a folder that exists")
    text = render(result)
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def render(result: Result) -> str:
    """Return the page as HTML."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found = result.found
    pictures = {}
    for name, figure in result.plot().items():
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=150, bbox_inches="tight")
        pictures[name] = base64.b64encode(buffer.getvalue()).decode()
    tables: dict[str, Any] = {
        "excess": _table(result.top(25)),
        "deficit": _table(result.top(25, departure="deficit")),
        "global": _table(calibration.in_words(found).set_index("quantity")),
    }
    if result.nuisances is not None:
        tables["nuisances"] = _table(result.nuisances.table.set_index("variation"))
    return environment.get_template("page.html.j2").render(
        found=found,
        features=result.features,
        left_out=result.left_out,
        pictures=pictures,
        tables=tables,
        said=calibration.said(found),
        profiled_answer=result.nuisances.answer if result.nuisances is not None else "",
        departs=min(found[name] for name in ("p_value", "p_largest")) <= calibration.HINT,
        profiled=result.nuisances.said if result.nuisances is not None else [],
        explorer=_explorer(result),
        explorer_top=top_events.DRAWN_TOP,
    )


def _explorer(result: Result) -> Explorer:
    shown = result.tables["explorer"]
    # the rows are numbered here, and named in the result
    named = shown.assign(event=result.scores.index[shown.index].map(str))
    return explorer(
        named[["event", *shown.columns]],
        result.ranking,
        features=result.tables["features"]["feature"].tolist(),
        words=calibration.COLUMNS,
        score=calibration.SCORES[result.found["ranking"]],
    )


def _table(table: pd.DataFrame) -> dict[str, Any]:
    """Return heads and cells as text; numbers to four digits, nothing for what is not there."""
    shown = table.reset_index()
    if "error_features" in shown and not shown["error_features"].any():
        shown = shown.drop(columns="error_features")
    return {
        "columns": [calibration.COLUMNS.get(str(name), str(name)) for name in shown.columns],
        "rows": [
            [
                str(cell) if not isinstance(cell, float) else f"{cell:.4g}".replace("nan", "")
                for cell in row
            ]
            for row in shown.itertuples(index=False)
        ],
    }
