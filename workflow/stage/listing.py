"""Where the rules of the workflow are defined: read from the rule files, for the report."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_DEFINITION = re.compile(
    r'^(?:use rule (\w+) as (\w+) with:|rule (\w+):|    "(fig\d\d|supp_\w+)\w*": drawn\()',
    re.MULTILINE,
)
_SCRIPT = re.compile(r'"\.\./(scripts/\w+\.py)"')


@dataclass(frozen=True)
class Definition:
    """Where a rule is defined: the file, the line, the text, and the rule it is made from."""

    file: str
    line: int
    text: str
    base: str = ""


def definitions(files: Iterable[str | Path]) -> dict[str, Definition]:
    """Return where each rule of some rule files is defined."""
    found: dict[str, Definition] = {}
    for file in files:
        text = Path(file).read_text(encoding="utf-8")
        starts = list(_DEFINITION.finditer(text))
        places = [*(start.start() for start in starts), len(text)]
        for start, end in zip(starts, places[1:], strict=True):
            lines = text[start.start() : end].splitlines()
            # a rule ends where the next thing that is not indented begins, a figure with a bracket
            inside = "     " if start[4] else " "
            length = next(
                (n for n, line in enumerate(lines) if n and line and not line.startswith(inside)),
                len(lines),
            )
            length += lines[0].endswith("drawn(")
            name = start[2] or start[3] or start[4]
            if name in found:
                raise ValueError(f"the rule {name} is defined in {found[name].file} and {file}")
            found[name] = Definition(
                os.fspath(file),
                text.count("\n", 0, start.start()) + 1,
                "\n".join(lines[:length]).rstrip(),
                start[1] or "",
            )
    return found


def scripts(rules: Mapping[str, Definition]) -> dict[str, str]:
    """Return the script behind each rule that has one, its own or its base's."""
    found: dict[str, str] = {}
    for name, definition in rules.items():
        texts = [definition.text]
        while definition.base:
            definition = rules[definition.base]
            texts.append(definition.text)
        script = next((match for text in texts if (match := _SCRIPT.search(text))), None)
        if script:
            found[name] = f"workflow/{script[1]}"
        elif "drawn(" in texts[0]:
            found[name] = "workflow/scripts/draw.py"
    return found
