"""What a kill leaves behind: a lock that nobody holds, and a job that could not say why it ended.

``make`` calls ``python -m stage.kills`` before Snakemake.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
from pathlib import Path

import psutil

from stage import files


def note_owner(folder: Path) -> None:
    """Write down on which machine Snakemake runs: its own lock does not tell."""
    files.write_text(platform.node() + "\n", _owner(folder))


def free(folder: Path) -> str | None:
    """Remove the lock of a Snakemake that was killed in ``folder``, never that of a live one.

    Jobs that outlived their Snakemake are awaited: they write the files that the next run
    would write. Return what there is to say, if anything.
    """
    locks = folder / ".snakemake" / "locks"
    if not locks.is_dir() or not any(locks.iterdir()):
        return None
    owner = _owner(folder)
    machine = owner.read_text(encoding="utf-8").strip() if owner.exists() else platform.node()
    elsewhere = f"on {machine}" if machine != platform.node() else ""
    if locks.stat().st_uid != os.getuid():
        elsewhere = "of another user"  # whose processes cannot be seen
    if elsewhere:
        return (
            f"This folder is locked by a Snakemake {elsewhere}. If it no longer runs, "
            "remove the lock: .venv/bin/snakemake --unlock"
        )
    live = snakemakes(folder)
    if live:
        return f"Another Snakemake (process {live[0]}) is at work in this folder."
    left = jobs(folder)
    if left:
        print(f"Waiting for {len(left)} jobs of a killed run to end.", file=sys.stderr, flush=True)
    while jobs(folder):
        time.sleep(0.2)
    shutil.rmtree(locks)
    return "The last run was killed and left a lock; it is removed, and the run goes on."


def snakemakes(folder: Path) -> list[int]:
    """Return the processes on this machine that are a Snakemake working in ``folder``."""
    return [
        process.pid
        for process, words in _processes(folder)
        if any(Path(word).name == "snakemake" for word in words)
    ]


def jobs(folder: Path) -> list[int]:
    """Return the processes on this machine that run a script of a rule in ``folder``."""
    scripts = str(folder.resolve() / ".snakemake" / "scripts")
    return [
        process.pid
        for process, words in _processes(folder)
        if any(scripts in word for word in words)  # also in that of the shell that starts it
    ]


def killed(results: Path) -> list[str]:
    """Return a sentence for each job of this run that ended without a word, and log it.

    A process that the system kills, as it does when the memory is used up, cannot say so
    itself: its log has a beginning and no end.
    """
    since = psutil.Process().create_time()
    found = []
    for log in sorted((results / "logs").rglob("*.log")):
        if log.stat().st_mtime < since:
            continue
        text = log.read_text(encoding="utf-8", errors="replace")
        name, begins, rest = text.partition(" begins\n")
        name = name.split(" ", 2)[-1]
        if not begins or f"{name} ends after " in rest or f"{name} failed: " in rest:
            continue
        sentence = (
            f"{name} failed: it was killed from outside, most often because the memory was used "
            "up; use fewer --cores, or smaller sizes in the configuration"
        )
        with log.open("a", encoding="utf-8") as opened:
            opened.write(sentence + "\n")
        found.append(sentence)
    return found


def _owner(folder: Path) -> Path:
    return folder / ".snakemake" / "owner"


def _processes(folder: Path) -> list[tuple[psutil.Process, list[str]]]:
    """Return the processes that work in ``folder`` with their command lines."""
    found = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()) == folder.resolve():
                found.append((process, process.cmdline()))
        except (psutil.Error, OSError):  # gone, or somebody else's
            continue
    return found


if __name__ == "__main__":
    said = free(Path.cwd())
    if said:
        print(said, file=sys.stderr)
