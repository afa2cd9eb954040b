"""The report: one self-contained page, readable offline."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import markupsafe
import pandas as pd

from stage import listing, tables

#: the verdict that a reader asks about first, and those that call for no explanation
REFUTED = "disagrees"
QUIET = ("agrees", "identity", "not comparable")
#: the chapters that do not stand where their rules do
FIRST, LAST = "Scoreboard", "Appendix"


def page(
    template: Path,
    *,
    at: Path,
    items: Sequence[Mapping[str, str]],
    rules: Mapping[str, listing.Definition],
    foreign: Collection[str] = (),
    glance: str = "",
    parts: Sequence[Path] = (),
    **content: Any,
) -> str:
    """Return a page with its chapters.

    Parameters
    ----------
    template
        The page's Jinja template; those that it extends and includes lie beside it.
    at
        Where the page will lie: its links are relative to that.
    items
        What to show: ``file``, ``caption`` (a path), ``category``, ``title``, ``rule`` and
        ``script`` of each.
    rules
        Where each rule is defined.
    foreign
        Columns of the tables that a user named, see :func:`stage.tables.prepare`.
    glance
        The item, by the stem of its file, that the template shows before the chapters.
    parts
        Other folders of templates that it includes.
    content
        What else the template asks for.
    """
    shown = [_shown(item, at.parent, foreign) for item in items]
    # what a reader asks first stands first; the other chapters in the order of the rules
    titles = dict.fromkeys([FIRST, *(item["category"] for item in items)])
    if LAST in titles:
        titles[LAST] = titles.pop(LAST)
    by_title = {
        title: [
            item for item in shown if (item["category"], item["id"] == glance) == (title, False)
        ]
        for title in titles
    }
    chapters = [
        {"title": title, "id": "chapter-" + re.sub(r"\W+", "-", title.lower()), "items": chosen}
        for title, chosen in by_title.items()
        if chosen
    ]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([template.parent, *parts]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template.name).render(
        chapters=chapters,
        glance=next((item for item in shown if item["id"] == glance), None),
        gallery=[item for item in shown if re.match(r"fig\d\d_", item["id"])],
        rules=rules,
        root=os.path.relpath(".", at.parent),
        **content,
    )


def render(
    template: Path,
    *,
    scoreboard: pd.DataFrame,
    verdicts: Sequence[str],
    **content: Any,
) -> str:
    """Return the page of the paper: the answer first, then everything that was made.

    Parameters
    ----------
    template
        As in :func:`page`.
    scoreboard
        The content of scoreboard.csv, as text.
    verdicts
        The verdicts there are, best first.
    content
        What :func:`page` asks for; ``run`` and ``notice``, its name and what a reader must
        know of its statistics; ``downloads``, the other results, as paths from the page;
        ``provenance``, the content of provenance.json.
    """
    rows = [_score(row) for row in scoreboard.fillna("").to_dict("records")]
    names = (*verdicts, "identity")  # identities that hold are counted apart
    by_verdict = {name: [row for row in rows if row["counted"] == name] for name in names}
    return page(
        template,
        tally={verdict: len(chosen) for verdict, chosen in by_verdict.items()},
        judged=sum(row["counted"] not in ("not comparable", "identity") for row in rows),
        refuted=by_verdict[REFUTED],
        doubtful={
            verdict: chosen
            for verdict, chosen in by_verdict.items()
            if chosen and verdict not in (*QUIET, REFUTED)
        },
        scoreboard=rows,
        glance="supp_scoreboard",
        **content,
    )


def _shown(item: Mapping[str, str], folder: Path, foreign: Collection[str]) -> dict[str, Any]:
    """Return an item with its picture or table, its caption as HTML and its other forms."""
    path = Path(item["file"])
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
            content["table"] = tables.prepare(tables.read(path), foreign=foreign)
        forms = [path]
        if path.parent.name == "tables" or content["is_scoreboard"]:
            forms.append(path.with_suffix(".tex"))
    content["forms"] = [os.path.relpath(form, folder) for form in forms]
    return content


def _score(row: Mapping[str, str]) -> dict[str, Any]:
    """Return a row of the scoreboard as the page prints it."""
    error = row["published_error"] if row["published_error_from"] == "printed" else ""
    # an identity that holds is no agreement with the paper; one that fails is a finding
    held = row["kind"] == "identity" and row["verdict"] == "agrees"
    return {
        **row,
        "counted": "identity" if held else row["verdict"],
        "published": tables.printed(row["published"], error),
        "reproduced": _number(row["reproduced"], row["reproduced_error"]),
        "value": _number(row["value"]),
    }


def _number(text: str, error: str = "") -> tables.Cell:
    if text in ("", "True", "False"):
        return tables.entry(text.lower())
    return tables.entry(float(text), float(error) if error else None)


def caption(path: Path) -> markupsafe.Markup:
    """Return a caption as HTML: the captions use ``literals`` and *emphasis* and no more."""
    text = str(markupsafe.escape(" ".join(path.read_text(encoding="utf-8").split())))
    text = re.sub(r"``(.+?)``", r"<code>\1</code>", text)
    text = re.sub(r"\*(.+?)\*", r"<em>\1</em>", text)
    return markupsafe.Markup(text)
