"""What is known of the comparison before anything is loaded, for the check of a configuration."""

from __future__ import annotations

from pathlib import Path

BASELINE = "witness_rff"
"""The paper's witness, to which all others are compared mock by mock."""

PAPER_RATIO = 772 / 121_352
"""Signal over background in the paper's mixed sample."""


def names() -> list[str]:
    """Return the competitors: the modules of their folder, in alphabetical order."""
    folder = Path(__file__).parent / "competitors"
    return sorted(path.stem for path in folder.glob("[!_]*.py"))
