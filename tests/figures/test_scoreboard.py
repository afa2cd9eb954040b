"""The scoreboard's picture shows every row once, in the track of its measure."""

from dataclasses import replace

import pandas as pd
import pytest
from localizer.figures import scoreboard as drawing
from localizer.verdicts import board
from localizer.verdicts.board import Finding, Published


def scores(*, not_comparable=""):
    kinds = {
        "a.exact": ("exact", "0.50", Finding(value=0.5, error=0.0)),
        "a.near": ("ensemble", "0.50", Finding("", 0.51, 0.01, 100)),
        "a.far": ("ensemble", "0.50", Finding("", 0.9, 0.001, 100)),
        "b.rank": ("realization", "0.50", board.realization([0, 1] * 200)),
        "b.false": ("statement", "", board.statement(2.0)),
        "b.near": ("statement", "", board.statement(0.9, error=0.2)),
        "b.apart": ("fit", "2", Finding("", 1.0, 0.1, not_comparable="another sample")),
        "-.true": ("statement", "", board.statement(0.0)),
        "-.same": ("identity", "", board.statement(0.0)),
    }
    published = [
        Published(
            *(name, name[0].replace("a", "I").replace("b", "II"), "", "", kind, value, "", None),
            claim="" if value else "number < 1",
        )
        for name, (kind, value, _) in kinds.items()
    ]
    findings = [replace(finding, id=name) for name, (*_, finding) in kinds.items()]
    return board.board(published, findings, not_comparable=not_comparable)


def test_every_row_has_one_place():
    table = scores()
    table = table[table["kind"] != "identity"]
    drawn = drawing.points(table).set_index("id")
    assert list(drawn.index) == list(table["id"])
    assert drawn["track"].to_dict() == {
        **{"a.exact": "mark", "a.near": "pull", "a.far": "pull", "b.rank": "rank p"},
        **{"b.false": "mark", "b.near": "mark", "b.apart": "not comparable", "-.true": "mark"},
    }
    assert drawn[["x", "y"]].notna().all(axis=None)
    assert drawn.loc["a.far", "x"] == pytest.approx(
        table.set_index("id").loc["a.far", "value"], rel=1e-12
    )
    # in the order of the paper, none on top of another
    assert drawn.loc["a.near", "y"] < drawn.loc["a.far", "y"]
    assert not drawn.reset_index()[["experiment", "track", "x", "y"]].duplicated().any()


def texts(figure):
    inside = [text.get_text() for axes in figure.axes for text in axes.texts]
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    return [*inside, *titles, figure.get_suptitle()]


def test_what_does_not_agree_is_named():
    with drawing.scoreboard(drawing.points(scores())) as figure:
        said = texts(figure)
    assert {"a.far", "b.false", "b.near"} <= set(said)
    assert not {"a.near", "a.exact", "b.rank"} & set(said)
    assert "Experiment I: 2 agree, 1 disagree" in said
    assert "Experiment II: 1 agree, 1 borderline, 1 disagree, 1 not comparable" in said
    assert figure.get_suptitle() == ""


def test_a_pull_beyond_the_edge_stays_on_the_figure():
    with drawing.scoreboard(drawing.points(scores())) as figure:
        low, high = figure.axes[0].get_xlim()
        xs = [x for line in figure.axes[0].lines for x in line.get_xdata()]
    assert max(abs(x) for x in xs) < min(-low, high)


def test_other_sizes_and_the_edition_stand_on_its_face():
    drawn = drawing.points(scores(not_comparable="smoke: not the paper's statistics"))
    assert set(drawn["track"]) == {"not comparable"}
    with drawing.scoreboard(
        drawn, other_sizes="smoke: not the paper's statistics", edition="surrogate"
    ) as figure:
        assert "smoke: not the paper's statistics: verdicts do not apply" in figure.get_suptitle()
        assert "edition surrogate" in figure.get_suptitle()


def test_it_reads_back_from_the_file(tmp_path):
    """The rule draws from the csv, where true and false, and what is missing, are text."""
    scores().to_csv(tmp_path / "scores.csv", index=False)
    again = drawing.points(pd.read_csv(tmp_path / "scores.csv"))
    assert again[["id", "track", "x", "y"]].equals(
        drawing.points(scores())[["id", "track", "x", "y"]]
    )


def test_an_identity_is_drawn_only_if_it_fails():
    table = scores()
    assert "-.same" not in set(drawing.points(table)["id"])
    table.loc[table["id"] == "-.same", "verdict"] = "disagrees"
    assert "-.same" in set(drawing.points(table)["id"])


def test_an_unknown_verdict_is_refused():
    with pytest.raises(ValueError, match="the verdict 'perhaps' is none of"):
        drawing.points(scores().assign(verdict="perhaps"))
