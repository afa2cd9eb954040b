"""The configuration: checked against its schema, refused with a sentence that names the key."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml
from localizer.lhco import download

from stage import cost

SCHEMA = Path(__file__).resolve().parents[1] / "schemas" / "config.schema.yaml"
LARGEST_DAG = 10_000
"""More jobs than this, and Snakemake takes minutes to plan what it could do in seconds."""

_LARGEST_GROUP = 2**31 - 1


def problems(config: Mapping[str, Any], schema: Mapping[str, Any] | None = None) -> list[str]:
    """Return one sentence for each mistake in ``config``; an empty list if it is sound."""
    rules = load_schema() if schema is None else schema
    validator = _Validator(rules)
    errors = sorted(validator.iter_errors(config), key=lambda error: list(map(str, error.path)))
    found = [sentence for error in errors for sentence in _sentences(error)]
    return found or list(_contradictions(config))


def unreadable(path: Path) -> list[str]:
    """Return a sentence if the file at ``path`` cannot be read as a configuration."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
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

    How the toys are cut into jobs does not count, and what is measured of speed: neither
    changes a result.
    """
    paper = yaml.safe_load(shipped.read_text(encoding="utf-8"))
    return bool(_parameters(config) != _parameters(paper))


def _parameters(tree: Mapping[str, Any]) -> dict[str, Any]:
    experiments = {key: value for key, value in tree.items() if key.startswith("experiment")}
    return {key: _results_of(value) for key, value in experiments.items()}


def _results_of(tree: Any) -> Any:
    if isinstance(tree, Mapping):
        return {
            key: _results_of(value) for key, value in tree.items() if not key.endswith("_per_job")
        }
    return tree


@cache
def load_schema() -> dict[str, Any]:
    """Return the schema that ships with the workflow."""
    schema: dict[str, Any] = yaml.safe_load(SCHEMA.read_text())
    return schema


def _sentences(error: jsonschema.ValidationError) -> Iterator[str]:
    """Say what one violation of the schema is, in terms of keys and values."""
    key, limit, instance, schema = _dotted(error.path), *_parts(error)
    if error.validator == "additionalProperties":
        known = list(schema["properties"])
        for name in sorted(str(key) for key in instance if key not in known):
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}."
            plain = name if name.isidentifier() and len(name) <= 60 else _shown(name)
            yield f"{_dotted([*error.path, plain])} is not a key; {hint}"
        return
    if error.validator == "required":
        # jsonschema reports each missing key on its own and names it in the message only
        name = str(error.message).split("'")[1]
        yield f"{_dotted([*error.path, name])} is missing; it must be given."
        return
    allowed: dict[str, Callable[[], str]] = {
        "type": lambda: f"it must be {_article(limit)}{_written(limit, instance)}",
        "enum": lambda: f"it must be one of {', '.join(map(str, limit))}",
        "const": lambda: f"it must be {limit}",
        "minimum": lambda: f"it must be at least {limit:g}",
        "maximum": lambda: f"it must be at most {limit:g}",
        "exclusiveMinimum": lambda: f"it must be above {limit:g}",
        "exclusiveMaximum": lambda: f"it must be below {limit:g}",
        "minItems": lambda: f"it must have at least {limit} entries",
        "maxItems": lambda: f"it must have at most {limit} entries",
        "maxLength": lambda: f"it must have at most {limit} characters",
        "uniqueItems": lambda: "its entries must differ",
        "pattern": lambda: f"it must be {schema['description']}",
    }
    says = allowed[str(error.validator)]()
    yield f"{key} is {_shown(instance)}; {says}."


def _parts(error: jsonschema.ValidationError) -> tuple[Any, Any, Any]:
    """Return the limit that was violated, the value that did, and the schema around it."""
    return error.validator_value, error.instance, error.schema


def _contradictions(config: Mapping[str, Any]) -> Iterator[str]:
    """Say where values that are sound alone contradict each other."""
    first, second, third = (config[f"experiment{number}"] for number in (1, 2, 3))
    sizes = [
        ("experiment1.N", first["N"], first["model"]["epsilon"], "experiment1.model.epsilon"),
        ("experiment2.N", second["N"], second["model"]["epsilon"], "experiment2.model.epsilon"),
        (
            "experiment2.recovery.N",
            second["recovery"]["N"],
            second["model"]["epsilon"],
            "experiment2.model.epsilon",
        ),
        *(
            ("experiment2.n_scan.N", N, second["model"]["epsilon"], "experiment2.model.epsilon")
            for N in second["n_scan"]["N"]
        ),
    ]
    for key, N, epsilon, fraction in sizes:
        if not 1 <= round(epsilon * N) <= N - 1:
            yield (
                f"{key} is {N}, of which {fraction} = {epsilon:g} makes {round(epsilon * N)} "
                "signal events; it must leave at least one event of each class."
            )
    batches = [
        ("experiment1.m", first["m"], "experiment1.N", first["N"]),
        (
            "experiment2.recovery.m",
            second["recovery"]["m"],
            "experiment2.recovery.N",
            second["recovery"]["N"],
        ),
    ]
    for key, m, of, N in batches:
        if m > N:
            yield f"{key} is {m}; a batch cannot be larger than the sample, {of} = {N}."
    recovery = second["recovery"]
    for R in recovery["R"]:
        if R % recovery["group_size"]:
            yield (
                f"experiment2.recovery.R holds {R}; it must be a multiple of "
                f"experiment2.recovery.group_size = {recovery['group_size']}."
            )
    if second["n_scan"]["context_toys"] > second["n_scan"]["toys"]:
        yield (
            f"experiment2.n_scan.context_toys is {second['n_scan']['context_toys']}; it must be "
            f"at most experiment2.n_scan.toys = {second['n_scan']['toys']}."
        )
    if recovery["batch_toys"] > recovery["target_toys"]:
        yield (
            f"experiment2.recovery.batch_toys is {recovery['batch_toys']}; it must be at most "
            f"experiment2.recovery.target_toys = {recovery['target_toys']}."
        )
    yield from _contradictions_of_batches(third)
    yield from _contradictions_of_statistics(config["statistics"], first)
    yield from _contradictions_of_growth(config["growth"])
    yield from _wrong_mirror(config["lhco"]["mirror"])
    yield from _contradictions_of_score(config["score"])
    batches = config["score"]["batches"]
    groups = [
        ("experiment2.recovery", recovery["m"], recovery["group_size"]),
        ("experiment3.r_scan", third["r_scan"]["m"], third["r_scan"]["group_size"]),
        *(
            ("experiment3.m_scan", m, size)
            for m, size in zip(third["m_scan"]["m"], third["m_scan"]["group_size"], strict=False)
        ),
        *(("growth", m, config["growth"]["group_size"]) for m in config["growth"]["m"]),
        ("score.batches", batches["m"], batches["group_size"]),
    ]
    for section, m, size in groups:
        if m * size > _LARGEST_GROUP:
            yield (
                f"{section}.group_size is {size}; with {section}.m = {m} a group must hold at "
                f"most {_LARGEST_GROUP} occurrences, it holds {m * size}."
            )
    if third["features_per_bandwidth"] % 2:
        yield (
            f"experiment3.features_per_bandwidth is {third['features_per_bandwidth']}; it must be "
            "even, for cosines and sines in pairs."
        )
    for key, values in (
        ("experiment1.resampling.contexts", first["resampling"]["contexts"]),
        ("experiment2.recovery.R", recovery["R"]),
        ("experiment3.r_scan.R", third["r_scan"]["R"]),
        ("experiment3.sic_floors", third["sic_floors"]),
        *((f"growth.{name}", config["growth"][name]) for name in "NmRD"),
    ):
        if values != sorted(values):
            yield f"{key} is {_shown(values)}; it must be in increasing order."
    if len(third["m_scan"]["group_size"]) == len(third["m_scan"]["m"]):
        yield from _too_many_jobs(config)


def _contradictions_of_batches(third: Mapping[str, Any]) -> Iterator[str]:
    """Say what is wrong with the global batches of Experiment III."""
    scan, run = third["m_scan"], third["r_scan"]
    if len(scan["group_size"]) != len(scan["m"]):
        yield (
            f"experiment3.m_scan.group_size has {len(scan['group_size'])} entries; it must have "
            f"one for each of the {len(scan['m'])} entries of experiment3.m_scan.m."
        )
        return
    shared = dict(zip(scan["m"], scan["group_size"], strict=True)).get(run["m"], run["group_size"])
    if shared != run["group_size"]:
        yield (
            f"experiment3.r_scan.group_size is {run['group_size']}; it must be {shared} as in "
            f"experiment3.m_scan, because the batches of m = {run['m']} are the same."
        )
    if scan["R"] > run["R"][-1] and run["m"] in scan["m"]:
        yield (
            f"experiment3.m_scan.R is {scan['R']}; it must be at most the last of "
            f"experiment3.r_scan.R, {run['R'][-1]}."
        )
    for key, sizes in (
        ("m_scan", scan["group_size"]),
        ("r_scan", [run["group_size"]]),
    ):
        for size in sizes:
            for R in (scan["R"], *run["R"]):
                if R % size:
                    yield (
                        f"experiment3.{key}.group_size holds {size}; it must divide every number "
                        f"of batches in experiment3.m_scan.R and experiment3.r_scan.R, and {R} is "
                        "not a multiple of it."
                    )
                    break
    grid = {(m, R) for m in scan["m"] for R in (*run["R"], scan["R"]) if R <= scan["R"]}
    grid |= {(run["m"], R) for R in run["R"]}
    used = sum(R * m * m >= third["fit_minimum"] for m, R in grid)
    if used < 3:
        yield (
            f"experiment3.fit_minimum is {third['fit_minimum']:g}; it must leave at least 3 of "
            f"the {len(grid)} points (m, R) of experiment3.m_scan and experiment3.r_scan to fit, "
            f"it leaves {used}."
        )


def _contradictions_of_growth(growth: Mapping[str, Any]) -> Iterator[str]:
    """Say what is wrong with the sizes of the benchmark of growth."""
    for R in growth["R"]:
        if R % growth["group_size"]:
            yield (
                f"growth.R holds {R}; it must be a multiple of growth.group_size = "
                f"{growth['group_size']}."
            )


def _too_many_jobs(config: Mapping[str, Any]) -> Iterator[str]:
    """Say which size of a job cuts the work too finely."""
    jobs = cost.jobs(config)
    if sum(jobs.values()) > LARGEST_DAG:
        key = max(jobs, key=lambda name: jobs[name])
        section = key.rpartition(".")[0]
        yield (
            f"{key} is too small for the sizes in {section}: it cuts them into {jobs[key]} jobs, "
            f"and a run must have at most {LARGEST_DAG}."
        )


def _wrong_mirror(mirror: str) -> Iterator[str]:
    """Say why ``lhco.mirror`` cannot name a mirror; whether it is there is seen when it is used."""
    try:
        folder = download.mirror_folder(mirror) if mirror else None
    except ValueError as error:
        yield f"lhco.mirror is {_shown(mirror)}; {error}."
        return
    if folder is not None and not folder.is_absolute() and ".." in folder.parts:
        yield (
            f"lhco.mirror is {_shown(mirror)}; a directory outside the project must be given by "
            "its full path."
        )


def _contradictions_of_score(section: Mapping[str, Any]) -> Iterator[str]:
    """Say what is wrong with the section on a user's own data."""
    for which in ("sample", "reference"):
        path = Path(section[which].partition("::")[0])
        if not path.is_absolute() and ".." in path.parts:
            yield (
                f"score.{which} is {_shown(section[which])}; a file outside the project must be "
                "given by its full path."
            )
        elif path.parts[:1] != ("results",) and not _is_file(path):
            yield f"score.{which} is {_shown(section[which])}; there is no such file."
    if section["folds"] == 1:
        yield "score.folds is 1; it must be 0, for none, or at least 2."
    if section["folds"] and section["source"] == "reference":
        yield (
            f"score.folds is {section['folds']}; with score.source = reference nothing is decided "
            "from the sample, and there is nothing to cross-fit: it must be 0."
        )
    if section["features_per_bandwidth"] % 2:
        yield (
            f"score.features_per_bandwidth is {section['features_per_bandwidth']}; it must be "
            "even, for cosines and sines in pairs."
        )
    batches = section["batches"]
    if batches["R"] % batches["group_size"] or batches["R"] == batches["group_size"]:
        yield (
            f"score.batches.R is {batches['R']}; it must be two or more times "
            f"score.batches.group_size = {batches['group_size']}, a whole number of groups."
        )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _contradictions_of_statistics(
    section: Mapping[str, Any], first: Mapping[str, Any]
) -> Iterator[str]:
    """Say where the study of other statistics asks for more than a toy of Experiment I has."""
    N, n_signal = first["N"], round(first["model"]["epsilon"] * first["N"])
    for m in section["m"]:
        if m >= N:
            yield f"statistics.m holds {m}; it must be below experiment1.N = {N}."
        if m >= section["map"]["N"]:
            yield f"statistics.map.N is {section['map']['N']}; it must be above statistics.m, {m}."
    for key, events in (("signal_events", n_signal), ("background_events", N - n_signal)):
        if section[key] > events:
            yield (
                f"statistics.{key} is {section[key]}; it must be at most {events}, as many as a "
                f"toy of experiment1.N = {N} events has."
            )


def _dotted(path: Any) -> str:
    words = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in path]
    return "".join(words).lstrip(".") or "the configuration"


def _article(kind: str | list[str]) -> str:
    names = {
        "integer": "a whole number",
        "number": "a finite number",
        "string": "a text",
        "array": "a list",
        "object": "a section with keys of its own",
        "boolean": "true or false",
    }
    kinds = [kind] if isinstance(kind, str) else kind
    return " or ".join(names.get(one, one) for one in kinds)


def _written(kind: str | list[str], value: Any) -> str:
    """Say how a whole number that has a decimal point is to be written."""
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return f", written {int(value)}" if abs(value) < 1e15 else ", written without a point"
    return ""


def _shown(value: Any) -> str:
    if value is None:
        return "empty"
    # quotes and escapes as in YAML: a line break in a value must not break the sentence
    quoted = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else None
    text = quoted or str(value)
    text = text if len(text) <= 60 else f"{text[:57]}..."
    return text.encode("utf-8", "backslashreplace").decode()


# A number is finite, and a whole number is written as one: YAML knows .nan and .inf, which
# no limit of a schema excludes, and 20.0 would fail later where a count is needed.
_Validator = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "integer": lambda _, value: isinstance(value, int) and not isinstance(value, bool),
            "number": lambda _, value: (
                isinstance(value, int | float)
                and not isinstance(value, bool)
                and math.isfinite(value if isinstance(value, float) else 0)
            ),
        }
    ),
)
