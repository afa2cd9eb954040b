"""A copy of the project in a folder of its own, and the real Snakemake on it."""

import fcntl
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SMOKE = ("--configfile", "config/smoke.yaml")
# Snakemake ends when its last timer has; runs of a few seconds should not wait for it
SOON = ("--max-jobs-per-timespan", "1000/1s")


@dataclass(frozen=True)
class Project:
    """A copy of the sources, without results."""

    root: Path

    def snakemake(self, *words, check=True, cores=2, timeout=1200, **environment):
        """Run the real Snakemake here and return the finished process, its output as text.

        ``environment`` sets variables; an empty one is removed.
        """
        variables = {**os.environ, **environment}
        done = subprocess.run(
            [sys.executable, "-m", "snakemake", "--cores", str(cores), *SOON, *words],
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
            env={name: value for name, value in variables.items() if value},
        )
        if check and done.returncode:
            raise AssertionError(done.stdout[-6000:])
        return done

    def planned(self, *words):
        """Return the rules that a dry run would run, with the number of jobs of each."""
        said = self.snakemake("--dry-run", *words).stdout
        if "Nothing to be done" in said:
            return {}
        counts = said.split("Job stats:")[-1].split("total")[0].splitlines()[3:]
        return {line.split()[0]: int(line.split()[1]) for line in counts if line.strip()}

    def edit(self, path, old, new):
        """Replace ``old`` by ``new`` in a file; both must be what the test believes."""
        text = (self.root / path).read_text()
        assert old in text, f"{old!r} is not in {path}"
        (self.root / path).write_text(text.replace(old, new, 1))

    def without_addresses(self, port):
        """Let every data file's own address be a port of this machine where nobody answers."""
        nowhere = f"https://127.0.0.1:{port}"
        path = self.root / "resources/lhco/registry.csv"
        text = path.read_text().replace("https://raw.githubusercontent.com", nowhere)
        path.write_text(text.replace("https://zenodo.org", nowhere))
        return self


def copy_of_the_sources(target):
    """Copy what git tracks, or would track, with links as links."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        source, copy = ROOT / name, target / name
        if not os.path.lexists(source):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, copy, follow_symlinks=False)
    return Project(target)


@contextmanager
def alone(lock):
    """Hold a lock that no other worker of the test run can hold at the same time."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
