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
    """Write down which process runs Snakemake, and where: its own lock does not tell."""
    files.write_text(f"{os.getpid()} {platform.node()}\n", _owner(folder))


def free(folder: Path) -> str | None:
    """Remove the lock of a Snakemake that was killed in ``folder``, never that of a live one.

    Jobs that outlived their Snakemake are awaited: they write the files that the next run
    would write. Return what there is to say, if anything.
    """
    locks, owner = folder / ".snakemake" / "locks", _owner(folder)
    if not locks.is_dir() or not any(locks.iterdir()):
        return None
    noted = owner.read_text(encoding="utf-8") if owner.exists() else f"0 {platform.node()}"
    pid, machine = noted.split()
    if machine != platform.node():
        return (
            f"This folder is locked by a Snakemake on {machine}. If it no longer runs, "
            "remove the lock: .venv/bin/snakemake --unlock"
        )
    if "snakemake" in _words(int(pid)):
        return f"Another Snakemake (process {pid}) is at work in this folder."
    if left := len(jobs(folder)):
        print(f"Waiting for {left} jobs of a killed run to end.", file=sys.stderr, flush=True)
    while jobs(folder):
        time.sleep(0.2)
    shutil.rmtree(locks)
    return "The last run was killed and left a lock, which was removed."


def jobs(folder: Path) -> list[int]:
    """Return the processes on this machine that run a script of a rule in ``folder``."""
    scripts = str(folder.resolve() / ".snakemake" / "scripts")
    return [pid for pid in psutil.pids() if scripts in _words(pid)]


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
            f"{name} failed: the system killed it, most likely because memory ran out; "
            "use fewer --cores, or smaller sizes in the configuration"
        )
        with log.open("a", encoding="utf-8") as opened:
            opened.write(sentence + "\n")
        found.append(sentence)
    return found


def _owner(folder: Path) -> Path:
    return folder / ".snakemake" / "owner"


def _words(pid: int) -> str:
    """Return the command line of a live process; nothing of one that is gone or was killed."""
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return ""


if __name__ == "__main__":
    said = free(Path.cwd())
    if said:
        print(said, file=sys.stderr)
