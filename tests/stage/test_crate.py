"""The metadata of a run, read back by the library that archives use."""

import hashlib
import json

import pytest
from rocrate.rocrate import ROCrate
from stage import crate

RECORD = {
    "config": {"run": "small", "seed": 7, "experiment1": {"N": 50, "m_scan": {"m": [5, 10]}}},
    "versions": {"python": "3.11.1", "snakemake": "9.27.1"},
    "commit": "c0ffee",
    "swhid": "swh:1:dir:" + 40 * "0",
    "edition": {"name": "subset"},
    "data": {"results/small/lhco/events/a.npy": "ab", "resources/own.npy": "cd"},
    "stages": [
        {"rule": "b", "began": "2026-01-01T10:00:00+00:00", "ended": "2026-01-01T10:00:09+00:00"},
        {"rule": "a", "began": "2026-01-01T09:59:00+00:00", "ended": "2026-01-01T10:00:01+00:00"},
    ],
}
OUTPUTS = ["report.html", "figures/fig01.png"]
ADDRESSES = {"results/small/lhco/events/a.npy": "https://example.org/a.npy"}


@pytest.fixture
def results(tmp_path):
    (tmp_path / "figures").mkdir()
    for path in ("Snakefile", *OUTPUTS):
        (tmp_path / path).write_text(path)
    return tmp_path


def written(results, record=RECORD):
    made = crate.crate(
        record, results=results, workflow="Snakefile", outputs=OUTPUTS, addresses=ADDRESSES
    )
    (results / "ro-crate-metadata.json").write_text(json.dumps(made.metadata.generate()))
    return ROCrate(results)


def test_it_is_a_workflow_run_crate(results):
    read = written(results)
    profiles = {entity.id for entity in read.root_dataset["conformsTo"]}
    assert profiles == set(crate.PROFILES)
    assert read.mainEntity.id == "Snakefile"
    assert "ComputationalWorkflow" in read.mainEntity.type
    assert read.mainEntity["identifier"] == RECORD["swhid"]
    assert read.mainEntity["version"] == "c0ffee"
    assert "edition subset" in read.description


def test_the_run_names_its_workflow_its_results_and_its_time(results):
    (action,) = written(results).root_dataset["mentions"]
    assert action["instrument"].id == "Snakefile"
    assert [entity.id for entity in action["result"]] == OUTPUTS
    assert action["startTime"] == "2026-01-01T09:59:00+00:00"
    assert action["endTime"] == "2026-01-01T10:00:09+00:00"
    assert written(results).datePublished.isoformat() == "2026-01-01T10:00:09+00:00"


def test_every_parameter_has_its_value(results):
    read = written(results)
    action = read.get("#run")
    values = {e["name"]: e["value"] for e in action["object"] if e.type == "PropertyValue"}
    assert values == {
        "run": "small",
        "seed": 7,
        "experiment1.N": 50,
        "experiment1.m_scan.m": "[5, 10]",
    }
    declared = {entity["name"] for entity in read.mainEntity["input"]}
    assert declared == set(values)
    assert read.get("#value-seed")["exampleOfWork"]["additionalType"] == "Integer"


def test_files_carry_their_checksums(results):
    read = written(results)
    assert read.get("report.html")["sha256"] == hashlib.sha256(b"report.html").hexdigest()
    assert read.get("report.html")["encodingFormat"] == "text/html"
    assert read.get("https://example.org/a.npy")["sha256"] == "ab"


def test_a_result_that_is_not_there_is_no_part_of_it(results):
    (results / "report.html").unlink()
    with pytest.raises(FileNotFoundError):
        written(results)


def test_a_changed_tree_and_a_run_without_records_leave_their_place_empty(results):
    read = written(results, {**RECORD, "swhid": None, "stages": [], "edition": None, "data": None})
    assert "identifier" not in read.mainEntity.properties()
    assert "startTime" not in read.get("#run").properties()
