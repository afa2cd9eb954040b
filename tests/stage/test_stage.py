"""The frame around a script: its log, its record, and a failure told in one sentence."""

import errno
import hashlib
import io
import json
import os
from types import SimpleNamespace

import numba
import numpy as np
import pytest
import threadpoolctl
from stage import Stage, files, provenance, reason


def job(tmp_path, *, inputs=(), outputs=(), **wildcards):
    return SimpleNamespace(
        rule="sweep",
        input=[str(tmp_path / name) for name in inputs],
        output=[str(tmp_path / name) for name in outputs],
        wildcards=wildcards,
        log=[str(tmp_path / "logs" / "sweep.log")],
        threads=2,
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


def test_two_jobs_share_the_folder_of_their_logs(tmp_path):
    for _ in range(2):
        with Stage(job(tmp_path)):
            pass


def test_a_record_rounds_what_was_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "processor_seconds", lambda: 1.23456)
    monkeypatch.setattr(provenance, "peak_memory", lambda: 1.23456)
    with Stage(job(tmp_path)):
        pass
    record = json.loads((tmp_path / "logs" / "sweep.json").read_text())
    assert (record["processor_seconds"], record["peak_memory_mib"]) == (1.23, 1.2)
    assert (record["threads"], record["job"]) == (2, "")


def test_a_long_log_ends_with_its_last_twelve_lines(tmp_path, capsys):
    def fail():
        with Stage(job(tmp_path)) as stage:
            for number in range(20):
                stage.say(f"line {number}")
            raise KeyError

    with pytest.raises(SystemExit):
        fail()
    shown = [line for line in capsys.readouterr().err.splitlines() if line.startswith("  | ")]
    log = (tmp_path / "logs" / "sweep.log").read_text().splitlines()
    assert len(log) > 20
    assert shown == [f"  | {line}" for line in log[-12:]]


def test_no_seal_where_none_is_wanted(tmp_path):
    made = job(tmp_path, outputs=["a.csv"])
    with Stage(made, seal=False):
        files.write_text("x", made.output[0])
    assert not (tmp_path / "seals").exists()


def test_a_stage_takes_no_more_threads_than_it_is_given(tmp_path, monkeypatch):
    """The promise of the same bytes on any number of cores does not hang on it, the load does."""
    asked = []
    monkeypatch.setattr(numba, "set_num_threads", asked.append)
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 2)
    for threads in (1, 2, 8):
        given = job(tmp_path)
        given.threads = threads
        with Stage(given):
            pass
    assert asked == [1, 2, 2]


def test_no_record_where_none_is_wanted(tmp_path):
    with Stage(job(tmp_path), record=False):
        pass
    assert not (tmp_path / "logs" / "sweep.json").exists()


def test_transfer_reports_bytes(tmp_path, monkeypatch, capsys):
    clock = iter([0.0, 1.0, 3.0, 3.0])
    with Stage(job(tmp_path)) as stage:
        monkeypatch.setattr("stage.time.monotonic", lambda: next(clock))
        progress = stage.transfer()
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


def test_a_stage_seals_what_it_made(tmp_path):
    elsewhere = tmp_path / "elsewhere.csv"
    elsewhere.touch()
    made = job(tmp_path / "run", outputs=["a/b.csv", elsewhere, "folder"])
    with Stage(made):
        files.write_text("x\n1\n", made.output[0])
        (tmp_path / "run" / "folder").mkdir()
    seals_found = [path for path in (tmp_path / "run" / "seals").rglob("*") if path.is_file()]
    assert seals_found == [tmp_path / "run" / "seals" / "a" / "b.csv.sha256"]
    known = hashlib.sha256(b"x\n1\n").hexdigest()
    assert seals_found[0].read_text() == f"{known}  {made.output[0]}\n"


@pytest.mark.parametrize("altered", [b"x\n", b"", b"x\n2\n"], ids=["truncated", "empty", "bytes"])
def test_an_altered_input_is_refused_whatever_its_date(tmp_path, capsys, altered):
    made = job(tmp_path, outputs=["a.csv"])
    with Stage(made):
        files.write_text("x\n1\n", made.output[0])
    path = tmp_path / "a.csv"
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    (tmp_path / "code.py").write_text("x")
    with Stage(job(tmp_path, inputs=["code.py", "a.csv"])):
        pass
    path.write_bytes(altered)
    os.utime(path, ns=times)
    with pytest.raises(SystemExit):
        Stage(job(tmp_path, inputs=["code.py", "a.csv"], outputs=["b.csv"])).__enter__()
    said = capsys.readouterr().err
    assert f"sweep failed: {path} ({len(altered)} bytes) was altered after it was made" in said
    assert f"Delete {path} and run the same command again" in said
    assert "was altered after it was made" in (tmp_path / "logs" / "sweep.log").read_text()


def test_an_input_that_no_stage_made_is_let_pass(tmp_path):
    (tmp_path / "code.py").write_text("x")
    with Stage(job(tmp_path, inputs=["code.py"])):
        pass


def test_a_file_that_is_made_anew_has_no_old_seal(tmp_path):
    """Killed in between, it would be refused for not being what an earlier job made."""
    made = job(tmp_path, outputs=["a.csv"])
    with Stage(made):
        files.write_text("old", made.output[0])
    stage = Stage(made).__enter__()
    files.write_text("new", made.output[0])
    stage._log_file.close()
    with Stage(job(tmp_path, inputs=["a.csv"])):
        pass


def test_what_a_killed_writer_left_is_removed(tmp_path):
    made = job(tmp_path, outputs=["m[1].csv"])
    leftover = tmp_path / ".m[1].4242.part.csv"
    leftover.write_text("half")
    others = [tmp_path / ".m1.4242.part.csv", tmp_path / ".m[1].4242.part.npz"]
    for other in others:
        other.touch()
    with Stage(made):
        assert not leftover.exists()
        assert all(other.exists() for other in others)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            MemoryError("Unable to allocate 8 TiB"),
            "the memory was used up (Unable to allocate 8 TiB); use fewer --cores, or smaller "
            "sizes in the configuration",
        ),
        (
            OSError(errno.ENOSPC, "a.csv cannot be written: No space left on device"),
            "a.csv cannot be written: No space left on device; make room and run the same "
            "command again",
        ),
        (PermissionError(errno.EACCES, "Permission denied", "a.csv"), "a.csv: Permission denied"),
        (ValueError("a\n  b"), "a b"),
        (OSError(errno.ENOENT, "No such file"), "No such file"),
        (KeyError(), "KeyError"),
    ],
)
def test_reasons(error, says):
    assert reason(error) == says


def test_a_folder_that_takes_no_log_is_named(tmp_path, capsys):
    (tmp_path / "logs").touch()
    with pytest.raises(SystemExit):
        Stage(job(tmp_path)).__enter__()
    assert f"sweep failed: {tmp_path / 'logs'}: File exists" in capsys.readouterr().err


def test_a_failure_after_the_work_is_told_too(tmp_path, capsys, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("stage.seals.put", fail)
    with pytest.raises(SystemExit), Stage(job(tmp_path)):
        pass
    assert "No space left on device; make room" in capsys.readouterr().err
    assert not (tmp_path / "logs" / "sweep.json").exists()


def test_a_record_that_is_being_written_is_not_read(tmp_path):
    with Stage(job(tmp_path)):
        pass
    (tmp_path / "logs" / ".b.4242.part.json").write_text('{"rule"')
    assert len(provenance.collect({}, tmp_path)["stages"]) == 1
