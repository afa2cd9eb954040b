"""Generate from the model the schema for editors and the tables of config/README.md.

``python -m stage.configuration.pages`` in the project's folder writes both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stage import files
from stage.configuration.check import plain
from stage.configuration.model import Configuration

SCHEMA = Path("config/schema.json")
README = Path("config/README.md")

_LARGE = ("experiment1", "experiment2", "experiment3", "statistics", "comparison", "score")
_TABLE = re.compile(r"<!-- keys: (\w+) -->\n.*?<!-- end -->", re.DOTALL)
_NAMES = {"integer": "whole number", "number": "number", "string": "text"}
_LIMITS = {
    "minimum": "from",
    "exclusiveMinimum": "above",
    "maximum": "to",
    "exclusiveMaximum": "below",
}


def schema() -> dict[str, Any]:
    """Return the JSON schema, for completion and hints in an editor.

    A file that overrides config.yaml has only the keys that differ, so no key of the
    paper is required.
    """
    content = Configuration.model_json_schema()
    for section in (content, *content["$defs"].values()):
        if "sample" not in section["properties"]:
            section.pop("required", None)
        for part in (section, *section["properties"].values()):
            part.pop("title", None)
    return content


def table(section: str) -> str:
    """Return the table of a section; ``general`` has the keys outside the large ones."""
    own = section == "score"
    lines = [f"| key | meaning | allowed | {'default' if own else 'paper'} |", "| --- " * 4 + "|"]
    for name, entry in _keys(schema()):
        top = name.partition(".")[0]
        if section == (top if top in _LARGE else "general"):
            default = f"`{json.dumps(entry['default'])}`" if "default" in entry else ""
            last = default if own else entry["paper"]
            lines.append(f"| `{name}` | {entry['description']} | {_allowed(entry)} | {last} |")
    return "\n".join([f"<!-- keys: {section} -->", *lines, "<!-- end -->"])


def readme(text: str) -> str:
    """Return the text of config/README.md with its tables as the model has them."""
    return _TABLE.sub(lambda found: table(found[1]), text)


def write(folder: Path) -> None:
    """Write both anew below the project's ``folder``."""
    text = json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"
    files.write_text(text, folder / SCHEMA)
    files.write_text(readme((folder / README).read_text(encoding="utf-8")), folder / README)


def _keys(
    content: Mapping[str, Any], at: str = "", above: str = ""
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every key with its full name and what the schema says of it."""
    section = content["$defs"][at] if at else content
    for name, entry in section["properties"].items():
        inner = next((part for part in (entry, *entry.get("anyOf", ())) if "$ref" in part), None)
        if inner:
            yield from _keys(content, inner["$ref"].rpartition("/")[2], f"{above}{name}.")
        else:
            yield f"{above}{name}", entry


def _allowed(entry: Mapping[str, Any]) -> str:
    """Say what a value may be."""
    if "enum" in entry:
        return ", ".join(f"`{word}`" for word in entry["enum"])
    if "$ref" in entry:
        return "entries with these keys"
    if entry["type"] == "boolean":
        return "`true`, `false`"
    if entry["type"] == "array":
        exact = entry.get("minItems") == entry.get("maxItems")
        number = f"{entry['minItems']} of: " if exact and "minItems" in entry else ""
        return f"list of {number}{_allowed(entry['items'])}"
    limits = [f"{words} {_short(entry[name])}" for name, words in _LIMITS.items() if name in entry]
    return " ".join([_NAMES[entry["type"]], *limits])


def _short(limit: float) -> str:
    """Return a limit in a few characters: 1e9 for 1000000000."""
    mantissa, _, exponent = f"{limit:e}".partition("e")
    if abs(int(exponent)) < 6 or float(mantissa) % 1:
        return plain(limit)
    return f"{float(mantissa):g}e{int(exponent)}"


if __name__ == "__main__":
    write(Path.cwd())
