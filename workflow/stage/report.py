"""The report: one self-contained page, readable offline."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import markupsafe
import pandas as pd


def render(
    template: str,
    *,
    run: str,
    items: Sequence[Mapping[str, str]],
    provenance: Mapping[str, Any],
) -> str:
    """Return the page.

    Parameters
    ----------
    template
        The Jinja template.
    run
        The run's name.
    items
        What to show: ``file``, ``caption`` (a path), ``category``, ``title``, ``rule`` and
        ``script`` of each.
    provenance
        The content of provenance.json.
    """
    # what a reader asks first stands first; the other chapters in the order of the rules
    titles = dict.fromkeys(["Scoreboard", *(item["category"] for item in items)])
    by_title = {title: [item for item in items if item["category"] == title] for title in titles}
    chapters = [
        {"title": title, "items": [_shown(item) for item in chosen]}
        for title, chosen in by_title.items()
        if chosen
    ]
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(template).render(
        run=run, chapters=chapters, provenance=provenance
    )


def _shown(item: Mapping[str, str]) -> dict[str, Any]:
    """Return an item with its picture or table and its caption as HTML."""
    path = Path(item["file"])
    content: dict[str, Any] = {**item, "id": path.stem, "caption": caption(Path(item["caption"]))}
    if path.suffix == ".png":
        picture = base64.b64encode(path.read_bytes()).decode()
        content["picture"] = f"data:image/png;base64,{picture}"
    else:
        content["table"] = _table(pd.read_csv(path))
    return content


def _table(frame: pd.DataFrame) -> markupsafe.Markup:
    html = frame.to_html(index=False, border=0, float_format=lambda x: f"{x:.6g}", na_rep="")
    return markupsafe.Markup(html)


def caption(path: Path) -> markupsafe.Markup:
    """Return a caption as HTML: the captions use ``literals`` and *emphasis* and no more."""
    text = str(markupsafe.escape(" ".join(path.read_text(encoding="utf-8").split())))
    text = re.sub(r"``(.+?)``", r"<code>\1</code>", text)
    text = re.sub(r"\*(.+?)\*", r"<em>\1</em>", text)
    return markupsafe.Markup(text)
