"""What tests of several modules share."""

import subprocess
import sys

import pytest

_PEAK = "\nimport resource\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"


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
