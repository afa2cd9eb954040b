"""The frame around a script: its log, its record, and a failure told in one sentence."""

import io
import json
from types import SimpleNamespace

import numpy as np
import pytest
import threadpoolctl
from stage import Stage, files, provenance


def job(tmp_path, **wildcards):
    return SimpleNamespace(
        rule="sweep", wildcards=wildcards, log=[str(tmp_path / "logs" / "sweep.log")], threads=2
    )


def test_a_stage_leaves_log_and_record(tmp_path):
    with Stage(job(tmp_path, part="0")) as stage:
        stage.say("half way")
        blas = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
        assert blas
        assert all(pool["num_threads"] == 1 for pool in blas)
    log = (tmp_path / "logs" / "sweep.log").read_text()
    assert "sweep (part=0) begins" in log
    assert "half way" in log
    record = json.loads((tmp_path / "logs" / "sweep.json").read_text())
    assert record["rule"] == "sweep"
    assert record["job"] == "part=0"
    assert record["peak_memory_mib"] > 1
    assert record["versions"]["numpy"] == np.__version__


def test_a_failure_is_one_sentence_with_the_end_of_the_log(tmp_path, capsys):
    def fail():
        with Stage(job(tmp_path)):
            raise ValueError("the sample is\nempty")

    with pytest.raises(SystemExit) as raised:
        fail()
    assert raised.value.code == 1
    said = capsys.readouterr().err
    assert "sweep failed: the sample is empty" in said
    assert "| ValueError: the sample is" in said
    assert "Traceback" in (tmp_path / "logs" / "sweep.log").read_text()
    assert not (tmp_path / "logs" / "sweep.json").exists()


def test_no_record_where_none_is_wanted(tmp_path):
    with Stage(job(tmp_path), record=False):
        pass
    assert not (tmp_path / "logs" / "sweep.json").exists()


def test_transfer_reports_bytes(tmp_path, monkeypatch, capsys):
    clock = iter([0.0, 1.0, 3.0, 3.0])
    with Stage(job(tmp_path)) as stage:
        monkeypatch.setattr("stage.time.monotonic", lambda: next(clock))
        with stage.transfer() as progress:
            progress("a.npy", 10, 2_000_000)
            progress("a.npy", 1_000_000, 2_000_000)
        monkeypatch.undo()
    assert "a.npy, 1.0 of 2.0 MB" in capsys.readouterr().err


def test_provenance_collects_records_and_data(tmp_path):
    with Stage(job(tmp_path)):
        pass
    assert provenance.collect({}, tmp_path)["edition"] is None
    data = tmp_path / "data.txt"
    data.write_text("abc")
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert provenance.sha256(data) == known
    files.write_json({"data.txt": known}, tmp_path / "lhco" / "files.json")
    content = provenance.collect({"seed": 1}, tmp_path)
    assert content["config"] == {"seed": 1}
    assert [stage["rule"] for stage in content["stages"]] == ["sweep"]
    assert content["data"] == {"data.txt": known}


def test_refresh_writes_only_when_something_is_new(tmp_path):
    with Stage(job(tmp_path)):
        pass
    provenance.refresh({}, tmp_path)
    first = (tmp_path / "provenance.json").stat().st_mtime_ns
    provenance.refresh({}, tmp_path)
    assert (tmp_path / "provenance.json").stat().st_mtime_ns == first


def test_a_stage_can_track_without_a_terminal(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with Stage(job(tmp_path)) as stage:
        assert list(stage.track(range(3))) == [0, 1, 2]
