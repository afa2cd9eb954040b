"""Kills, altered files, no disk and no memory, on the real workflow.

Nothing half-written keeps its final name, nothing altered is used, and the same command
once more ends with the same bytes.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from real_workflow import SMOKE, SOON
from stage import compare, kills

pytestmark = pytest.mark.slow

TINY = """\
run: tiny
experiment1:
  m_scan: {m: [5, 10, 20], contexts: 10, signal_probes: 2, background_probes: 2}
"""
TRIES = 20
SWEEP = ("exp1_m_scan", *SMOKE, "config/tiny.yaml")


@contextlib.contextmanager
def started(project, *words, cores=2):
    """Yield a running Snakemake; whatever is left of it is ended afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", str(cores), *SOON, *words],
        cwd=project.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def unlock(project):
    """Do what `make` does before it calls Snakemake, and return what it says."""
    return subprocess.run(
        ["make", "--no-print-directory", ".unlock", f"BIN={Path(sys.executable).parent}"],
        cwd=project.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        timeout=300,
    ).stdout


def kill_snakemake(process, _folder, _rng):
    """Kill Snakemake; its jobs live on."""
    process.kill()
    process.wait()


def kill_job(process, folder, rng):
    """Kill a job, the next one if none is running; Snakemake ends by itself."""
    while process.poll() is None:
        running = kills.jobs(folder)
        if running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(rng.choice(running), signal.SIGKILL)
            process.wait(timeout=600)
            return
        time.sleep(0.01)


def run_and_kill(project, kill, *words, rng, longest, ready=lambda: True):
    """Start a run and kill it once it is ready, at a random moment; tell if it died of it.

    The moment is before ``longest`` seconds after the start, or after it was ready if later.
    """
    with started(project, *words) as process:
        try:
            process.wait(timeout=rng.uniform(0, longest))
        except subprocess.TimeoutExpired:
            while process.poll() is None and not ready():
                time.sleep(0.01)
            kill(process, project.root, rng)
        return process.returncode != 0


def half_written(results, reference):
    """Return the files under a final name that are not what they should be."""
    with contextlib.suppress(ValueError):
        return [
            name
            for name in compare.results_of(results)
            if not Path(name).name.startswith(".")
            and (results / name).read_bytes() != (reference / name).read_bytes()
        ]
    return []  # the kill came before the first result


def test_a_sweep_survives_twenty_kills(project, tmp_path):
    """Snakemake and a job of it in turns, at moments drawn from a fixed seed."""
    (project.root / "config" / "tiny.yaml").write_text(TINY)
    project.snakemake(*SWEEP)
    results, reference = project.root / "results" / "tiny", tmp_path / "reference"
    reference.mkdir()
    (results / "experiment1").rename(reference / "experiment1")
    began = time.monotonic()
    project.snakemake(*SWEEP)
    longest = time.monotonic() - began
    assert compare.compare(reference, results).differences == []
    rng = random.Random(9)
    tries = kept = 0

    def anything():
        return any((results / "experiment1").rglob("*.csv"))

    while tries < TRIES:
        shutil.rmtree(results / "experiment1", ignore_errors=True)
        kill = (kill_snakemake, kill_job)[tries % 2]
        began = time.monotonic()
        # the last two have something to go on from, however slow the machine is
        ready = anything if tries >= TRIES - 2 else lambda: True
        if not run_and_kill(project, kill, *SWEEP, rng=rng, longest=longest, ready=ready):
            # it was over before: the machine has become faster
            longest = min(0.9 * longest, time.monotonic() - began)
            continue
        tries += 1
        assert half_written(results, reference) == []
        kept += anything()
        unlock(project)
        project.snakemake(*SWEEP)
        assert compare.compare(reference, results).differences == []
    assert kept


def test_the_whole_workflow_survives_two_kills(finished, project):
    reference, results = finished.root / "results" / "smoke", project.root / "results" / "smoke"
    rng = random.Random(10)
    for kill in (kill_snakemake, kill_job):
        longest = 60.0
        while not run_and_kill(project, kill, *SMOKE, rng=rng, longest=longest):
            # it was over before: begin again, and kill it earlier
            shutil.rmtree(results)
            longest /= 2
        assert half_written(results, reference) == []
        unlock(project)
    project.snakemake(*SMOKE)
    assert compare.compare(reference, results).differences == []


def test_a_lock_is_freed_when_its_snakemake_is_dead_and_only_then(project):
    (project.root / "config" / "tiny.yaml").write_text(TINY)
    locks = project.root / ".snakemake" / "locks"
    with started(project, *SWEEP) as process:
        while process.poll() is None and not kills.jobs(project.root):
            time.sleep(0.01)
        assert f"Another Snakemake (process {process.pid}) is at work" in unlock(project)
        assert any(locks.iterdir())
        process.kill()
        process.wait()
        assert any(locks.iterdir())
        assert "was removed" in unlock(project)
    assert kills.jobs(project.root) == []
    assert not locks.exists()
    assert unlock(project) == ""


def test_an_altered_file_is_never_used(project):
    """Truncated, emptied, changed in place, with its old date and with a new one."""
    project.edit("config/smoke.yaml", "run: smoke\n", "run: smoke\nlhco: {source: surrogate}\n")
    project.snakemake("lhco_files", *SMOKE)
    made, log = (
        project.root / "results" / "smoke" / name
        for name in ("lhco/edition.json", "logs/lhco_files.log")
    )
    content, date = made.read_bytes(), made.stat().st_mtime_ns
    changed = content.replace(b"surrogate", b"Surrogate")
    for altered, keep_date in (
        *((content[:20], True), (b"", True), (changed, True)),
        (content[:20], False),
    ):
        made.write_bytes(altered)
        if keep_date:
            os.utime(made, ns=(date, date))
        # with the old date nothing tells Snakemake that there is anything to do
        words = ("--forcerun", "lhco_files") if keep_date else ()
        done = project.snakemake("lhco_files", *SMOKE, *words, check=False)
        assert done.returncode != 0
        sentence = f"results/smoke/lhco/edition.json ({len(altered)} bytes) was altered after it"
        assert f"lhco_files failed: {sentence}" in done.stdout
        assert sentence in log.read_text()
    made.unlink()
    project.snakemake("lhco_files", *SMOKE)
    assert made.read_bytes() == content


@pytest.fixture
def disk(project):
    """Return a function that puts the results on a disk of so many KiB."""
    folder = project.root / "results" / "smoke"
    folder.mkdir()
    mounted = []

    def of(size, *options):
        words = ["-t", "tmpfs", "-o", ",".join((f"size={size}k", *options)), "tmpfs", str(folder)]
        if os.getuid() != 0 or subprocess.run(["mount", *words], capture_output=True).returncode:
            pytest.skip("needs the right to mount a small disk")
        mounted.append(folder)
        return folder

    yield of
    for each in mounted:
        subprocess.run(["umount", "--lazy", str(each)], check=True)


def test_a_full_disk_is_one_sentence(project, disk):
    folder = disk(64)
    with (folder / "filler").open("wb") as filler, contextlib.suppress(OSError):
        filler.write(bytes(100_000))
    done = project.snakemake("exp1_targets", *SMOKE, check=False)
    assert done.returncode != 0
    assert "cannot be written: No space left on device; make room and run the same" in done.stdout
    assert "Traceback" not in done.stdout
    assert "Logging error" not in done.stdout
    kept = {path.name for path in folder.rglob("*") if path.is_file()}
    assert kept <= {"filler", "exp1_targets.log"}
    (folder / "filler").unlink()
    project.snakemake("exp1_targets", *SMOKE)


def test_a_read_only_folder_is_one_sentence(project, disk):
    disk(64, "ro")
    done = project.snakemake("exp1_targets", *SMOKE, check=False)
    assert done.returncode != 0
    assert "Failed to create output directory results/smoke/" in done.stdout
    assert "Read-only file system" in done.stdout
    assert "Traceback" not in done.stdout


def in_the_middle_of(project, lines):
    """Put lines into the script of exp1_targets, between its results and their writing."""
    script = project.root / "workflow" / "scripts" / "exp1_targets.py"
    text = script.read_text()
    write = next(line for line in text.splitlines() if "files.write_" in line)
    indent = write[: len(write) - len(write.lstrip())]
    added = "".join(f"{indent}{line}\n" for line in lines)
    script.write_text(text.replace(write, added + write, 1))


def test_a_job_out_of_memory_is_one_sentence(project):
    """The process may take no more memory than it has: the next array is refused."""
    in_the_middle_of(
        project,
        [
            "import resource, numpy",
            "resource.setrlimit(resource.RLIMIT_AS, (2**28, 2**28))",
            "numpy.ones(2**27)",
        ],
    )
    done = project.snakemake("exp1_targets", *SMOKE, check=False)
    assert done.returncode != 0
    sentence = "exp1_targets failed: the memory was used up (Unable to allocate 1.00 GiB"
    assert sentence in done.stdout
    assert sentence in (project.root / "results/smoke/logs/exp1_targets.log").read_text()
    assert not (project.root / "results/smoke/experiment1/targets.json").exists()


def test_a_job_that_the_system_kills_is_one_sentence(project):
    """As when the machine has no memory left: the job itself cannot say a word."""
    in_the_middle_of(project, ["import os, signal", "os.kill(os.getpid(), signal.SIGKILL)"])
    done = project.snakemake("exp1_targets", *SMOKE, check=False)
    assert done.returncode != 0
    sentence = "exp1_targets failed: the system killed it, most likely because memory"
    assert sentence in done.stdout
    assert sentence in (project.root / "results/smoke/logs/exp1_targets.log").read_text()
    assert not (project.root / "results/smoke/experiment1/targets.json").exists()


@pytest.mark.skipif(
    not Path(os.environ.get("LHCO_MIRROR") or "none").is_dir(),
    reason="LHCO_MIRROR names no directory of real events",
)
def test_an_altered_data_file_is_never_used(project):
    """It was verified when it came; what reads it makes sure that it is the same still."""
    project.snakemake("lhco_files", *SMOKE)
    data = project.root / "results/smoke/lhco/events/innerdata_train.npy"
    content = data.read_bytes()
    # every bit of the last number turned over: it may have been zero before
    data.write_bytes(content[:-8] + bytes(255 - byte for byte in content[-8:]))
    done = project.snakemake("lhco_samples", *SMOKE, check=False)
    assert done.returncode != 0
    assert "lhco_samples failed: results/smoke/lhco/events/innerdata_train.npy (" in done.stdout
    assert "Delete results/smoke/lhco/events/innerdata_train.npy and run" in done.stdout
    data.unlink()
    project.snakemake("lhco_samples", *SMOKE)
    assert data.read_bytes() == content
