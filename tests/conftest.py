"""What tests of several modules share."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Whether a test that cannot run here fails instead of being skipped.
STRICT = os.environ.get("STRICT", "0") not in ("", "0")

# How long an example takes depends on what else the machine does, so no clock judges it. In CI
# the examples are those that the source of each test gives: the same ones in every run.
settings.register_profile(
    "here", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("ci", settings.get_profile("here"), derandomize=True, database=None)
PROFILE = "ci" if STRICT or os.environ.get("CI") else "here"
settings.load_profile(PROFILE)


def pytest_report_header():
    """Say where the random examples come from."""
    seeds = "the digest of each test's source" if PROFILE == "ci" else "drawn, and printed if bad"
    return [f"hypothesis: profile {PROFILE}; seeds: {seeds}", f"STRICT: {int(STRICT)}"]


def _not_skipped(report):
    """With STRICT=1, make a failure of a skip, wherever it comes from."""
    if STRICT and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"STRICT=1 allows no skip: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """See :func:`_not_skipped`."""
    return _not_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """See :func:`_not_skipped`: a whole module may be skipped."""
    return _not_skipped((yield))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Put the unit tests first, and last those that wait for the smoke run which they share.

    With several workers the first of them begins with that run, so that nobody waits for it.
    """
    workflow = Path(__file__).parent / "workflow"

    def waits(item):
        return "finished" in getattr(item, "fixturenames", ())

    items.sort(key=lambda item: (workflow in item.path.parents, waits(item)))
    if getattr(config, "workerinput", {"workercount": 1})["workercount"] > 1:
        starts = [item for item in items if waits(item) and not item.get_closest_marker("skipif")]
        items.sort(key=lambda item: item not in starts[:1])


@pytest.fixture(scope="session")
def closed_port():
    """Return a port on loopback where nobody listens: it is held, so nobody else gets it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


# not ru_maxrss: a process inherits that from the one that started it
_PEAK = """
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


@pytest.fixture
def fresh_and_cached(tmp_path, pytestconfig, monkeypatch):
    """Return what runs a program twice, first without and then with a cache of compiled code."""

    def run(program):
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
        said = [
            subprocess.run(
                [sys.executable, "-c", program],
                cwd=pytestconfig.rootpath,
                check=True,
                capture_output=True,
                text=True,
            ).stdout
            for _ in range(2)
        ]
        assert list(tmp_path.rglob("*.nbi"))
        return said

    return run


@pytest.fixture
def peak_memory(pytestconfig):
    """Return what runs a program in a process of its own and gives its peak memory in bytes."""

    def run(program):
        done = subprocess.run(
            [sys.executable, "-c", program + _PEAK],
            cwd=pytestconfig.rootpath / "workflow",
            check=True,
            capture_output=True,
            text=True,
        )
        return int(done.stdout) * 1024

    return run
