"""`localizer.score`: what goes in, what comes out, and that the workflow finds the same."""

import inspect
import io
from functools import partial
from pathlib import Path

import localizer
import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
import yaml
from localizer.base.randomness import stream
from localizer.own import defaults, progress, score, significance
from localizer.own.recipe import Recipe
from stage.configuration import own as configuration

STREAMS = partial(stream, 12, "test_face")
DRAWS = {"draws": 39}
score_quietly = partial(localizer.score, calibration=DRAWS, seed=3)


@pytest.fixture(scope="module")
def tables():
    """Return a sample with an excess, and a reference, as DataFrames."""
    sample, reference = (
        pd.DataFrame(STREAMS(name).normal(size=(n, 2)), columns=["a", "b"])
        for name, n in (("sample", 60), ("reference", 90))
    )
    sample.loc[:9, ["a", "b"]] = 1.5 + 0.1 * sample.loc[:9]
    return sample.set_index(pd.Index([f"e{k}" for k in range(60)], name="event")), reference


def test_the_scores_are_those_of_the_pieces(tables):
    sample, reference = tables
    found = score_quietly(*tables)
    x, y = sample.to_numpy(), reference.to_numpy()
    streams = partial(stream, 3, "score")
    expected = score.score_events(x, y, Recipe(), streams)
    assert found.scores.columns[:5].tolist() == ["witness", "loo", "error", "studentized", "rank"]
    assert found.scores.index.equals(sample.index)
    for name, values in {
        **{"witness": expected.witness, "loo": expected.loo},
        **{"error": expected.standard_error, "studentized": expected.studentized},
    }.items():
        assert found.scores[name].tolist() == values.tolist()
    null = significance.permutations(x, y, Recipe(), streams, numbers=range(39))
    seen = significance.observe(x, y, Recipe(), streams)
    assert found.p_value == significance.p_value(seen.mmd2[0], null.mmd2)
    assert found.p_largest == significance.p_value(seen.largest[0, 0], null.largest[:, 0])
    assert found.p_lowest == significance.p_value(-seen.lowest[0], -null.lowest)


@pytest.mark.parametrize("by", ["contribution", "evidence"])
def test_the_top_is_ranked_by_what_was_asked_for(tables, by):
    found = score_quietly(*tables, ranking=by)
    column = {"contribution": "loo", "evidence": "studentized"}[by]
    ordered = found.scores[column].sort_values(ascending=False)
    top, low = found.top(5), found.top(5, departure="deficit")
    assert top.index.tolist() == ordered.index[:5].tolist()
    assert low.index.tolist() == ordered.index[::-1][:5].tolist()
    assert (low[column] < 0).all()
    assert top[["a", "b"]].equals(tables[0].loc[top.index])
    assert found.ranking["score"].tolist() == ordered.tolist()
    assert found.found["largest"] == pytest.approx(ordered.iloc[0], rel=1e-9)


def test_every_kind_of_table_is_the_same_table(tables, tmp_path):
    sample, reference = tables
    expected = score_quietly(*tables)
    sample.to_csv(tmp_path / "sample.csv", index=False)
    reference.to_csv(tmp_path / "reference.csv", index=False)
    kinds = {
        "polars": polars.from_pandas,
        "pyarrow": partial(pyarrow.Table.from_pandas, preserve_index=False),
        "array": pd.DataFrame.to_numpy,
        "lists": lambda table: table.to_numpy().tolist(),
        "fields": lambda table: table.to_records(index=False),
    }
    found = {name: score_quietly(make(sample), make(reference)) for name, make in kinds.items()}
    found["paths"] = score_quietly(tmp_path / "sample.csv", str(tmp_path / "reference.csv"))
    for name, result in found.items():
        assert result.scores["loo"].tolist() == expected.scores["loo"].tolist(), name
        assert result.p_value == expected.p_value, name
        assert result.scores.index.tolist() == list(range(60)), name
    assert found["array"].features == ("x0", "x1")
    assert found["fields"].features == found["polars"].features == ("a", "b")


def test_an_index_need_not_be_unique_and_a_column_may_name_the_events(tables):
    sample, reference = tables
    twice = sample.set_axis(["same"] * 60)
    found = score_quietly(twice, reference)
    assert found.scores.index.tolist() == ["same"] * 60
    assert len(found.top(7)) == 7
    named = sample.reset_index()
    found = score_quietly(named, reference, id="event", columns=["a", "b"])
    assert found.scores.index.tolist() == sample.index.tolist()
    assert found.scores.index.name == "event"


def test_a_long_table_is_thinned_as_the_workflow_does(tables):
    found = score_quietly(*tables, max_events=40)
    rows = np.sort(stream(3, "score", "thin", "sample").permutation(60)[:40])
    assert found.scores.index.tolist() == tables[0].index[rows].tolist()
    assert found.found["reference_events"] == 40


def test_three_lines_say_what_was_found(tables):
    found = score_quietly(*tables)
    lines = repr(found).splitlines()
    assert len(lines) == 3
    assert lines[0] == found.found["answer"]
    assert "60 events against 90" in lines[1]
    assert lines[2] == f"Most responsible: {', '.join(found.top(3).index)}."


def test_figures_and_page(tables, tmp_path):
    found = score_quietly(*tables, ranking="evidence")
    figures = found.plot()
    assert list(figures) == ["ranking", "features", "pairs"]
    for figure in figures.values():
        figure.savefig(buffer := io.BytesIO(), format="png")
        assert buffer.tell() > 5000
    assert figures._repr_html_().count("<img alt=") == 3
    assert figures["ranking"].axes[0].get_ylabel().startswith("evidence")
    path = found.report(tmp_path / "page.html")
    page = path.read_text()
    assert found.found["answer"] in page
    assert page.count('src="data:image/png;base64') == 3
    # the explorer is a part of it, and its library too
    assert "window.explore = " in page
    assert "window.explore({" in page
    assert "bokeh" in page
    assert all(name in page for name in found.top(25).index)
    assert [item.name for item in tmp_path.iterdir()] == ["page.html"]


def test_a_page_or_a_departure_that_cannot_be(tables, tmp_path):
    found = score_quietly(*tables)
    for path in (tmp_path, tmp_path / "none" / "page.html", tmp_path / "page.pdf"):
        with pytest.raises(ValueError, match="must be the name of an html file in a folder"):
            found.report(path)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="departure must be excess or deficit, not 'deficits'"):
        found.top(departure="deficits")


def test_the_defaults_are_those_of_the_configuration():
    resolved = configuration.resolved(None)
    parameters = inspect.signature(localizer.score).parameters
    own = {"sample", "reference", "variations", "calibration", "seed", "progress"}
    for name, parameter in parameters.items():
        if name not in own:
            default = parameter.default
            assert resolved[name] == (list(default) if isinstance(default, tuple) else default)
    missing = set(resolved) - set(parameters)
    assert missing == {"batches", "statistics", "example", "jobs"}
    shipped = yaml.safe_load((Path(__file__).parents[2] / "config/config.yaml").read_text())
    assert parameters["seed"].default == shipped["seed"] == defaults.SEED
    recipe = Recipe()
    keys = {"factors": "bandwidths", "n_per_bandwidth": "features_per_bandwidth"}
    for name in recipe.__dataclass_fields__:
        if name == "calibration_limit":
            assert recipe.calibration_limit == resolved["calibration"]["exact_limit"]
            continue
        value = getattr(recipe, name)
        expected = resolved[keys.get(name, name)]
        assert (list(value) if isinstance(value, tuple) else value) == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columns": ["a", "c"]}, r"score.columns: the sample has no column c; there are a, b"),
        ({"columns": "ab"}, "columns must be a list, not 'ab'"),
        ({"columns": 3}, "columns must be a list, not 3"),
        ({"bandwidths": 0.5}, "bandwidths must be a list, not 0.5"),
        ({"ladder": [1, -1]}, "ladder"),
        ({"id": 3}, "id must be the name of a column, not 3; values of your own can be"),
        (
            {"reference_weight": np.ones(9)},
            "reference_weight must be the name of a column",
        ),
        ({"shared_events": "refused"}, "shared_events must be one of refuse, allow, not 'refused'"),
        ({"calibration": 99}, "calibration must be a mapping, for example {'draws': 999}, not 99"),
        (
            {"calibration": {"from": "permutation"}},
            "calibration from must be one of auto, permutations, .*, not 'permutation'",
        ),
        ({"label": "a"}, "score.label: column a must hold 0 and 1"),
        ({"ranking": "size"}, "ranking must be one of contribution, evidence, not 'size'"),
        ({"calibration": {"drawn": 9}}, "calibration has no key drawn; there are from, draws"),
        ({"calibration": {"draws": 9}}, "calibration draws must be at least 39, it is 9"),
        ({"top": 0}, "top must be at least 1"),
        ({"folds": 1}, "k must be at least 2"),
    ],
)
def test_mistakes_are_told_in_one_sentence(tables, change, message):
    with pytest.raises(ValueError, match=message):
        localizer.score(*tables, **change)


def test_tables_that_are_none():
    x = STREAMS("none").normal(size=(30, 2))
    with pytest.raises(
        ValueError, match=r"the sample must be a table .*, its shape is \(2, 2, 2\)"
    ):
        localizer.score(np.ones((2, 2, 2)), x)
    with pytest.raises(ValueError, match="30 events of the sample are also in the reference"):
        localizer.score(x, x)
    with pytest.raises(ValueError, match="the reference has missing or infinite values"):
        localizer.score(x, np.where(x > 1, np.nan, x) + 0.1)
    with pytest.raises(ValueError, match=r"nowhere.csv does not exist"):
        localizer.score("nowhere.csv", x)


def test_progress_is_shown_where_somebody_looks(monkeypatch, tables):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream_class, shown in ((Terminal, True), (io.StringIO, False)):
        for wanted in (True, False):
            monkeypatch.setattr(progress.sys, "stderr", written := stream_class())
            score_quietly(*tables, progress=wanted)
            assert ("draws without a departure" in written.getvalue()) == (shown and wanted)
