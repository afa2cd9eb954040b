"""What a kill leaves behind: the lock is freed when nobody holds it, and only then."""

import os
import platform
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from stage import Stage, kills


@pytest.fixture
def locked(tmp_path):
    """Return a folder in which a Snakemake was killed."""
    locks = tmp_path / ".snakemake" / "locks"
    locks.mkdir(parents=True)
    (locks / "0.output.lock").write_text("results/a.csv\n")
    return tmp_path


def own(folder, pid, machine=None):
    """Write down who ran Snakemake in a folder."""
    kills.note_owner(folder)
    noted = (folder / ".snakemake" / "owner").read_text().split()
    assert noted == [str(os.getpid()), platform.node()]
    (folder / ".snakemake" / "owner").write_text(f"{pid} {machine or noted[1]}\n")


@pytest.fixture
def process(locked):
    """Return a function that starts a sleeping process with a given command line there."""
    started = []

    def start(*words):
        sleeping = subprocess.Popen(
            [sys.executable, "-c", "print(flush=True); input()", *words],
            cwd=locked,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        started.append(sleeping)
        sleeping.stdout.readline()
        return sleeping

    yield start
    for sleeping in started:
        sleeping.kill()
        sleeping.communicate()


def is_locked(folder):
    return (folder / ".snakemake" / "locks" / "0.output.lock").exists()


def test_a_folder_without_a_lock_has_nothing_to_say(tmp_path):
    assert kills.free(tmp_path) is None
    (tmp_path / ".snakemake" / "log").mkdir(parents=True)
    assert kills.free(tmp_path) is None
    (tmp_path / ".snakemake" / "locks").mkdir()
    assert kills.free(tmp_path) is None


def test_a_lock_that_nobody_holds_is_removed(locked):
    assert "was removed" in kills.free(locked)
    assert not is_locked(locked)
    assert kills.free(locked) is None


@pytest.mark.parametrize("words", [("/a/bin/snakemake", "--cores", "2"), ("-m", "snakemake")])
def test_the_lock_of_a_live_snakemake_stays(locked, process, words):
    live = process(*words)
    own(locked, live.pid)
    assert kills.free(locked) == (
        f"Another Snakemake (process {live.pid}) is at work in this folder."
    )
    assert is_locked(locked)
    live.kill()
    live.wait()
    assert "was removed" in kills.free(locked)


def test_another_program_with_its_number_does_not_count(locked, process):
    own(locked, process("sleep").pid)
    assert "was removed" in kills.free(locked)


def test_a_killed_process_that_nobody_has_buried_is_not_alive(locked, process):
    dead = process("snakemake")
    own(locked, dead.pid)
    os.kill(dead.pid, signal.SIGKILL)
    os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)
    assert "was removed" in kills.free(locked)


def test_jobs_that_outlived_their_snakemake_are_awaited(locked, process, capsys):
    job = process(str(locked / ".snakemake" / "scripts" / "tmp1.sweep.py"))
    waiting = threading.Thread(target=kills.free, args=(locked,), daemon=True)
    waiting.start()
    deadline = time.monotonic() + 30
    said = ""
    while "Waiting for 1 jobs" not in said and time.monotonic() < deadline:
        said += capsys.readouterr().err
        time.sleep(0.01)
    assert "Waiting for 1 jobs" in said
    assert is_locked(locked)
    job.kill()
    job.wait()
    waiting.join(timeout=30)
    assert not is_locked(locked)


def test_the_lock_of_another_machine_stays(locked):
    own(locked, 1, "another-machine")
    assert "locked by a Snakemake on another-machine" in kills.free(locked)
    assert is_locked(locked)


def stage_in(tmp_path, name):
    return Stage(
        SimpleNamespace(
            rule="sweep",
            input=[],
            output=[],
            wildcards={"part": name},
            log=[str(tmp_path / "logs" / "sweep" / f"{name}.log")],
            threads=1,
        )
    )


def test_a_job_that_was_killed_gets_its_sentence_once(tmp_path, capsys):
    with stage_in(tmp_path, "ends"):
        pass
    with pytest.raises(SystemExit), stage_in(tmp_path, "fails"):
        raise ValueError
    stage_in(tmp_path, "killed").__enter__()._log_file.close()
    (tmp_path / "logs" / "tool.log").write_text("a log of something else\n")
    (sentence,) = kills.killed(tmp_path)
    assert sentence.startswith("sweep (part=killed) failed: the system killed it")
    assert (tmp_path / "logs" / "sweep" / "killed.log").read_text().endswith(sentence + "\n")
    assert kills.killed(tmp_path) == []
    capsys.readouterr()


def test_a_log_of_an_earlier_run_is_left_alone(tmp_path):
    stage_in(tmp_path, "old").__enter__()._log_file.close()
    os.utime(tmp_path / "logs" / "sweep" / "old.log", (1, 1))
    assert kills.killed(tmp_path) == []
