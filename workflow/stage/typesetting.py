"""The reproduction paper: Typst sources and the results they read, to the bytes of a PDF."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import typst

_PLACE = re.compile(r"┌─ (?P<file>.+?):(?P<line>\d+):\d+")


def compiled(
    source: str | Path, *, root: str | Path, inputs: Mapping[str, str]
) -> tuple[bytes, list[str]]:
    """Return the PDF of a Typst document, and a sentence for each warning.

    The bytes depend on the sources and on what they read alone: the only fonts are those
    inside the compiler, and the document carries no date.

    Parameters
    ----------
    source
        The main file.
    root
        The folder that absolute paths in the sources begin at; nothing outside is read.
    inputs
        What the sources find in ``sys.inputs``.

    Raises
    ------
    ValueError
        A sentence with file and line, if the document does not compile.
    """
    if not Path(source).is_file():
        raise ValueError(f"{source} is missing; the paper cannot be typeset without it")
    try:
        pdf, warnings = typst.compile_with_warnings(
            str(source),
            root=str(root),
            format="pdf",
            ignore_system_fonts=True,
            sys_inputs=dict(inputs),
            timestamp=0,
        )
    except typst.TypstError as error:
        raise ValueError(_sentence(error.message, error.diagnostic)) from None
    return pdf, [_sentence(warning.message, warning.diagnostic) for warning in warnings]


def _sentence(message: str, diagnostic: str) -> str:
    """Return what the compiler said, with the place it names first."""
    place = _PLACE.search(diagnostic)
    where = f"{place['file']}, line {place['line']}: " if place else ""
    return f"{where}{message}"
