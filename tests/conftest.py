"""What tests of several modules share."""

import subprocess
import sys

import pytest

_PEAK = "\nimport resource\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"


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
