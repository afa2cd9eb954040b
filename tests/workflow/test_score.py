"""A user's own data through the real workflow: the two examples, a csv, and mistakes."""

import json

import numpy as np
import pandas as pd
import pytest

SMALL = """
  top: 20
  calibration: {draws: 39}
"""


def overlay(project, shipped, more):
    """Write a copy of a shipped configuration with more keys of its section ``score``."""
    text = (project.root / "config" / shipped).read_text()
    (project.root / "config/mine.yaml").write_text(text + more)
    return ("--configfile", "config/mine.yaml")


def read(folder):
    return json.loads((folder / "global.json").read_text()), pd.read_parquet(
        folder / "scores.parquet"
    )


def test_the_example_that_ships(project):
    more = SMALL + "  example: {readings: 600, worn: 0.1}\n  folds: 3\n"
    more += "  batches: {estimators: [pair], R: 2000, m: 20}\n"
    project.snakemake("score", *overlay(project, "own.yaml", more))
    folder = project.root / "results/own/score"
    found, scores = read(folder)
    assert found["draws"] == 39
    # a tenth of all readings is a departure that few permutations reach
    assert found["p_value"] <= 0.1
    assert found["method"] == "exact"
    assert sorted(scores["rank"]) == list(range(1, 601))
    # the readings sought are a tenth of all and the scores were never shown the label
    assert found["auc"] > 0.75
    assert np.corrcoef(scores["loo"], scores["cross_fitted"])[0, 1] > 0.99
    assert np.corrcoef(scores["loo"], scores["pair"])[0, 1] > 0.3
    top = pd.read_csv(folder / "top.csv")
    assert top["rank"].tolist() == list(range(1, 21))
    by_name = pd.read_csv(project.root / "results/example/sample.csv").set_index("reading")
    assert (by_name.loc[top["event"], "power"].to_numpy() == top["power"].to_numpy()).all()
    page = (folder / "report.html").read_text()
    assert "What the scores mean, and what they do not" in page
    assert page.count("data:image/png;base64") == 3
    assert project.planned("score", "--configfile", "config/mine.yaml") == {}


def test_the_example_of_the_lhc_olympics(project):
    more = SMALL + "  max_events: 1500\n"
    project.snakemake("score", *overlay(project, "own_lhco.yaml", more))
    found, scores = read(project.root / "results/own_lhco/score")
    assert found["events"] == found["reference_events"] == len(scores) == 1500
    assert scores["label"].nunique() == 2


OWN_STATISTIC = '''
def widest(batch, reference):
    """The largest spread of any feature, compared with the reference."""
    return float((batch.std(axis=0) / reference.std(axis=0)).max())


def first(batch, reference):
    """Not symmetric: it looks at the first event only."""
    return float(batch[0, 0])
'''


def own_csv(project, **columns):
    """Put a csv of a user's own, and a statistic, beside the Snakefile."""
    rng = np.random.default_rng(5)
    for name, shift in (("new", 0.8), ("old", 0.0)):
        table = pd.DataFrame(rng.normal(shift, size=(300, 2)), columns=["speed", "weight"])
        if name == "new":
            table = table.assign(**columns)
        table.to_csv(project.root / f"{name}.csv", index=False)
    (project.root / "own_statistic.py").write_text(OWN_STATISTIC)


def configured(project, more=""):
    text = f"run: mine\nscore:\n  sample: new.csv\n  reference: old.csv{SMALL}{more}"
    (project.root / "config/mine.yaml").write_text(text)
    return ("--configfile", "config/mine.yaml")


@pytest.mark.slow
def test_a_csv_and_a_statistic_of_ones_own(project):
    own_csv(project)
    more = "  statistics: {names: [energy, own_statistic:widest], max_events: 40, contexts: 20}\n"
    project.snakemake("score", *configured(project, more))
    folder = project.root / "results/mine/score"
    found, scores = read(folder)
    assert found["p_value"] == 0.025  # none of 39 permutations comes near a shift of 0.8 sigma
    assert len(scores) == 300
    summary = pd.read_csv(folder / "statistics_summary.csv")
    assert summary["statistic"].tolist() == ["energy", "own_statistic:widest"]
    assert summary["correlation_with_loo"][0] > 0.5
    one = {path.name: path.read_bytes() for path in folder.glob("*.csv")}
    again = configured(project, more + "  method: exact\n")
    project.snakemake("score", "--forceall", *again, cores=1)
    assert {path.name: path.read_bytes() for path in folder.glob("*.csv")} == one


#: what is wrong, what is said, and what is not there afterwards
REFUSED = {
    "column": (
        *("  columns: [speed, wieght]\n", "no column wieght; did you mean weight?"),
        {"problem.npz", "scores.parquet", "report.html"},
    ),
    "label": (
        *("  label: speed\n", "column speed must hold 0 and 1"),
        {"problem.npz", "scores.parquet", "report.html"},
    ),
    "statistic": (
        "  statistics: {names: [own_statistic:first], max_events: 20, contexts: 20}\n",
        "own_statistic:first",
        {"statistics.csv", "report.html"},
    ),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.slow
def test_mistakes_are_one_sentence_and_leave_nothing(project, case):
    more, sentence, missing = REFUSED[case]
    own_csv(project)
    done = project.snakemake("score", *configured(project, more), check=False)
    assert done.returncode
    assert sentence in done.stdout
    folder = project.root / "results/mine/score"
    left = {path.name for path in folder.rglob("*") if path.is_file()}
    assert not missing & left
    assert not [name for name in left if ".part" in name]


def test_a_file_that_is_not_there(project):
    done = project.snakemake("score", "-n", *configured(project), check=False)
    assert done.returncode
    assert 'score.sample is "new.csv"; there is no such file.' in done.stdout
    assert "Traceback" not in done.stdout
