"""Seals: the checksum of each result, computed when it is made and checked when it is used.

Snakemake goes by dates: it would feed a truncated or altered file to the next job. So each
stage leaves, under ``seals`` in the run's results, the SHA-256 of every file that it made,
and refuses an input that is no longer the file that was made. All at once are checked by::

    find results/paper/seals -type f -exec cat {} + | sha256sum --check --quiet
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stage import files, provenance


def results_of(log: Path) -> Path:
    """Return the run's results, where ``log`` lies below the folder ``logs``."""
    return next((folder.parent for folder in log.parents if folder.name == "logs"), log.parent)


def take_off(paths: Iterable[str | Path], results: Path) -> None:
    """Remove the seals of files that are about to be made anew."""
    for path in _within(paths, results):
        _seal(path, results).unlink(missing_ok=True)


def put(paths: Iterable[str | Path], results: Path) -> None:
    """Seal files that are complete; what lies outside of ``results`` is none of them."""
    for path in _within(paths, results):
        if path.is_file():
            files.write_text(f"{provenance.sha256(path)}  {path}\n", _seal(path, results))


def check(paths: Iterable[str | Path], results: Path) -> None:
    """Refuse a file that is not what its seal says; one without a seal is let pass."""
    for path in _within(paths, results):
        seal = _seal(path, results)
        if not seal.exists():
            continue
        sha256 = seal.read_text(encoding="utf-8").split()[0]
        if provenance.sha256(path) != sha256:
            raise ValueError(
                f"{path} ({path.stat().st_size} bytes) was altered after it was made: its SHA-256 "
                f"is not {sha256}. Delete {path} and run the same command again to recreate it"
            )


def _within(paths: Iterable[str | Path], results: Path) -> list[Path]:
    return [path for path in map(Path, paths) if path.is_relative_to(results)]


def _seal(path: Path, results: Path) -> Path:
    return results / "seals" / f"{path.relative_to(results)}.sha256"
