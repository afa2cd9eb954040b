"""Where a result comes from: the record each stage leaves, and their collection."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stage import files

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("snakemake", "numpy", "scipy", "pandas", "numba", "matplotlib", "seaborn", "typst")


def commit() -> dict[str, Any]:
    """Return the commit that is checked out and whether the tree is clean of changes."""
    head = _git("rev-parse", "HEAD")
    changes = _git("status", "--porcelain", "--untracked-files=no")
    return {"commit": head, "clean": None if changes is None else changes == ""}


def swhid() -> str | None:
    """Return the Software Heritage identifier of the tree, which git's own hash of it gives.

    It says nothing of files that were changed since the commit, so there is none then.
    """
    tree = _git("rev-parse", "HEAD^{tree}") if commit()["clean"] else None
    return f"swh:1:dir:{tree}" if tree else None


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that make the numbers."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def processor_seconds() -> float:
    """Return the processor time of this process and its children, from its beginning on."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in spent)


def peak_memory() -> float:
    """Return the peak resident memory of this process in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def collect(config: Mapping[str, Any], results: Path) -> dict[str, Any]:
    """Return the provenance of a run.

    Parameters
    ----------
    config
        The resolved configuration.
    results
        The run's results, where the stages have left their records (below ``logs``) and
        the data rules the edition and the checksums of its files (in ``lhco``).
    """
    stages = [json.loads(path.read_text()) for path in _records(results)]
    stages.sort(key=lambda stage: (stage["rule"], stage["job"]))
    return {
        "config": dict(config),
        "versions": versions(),
        "machine": {
            "system": platform.platform(),
            "processor": _processor(),
            "cores": os.cpu_count(),
        },
        **commit(),
        "swhid": swhid(),
        "edition": _read(results / "lhco" / "edition.json"),
        "data": _read(results / "lhco" / "files.json"),
        "stages": stages,
    }


def write(config: Mapping[str, Any], target: Path) -> None:
    """Write provenance.json for the results that it stands beside."""
    files.write_json(collect(config, target.parent), target)


def refresh(config: Mapping[str, Any], results: Path) -> None:
    """Write provenance.json anew if a stage has left a record since it was written.

    This is for runs in which the rule of that name has no part: a single target, or a
    run that failed.
    """
    target = results / "provenance.json"
    since = target.stat().st_mtime if target.exists() else 0.0
    if any(record.stat().st_mtime > since for record in _records(results)):
        write(config, target)


def _records(results: Path) -> list[Path]:
    """Return the records of the stages; one that is still being written has a hidden name."""
    return sorted((results / "logs").rglob("[!.]*.json"))


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _read(path: Path) -> Any:
    """Return the content of a json file, or nothing if the run has not come to it."""
    return json.loads(path.read_text()) if path.exists() else None


def _git(*words: str) -> str | None:
    """Return what git says, or None outside a checkout or without git."""
    try:
        done = subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
