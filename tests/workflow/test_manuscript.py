"""What the LaTeX manuscript takes in: all of it compiles, by the real LaTeX."""

import os
import re
import shutil
import subprocess

import pandas as pd
import pytest

LATEX = bool(shutil.which("latexmk") and shutil.which("pdflatex"))

PREAMBLE = r"""\documentclass[10pt]{article}
\usepackage[T1]{fontenc}
\usepackage[a4paper,margin=2cm]{geometry}
\usepackage{lmodern,array,booktabs,longtable,graphicx}
\setlength{\tabcolsep}{4pt}
\setlength{\parindent}{0pt}
\sloppy
"""


def document(results):
    """Return a manuscript that takes in every table, number and figure of a run."""
    tables = sorted((results / "tables").glob("*.tex"))
    figures = sorted((results / "figures").glob("*.pdf"))
    macros = re.findall(r"\\newcommand\{(\\[A-Za-z]+)\}", (results / "numbers.tex").read_text())
    lines = [PREAMBLE, r"\input{numbers.tex}", r"\begin{document}", r"\footnotesize"]
    for path in tables:
        lines += [rf"\section*{{Table {path.stem.replace('_', ' ')}}}"]
        lines += [rf"\input{{tables/{path.name}}}"]
    lines += [r"\section*{Scoreboard}", r"{\scriptsize\input{scoreboard.tex}}"]
    lines += [r"\section*{Numbers}", *(f"{name}, ${name}$;" for name in macros)]
    lines += [r"\section*{Map}", r"\input{manuscript_map.tex}"]
    for path in figures:
        lines += [r"\clearpage", rf"\includegraphics[width=\textwidth]{{figures/{path.name}}}"]
    return "\n".join([*lines, r"\end{document}", ""]), len(figures), macros


@pytest.mark.slow
@pytest.mark.skipif(not LATEX, reason="no latexmk and pdflatex on this machine")
def test_a_manuscript_takes_in_everything(finished, tmp_path):
    results = finished.root / "results/smoke"
    text, figures, macros = document(results)
    assert figures >= 9
    assert len(macros) > 150
    (tmp_path / "manuscript.tex").write_text(text)
    done = subprocess.run(
        ["latexmk", "-pdf", "-interaction=nonstopmode", "-halt-on-error", "manuscript.tex"],
        cwd=tmp_path,
        env={**os.environ, "TEXINPUTS": f".:{results}:", "max_print_line": "1000"},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
        check=False,
    )
    log = (tmp_path / "manuscript.log").read_text(errors="replace")
    assert done.returncode == 0, log[-3000:]
    assert "undefined" not in log.lower()
    overfull = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]
    assert max(overfull, default=0.0) < 5.0, re.findall(r"Overfull .*", log)
    # each figure has a page of its own, and the tables come before
    pages = int(re.search(r"Output written on manuscript\.pdf \((\d+) pages", log).group(1))
    assert pages > figures + 5


def test_every_table_and_figure_has_its_export(finished):
    results = finished.root / "results/smoke"
    for path in (results / "tables").glob("*.csv"):
        assert path.with_suffix(".tex").exists()
    mapped = pd.read_csv(results / "manuscript_map.csv", dtype=str).fillna("")
    listed = set(mapped["file"])
    for path in (results / "figures").glob("*.pdf"):
        assert f"figures/{path.name}" in listed
    for file in listed:
        assert (results / file).exists() or (finished.root / file).exists(), file
    for script in filter(None, set(mapped["script"])):
        assert (finished.root / script).exists()


def test_every_figure_of_the_paper_stands_under_its_label(finished):
    mapped = pd.read_csv(finished.root / "results/smoke/manuscript_map.csv", dtype=str)
    figures = mapped[mapped["kind"] == "figure"].dropna(subset=["label"])
    numbered = [name for name in figures["name"] if name.startswith("fig")]
    assert [name[:5] for name in numbered] == [f"fig{number:02}" for number in range(1, 10)]
    assert figures["label"].str.startswith("fig:").all()
    assert figures["label"].is_unique


def test_every_macro_stands_in_the_map(finished):
    results = finished.root / "results/smoke"
    defined = set(
        re.findall(r"\\newcommand\{(\\[A-Za-z]+)\}", (results / "numbers.tex").read_text())
    )
    mapped = pd.read_csv(results / "manuscript_map.csv", dtype=str)
    numbers = set(mapped.loc[mapped["kind"] == "number", "name"])
    assert numbers <= defined
    assert {name.removesuffix("Unc") for name in defined} == numbers
