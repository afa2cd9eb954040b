"""What the scripts find, one after the other, is what `localizer.score` finds."""

import json

import localizer
import numpy as np
import pandas as pd
import pytest

N, M, SEED = 40, 70, 5


@pytest.mark.parametrize("ranking", ["contribution", "evidence"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("limits", [(10**9, 10**9), (10**9, 1), (1, 1)])
def test_python_and_the_workflow_find_the_same(run_script, tmp_path, ranking, weighted, limits):
    rng = np.random.default_rng(3)
    sample = pd.DataFrame(rng.normal(0.4, 1, size=(N, 2)), columns=["a", "b"])
    reference = pd.DataFrame(rng.normal(size=(M, 2)), columns=["a", "b"])
    reference["v"] = rng.uniform(0.5, 2, size=M)
    if not weighted:
        del reference["v"]
    paths = {name: f"{tmp_path}/{name}.csv" for name in ("sample", "reference")}
    sample.to_csv(paths["sample"], index=False)
    reference.to_csv(paths["reference"], index=False)
    of_reference = "v" if weighted else ""
    places = {
        name: f"{tmp_path}/{name}"
        for name in ("arrays.npz", "events.parquet", "about", "scores.parquet", "scored", "table")
    }
    run_script(
        "score_problem.py",
        input=paths,
        output={
            **{"arrays": places["arrays.npz"], "events": places["events.parquet"]},
            "about": places["about"],
        },
        params={
            **{"columns": [], "label": "", "id": "", "sample_weight": "", "seed": SEED},
            **{"reference_weight": of_reference, "shared_events": "refuse", "max_events": 100},
            "tables": paths,
        },
    )
    recipe = {
        **{"coordinates": "uniform", "source": "pooled", "factors": [0.25, 0.5, 1.0, 2.0, 4.0]},
        **{"ladder": [0.0625, 0.5, 4.0], "ranking": ranking, "method": "auto", "companions": 20},
        **{"exact_limit": limits[0], "calibration_limit": limits[1], "pairs": 1000},
        "n_per_bandwidth": 16,
    }
    common = {"seed": SEED, "recipe": recipe}
    batches = {"estimators": [], "m": 3, "R": 4, "group_size": 2, "rank": 4}
    arrays = {"problem": places["arrays.npz"]}
    run_script(
        "score_events.py",
        input={**arrays, "events": places["events.parquet"], "parts": []},
        output={"scores": places["scores.parquet"], "about": places["scored"]},
        params={**common, "folds": 0, "batches": batches},
    )
    parts = []
    for numbers in (range(25), range(25, 39)):
        parts.append(f"{tmp_path}/{numbers.start}.npz")
        run_script(
            "score_null_part.py",
            input=arrays,
            output=[parts[-1]],
            params={**common, "top": 9, "draw": "auto", "numbers": list(numbers)},
        )
    run_script(
        "score_calibration.py",
        input={
            **{**arrays, "scores": places["scores.parquet"], "scored": places["scored"]},
            **{"about": places["about"], "parts": parts},
        },
        output={
            **{"about": f"{tmp_path}/found", "table": places["table"]},
            "ranking": f"{tmp_path}/ranking.csv",
        },
        params={**common, "top": 9, "draw": "auto"},
    )
    found = json.loads((tmp_path / "found").read_text())
    again = localizer.score(
        *(sample, reference),
        **{"reference_weight": of_reference, "ranking": ranking, "seed": SEED, "top": 9},
        **{"ladder": recipe["ladder"], "companions": 20, "pairs": 1000},
        features_per_bandwidth=16,
        exact_limit=limits[0],
        calibration={"draws": 39, "exact_limit": limits[1]},
    )
    assert again.found == found
    scores = pd.read_parquet(places["scores.parquet"])
    for name in scores.columns.drop("event"):
        assert again.scores[name].tolist() == scores[name].tolist(), name
    ranked = pd.read_csv(tmp_path / "ranking.csv")
    for name in ("rank", "score", "low", "high"):
        assert ranked[name].tolist() == again.ranking[name].tolist()
