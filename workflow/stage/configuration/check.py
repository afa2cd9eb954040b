"""The check of a configuration: each mistake gives one sentence, which names the key."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from stage.configuration import contradictions, own
from stage.configuration.jobs import Plan
from stage.configuration.model import Configuration


def resolved(config: Mapping[str, Any]) -> tuple[dict[str, Any], Plan]:
    """Return a sound configuration with the defaults of ``score``, and its jobs."""
    model = Configuration.model_validate(dict(config))
    return {**config, "score": own.resolved(model.score)}, Plan(model)


def problems(config: Mapping[str, Any]) -> list[str]:
    """Return one sentence for each mistake in ``config``; an empty list if it is sound."""
    try:
        model = Configuration.model_validate(dict(config))
    except ValidationError as error:
        return list(dict.fromkeys(map(_sentence, error.errors(include_url=False))))
    return list(contradictions.found(model)) or list(Plan(model).contradictions())


class _Loader(yaml.SafeLoader):
    """A reader that refuses a key that is written twice: YAML's own keeps the second."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for name, _ in node.value:
            if isinstance(name, yaml.ScalarNode):
                if name.value in seen:
                    raise yaml.MarkedYAMLError(
                        problem=f"{name.value} is written twice", problem_mark=name.start_mark
                    )
                seen.add(name.value)
        return super().construct_mapping(node, deep)


def unreadable(path: Path) -> list[str]:
    """Return a sentence if the file at ``path`` cannot be read as a configuration."""
    try:
        content = _Loader(path.read_text(encoding="utf-8")).get_single_data()
    except OSError as error:
        return [f"{path} cannot be read: {error.strerror}."]
    except UnicodeDecodeError:
        return [f"{path} is not a text file in UTF-8."]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        return [f"{path}{where} is not valid YAML: {error.problem}."]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # a number of thousands of digits, a list thousands deep
        return [f"{path} is not valid YAML: {' '.join(str(error).split())}."]
    if not isinstance(content, dict):
        return [f"{path} must hold keys and values, one section for each experiment."]
    return []


def differs(config: Mapping[str, Any], shipped: Path) -> bool:
    """Tell whether an experiment's parameters differ from those of the file ``shipped``.

    How the toys are cut into jobs does not count: it changes no result.
    """
    paper = yaml.safe_load(shipped.read_text(encoding="utf-8"))
    names = [name for name in paper if name.startswith("experiment")]
    return any(_results_of(config[name]) != _results_of(paper[name]) for name in names)


def _results_of(tree: Any) -> Any:
    if not isinstance(tree, Mapping):
        return tree
    return {key: _results_of(part) for key, part in tree.items() if not key.endswith("_per_job")}


def sections(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo, type[BaseModel] | None]]:
    """Yield the keys of a section as a user writes them; the model of one that is a section."""
    for name, field in model.model_fields.items():
        kinds = [field.annotation, *get_args(field.annotation)]
        inner = next(
            (kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None
        )
        yield field.alias or name, field, inner


def _known(path: Sequence[str | int]) -> list[str]:
    """Return the keys of the section at ``path``."""
    model: type[BaseModel] = Configuration
    for part in path:
        model = next((inner for name, _, inner in sections(model) if name == part and inner), model)
    return [name for name, *_ in sections(model)]


def _sentence(error: Mapping[str, Any]) -> str:
    """Say what one mistake is, in terms of keys and values."""
    *above, last = error["loc"] or ("",)
    if error["type"] in ("extra_forbidden", "invalid_key"):
        known, name = _known(above), str(last)
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}."
        plain = name if name.isidentifier() and len(name) <= 60 else _shown(name)
        return f"{_dotted([*above, plain])} is not a key; {hint}"
    if error["type"] == "missing":
        return f"{_dotted(error['loc'])} is missing; it must be given."
    return f"{_dotted(error['loc'])} is {_shown(error['input'])}; {_must(error)}."


_KINDS = {
    "int": "a whole number",
    "float": "a finite number",
    "finite": "a finite number",
    "string": "a text",
    "list": "a list",
    "model": "a section with keys of its own",
    "bool": "true or false",
}
_LIMITS = {
    "greater_than_equal": "it must be at least {ge}",
    "greater_than": "it must be above {gt}",
    "less_than_equal": "it must be at most {le}",
    "less_than": "it must be below {lt}",
    "too_short": "it must have at least {min_length} entries",
    "too_long": "it must have at most {max_length} entries",
    "string_too_long": "it must have at most {max_length} characters",
    "value_error": "{error}",
}


def plain(limit: Any) -> str:
    """Return a limit as one writes it: 1, not 1.0."""
    return f"{limit:g}" if isinstance(limit, float) else str(limit)


def _must(error: Mapping[str, Any]) -> str:
    """Say what is allowed instead."""
    kind, value, context = str(error["type"]), error["input"], error.get("ctx", {})
    if kind in _LIMITS:
        return _LIMITS[kind].format(**{name: plain(limit) for name, limit in context.items()})
    if kind == "literal_error":
        allowed = str(context["expected"]).replace("'", "").replace(" or ", ", ")
        return f"it must be {'one of ' if ',' in allowed else ''}{allowed}"
    words = f"it must be {_KINDS[kind.partition('_')[0]]}"
    if isinstance(value, str) and re.fullmatch(r"[-+]?\d+(\.\d*)?[eE][-+]?\d{1,2}", value):
        value = float(value)  # YAML takes 1e3 for a text
        if kind.startswith("float"):
            words += f", written {value!r}"
    if kind.startswith("int") and isinstance(value, float) and value.is_integer():
        written = str(int(value)) if abs(value) < 1e15 else "without a point"
        words += f", written {written}"
    return words


def _dotted(path: Sequence[str | int]) -> str:
    words = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in path]
    return "".join(words).lstrip(".") or "the configuration"


def _shown(value: Any) -> str:
    if value is None:
        return "empty"
    # quotes and escapes as in YAML: a line break in a value must not break the sentence
    quoted = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else None
    text = quoted or str(value)
    text = text if len(text) <= 60 else f"{text[:57]}..."
    return text.encode("utf-8", "backslashreplace").decode()
