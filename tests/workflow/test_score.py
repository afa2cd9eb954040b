"""A user's own data through the real workflow: the two examples, a csv, and mistakes."""

import json

import localizer
import numpy as np
import pandas as pd
import pytest
import uproot
from own_data import SHARED, found_in, overlay
from real_workflow import copy_of_the_sources
from scipy.spatial.distance import pdist
from stage import files

SMALL = """
  top: 20
  calibration: {draws: 39}
"""


@pytest.fixture(scope="module")
def one_copy(tmp_path_factory):
    """Return one copy of the sources for runs of several names, which compile the kernels once."""
    return copy_of_the_sources(tmp_path_factory.mktemp("own") / "project")


def read(folder):
    return json.loads((folder / "global.json").read_text()), pd.read_parquet(
        folder / "scores.parquet"
    )


def check_what_a_reader_sees(folder):
    """Recompute list, band and p-values from the scores and the null draws."""
    found, scores = read(folder)
    top = pd.read_csv(folder / "top.csv")
    ranking = pd.read_csv(folder / "ranking.csv")
    order = np.argsort(-scores["loo"].to_numpy(), kind="stable")[: len(top)]
    assert top["event"].astype(str).tolist() == scores["event"][order].astype(str).tolist()
    for table, column in ((top, "loo"), (ranking, "score")):
        assert table[column].tolist() == scores["loo"][order].tolist()
        assert table["rank"].tolist() == list(range(1, len(top) + 1))
    parts = [files.read_npz(path) for path in (folder / "null").glob("*.npz")]
    largest = np.concatenate([part["largest"] for part in parts])
    mmd2 = np.concatenate([part["mmd2"] for part in parts])
    draws = len(mmd2)
    assert found["draws"] == draws == 39
    # 0.025, 0.5 and 0.975 of 39 + 1 are the first, the middle and the last of 39 draws
    ordered = np.sort(largest, axis=0)
    for name, place in (("low", 0), ("median", 19), ("high", 38)):
        assert ranking[name].tolist() == ordered[place].tolist()
    assert (ranking["low"] <= ranking["median"]).all()
    assert (ranking["median"] <= ranking["high"]).all()
    # no draw comes closer to the data than the rounding that p_value forgives
    assert found["p_value"] == (1 + np.sum(mmd2 >= found["mmd2"])) / (1 + draws)
    assert found["p_largest"] == (1 + np.sum(largest[:, 0] >= found["largest"])) / (1 + draws)
    assert found["largest"] == pytest.approx(scores["loo"].max(), abs=2e-6)
    return found, scores


def test_the_example_that_ships(one_copy):
    project = one_copy
    more = SMALL + "  example: {readings: 600, worn: 0.1}\n  folds: 3\n"
    more += "  batches: {estimators: [pair], R: 2000, m: 20}\n"
    project.snakemake("score", *overlay(project, "own.yaml", more))
    folder = project.root / "results/own/score"
    found, scores = check_what_a_reader_sees(folder)
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
    assert page.count('src="data:image/png;base64') == 3
    assert project.planned("score", "--configfile", "config/mine.yaml") == {}
    check_that_python_finds_the_same(project.root / "results/example", found, scores)


def check_that_python_finds_the_same(tables, found, scores):
    """Score the same files with the same seed by the function for users."""
    again = localizer.score(
        *(tables / "sample.csv", tables / "reference.csv"),
        columns=["flow", "pressure", "power", "vibration", "temperature"],
        **{"label": "fault", "id": "reading", "top": 20, "folds": 3},
        calibration={"draws": 39},
    )
    for name in ("p_value", "p_largest", "p_lowest", "mmd2", "largest", "lowest", "auc"):
        assert again.found[name] == found[name], name
    assert again.scores.index.tolist() == scores["event"].tolist()
    for name in ("witness", "loo", "error", "studentized", "rank", "departure", "cross_fitted"):
        assert again.scores[name].tolist() == scores[name].tolist(), name


def test_the_example_of_the_lhc_olympics(one_copy):
    more = SMALL + "  max_events: 1500\n"
    one_copy.snakemake("score", *overlay(one_copy, "own_lhco.yaml", more))
    found, scores = read(one_copy.root / "results/own_lhco/score")
    assert found["events"] == found["reference_events"] == len(scores) == 1500
    assert scores["label"].nunique() == 2


def test_every_other_way_to_the_scores(one_copy):
    """An archive, a ROOT file, choices by the reference, random features, pseudoexperiments."""
    project = one_copy
    rng = np.random.default_rng(8)
    shifted, plain = rng.normal(0.9, size=(120, 2)), rng.normal(size=(400, 2))
    np.savez(project.root / "mine.npz", decoy=np.zeros((50, 3)), new=shifted)
    with uproot.recreate(project.root / "mine.root") as file:
        file.mktree("decoy", {"x0": np.zeros(50), "x1": np.zeros(50)})
        file.mktree("old", {"x0": plain[:, 0], "x1": plain[:, 1]})
    more = "  coordinates: standardized\n  source: reference\n  method: rff\n"
    more += "  features_per_bandwidth: 64\n  top: 20\n"
    more += "  calibration: {from: pseudoexperiments, draws: 39, draws_per_job: 20}\n"
    (project.root / "config/mine.yaml").write_text(
        f"run: mine\nscore:\n  sample: mine.npz::new\n  reference: mine.root:old\n{more}"
    )
    project.snakemake("score", "--configfile", "config/mine.yaml")
    folder = project.root / "results/mine/score"
    found, scores = check_what_a_reader_sees(folder)
    assert (found["method"], found["draws_from"]) == ("rff", "pseudoexperiments")
    assert (found["events"], found["reference_events"]) == (120, 400)
    assert found["p_value"] == 0.025  # a shift of 0.9 sigma in two features
    assert (scores["error_features"] > 0).all()
    # coordinates and lengths are those of the reference alone
    standard = (plain - plain.mean(axis=0)) / plain.std(axis=0)
    assert found["d_med"] == pytest.approx(np.median(pdist(standard)), rel=1e-12)
    assert pd.read_parquet(folder / "events.parquet")[["x0", "x1"]].to_numpy().tolist() == (
        shifted.tolist()
    )
    one = dict(np.load(folder / "null/000020.npz"))
    assert one["numbers"].tolist() == list(range(20, 39))


@pytest.mark.slow
def test_jobs_that_share_the_events_leave_the_same_bytes(project):
    folder, found = project.root / "results/own/score", {}
    for jobs in (1, 3, 2):
        words = overlay(project, "own.yaml", SHARED + f"  jobs: {jobs}\n")
        project.snakemake("score", *words)
        found[jobs] = found_in(folder)
        assert len(found[jobs]) > 10
        if jobs == 3:
            parts = [dict(np.load(folder / f"events/{k}.npz")) for k in range(3)]
            assert [len(part["loo"]) for part in parts] == [16384, 16384, 40000 - 2 * 16384]
    assert found[1] == found[3] == found[2]


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
