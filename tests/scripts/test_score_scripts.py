"""The scripts on a user's own data: which numbers go under which name, checked by hand."""

import json
from contextlib import contextmanager
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import uproot
from localizer.base.randomness import stream
from localizer.experiments.event_distributions import NAMES
from localizer.figures import explorer
from localizer.figures import score as figures
from localizer.kernels import feature_means
from localizer.own import batch_estimates, calibration, crossfit, score, significance, top_events
from localizer.own.recipe import Recipe
from scipy.spatial.distance import cdist, pdist
from scipy.stats import ks_2samp
from stage import files

SEED = 3
STREAMS = partial(stream, SEED, "score")
N, M = 24, 36
RECIPE = {
    **{"coordinates": "standardized", "source": "pooled", "factors": [0.5, 1.0]},
    **{"method": "exact", "exact_limit": 10**9, "companions": 10, "pairs": 10_000},
    **{"n_per_bandwidth": 16, "ladder": [0.25, 0.5], "ranking": "contribution"},
    "calibration_limit": 10**9,
}
NO_BATCHES = {"estimators": [], "m": 3, "R": 4, "group_size": 2, "rank": 4}


@pytest.fixture
def problem(tmp_path):
    """Write and return a problem: arrays, the table of events and what is known of them."""
    rng = np.random.default_rng(11)
    arrays = {
        "sample": rng.normal([0.7, 0.0, 30.0], [1, 1, 9], size=(N, 3)),
        "reference": rng.normal([0.0, 0.0, 30.0], [1, 1, 9], size=(M, 3)),
        "label": np.arange(N) % 3 == 0,
    }
    files.write_npz(arrays, tmp_path / "problem.npz")
    events = pd.DataFrame(arrays["sample"], columns=["a", "b", "c"])
    events.insert(0, "event", [f"e{i:02}" for i in rng.permutation(N)])
    files.write_parquet(events, tmp_path / "events.parquet")
    about = {"features": ["a", "b", "c"], "used": {"sample": N, "reference": M}}
    files.write_json({**about, "events": {"sample": 900, "reference": 800}}, tmp_path / "about")
    return {**arrays, "events": events}


def by_definition(problem):
    """Return witness, LOO witness, its error, and MMD^2, from whole matrices of kernels."""
    pooled = np.concatenate([problem["sample"], problem["reference"]])
    z = (pooled - pooled.mean(axis=0)) / pooled.std(axis=0)
    d_med = np.median(pdist(z))
    k = np.mean(
        [np.exp(-cdist(z, z, "sqeuclidean") / (2 * (f * d_med) ** 2)) for f in (0.5, 1.0)], axis=0
    )
    inside = np.array([np.delete(k[i, :N], i) for i in range(N)])
    across, outside = k[:N, N:], k[N:, N:]
    error = np.sqrt(inside.var(axis=1, ddof=1) / (N - 1) + across.var(axis=1, ddof=1) / M)
    pairs = outside[~np.eye(M, dtype=bool)].mean()
    return {
        "witness": k[:N, :N].mean(axis=1) - across.mean(axis=1),
        "loo": inside.mean(axis=1) - across.mean(axis=1),
        "error": error,
        "mmd2": inside.mean() + pairs - 2 * across.mean(),
        "d_med": d_med,
    }


# --- the tables -------------------------------------------------------------------------


@pytest.fixture
def tables(tmp_path):
    """Write a sample and a reference, with columns that are no features."""
    rng = np.random.default_rng(12)
    sample = pd.DataFrame(rng.normal(size=(30, 2)), columns=["u", "v"])
    sample = sample.assign(town="x", name=[f"0{i}" for i in range(30)], kind=np.arange(30) % 2)
    reference = pd.DataFrame(rng.normal(5, size=(40, 2)), columns=["u", "v"]).assign(town="x")
    sample.to_csv(tmp_path / "new.csv", index=False)
    reference.to_csv(tmp_path / "old.csv", index=False)
    return sample, reference


def run_problem(run_script, tmp_path, **params):
    places = {"sample": f"{tmp_path}/new.csv", "reference": f"{tmp_path}/old.csv"}
    defaults = {"columns": [], "label": "", "id": "", "shared_events": "refuse", "seed": SEED}
    defaults |= {"sample_weight": "", "reference_weight": ""}
    names = ("arrays.npz", "events.parquet", "about.json")
    output = {name.partition(".")[0]: f"{tmp_path}/{name}" for name in names}
    run_script(
        "score_problem.py",
        input=places,
        output=output,
        params={**defaults, "max_events": 100, "tables": places, **params},
    )
    return (
        files.read_npz(output["arrays"]),
        pd.read_parquet(output["events"]),
        json.loads((tmp_path / "about.json").read_text()),
    )


def test_the_tables_go_into_arrays(run_script, tmp_path, tables):
    sample, reference = tables
    arrays, events, about = run_problem(run_script, tmp_path, id="name", label="kind")
    assert arrays["sample"].tolist() == sample[["u", "v"]].to_numpy().tolist()
    assert arrays["reference"].tolist() == reference[["u", "v"]].to_numpy().tolist()
    assert arrays["label"].tolist() == (sample["kind"] == 1).tolist()
    assert events["event"].tolist() == sample["name"].tolist()
    assert about["features"] == ["u", "v"]
    assert about["events"] == about["used"] == {"sample": 30, "reference": 40}
    assert list(about["left_out"]) == ["town"]
    assert about["sample"].endswith("new.csv")
    assert about["reference"].endswith("old.csv")
    assert "column town is left out: it holds text" in (
        (tmp_path / "logs/score_problem.log").read_text()
    )


def test_a_table_that_is_too_long_is_thinned_as_a_whole(run_script, tmp_path, tables):
    sample, reference = tables
    arrays, events, about = run_problem(
        run_script, tmp_path, id="name", label="kind", max_events=12
    )
    assert about["events"] == {"sample": 30, "reference": 40}
    assert about["used"] == {"sample": 12, "reference": 12}
    rows = {
        name: sorted(stream(SEED, "score", "thin", name).permutation(size)[:12])
        for name, size in (("sample", 30), ("reference", 40))
    }
    kept = sample.iloc[rows["sample"]]
    assert events["event"].tolist() == kept["name"].tolist()
    assert arrays["label"].tolist() == (kept["kind"] == 1).tolist()
    for values in (arrays["sample"], events[["u", "v"]].to_numpy()):
        assert values.tolist() == kept[["u", "v"]].to_numpy().tolist()
    assert arrays["reference"].tolist() == (
        reference.iloc[rows["reference"]][["u", "v"]].to_numpy().tolist()
    )


@pytest.mark.parametrize("kind", ["mktree", "mkrntuple"])
def test_trees_of_a_root_file_are_scored_as_the_same_csv(run_script, tmp_path, tables, kind):
    places = {}
    for which, table in zip(("sample", "reference"), tables, strict=True):
        numbers = {name: table[name].to_numpy() for name in table.select_dtypes("number")}
        with uproot.recreate(tmp_path / f"{which}.root") as file:
            file.mktree("decoy", {"u": np.zeros(50)})
            getattr(file, kind)("nominal", numbers)
        places[which] = f"{tmp_path}/{which}.root:nominal"
    options = {"label": "kind", "columns": ["v", "u"]}
    found = []
    for words in ({}, {"tables": places}):
        arrays, events, about = run_problem(run_script, tmp_path, **options, **words)
        (tmp_path / "arrays.npz").rename(tmp_path / "problem.npz")
        found.append((arrays, events, run_events(run_script, tmp_path)[0]))
    assert about["sample"] == places["sample"]
    for name, values in found[0][0].items():
        np.testing.assert_array_equal(found[1][0][name], values)
    for one, other in zip(found[0][1:], found[1][1:], strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


def test_no_label_and_no_names(run_script, tmp_path, tables):
    arrays, events, _ = run_problem(run_script, tmp_path, columns=["v"])
    assert "label" not in arrays
    assert events.columns.tolist() == ["event", "v"]
    assert events["event"].tolist() == list(range(30))
    assert arrays["sample"][:, 0].tolist() == tables[0]["v"].tolist()


def test_the_lhco_samples_become_tables(run_script, tmp_path):
    rng = np.random.default_rng(13)
    samples = {
        **{"mixed": rng.normal(size=(7, 4)), "labels": np.arange(7) % 2 == 0},
        **{"reference": rng.normal(size=(9, 4)), "background": rng.normal(size=(9, 4))},
    }
    files.write_npz(samples, tmp_path / "samples.npz")
    output = {name: f"{tmp_path}/{name}.parquet" for name in ("sample", "reference")}
    run_script("score_lhco.py", input={"samples": f"{tmp_path}/samples.npz"}, output=output)
    mixed, reference = (pd.read_parquet(output[name]) for name in output)
    assert mixed.columns.tolist() == [*NAMES, "signal"]
    assert mixed[list(NAMES)].to_numpy().tolist() == samples["mixed"].tolist()
    assert mixed["signal"].tolist() == samples["labels"].tolist()
    assert reference.columns.tolist() == list(NAMES)
    assert reference.to_numpy().tolist() == samples["reference"].tolist()


def test_only_the_second_month_of_the_example_has_faults(run_script, tmp_path):
    names = ("sample", "reference", "off", "power", "temperature")
    output = {name: f"{tmp_path}/{name}.csv" for name in names}
    params = {"seed": 1, "readings": 200, "worn": 0.1}
    run_script("score_example.py", output=output, params=params)
    sample, reference, *varied = (pd.read_csv(output[name]) for name in output)
    assert sample["fault"].sum() == 20
    assert set(sample) - set(reference) == {"fault"}
    assert len(sample) == len(reference) == 200
    # the same readings, by instruments that are off
    for table, power, temperature in zip(
        varied, (1.03, 1.03 * 0.95, 1.03), (-0.6, -0.6, 0.4), strict=True
    ):
        np.testing.assert_allclose(table["power"], power * reference["power"], atol=2e-4)
        np.testing.assert_allclose(
            table["temperature"], reference["temperature"] + temperature, atol=2e-4
        )
        assert table["flow"].equals(reference["flow"])


# --- scores and their calibration ---------------------------------------------------------


def run_events(run_script, tmp_path, *, recipe=RECIPE, folds=0, batches=NO_BATCHES, parts=()):
    output = {"scores": f"{tmp_path}/scores.parquet", "about": f"{tmp_path}/scores.json"}
    run_script(
        "score_events.py",
        input={
            **{"problem": f"{tmp_path}/problem.npz", "events": f"{tmp_path}/events.parquet"},
            "parts": list(parts),
        },
        output=output,
        params={"seed": SEED, "recipe": recipe, "folds": folds, "batches": batches},
    )
    scores = pd.read_parquet(output["scores"])
    return scores, json.loads((tmp_path / "scores.json").read_text())


def test_every_score_has_its_column(run_script, tmp_path, problem):
    scores, about = run_events(run_script, tmp_path)
    expected = by_definition(problem)
    assert scores.columns.tolist() == [
        *("event", "rank", "departure", "loo", "error", "error_features", "studentized"),
        *("witness", "label"),
    ]
    for name in ("loo", "error", "witness"):
        np.testing.assert_allclose(scores[name], expected[name], rtol=1e-9, atol=1e-12)
    assert (scores["error_features"] == 0).all()
    assert scores["event"].tolist() == problem["events"]["event"].tolist()
    assert scores["label"].tolist() == problem["label"].tolist()
    larger = [1 + sum(expected["loo"] > value) for value in expected["loo"]]
    assert scores["rank"].tolist() == larger
    assert about["method"] == "exact"
    assert about["d_med"] == pytest.approx(expected["d_med"], rel=1e-12)
    assert about["bandwidths"] == pytest.approx([0.5 * about["d_med"], about["d_med"]])


@pytest.mark.usefixtures("problem")
@pytest.mark.parametrize("method", ["exact", "rff"])
def test_events_that_jobs_share_are_scored_the_same(run_script, tmp_path, method, monkeypatch):
    monkeypatch.setattr(feature_means, "CHUNK", 10)
    recipe = {**RECIPE, "method": method}
    whole = run_events(run_script, tmp_path, recipe=recipe)
    made = {"sums": [], "events": []}
    for kind, inputs in (("sums", {}), ("events", {"sums": made["sums"]})):
        for part in range(2):
            run_script(
                f"score_{kind}_part.py",
                input={"problem": f"{tmp_path}/problem.npz", **inputs},
                output=[path := f"{tmp_path}/{kind}{part}.npz"],
                params={"seed": SEED, "recipe": recipe, "part": part, "jobs": 2},
            )
            made[kind].append(path)
    # two chunks of ten, and what is left
    assert [len(files.read_npz(path)["loo"]) for path in made["events"]] == [20, N - 20]
    shared = run_events(run_script, tmp_path, recipe=recipe, parts=made["events"])
    pd.testing.assert_frame_equal(shared[0], whole[0], check_exact=True)
    assert shared[1] == whole[1]


def test_random_features_add_their_error_to_that_of_the_data(run_script, tmp_path, problem):
    limit = {**RECIPE, "method": "auto", "exact_limit": N * (N + M) - 1}
    scores, about = run_events(run_script, tmp_path, recipe=limit)
    assert about["method"] == "rff"
    recipe = Recipe(**{**RECIPE, "method": "rff"})
    expected = score.score_events(problem["sample"], problem["reference"], recipe, STREAMS)
    assert scores["loo"].tolist() == expected.loo.tolist()
    assert scores["error_features"].tolist() == expected.error_features.tolist()
    total = np.sqrt(expected.error_data**2 + expected.error_features**2)
    np.testing.assert_allclose(scores["error"], total, rtol=1e-12)


def test_cross_fitted_scores_and_batches_stand_beside(run_script, tmp_path, problem):
    batches = {**NO_BATCHES, "estimators": ["raw", "marginal", "pair"]}
    scores, about = run_events(run_script, tmp_path, folds=3, batches=batches)
    recipe = Recipe(**RECIPE)
    both = problem["sample"], problem["reference"]
    fitted = crossfit.cross_fit(*both, recipe, STREAMS, k=3)
    assert scores["cross_fitted"].tolist() == fitted.loo.tolist()
    assert scores["cross_fitted"].tolist() != scores["loo"].tolist()
    expected = batch_estimates.batch_estimates(
        *both, recipe, STREAMS, m=3, R=4, group_size=2, rank=4
    )
    drawn = expected.scores.drawn
    # four batches of three events leave half of 24 events out
    assert 0 < drawn.sum() <= 12
    for name in batches["estimators"]:
        values = getattr(expected.scores, name)
        assert scores[name].isna().tolist() == (~drawn).tolist()
        assert scores[name][drawn].tolist() == values[drawn].tolist()
        np.testing.assert_array_equal(scores[f"{name}_error"], expected.errors[name])
    assert about["batches"] == {"events_drawn": int(drawn.sum()), "target_correlation": 1.0}


@pytest.mark.parametrize("draw", ["permutations", "pseudoexperiments"])
def test_a_part_of_the_null_holds_its_own_draws(run_script, tmp_path, problem, draw):
    rng = np.random.default_rng(14)
    wide = {**problem, "reference": rng.normal(size=(60, 3))}
    arrays = {name: wide[name] for name in ("sample", "reference")}
    files.write_npz(arrays, tmp_path / "problem.npz")
    recipe = {**RECIPE, "method": "auto", "calibration_limit": (N + 60) ** 2 - 1}
    params = {"seed": SEED, "recipe": recipe, "top": 4, "draw": draw, "numbers": [3, 4, 5]}
    run_script(
        "score_null_part.py",
        input={"problem": f"{tmp_path}/problem.npz"},
        output=[f"{tmp_path}/null.npz"],
        params=params,
    )
    found = files.read_npz(tmp_path / "null.npz")
    rff = Recipe(**{**RECIPE, "method": "rff"})
    options = {"numbers": range(3, 6), "top": 4}
    if draw == "permutations":
        expected = significance.permutations(
            wide["sample"], wide["reference"], rff, STREAMS, **options
        )
    else:
        expected = significance.pseudoexperiments(N, wide["reference"], rff, STREAMS, **options)
    assert found["numbers"].tolist() == [3, 4, 5]
    assert found["largest"].shape == (3, 4)
    for name, values in expected.as_dict().items():
        np.testing.assert_array_equal(found[name], values)


@pytest.fixture
def calibrated(run_script, tmp_path, problem):
    """Return what calibration says of the problem beside made-up null draws, and these."""
    rng = np.random.default_rng(15)
    expected = by_definition(problem)
    loo = expected["loo"]
    scores = pd.DataFrame({"event": np.arange(N), "loo": loo, "error": expected["error"]})
    scores["rank"] = [1 + sum(loo > value) for value in loo]
    scores["label"] = problem["label"]
    scores["studentized"] = rng.permutation(loo)
    files.write_parquet(scores, tmp_path / "scores.parquet")
    files.write_json({"method": "exact", "d_med": 2.5}, tmp_path / "scored.json")
    # the data lie within the null draws, one third of the way from the top
    largest = loo.max() + rng.normal(-0.02, 0.05, size=(39, 4))
    null = {
        "numbers": np.arange(39),
        "mmd2": expected["mmd2"] + rng.normal(-0.01, 0.02, size=39),
        "largest": -np.sort(-largest, axis=1),
        "lowest": loo.min() + rng.normal(0.02, 0.05, size=39),
    }
    for name, rows in (("last", slice(20, 39)), ("first", slice(0, 20))):
        part = {key: values[rows] for key, values in null.items()}
        files.write_npz(part, tmp_path / f"{name}.npz")
    inputs = {"problem": "problem.npz", "scores": "scores.parquet", "scored": "scored.json"}
    run_script(
        "score_calibration.py",
        input={
            **{name: f"{tmp_path}/{file}" for name, file in inputs.items()},
            "about": f"{tmp_path}/about",
            "parts": [f"{tmp_path}/last.npz", f"{tmp_path}/first.npz"],
        },
        output={name: f"{tmp_path}/{name}.out" for name in ("about", "table", "ranking")},
        params={"seed": SEED, "recipe": RECIPE, "top": 4, "draw": "permutations"},
    )
    return {
        "found": json.loads((tmp_path / "about.out").read_text()),
        "table": pd.read_csv(tmp_path / "table.out"),
        "ranking": pd.read_csv(tmp_path / "ranking.out"),
        **{"null": null, "scores": scores, "expected": expected},
    }


def test_the_p_values_are_counted_by_hand(calibrated):
    found, null, expected = (calibrated[name] for name in ("found", "null", "expected"))
    assert found["mmd2"] == pytest.approx(expected["mmd2"], abs=1e-12)
    assert found["largest"] == pytest.approx(expected["loo"].max(), abs=1e-12)
    above = sum(value >= expected["mmd2"] for value in null["mmd2"])
    above_largest = sum(value >= expected["loo"].max() for value in null["largest"][:, 0])
    assert 0 < above < 39
    assert 0 < above_largest < 39
    assert above != above_largest
    assert found["p_value"] == (1 + above) / 40
    assert found["p_largest"] == (1 + above_largest) / 40
    below = sum(value <= expected["loo"].min() for value in null["lowest"])
    assert 0 < below < 39
    assert found["p_lowest"] == (1 + below) / 40
    assert found["calibration_method"] == "exact"
    mean = sum(null["mmd2"]) / 39
    variance = sum((null["mmd2"] - mean) ** 2) / 38
    assert found["mmd2_null_sd"] == pytest.approx(variance**0.5)


def test_what_else_calibration_says(calibrated):
    found, scores = calibrated["found"], calibrated["scores"]
    assert (found["draws"], found["draws_from"]) == (39, "permutations")
    assert (found["events"], found["reference_events"]) == (N, M)
    assert (found["method"], found["d_med"]) == ("exact", 2.5)
    ahead = [a > b for a in scores["loo"][scores["label"]] for b in scores["loo"][~scores["label"]]]
    assert found["auc"] == pytest.approx(np.mean(ahead))
    numbers = {name: value for name, value in found.items() if not isinstance(value, str)}
    assert calibrated["table"]["quantity"].tolist() == [calibration.WORDS[name] for name in numbers]
    assert found["answer"] == calibration.answer(found["p_value"], 39)
    assert calibrated["table"]["value"].tolist() == list(numbers.values())


def test_the_band_is_that_of_each_rank(calibrated):
    ranking, null, scores = (calibrated[name] for name in ("ranking", "null", "scores"))
    assert ranking["rank"].tolist() == [1, 2, 3, 4]
    largest = sorted(scores["loo"], reverse=True)[:4]
    assert ranking["score"].tolist() == largest
    by_score = dict(zip(scores["loo"], scores["error"], strict=True))
    assert ranking["error"].tolist() == [by_score[value] for value in largest]
    for rank in range(4):
        values = sorted(null["largest"][:, rank])
        row = ranking.iloc[rank]
        # 0.025, 0.5 and 0.975 of 39 + 1
        assert [row["low"], row["median"], row["high"]] == [values[0], values[19], values[38]]
        assert row["low"] <= row["median"] <= row["high"]


# --- what a reader sees -------------------------------------------------------------------


@pytest.fixture
def portrait(run_script, tmp_path, problem):
    """Return what runs the portrait of the five most responsible events."""
    rng = np.random.default_rng(16)
    loo = rng.permutation(np.linspace(-1, 1, N))
    scores = problem["events"][["event"]].assign(
        rank=[1 + sum(loo > value) for value in loo],
        departure=np.where(loo > 0, "excess", "deficit"),
        **{"loo": loo, "witness": rng.normal(size=N)},
    )
    files.write_parquet(scores, tmp_path / "scores.parquet")
    output = ("top", "deficits", "features", "histograms", "fields", "explorer")
    inputs = {"problem": "problem.npz", "about": "about"}
    inputs |= {"events": "events.parquet", "scores": "scores.parquet"}

    def run():
        run_script(
            "score_portrait.py",
            input={name: f"{tmp_path}/{file}" for name, file in inputs.items()},
            output={name: f"{tmp_path}/{name}.csv" for name in output},
            params={"top": 5, "seed": SEED},
        )
        return {name: pd.read_csv(tmp_path / f"{name}.csv") for name in output}, scores

    return run


def test_the_top_list_is_the_largest_scores(portrait, problem):
    made, scores = portrait()
    rows = sorted(range(N), key=lambda i: -scores["loo"][i])[:5]
    assert made["top"]["loo"].tolist() == sorted(scores["loo"], reverse=True)[:5]
    for name in scores:
        assert made["top"][name].tolist() == scores[name][rows].tolist()
    assert made["top"][["a", "b", "c"]].to_numpy().tolist() == problem["sample"][rows].tolist()
    lowest = sorted(range(N), key=lambda i: scores["loo"][i])[:5]
    assert made["deficits"]["event"].tolist() == scores["event"][lowest].tolist()
    assert (
        made["deficits"][["a", "b", "c"]].to_numpy().tolist() == problem["sample"][lowest].tolist()
    )
    table = made["features"].set_index("feature")
    top, reference = problem["sample"][rows], problem["reference"]
    for k, name in enumerate("abc"):
        assert table["responsible_mean"][name] == pytest.approx(top[:, k].mean())
        assert table["reference_mean"][name] == pytest.approx(reference[:, k].mean())
        distance = ks_2samp(top[:, k], reference[:, k]).statistic
        assert table["distance"][name] == pytest.approx(distance, rel=1e-12)


def test_the_explorer_gets_some_events_whole(portrait, problem, monkeypatch):
    monkeypatch.setattr(top_events.drawn, "__kwdefaults__", {"most": 15, "top": 4})
    made, scores = portrait()
    rows = top_events.drawn(scores["rank"], STREAMS("explorer"))
    assert len(rows) == 15
    shown = made["explorer"]
    order = made["features"]["feature"].tolist()
    assert shown.columns.tolist() == [*scores.columns, *order]
    assert shown["event"].tolist() == scores["event"][rows].tolist()
    assert shown["loo"].tolist() == scores["loo"][rows].tolist()
    assert shown["b"].tolist() == problem["sample"][rows, 1].tolist()
    monkeypatch.undo()
    assert len(portrait()[0]["explorer"]) == N


def test_each_histogram_is_of_the_events_it_names(portrait, problem):
    made, scores = portrait()
    groups = {
        **{"sample": problem["sample"], "reference": problem["reference"]},
        "responsible": problem["sample"][scores["rank"] <= 5],
    }
    for (feature, kind), part in made["histograms"].groupby(["feature", "kind"]):
        x = groups[kind][:, "abc".index(feature)]
        edges = [*part["low"], part["high"].iloc[-1]]
        counts, _ = np.histogram(x, edges)
        np.testing.assert_allclose(part["density"] * np.diff(edges) * len(x), counts, atol=1e-9)


def test_each_plane_holds_the_mean_witness(portrait, problem):
    made, scores = portrait()
    order = made["features"]["feature"].tolist()
    planes = made["fields"].groupby(["x", "y"], sort=False)
    assert list(planes.groups) == list(combinations(order, 2))
    events = problem["events"]
    for (x, y), part in planes:
        assert part["events"].sum() >= N - 4  # all but the outermost
        for row in part.itertuples():
            # the last edge belongs to the last cell
            inside = events[x].between(row.x_low, row.x_high) & events[y].between(
                row.y_low, row.y_high
            )
            if inside.sum() == row.events:
                assert row.score == pytest.approx(scores["witness"][inside].mean())


def test_one_feature_is_a_plane_by_itself(portrait, problem, tmp_path):
    arrays = {name: problem[name][:, :1] for name in ("sample", "reference")}
    files.write_npz(arrays, tmp_path / "problem.npz")
    files.write_parquet(problem["events"][["event", "a"]], tmp_path / "events.parquet")
    files.write_json({"features": ["a"]}, tmp_path / "about")
    made, _ = portrait()
    assert set(zip(made["fields"]["x"], made["fields"]["y"], strict=True)) == {("a", "a")}


def test_the_figures_get_their_tables_and_names_stay_text(run_script, tmp_path, monkeypatch):
    """A feature may be called NA or 1."""
    drawn, written = {}, []

    def stand_in(name):
        @contextmanager
        def draw(*arguments):
            drawn[name] = arguments
            yield name

        return draw

    for name in ("ranking", "features", "pairs"):
        monkeypatch.setattr(figures, name, stand_in(name))
    monkeypatch.setattr(files, "write_figure", lambda *words: written.append(words))
    tables = {
        "ranking": pd.DataFrame({"rank": [1]}),
        "top": pd.DataFrame({"loo": [0.5]}),
        "features": pd.DataFrame({"feature": ["NA", "1"]}),
        "histograms": pd.DataFrame({"feature": ["1"], "density": [0.25]}),
        "fields": pd.DataFrame({"x": ["NA"], "y": ["1"], "score": [1.5]}),
    }
    for name, table in tables.items():
        files.write_csv(table, tmp_path / f"{name}.csv")
    run_script(
        "score_figures.py",
        input={name: f"{tmp_path}/{name}.csv" for name in tables},
        output={name: [f"{name}.png", f"{name}.pdf"] for name in ("ranking", "features", "pairs")},
    )
    pd.testing.assert_frame_equal(drawn["ranking"][0], tables["ranking"])
    pd.testing.assert_frame_equal(drawn["features"][0], tables["histograms"])
    assert drawn["features"][1].tolist() == ["NA", "1"]
    pd.testing.assert_frame_equal(drawn["pairs"][0], tables["fields"])
    pd.testing.assert_frame_equal(drawn["pairs"][1], tables["top"])
    assert written == [
        (name, f"{name}.png", f"{name}.pdf") for name in ("ranking", "features", "pairs")
    ]


def test_the_page_gets_what_it_shows(run_script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.j2").write_text(
        "{{ run }} {{ found.p_value }} {{ said[1][:50] }} {{ words.loo }} {{ explorer }} "
        "{{ about.features|join('+') }} {{ rules|join(',') }} "
        "{% for chapter in chapters %}{{ chapter.title }}:"
        "{% for item in chapter['items'] %}{{ item.title }}"
        "{% for column in item.table.columns %} {{ column.name }}={{ column.cells[0].text }}"
        "{% endfor %}{% endfor %}{% endfor %}"
    )
    (tmp_path / "a.smk").write_text("rule used:\n    input: 1\n\nrule other:\n    input: 2\n")
    (tmp_path / "caption.rst").write_text("A caption.")
    # a feature of the user's is no error of another, whatever it is called
    top = {"loo": [0.5], "loo_error": [0.25], "a": [1.5], "a_error": [2.5]}
    files.write_csv(pd.DataFrame(top), tmp_path / "top.csv")
    drawn = pd.DataFrame({"event": ["NA", "007"], "loo": [np.nan, 1.0], "1": [2.0, 3.0]})
    by_distance = pd.DataFrame({"feature": ["NA", "1"]})
    ranking = pd.DataFrame({"rank": [1], "low": [0.5], "high": [1.5]})
    files.write_csv(drawn, tmp_path / "drawn.csv")
    files.write_csv(by_distance, tmp_path / "by_distance.csv")
    files.write_csv(ranking, tmp_path / "ranking.csv")
    given = []
    monkeypatch.setattr(
        explorer, "explorer", lambda *tables, **words: given.append((*tables, words)) or "parts"
    )
    files.write_json({"features": ["a", "a_error"]}, tmp_path / "about.json")
    known = {"p_value": 0.125, "p_largest": 0.001, "p_lowest": 0.25, "draws": 999}
    known |= {"ranking": "evidence", "draws_from": "permutations", "method": "exact"}
    files.write_json({**known, "calibration_method": "exact"}, tmp_path / "found.json")
    item = {"file": "top.csv", "caption": "caption.rst", "category": "Which?", "title": "These"}
    run_script(
        "score_page.py",
        input={
            **{"template": "page.j2", "sources": ["a.smk"], "explorer": "parts/explorer.j2"},
            **{"about": "about.json", "found": "found.json", "drawn": "drawn.csv"},
            **{"ranking": "ranking.csv", "by_distance": "by_distance.csv"},
        },
        output=["page.html"],
        params={"run": "mine", "content": [{**item, "rule": "used", "script": "s.py"}]},
    )
    said = "Among all events, the largest score has p &lt;= 0.001"
    page = (tmp_path / "page.html").read_text()
    shown = "loo=0.50(25) a=1.5 a_error=2.5"
    assert page == f"mine 0.125 {said} score parts a+a_error used Which?:These {shown}"
    ((shown, band, words),) = given
    pd.testing.assert_frame_equal(shown, drawn)
    pd.testing.assert_frame_equal(band, ranking)
    assert list(words["features"]) == ["NA", "1"]
    assert words["words"] is calibration.COLUMNS
    # the explorer ranks by what the events were ranked by
    assert words["score"] == "studentized"
    # the page is no result: it leaves no record
    assert not (tmp_path / "logs/score_page.json").exists()


# --- other statistics ---------------------------------------------------------------------

SUM = "def first(batch, reference):\n    return float(batch[:, 0].sum() * len(reference))\n"


def test_a_statistic_is_localized_for_the_rows_it_names(run_script, tmp_path, problem, monkeypatch):
    """Of a sum, an event's addition is its own term, whatever its context."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a_sum_of_ones_own.py").write_text(SUM)
    params = {
        **{"seed": SEED, "recipe": RECIPE, "statistic": "a_sum_of_ones_own:first", "m": 4},
        **{"contexts": 5, "pool": 20, "max_events": 9, "jobs": 2, "features": "mean"},
    }
    parts = []
    for part in (0, 1):
        path = tmp_path / f"part{part}.csv"
        run_script(
            "score_statistic_part.py",
            input={"problem": f"{tmp_path}/problem.npz"},
            output=[str(path)],
            params={**params, "part": part},
        )
        parts.append(pd.read_csv(path))
    assert list(map(len, parts)) == [5, 4]
    table = pd.concat(parts, ignore_index=True)
    assert table["row"].nunique() == 9
    assert set(table["statistic"]) == {"a_sum_of_ones_own:first"}
    pooled = np.concatenate([problem["sample"], problem["reference"]])[:, 0]
    own = (problem["sample"][table["row"], 0] - pooled.mean()) / pooled.std()
    np.testing.assert_allclose(table["addition"], 20 * own, rtol=1e-9, atol=1e-9)
    assert table["addition_error"].max() < 1e-9
    for name in ("raw", "replacement"):
        assert (table[f"{name}_error"] > 0.1).all()
        assert not np.allclose(table[name], table["addition"])
    # three companions scatter more than the one event that is replaced
    assert (table["raw_error"] ** 2).mean() > (table["replacement_error"] ** 2).mean()


def test_other_statistics_stand_beside_the_witness(run_script, tmp_path):
    scores = pd.DataFrame(
        {
            "event": list("pqrstu"),
            "loo": [0.1, 0.4, 0.2, 0.9, 0.3, 0.8],
            "label": [0, 0, 0, 1, 1, 0],
        }
    )
    files.write_parquet(scores, tmp_path / "scores.parquet")
    numbers = {
        "one": {"row": [5, 3, 0, 4], "addition": [2.0, 1.0, -1.0, 0.5]},
        "two": {"row": [1, 4, 2, 3], "addition": [0.0, 3.0, 1.0, 2.0]},
    }
    paths = []
    for name, part in numbers.items():
        table = pd.DataFrame(part).assign(
            statistic=name, addition_error=[0.1, 0.2, 0.3, 0.8], raw=9.0, raw_error=2.0
        )
        paths.append(f"{tmp_path}/{name}.csv")
        files.write_csv(table, paths[-1])
    run_script(
        "score_statistics.py",
        input={"scores": f"{tmp_path}/scores.parquet", "parts": paths},
        output={"scores": f"{tmp_path}/out.csv", "table": f"{tmp_path}/summary.csv"},
    )
    table = pd.read_csv(tmp_path / "out.csv")
    assert table["event"].tolist() == list("usptqtrs")
    assert table["loo"].tolist() == [0.8, 0.9, 0.1, 0.3, 0.4, 0.3, 0.2, 0.9]
    summary = pd.read_csv(tmp_path / "summary.csv").set_index("statistic")
    for name, part in numbers.items():
        loo = scores["loo"][part["row"]]
        assert summary["correlation_with_loo"][name] == pytest.approx(
            np.corrcoef(loo, part["addition"])[0, 1]
        )
        assert summary["spread"][name] == pytest.approx(np.std(part["addition"], ddof=1))
    assert summary["events"].tolist() == [4, 4]
    assert summary["median_error"].tolist() == [0.25, 0.25]
    squares = np.mean(np.square([0.1, 0.2, 0.3, 0.8]))
    assert summary["variance_raw_over_matched"]["one"] == pytest.approx(4 / squares)
    # of the two events sought and the two others: one of four pairs in order, and all four
    assert summary["auc"].tolist() == [0.5, 1.0]
    assert summary["auc_of_loo"].tolist() == [0.75, 0.75]
