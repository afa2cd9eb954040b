"""The results that the author's LaTeX manuscript includes, and where each belongs.

The map has a row for each figure, table and number under the manuscript's own label, and
one for each place of the package that cites an equation.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from stage import latex

COLUMNS = ("label", "section", "kind", "name", "file", "rule", "script")
_KINDS = ("eq", "fig", "sec", "tab")
_CITATION = re.compile(rf"\b({'|'.join(_KINDS)})s?\.\s+(\w[\w-]*(?:(?:,\s+|\s+and\s+)\w[\w-]*)*)")
#: the width of each column of the printed map, in parts of the line
_WIDTHS = (0.16, 0.13, 0.08, 0.21, 0.15, 0.11, 0.16)
_PRINTED_COLUMN = r">{{\raggedright\arraybackslash}}p{{\dimexpr{}\linewidth-2\tabcolsep}}"


def read_labels(table: pd.DataFrame) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the section and the results of each label of the manuscript, checked.

    Parameters
    ----------
    table
        resources/manuscript.csv: ``label``, ``section``, and in ``results`` the names of
        the figures and tables that belong to it, with blanks between them.
    """
    if list(table.columns) != ["label", "section", "results"]:
        raise ValueError("manuscript: the columns must be label, section, results")
    labels: dict[str, tuple[str, tuple[str, ...]]] = {}
    for line, (label, section, results) in enumerate(
        table.fillna("").itertuples(index=False), start=2
    ):
        if not re.fullmatch(rf"(?:{'|'.join(_KINDS)}):[\w-]+", label):
            raise ValueError(
                f"manuscript, line {line}: the label is {label!r}; it must be like eq:name, "
                f"with {', '.join(_KINDS)} before the colon"
            )
        if label in labels:
            raise ValueError(f"manuscript, line {line}: the label {label} stands twice")
        labels[label] = (section, tuple(results.split()))
    return labels


def labels_of(where: str) -> list[str]:
    """Return the labels behind the places that resources/published.csv names.

    Examples
    --------
    >>> labels_of("abstract; eq. exp1-deltag")
    ['abstract', 'eq:exp1-deltag']
    """
    return [
        re.sub(rf"^({'|'.join(_KINDS)})\. ([\w-]+)$", r"\1:\2", place)
        for place in where.split("; ")
    ]


def citations(source: str) -> Iterator[tuple[str, str]]:
    """Yield each label that the docstrings of a module cite, and the name of the citing thing."""
    for node, name in _documented(ast.parse(source)):
        for kind, listed in _CITATION.findall(ast.get_docstring(node) or ""):
            for label in re.split(r",\s+|\s+and\s+", listed):
                yield f"{kind}:{label}", name


def _documented(
    tree: ast.Module | ast.ClassDef, prefix: str = ""
) -> Iterator[tuple[ast.Module | ast.ClassDef | ast.FunctionDef, str]]:
    yield tree, prefix.rstrip(".")
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from _documented(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield node, f"{prefix}{node.name}"


def mapped(
    labels: Mapping[str, tuple[str, Sequence[str]]],
    *,
    items: Iterable[Mapping[str, str]],
    numbers: Iterable[tuple[str, str, str, str]],
    modules: Iterable[Path],
) -> pd.DataFrame:
    """Return the map, in the order of the manuscript; what goes beyond it stands last.

    Parameters
    ----------
    labels
        What :func:`read_labels` returns.
    items
        The figures and tables: ``file``, ``rule`` and ``script`` of each.
    numbers
        Of each number: its label, its macro, and the rule and the script that found it.
    modules
        The files of the package.
    """
    owner = {name: label for label, (_, results) in labels.items() for name in results}
    rows: list[dict[str, str]] = []
    for item in items:
        path = Path(item["file"])
        kind, ending = ("figure", ".pdf") if path.suffix == ".png" else ("table", ".tex")
        label = owner.pop(path.stem, "")
        file = str(Path(*path.parts[2:]).with_suffix(ending))
        made = {"file": file, "rule": item["rule"], "script": item["script"]}
        rows.append({"label": label, "kind": kind, "name": path.stem, **made})
    if owner:
        name, label = next(iter(owner.items()))
        raise ValueError(f"manuscript: {label} names the result {name}, which no rule makes")
    for label, command, rule, script in numbers:
        made = {"file": "numbers.tex", "rule": rule, "script": script}
        rows.append({"label": label, "kind": "number", "name": command, **made})
    for path in modules:
        cited = dict.fromkeys(citations(path.read_text(encoding="utf-8")))
        for label, name in cited:
            if label in labels:
                citing = f"{path.stem}.{name}".rstrip(".")
                made = {"file": str(path), "rule": "", "script": ""}
                rows.append({"label": label, "kind": "code", "name": citing, **made})
    for row in rows:
        if row["label"].partition(":")[0] in _KINDS and row["label"] not in labels:
            raise ValueError(
                f"{row['name']} belongs to {row['label']}, which is no label of the manuscript"
            )
        row["section"] = labels[row["label"]][0] if row["label"] in labels else ""
    order = {label: place for place, label in enumerate(["abstract", *labels])}
    rows.sort(key=lambda row: order.get(row["label"], len(order)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def found_by(findings: Mapping[str, Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    """Return what made each number, from the files of findings and what made these."""
    return {
        finding["id"]: made
        for path, made in findings.items()
        for finding in json.loads(Path(path).read_text(encoding="utf-8"))
    }


def printed(table: pd.DataFrame) -> str:
    """Return the map as a LaTeX table whose entries break across lines."""
    sides = "".join(_PRINTED_COLUMN.format(width) for width in _WIDTHS)
    rows = [[_breakable(str(value)) for value in row] for row in table.itertuples(index=False)]
    return latex.environment(sides, list(map(latex.escape, COLUMNS)), rows)


def _breakable(text: str) -> str:
    """Return ``text`` so that it breaks after punctuation and before capitals."""
    parts = re.split(r"(?<=[_/.:-])|(?<=[a-z])(?=[A-Z])", text)
    return r"\allowbreak{}".join(map(latex.escape, parts))
