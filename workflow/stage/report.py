"""The report: one self-contained page, readable offline."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import jinja2
import markupsafe
import pandas as pd

from stage import graph, tables

#: the verdicts, best first
VERDICTS = ("agrees", "tension", "disagrees", "not comparable")
#: the chapters that do not stand where their rules do
FIRST, LAST = "Scoreboard", "Appendix"


def render(
    template: str,
    *,
    run: str,
    notice: str,
    items: Sequence[Mapping[str, str]],
    downloads: Sequence[str],
    scoreboard: pd.DataFrame,
    rules: Mapping[str, graph.Definition],
    pictures: Mapping[str, str],
    provenance: Mapping[str, Any],
) -> str:
    """Return the page.

    Parameters
    ----------
    template
        The Jinja template.
    run, notice
        The run's name, and what a reader must know of its statistics.
    items
        What to show: ``file``, ``caption`` (a path), ``category``, ``title``, ``rule`` and
        ``script`` of each.
    downloads
        The other results, as paths from the page.
    scoreboard
        The content of scoreboard.csv, as text.
    rules
        Where each rule is defined.
    pictures
        The graphs of the stages and of the rules, as SVG.
    provenance
        The content of provenance.json.
    """
    # what a reader asks first stands first; the other chapters in the order of the rules
    titles = dict.fromkeys([FIRST, *(item["category"] for item in items)])
    if LAST in titles:
        titles[LAST] = titles.pop(LAST)
    by_title = {title: [item for item in items if item["category"] == title] for title in titles}
    chapters = [
        {
            "title": title,
            "id": "chapter-" + re.sub(r"\W+", "-", title.lower()),
            "items": [_shown(item) for item in chosen],
        }
        for title, chosen in by_title.items()
        if chosen
    ]
    scripts = {item["rule"]: item["script"] for item in items}
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(template).render(
        run=run,
        notice=notice,
        chapters=chapters,
        downloads=downloads,
        tally={verdict: int((scoreboard["verdict"] == verdict).sum()) for verdict in VERDICTS},
        scoreboard=[_score(row) for row in scoreboard.fillna("").to_dict("records")],
        rules=rules,
        scripts=scripts,
        pictures={name: markupsafe.Markup(svg) for name, svg in pictures.items()},
        provenance=provenance,
    )


def _shown(item: Mapping[str, str]) -> dict[str, Any]:
    """Return an item with its picture or table, its caption as HTML and its other forms."""
    path = Path(item["file"])
    folder = Path(*path.parts[2:]).parent
    content: dict[str, Any] = {
        **item,
        "id": path.stem,
        "caption": caption(Path(item["caption"])),
        "is_scoreboard": path.name == "scoreboard.csv",
        "forms": [],
    }
    if path.suffix == ".png":
        picture = base64.b64encode(path.read_bytes()).decode()
        content["picture"] = f"data:image/png;base64,{picture}"
        forms = [path.with_suffix(".pdf"), path, *sorted(path.parent.glob(f"{path.stem}*.csv"))]
    else:
        if not content["is_scoreboard"]:
            content["table"] = tables.prepare(pd.read_csv(path))
        forms = [path, path.with_suffix(".tex")]
    content["forms"] = [str(folder / form.name) for form in forms]
    return content


def _score(row: Mapping[str, str]) -> dict[str, Any]:
    """Return a row of the scoreboard as the page prints it."""
    error = row["published_error"] if row["published_error_from"] == "printed" else ""
    return {
        **row,
        "published": _decimal(row["published"], error),
        "reproduced": _number(row["reproduced"], row["reproduced_error"]),
        "value": _number(row["value"]),
    }


def _decimal(text: str, error: str = "") -> tables.Cell:
    """Return digits as they were printed, with their error and the power of ten apart."""
    if not text:
        return tables.Cell("")
    digits, _, exponent = text.lower().partition("e")
    power = int(exponent or 0)
    if error:
        digits = f"{digits} ± {Decimal(f'{float(error):.6g}').scaleb(-power):f}"
    return tables.Cell(f"({digits})" if error and power else digits, power, float(text))


def _number(text: str, error: str = "") -> tables.Cell:
    """Return a number of the scoreboard rounded, or a truth in words."""
    if text in ("", "True", "False"):
        return tables.Cell(text.lower(), sort=text)
    known = float(error) if error else None
    digits, exponent = tables.short(float(text), known)
    return tables.Cell(digits, exponent, float(text))


def caption(path: Path) -> markupsafe.Markup:
    """Return a caption as HTML: the captions use ``literals`` and *emphasis* and no more."""
    text = str(markupsafe.escape(" ".join(path.read_text(encoding="utf-8").split())))
    text = re.sub(r"``(.+?)``", r"<code>\1</code>", text)
    text = re.sub(r"\*(.+?)\*", r"<em>\1</em>", text)
    return markupsafe.Markup(text)
