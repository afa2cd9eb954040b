"""The map from the manuscript's labels to results."""

import json
from pathlib import Path

import pandas as pd
import pytest
from stage import latex, manuscript

ROOT = Path(__file__).resolve().parents[2]
LABELS = manuscript.read_labels(pd.read_csv(ROOT / "resources/manuscript.csv", dtype=str))
FIGURE = {
    "file": "results/paper/figures/fig01_a.png",
    "rule": "fig01",
    "script": "workflow/scripts/draw.py",
}


def test_the_nine_figures_have_labels():
    figures = [name for _, results in LABELS.values() for name in results if name[:3] == "fig"]
    assert sorted(name[:5] for name in figures) == [f"fig{number:02}" for number in range(1, 10)]
    assert all(section in LABELS for section, _ in LABELS.values())


def test_every_published_place_is_a_label():
    places = pd.read_csv(ROOT / "resources/published.csv", dtype=str)["where"]
    labels = {label for place in places for label in manuscript.labels_of(place)}
    assert len(labels) > 20
    assert labels <= {*LABELS, "abstract"}


def test_every_equation_that_the_package_cites_is_a_label():
    """A word after a comma may be taken for one more label, but a label has a hyphen."""
    cited = [
        (label, path.name)
        for path in (ROOT / "workflow/localizer").rglob("*.py")
        for label, _ in manuscript.citations(path.read_text())
    ]
    assert len(cited) > 50
    equations = [one for one in cited if one[0].startswith("eq:") and "-" in one[0]]
    assert [one for one in equations if one[0] not in LABELS] == []


def test_citations_know_who_cites():
    source = (
        '"""Eq. (see eqs. a-b, c-d and e-f)."""\nclass T:\n    def f(self):\n        "sec. g"\n'
    )
    assert list(manuscript.citations(source)) == [
        *(("eq:a-b", ""), ("eq:c-d", ""), ("eq:e-f", "")),
        ("sec:g", "T.f"),
    ]


def test_the_map_follows_the_manuscript(tmp_path):
    module = tmp_path / "mmd.py"
    module.write_text('def T():\n    """Eq. two, by eq. two."""\n')
    labels = {
        "sec:one": ("sec:one", ()),
        "eq:two": ("sec:one", ()),
        "fig:a": ("sec:one", ["fig01_a"]),
    }
    table = manuscript.mapped(
        labels,
        items=[{**FIGURE, "file": "results/paper/tables/extra.csv"}, FIGURE],
        numbers=[
            ("eq:two", "\\FoundA", "found", "script.py"),
            ("", "\\FoundB", "found", "script.py"),
        ],
        modules=[module],
    )
    assert table[["label", "section", "kind", "name", "file"]].to_numpy().tolist() == [
        ["eq:two", "sec:one", "number", "\\FoundA", "numbers.tex"],
        ["eq:two", "sec:one", "code", "mmd.T", str(module)],
        ["fig:a", "sec:one", "figure", "fig01_a", "figures/fig01_a.pdf"],
        ["", "", "table", "extra", "tables/extra.tex"],
        ["", "", "number", "\\FoundB", "numbers.tex"],
    ]


@pytest.mark.parametrize(
    ("labels", "numbers", "says"),
    [
        ({"fig:a": ("sec:b", ["nothing"])}, [], "fig:a names the result nothing"),
        ({}, [("eq:c", "\\FoundC", "", "")], "FoundC belongs to eq:c, which is no label"),
    ],
)
def test_a_map_that_points_nowhere_is_refused(labels, numbers, says):
    with pytest.raises(ValueError, match=says):
        manuscript.mapped(labels, items=[FIGURE], numbers=numbers, modules=[])


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([("equation:a", "", "")], "line 2: the label is 'equation:a'"),
        ([("eq:a", "", ""), ("eq:a", "", "")], "line 3: the label eq:a stands twice"),
    ],
)
def test_bad_labels_are_refused(rows, says):
    with pytest.raises(ValueError, match=says):
        manuscript.read_labels(pd.DataFrame(rows, columns=["label", "section", "results"]))


def test_every_published_row_can_have_its_macros():
    rows = pd.read_csv(ROOT / "resources/published.csv", dtype=str)["id"]
    commands = latex.macros({name: {"value": 1.5, "error": 0.5} for name in rows})
    assert len(commands) == 2 * len(rows) > 200


def test_the_printed_map_has_a_cell_for_each_column():
    row = ["eq:a-b", "sec:one", "code", "mmd.T", "w/mmd.py", "", ""]
    lines = manuscript.printed(pd.DataFrame([row], columns=manuscript.COLUMNS)).splitlines()
    assert lines[2] == r"label & section & kind & name & file & rule & script \\"
    cells = [cell.replace(r"\allowbreak{}", "") for cell in lines[4].split(" & ")]
    assert cells == [*row[:6], r" \\"]
    assert lines[4].startswith(r"eq:\allowbreak{}a-\allowbreak{}b & sec:")


def test_numbers_know_what_found_them(tmp_path):
    for name, ids in (("one", ("e1.a", "e1.b")), ("two", ("e2.a",))):
        (tmp_path / name).write_text(json.dumps([{"id": each} for each in ids]))
    made = {str(tmp_path / name): {"rule": name} for name in ("one", "two")}
    assert manuscript.found_by(made) == {
        "e1.a": {"rule": "one"},
        "e1.b": {"rule": "one"},
        "e2.a": {"rule": "two"},
    }
