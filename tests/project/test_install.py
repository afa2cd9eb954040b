"""`pip install .`: the package works outside the clone, and the clone stays as it was."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import localizer
import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
from importlib.metadata import version
import localizer
print(localizer.__file__, localizer.__version__, version("localizer"), "stage" in sys.modules)
"""


def run(*words, cwd, **options):
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        **options,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


@pytest.mark.slow
def test_the_package_installs_and_leaves_the_clone_clean(tmp_path):
    clone, elsewhere = tmp_path / "clone", tmp_path / "elsewhere"
    elsewhere.mkdir()
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, run(*listed, cwd=ROOT).split("\0")):
        if os.path.lexists(ROOT / name):
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name, follow_symlinks=False)
    run("git", "init", "--quiet", cwd=clone)
    run("git", "add", "--all", cwd=clone)

    run(sys.executable, "-m", "venv", tmp_path / "env", cwd=tmp_path)
    python = tmp_path / "env/bin/python"
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", clone, cwd=elsewhere)
    status = ("git", "status", "--porcelain", "--ignored", "--untracked-files=all")
    # an installation that leaves copies of the sources behind would show them here
    left = [line for line in run(*status, cwd=clone).splitlines() if not line.startswith("A ")]
    assert left == []

    # numpy and the others come from the environment of the tests, the package does not
    site = Path(run(python, "-c", "import site; print(*site.getsitepackages())", cwd=elsewhere))
    site = Path(str(site).strip())
    (site / "of_the_tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    names = {path.relative_to(ROOT / "workflow") for path in package(ROOT / "workflow")}
    assert {path.relative_to(site) for path in package(site)} == names
    told = run(python, "-c", PROGRAM, cwd=elsewhere).split()
    assert Path(told[0]).is_relative_to(site)
    # pip reads the version where the package does
    assert told[1:] == [localizer.__version__] * 2 + ["False"]
    examples = run(python, "-m", "pytest", "--doctest-modules", "-q", site / "localizer", cwd=site)
    assert int(re.search(r"(\d+) passed", examples)[1]) > 40


def package(folder):
    return set((folder / "localizer").rglob("*.py"))
