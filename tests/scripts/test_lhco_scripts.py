"""The scripts between the LHC Olympics files and Experiment III, each run with a made job."""

import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from localizer.base.copula import BackgroundCDF
from localizer.base.randomness import stream
from localizer.lhco import editions, registry, samples
from scipy.spatial.distance import pdist

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "resources/lhco/registry.csv"
SMALL = samples.Counts(90, 10, 24, 16, 20)


@pytest.fixture
def run(run_script):
    """Return what runs a script with these inputs, outputs and parameters."""

    def script(name, inputs, outputs, **params):
        run_script(name, input=inputs, output=outputs, params=params)

    return script


@pytest.fixture
def arrays():
    """Return samples whose mixed events lie above the reference."""
    rng = stream(1, "lhco", "scripts")
    sizes = {"mixed": 50, "reference": 200, "evaluation_background": 40, "evaluation_signal": 30}
    made = {name: rng.standard_normal((n, 4)) + (name == "mixed") for name, n in sizes.items()}
    return {**made, "labels": np.arange(50) >= 45}


@pytest.mark.parametrize("copula", ["uniform", "normal"])
def test_the_coordinates_are_those_of_the_reference(run, tmp_path, arrays, copula):
    np.savez(tmp_path / "samples.npz", **arrays)
    outputs = {"coordinates": tmp_path / "u.npz", "scale": tmp_path / "scale.json"}
    run("lhco_coordinates", {"samples": tmp_path / "samples.npz"}, outputs, seed=3, copula=copula)
    with np.load(tmp_path / "u.npz") as found:
        assert set(found) == set(arrays)
        np.testing.assert_array_equal(found["labels"], arrays["labels"])
        cdf = BackgroundCDF.of(arrays["reference"])
        for name in set(arrays) - {"labels"}:
            np.testing.assert_array_equal(
                found[name], cdf.transform(arrays[name], scores=copula), err_msg=name
            )
        # not every sample through its own CDF: the reference alone is centred
        middle = 0.5 if copula == "uniform" else 0.0
        np.testing.assert_allclose(found["reference"].mean(axis=0), middle, atol=1e-12)
        assert (found["mixed"].mean(axis=0) > middle + 0.1).all()
        exact = np.median(pdist(found["reference"]))
    scale = json.loads((tmp_path / "scale.json").read_text())
    assert set(scale) == {"value", "standard_error", "pairs"}
    # 5 sigma: false alarm below 1e-6
    assert abs(scale["value"] - exact) < 5 * scale["standard_error"]
    assert scale["standard_error"] < 0.01 * exact


def rows(name, n, label):
    rng = stream(2, "lhco", "scripts", name)
    return np.column_stack([rng.uniform(3.31, 3.69, n), rng.random((n, 4)), np.full(n, label)])


@pytest.fixture
def subset(tmp_path, monkeypatch):
    """Return the inputs of the samples of a small edition ``subset``."""
    monkeypatch.setattr(samples, "COUNTS", {"subset": SMALL, "surrogate": SMALL})
    folder = tmp_path / "events"
    (folder / "separated_data").mkdir(parents=True)
    mixed = np.concatenate([rows("background", 90, 0), rows("injected", 10, 1)])
    tables = {
        "innerdata_train.npy": mixed[:60],
        "innerdata_test.npy": mixed[60:],
        "separated_data/innerdata_test.npy": np.concatenate(
            [rows("extra", 40, 0), rows("signal", 20, 1)]
        ),
    }
    for path, table in tables.items():
        np.save(folder / path, table)
    inputs = {"edition": tmp_path / "edition.json"}
    inputs["registry"] = tmp_path / "listed" / "registry.csv"
    inputs["registry"].parent.mkdir()
    inputs["events"] = [folder / path for path in tables]
    inputs["registry"].write_text(SHIPPED.read_text())
    edition = editions.Edition("subset", "auto", "", ())
    inputs["edition"].write_text(json.dumps(edition.as_dict()))
    return inputs


@pytest.fixture
def outputs(tmp_path):
    return {"samples": tmp_path / "samples.npz", "counts": tmp_path / "counts.csv"}


def test_the_samples_and_their_table(run, subset, outputs):
    folder = subset["events"][0].parent
    run("lhco_samples", subset, outputs, seed=1)
    both = np.load(folder / "separated_data/innerdata_test.npy")
    with np.load(outputs["samples"]) as found:
        for name, rows_of in (
            ("reference", both[:24]),
            ("evaluation_background", both[24:40]),
            ("evaluation_signal", both[40:]),
        ):
            np.testing.assert_array_equal(found[name], rows_of[:, 1:5])
            np.testing.assert_array_equal(found[f"{name}_mass"], rows_of[:, 0])
        np.testing.assert_array_equal(found["labels"], np.arange(100) >= 90)
        assert found["mixed"].shape == (100, 4)
    table = pd.read_csv(outputs["counts"]).set_index("sample")
    assert table["events"].to_dict() == asdict(SMALL)
    assert table["in_the_paper"].to_dict() == {
        "mixed_background": 121_352,
        "mixed_signal": 772,
        "reference": 272_858,
        "evaluation_background": 340_000,
        "evaluation_signal": 20_000,
    }
    assert set(table["edition"]) == {"subset"}


def test_the_seed_reaches_the_surrogate(run, subset, outputs):
    folder = subset["registry"].parent
    (folder / "surrogate").symlink_to(SHIPPED.parent / "surrogate")
    subset["edition"].write_text(
        json.dumps(editions.Edition("surrogate", "auto", "", ()).as_dict())
    )
    run("lhco_samples", subset, outputs, seed=8)
    made = editions.load("surrogate", folder, registry.read(SHIPPED), seed=8)
    with np.load(outputs["samples"]) as found:
        np.testing.assert_array_equal(found["reference"], made.reference.x)


@pytest.fixture
def mirror(tmp_path):
    """Return a mirror of small files, and the registry that lists them."""
    folder, place = tmp_path / "mirror", tmp_path / "resources"
    place.mkdir()
    lines = [",".join(registry.COLUMNS)]
    for file in registry.read(SHIPPED):
        content = (b"\x93NUMPY" if file.path.endswith("npy") else b"\x89HDF\r\n\x1a\n") + (
            file.path.encode()
        )
        (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
        (folder / file.path).write_bytes(content)
        listed = replace(file, sha256=hashlib.sha256(content).hexdigest(), size=len(content))
        lines.append(
            f"{listed.path},https://127.0.0.1:9/x,{listed.size},,{listed.sha256},,1,L,s,"
            + " ".join(listed.editions)
            + ",,,made here"
        )
    (place / "registry.csv").write_text("\n".join(lines))
    return folder, place / "registry.csv"


def test_the_variable_names_the_mirror_before_the_configuration(run, mirror, tmp_path, capfd):
    folder, listed = mirror
    out = {"edition": tmp_path / "edition.json"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LHCO_MIRROR", str(folder))
        run("lhco_edition", {"registry": listed}, out, source="auto", mirror="/no/such/place")
    record = json.loads(out["edition"].read_text())
    assert (record["name"], record["asked"], len(record["files"])) == ("full", "auto", 6)
    assert {file["where"] for file in record["files"]} == {"mirror"}
    assert "not the full one" not in capfd.readouterr().err


def test_an_edition_that_is_not_the_full_one_is_told_aloud(run, mirror, tmp_path, capfd):
    folder, listed = mirror
    out = {"edition": tmp_path / "edition.json"}
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LHCO_MIRROR", raising=False)
        run("lhco_edition", {"registry": listed}, out, source="subset", mirror=str(folder))
    assert json.loads(out["edition"].read_text())["name"] == "subset"
    said = capfd.readouterr().err
    assert "edition SUBSET, not the full one" in said
    assert "--forcerun lhco_edition" in said


def edition_of(name, listed, path):
    found = [
        editions.Found(file.path, "mirror", "")
        for file in registry.of_edition(registry.read(listed), name)
    ]
    path.write_text(json.dumps(editions.Edition(name, name, "", tuple(found)).as_dict()))
    return path


def test_the_files_of_the_edition_and_no_others_are_fetched(run, mirror, tmp_path, monkeypatch):
    monkeypatch.delenv("LHCO_MIRROR", raising=False)
    folder, listed = mirror
    inputs = {"registry": listed, "edition": edition_of("subset", listed, tmp_path / "e.json")}
    listing = registry.read(SHIPPED)
    paths = [file.path for file in listing if file.editions]
    run(
        "lhco_files",
        inputs,
        {"digests": tmp_path / "run" / "files.json"},
        mirror=str(folder),
        paths=paths,
    )
    here = {path for path in listed.parent.rglob("*.*") if path != listed}
    wanted = registry.of_edition(registry.read(SHIPPED), "subset")
    assert here == {listed.parent / file.path for file in wanted}
    assert json.loads((tmp_path / "run" / "files.json").read_text()) == {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in here
    }
    # the run has its own; what the edition does not use says so by being empty
    used = {file.path for file in wanted}
    assert used < set(paths)
    for name in paths:
        content = (tmp_path / "run" / "events" / name).read_bytes()
        assert content == ((listed.parent / name).read_bytes() if name in used else b"")


def test_a_file_that_has_gone_since_tells_how_to_choose_again(
    run, mirror, tmp_path, monkeypatch, capsys
):
    monkeypatch.delenv("LHCO_MIRROR", raising=False)
    monkeypatch.setattr("localizer.lhco.download.time.sleep", lambda _: None)
    folder, listed = mirror
    inputs = {"registry": listed, "edition": edition_of("subset", listed, tmp_path / "e.json")}
    (folder / "innerdata_test.npy").unlink()
    with pytest.raises(SystemExit):
        run(
            "lhco_files", inputs, {"digests": tmp_path / "files.json"}, mirror=str(folder), paths=[]
        )
    said = " ".join(capsys.readouterr().err.split())
    assert "innerdata_test.npy could not be obtained" in said
    assert "To choose again: snakemake --cores all --forcerun lhco_edition" in said
    assert not (tmp_path / "files.json").exists()
