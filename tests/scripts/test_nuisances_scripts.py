"""The scripts of profiling: the study of a wrong reference, and own data with variations."""

import json
from functools import partial

import localizer
import numpy as np
import pandas as pd
import pytest
from localizer.base.randomness import stream
from localizer.experiments import experiment3, nuisances
from localizer.experiments.nuisances import Scaling
from stage import files

SEED = 4
SETTING = {
    **{"seed": SEED, "bandwidths": [0.5, 1.0], "max_events": 300, "copula": "uniform"},
    **{"sic_floor": 2, "features_per_bandwidth": 8},
}


@pytest.fixture
def given(tmp_path):
    """Write samples, scale and edition, and return the sample and its setting by key."""
    rng = stream(SEED, "samples")
    sizes = {"mixed": 200, "reference": 150, "evaluation_background": 20, "evaluation_signal": 30}
    arrays = {name: rng.uniform(size=(n, 4)) for name, n in sizes.items()}
    arrays["labels"] = np.arange(200) >= 180
    files.write_npz(arrays, tmp_path / "samples.npz")
    files.write_json({"value": 0.8}, tmp_path / "scale.json")
    files.write_json({"name": "subset"}, tmp_path / "edition.json")
    paths = {name: f"{tmp_path}/{name}" for name in ("samples.npz", "scale.json", "edition.json")}
    inputs = {name.partition(".")[0]: path for name, path in paths.items()}
    options = {name: SETTING[name] for name in ("features_per_bandwidth", "copula", "sic_floor")}

    def setting(key):
        streams = partial(stream, SEED, "nuisances", key)
        return streams, nuisances.setting(0.8, SETTING["bandwidths"], streams, **options)

    return inputs, experiment3.Coordinates.of(arrays, max_events=300), setting


def test_a_row_for_each_amount(run_script, tmp_path, given):
    inputs, sample, setting = given
    options = {"test_events": 50, "draws": 10}
    moves = {"wrong": {"mass": 0.1, "tau21": 0.0}, "step": {"mass": 0.1, "tau21": 0.1}}
    run_script(
        "nuisances_scan.py",
        input=inputs,
        output=[f"{tmp_path}/scan.csv"],
        params={**SETTING, **options, **moves, "amounts": [-1.0, 2.0]},
    )
    found = pd.read_csv(tmp_path / "scan.csv")
    streams, here = setting("scan")
    expected = [
        nuisances.scanned(
            *(sample, here, streams),
            **{"number": number, "amount": amount, **options},
            **{name: Scaling(**move) for name, move in moves.items()},
        )
        for number, amount in enumerate([-1.0, 2.0])
    ]
    assert found.pop("edition").tolist() == ["subset"] * 2
    pd.testing.assert_frame_equal(found, pd.DataFrame(expected))


def test_learned_backgrounds_by_the_names_of_their_files(run_script, tmp_path, given, capsys):
    inputs, sample, setting = given
    fits = {name: stream(SEED, name).uniform(size=(90, 4)) for name in ("a", "b")}
    for name, x in fits.items():
        np.save(tmp_path / f"{name}.npy", x)
    output = {"table": f"{tmp_path}/learned.csv"}
    output["figure"] = [f"{tmp_path}/learned.{kind}" for kind in ("png", "pdf")]
    paths = [f"{tmp_path}/{name}.npy" for name in fits]
    script = ("nuisances_learned.py",)
    run_script(*script, input={**inputs, "fits": paths}, output=output, params=SETTING)
    found = pd.read_csv(output["table"])
    found.pop("edition")
    expected = nuisances.learned(sample, fits, setting("learned")[1])
    pd.testing.assert_frame_equal(found, expected)
    with pytest.raises(SystemExit):
        run_script(*script, input={**inputs, "fits": []}, output=output, params=SETTING)
    assert "lhco.learned is empty" in capsys.readouterr().err


def test_null_p_values(run_script, tmp_path):
    params = {"thetas": [0.0, 1.0], "shift": 0.5, "N": 50, "toys": 2, "draws": 10}
    run_script(
        "nuisances_null.py", output=[f"{tmp_path}/null.csv"], params={"seed": SEED, **params}
    )
    expected = nuisances.null_p_values(partial(stream, SEED, "nuisances", "null"), **params)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "null.csv"), expected)


def test_own_data_by_the_workflow_and_from_python(run_script, tmp_path):
    rng = stream(SEED, "own")
    sample, reference = (
        pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"]) for n in (60, 80)
    )
    moved = reference.add([0.5, 0.0])
    for name, table in (("sample", sample), ("reference", reference), ("moved", moved)):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    variations = {"scale": str(tmp_path / "moved.csv")}
    result = localizer.score(
        *(sample, reference),
        variations=variations,
        calibration={"draws": 39},
        seed=SEED,
        progress=False,
    )
    arrays = {"sample": sample.to_numpy(), "reference": reference.to_numpy()}
    files.write_npz(arrays, tmp_path / "problem.npz")
    files.write_parquet(pd.DataFrame({"event": np.arange(60)}), tmp_path / "events.parquet")
    about = {"features": ["a", "b"], "events": {"sample": 60, "reference": 80}}
    files.write_json(about, tmp_path / "about.json")
    output = {"scores": "scores.csv", "table": "table.csv", "about": "found.json"}
    output = {name: str(tmp_path / file) for name, file in output.items()}
    output["figure"] = [f"{tmp_path}/pulls.{kind}" for kind in ("png", "pdf")]
    entry = {"table": variations["scale"], "weight": "", "events": "auto", "width": None}
    run_script(
        "score_nuisances.py",
        input={
            "problem": str(tmp_path / "problem.npz"),
            "events": str(tmp_path / "events.parquet"),
            "about": str(tmp_path / "about.json"),
        },
        output=output,
        params={
            **{"seed": SEED, "recipe": {}, "max_events": 10**7, "draws": 39},
            "reference": str(tmp_path / "reference.csv"),
            "variations": [{"name": "scale", **entry}],
        },
    )
    scores = pd.read_csv(output["scores"])
    assert scores["profiled_rank"].is_monotonic_increasing
    columns = ["profiled", "profiled_error", "profiled_rank", "absorbed"]
    np.testing.assert_allclose(
        scores.set_index("event").sort_index()[columns], result.scores[columns], rtol=1e-12
    )
    found = json.loads((tmp_path / "found.json").read_text())
    assert found.pop("said") == result.nuisances.said
    assert found.pop("answer") == result.nuisances.answer
    assert found == pytest.approx(result.nuisances.found)
    assert pd.read_csv(output["table"])["theta"][0] == result.nuisances.table["theta"][0]
