"""The verdicts of a full run, computed again from its tables by the real rules."""

import golden
import pandas as pd
import pytest
from real_workflow import copy_of_the_sources

EDITIONS = ("subset", "surrogate")


@pytest.fixture(scope="module", params=EDITIONS)
def judged(request, tmp_path_factory):
    """Return the golden scoreboard of an edition, and what the rules make of its tables now."""
    project = copy_of_the_sources(tmp_path_factory.mktemp(request.param) / "project")
    run = project.root / "results/paper"
    golden.unpack(request.param, run)
    # the tables are given: what made them must not be made again
    project.snakemake(
        *("--rerun-triggers", "mtime", "--allowed-rules", *golden.RULES),
        *("--", "results/paper/scoreboard.csv"),
    )
    before = golden.read(golden.GOLDEN / f"{request.param}.csv")
    return before, golden.read(run / "scoreboard.csv")


def test_every_verdict_and_number_is_the_golden_one(judged):
    verdicts, numbers = golden.differences(*judged)
    assert not verdicts
    assert not numbers


def test_the_editions_are_judged_in_full(judged):
    published = pd.read_csv(golden.GOLDEN.parents[1] / "resources/published.csv")
    assert list(judged[0].index) == list(published["id"])
    assert judged[0]["verdict"].nunique() > 2


def test_the_archives_are_small():
    assert sum(path.stat().st_size for path in golden.GOLDEN.glob("*.xz")) < 1_000_000


@pytest.fixture
def table():
    """Return a scoreboard of two rows."""
    rows = [
        ["a", "ensemble", "pull", 1.0, 0.1, 10, "0.5", "agrees"],
        ["b", "statement", "computed", None, None, None, "True", "agrees"],
    ]
    return pd.DataFrame(rows, columns=golden.COLUMNS).set_index("id")


def test_equal_boards_do_not_differ(table):
    assert golden.differences(table, table.copy()) == ([], [])


@pytest.mark.parametrize(
    ("row", "column", "value", "is_verdict"),
    [
        ("a", "verdict", "tension", True),
        ("a", "kind", "fit", True),
        ("a", "value", "0.50001", False),
        ("a", "reproduced", None, False),
        ("a", "n", 11, False),
        ("b", "value", "False", False),
        ("b", "measure", "pull", False),
    ],
)
def test_a_difference_is_named(table, row, column, value, is_verdict):
    other = table.copy()
    other.loc[row, column] = value
    verdicts, numbers = golden.differences(table, other)
    found, none = (verdicts, numbers) if is_verdict else (numbers, verdicts)
    assert len(found) == 1
    assert found[0].startswith(f"{row}: ")
    assert not none


def test_a_row_that_is_gone_is_a_changed_verdict(table):
    assert golden.differences(table, table.drop("a"))[0] == ["a: only in the golden"]
    assert golden.differences(table.drop("a"), table)[0] == ["a: only in the run"]


def run_with(tmp_path, table, edition="subset"):
    (tmp_path / "lhco").mkdir(exist_ok=True)
    (tmp_path / "lhco/edition.json").write_text(f'{{"name": "{edition}"}}')
    table.to_csv(tmp_path / "scoreboard.csv")
    return tmp_path


def test_a_changed_verdict_fails_the_comparison(tmp_path, capsys):
    scores = golden.read(golden.GOLDEN / "subset.csv")
    assert golden.main([str(run_with(tmp_path, scores))]) == 0
    scores.loc["e1.auc_lr", "verdict"] = "disagrees"
    assert golden.main([str(run_with(tmp_path, scores))]) == 1
    assert "CHANGED VERDICT e1.auc_lr" in capsys.readouterr().out
    assert golden.main([str(run_with(tmp_path, scores, edition="zenodo"))]) == 2


def test_renewing_keeps_the_bytes_of_what_has_not_changed(tmp_path, monkeypatch):
    before = {path.name: path.read_bytes() for path in golden.GOLDEN.glob("*")}
    scores = golden.read(golden.GOLDEN / "subset.csv")
    (tmp_path / "run").mkdir()
    run = run_with(tmp_path / "run", scores)
    golden.unpack("subset", run)
    (tmp_path / "golden").mkdir()
    monkeypatch.setattr(golden, "GOLDEN", tmp_path / "golden")
    assert golden.main([str(run), "--renew"]) == 0
    made = {path.name: path.read_bytes() for path in (tmp_path / "golden").glob("*")}
    assert made == {name: before[name] for name in ("paper.tar.xz", "subset.tar.xz", "subset.csv")}


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="no finished run"):
        golden.main([str(tmp_path)])
