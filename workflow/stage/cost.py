"""What a configuration will cost, roughly: core-hours, memory and disk, before anything runs.

Each rule's cost is its leading count of operations (events, occurrences, pairs, features)
times a constant measured once, in a full run on one core of a 2020s server. The model holds
within a factor of two for parameters near the shipped ones, which is enough to tell a
configuration that takes an evening from one that takes a year.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from localizer.lhco.samples import PAPER, Counts

# Above these the workflow says what it expects: core-hours, GiB of one job, GiB of all results.
THRESHOLD_HOURS = 24.0
THRESHOLD_MEMORY = 16.0
THRESHOLD_DISK = 100.0

_GIB = 2.0**30

# Seconds of one core, from the processor time that the jobs of a full run put on record.
_START = 1.5  # a job before it begins: Python and the imports
_SMALL_JOBS = 75  # joining tables, figures, findings
_COMPANION = 1.7e-7  # a companion of a forced event
_TOY_EVENT = {  # an event of a toy
    "exp1_toys_part": 3.6e-6,
    "exp1_self_influence_part": 9.8e-6,
    "exp2_toys_part": 6.0e-6,
    "exp2_context_part": 4.3e-5,
    "exp2_recovery_targets_part": 4.1e-5,
}
_OCCURRENCE_EXACT = 2.6e-7  # an occurrence in a batch of Experiment II, both constructions
_DRAWN = 2.5e-8  # an occurrence in a batch of Experiment III: drawn and sorted by event
_OCCURRENCE = 1.9e-10  # one feature of it
_VISIT = 6.5e-10  # one feature of an event that a group of batches reads
_FEATURE = 2.7e-9  # one random feature of an event
_MOMENT = 1.3e-11  # one product in the second moments of the features
_EIGEN = 5.0e-10  # the eigenvectors of these, for D^3
_PAIR = 1.3e-9  # a pair of the exact witness
_SCORE = 1.0e-5  # an event at the checkpoints of one batch size
_JOINED = 1.4e-6  # an event that joins a context of the study of other statistics, times m
_SMALL_STUDIES = 30  # passes over all features: bandwidth choices, references, portrait

_RANK = 128  # what the features of the shipped bank are compressed to

# Bytes.
_IMPORTS = 190 * 2**20
_TOY_ROW = 300
_FACTOR_RANK = 1024


@dataclass(frozen=True)
class Work:
    """What a rule costs, all its jobs together.

    Attributes
    ----------
    seconds
        Of one core, summed over the jobs.
    memory
        The bytes of its largest job.
    disk
        The bytes of all its results.
    """

    seconds: float
    memory: float = _IMPORTS
    disk: float = 0.0

    @property
    def core_hours(self) -> float:
        """The time in hours of one core."""
        return self.seconds / 3600


def jobs(config: Mapping[str, Any]) -> dict[str, int]:
    """Return how many jobs, at most, each key of a job's size leads to.

    The list is complete for what grows with the configuration; a fixed number of small
    jobs comes on top.
    """
    first, second, third = (config[f"experiment{number}"] for number in (1, 2, 3))
    scan, recovery, scatter = second["n_scan"], second["recovery"], third["scatter"]
    study, calibration = config["statistics"], config["score"]["calibration"]
    return {
        "experiment1.toys_per_job": sum(
            _cut(toys, first["toys_per_job"])
            for toys in (first["toys"], first["self_influence"]["toys"])
        ),
        "experiment2.n_scan.toys_per_job": sum(
            _cut(toys, scan["toys_per_job"]) for toys in _toys_by_size(second).values()
        ),
        "experiment2.recovery.target_toys_per_job": _cut(
            recovery["target_toys"], recovery["target_toys_per_job"]
        ),
        "experiment2.recovery.batch_toys_per_job": _cut(
            recovery["batch_toys"], recovery["batch_toys_per_job"]
        ),
        "experiment3.occurrences_per_job": sum(
            _cut(R, max(size, third["occurrences_per_job"] // m // size * size)) + len(checkpoints)
            for m, R, size, checkpoints in _sweeps(third)
        ),
        "experiment3.scatter.surrogates_per_job": _cut(
            scatter["surrogates"], scatter["surrogates_per_job"]
        ),
        "experiment3.scatter.seeds_per_job": _cut(scatter["seeds"], scatter["seeds_per_job"]),
        "statistics.toys_per_job": len(study["names"]) * _cut(study["toys"], study["toys_per_job"]),
        "score.calibration.draws_per_job": _cut(calibration["draws"], calibration["draws_per_job"]),
    }


def estimate(config: Mapping[str, Any], counts: Counts = PAPER) -> dict[str, Work]:
    """Return the cost of each rule that matters.

    Parameters
    ----------
    config
        A sound configuration.
    counts
        The sizes of the samples of Experiment III before they are thinned; the paper's are
        the largest of any edition.
    """
    found = {**_experiment1(config), **_experiment2(config), **_experiment3(config, counts)}
    found |= {"statistics": _statistics(config), "growth": _growth(config)}
    return {**found, "small jobs": Work(_SMALL_JOBS * _START)}


def total(works: Iterable[Work]) -> Work:
    """Return the sum of the times and of the files, and the memory of the largest job."""
    listed = list(works)
    return Work(
        seconds=sum(work.seconds for work in listed),
        memory=max(work.memory for work in listed),
        disk=sum(work.disk for work in listed),
    )


def warning(config: Mapping[str, Any]) -> str:
    """Return a sentence with the estimate if it is above a threshold, else nothing."""
    works = estimate(config)
    whole = total(works.values())
    measures = {
        f"{whole.core_hours:.3g} core-hours": (whole.core_hours / THRESHOLD_HOURS, "seconds"),
        f"{whole.memory / _GIB:.3g} GiB of memory in one job": (
            whole.memory / _GIB / THRESHOLD_MEMORY,
            "memory",
        ),
        f"{whole.disk / _GIB:.3g} GiB of disk": (whole.disk / _GIB / THRESHOLD_DISK, "disk"),
    }
    worst, by = max(measures.values())
    if worst <= 1:
        return ""
    rule = max(works, key=lambda name: float(getattr(works[name], by)))
    return (
        f"This configuration is estimated to need {', '.join(measures)}, within a factor of two "
        f"or so; most of it for {rule}. Warned above {THRESHOLD_HOURS:g} core-hours, "
        f"{THRESHOLD_MEMORY:g} GiB of memory or {THRESHOLD_DISK:g} GiB of disk."
    )


def _experiment1(config: Mapping[str, Any]) -> dict[str, Work]:
    first = config["experiment1"]
    N, per_job = first["N"], first["toys_per_job"]
    generic, null = first["generic"], first["null_probe"]
    forced = _companions(first["resampling"], [first["resampling"]["m"]])
    forced += sum(_companions(first[name], first[name]["m"]) for name in ("m_scan", "efficiency"))
    studies = 1 + len(first["m_scan"]["m"]) + len(first["efficiency"]["m"])
    return {
        "exp1_forced": Work(_START * studies + _COMPANION * forced),
        "exp1_generic": Work(
            _START
            + _COMPANION * len(generic["epsilon"]) * float(_companions(generic, generic["m"]))
        ),
        "exp1_null_probe": Work(
            _START + _COMPANION * float(null["replicas"]) * null["contexts"] * null["m"]
        ),
        "exp1_toys_part": _toys("exp1_toys_part", {N: first["toys"]}, per_job),
        "exp1_self_influence_part": _toys(
            "exp1_self_influence_part", {N: first["self_influence"]["toys"]}, per_job
        ),
    }


def _experiment2(config: Mapping[str, Any]) -> dict[str, Work]:
    second = config["experiment2"]
    scan, recovery = second["n_scan"], second["recovery"]
    factor = _IMPORTS + 2.0 * 8 * _FACTOR_RANK * recovery["N"]
    cuts = jobs(config)
    targets = _toys(
        "exp2_recovery_targets_part",
        {recovery["N"]: recovery["target_toys"]},
        recovery["target_toys_per_job"],
    )
    occurrences = float(recovery["batch_toys"]) * recovery["R"][-1] * recovery["m"]
    return {
        "exp2_toys_part": _toys("exp2_toys_part", _toys_by_size(second), scan["toys_per_job"]),
        "exp2_context_part": _toys(
            "exp2_context_part",
            dict.fromkeys(scan["N"], scan["context_toys"]),
            scan["context_toys"],
        ),
        "exp2_recovery_targets_part": Work(targets.seconds, factor, targets.disk),
        "exp2_recovery_runs_part": Work(
            _START * cuts["experiment2.recovery.batch_toys_per_job"]
            + _OCCURRENCE_EXACT * occurrences,
            factor + 6.0 * recovery["group_size"] * recovery["m"],
        ),
    }


def _experiment3(config: Mapping[str, Any], counts: Counts) -> dict[str, Work]:
    third = config["experiment3"]
    scatter, cuts = third["scatter"], jobs(config)

    def sizes(of: Counts) -> tuple[float, float, float]:
        thinned = {name: min(size, third["max_events"]) for name, size in asdict(of).items()}
        mixed = min(thinned["mixed_background"] + thinned["mixed_signal"], third["max_events"])
        return mixed, thinned["reference"], sum(thinned.values())

    N, reference, events = sizes(counts)
    D = float(len(third["bandwidths"])) * third["features_per_bandwidth"]
    rank = min(D, _RANK)
    table = 4 * N * rank
    square = 8 * D * D
    features = _FEATURE * events * D
    # the surrogate samples have the paper's sizes whatever the edition, and a second reference
    paper = sizes(PAPER)
    drawn = paper[2] + paper[1]
    sweeps = list(_sweeps(third))
    occurrences = sum(float(R) * m for m, R, *_ in sweeps)
    visits = sum(float(R) / size * N for _, R, size, _ in sweeps)
    largest = max(float(size) * m for m, _, size, _ in sweeps)
    pieces = cuts["experiment3.occurrences_per_job"]
    scanned = third["bandwidth_draws"] * third["features_per_bandwidth"]
    return {
        "exp3_features": Work(
            _START + _MOMENT * N * D * D + _EIGEN * D**3 + 2 * features,
            _IMPORTS + 2 * table + 8 * square,
            table,
        ),
        "exp3_exact_part": Work(5 * _START + _PAIR * (N * N / 2 + N * reference)),
        "exp3_batches_part": Work(
            _START * pieces
            + _DRAWN * occurrences
            + rank * (_OCCURRENCE * occurrences + _VISIT * visits),
            _IMPORTS + 2 * table + 6 * largest,
            24 * N * pieces,
        ),
        "exp3_sweep": Work(
            len(sweeps) * (_START + _SCORE * N), _IMPORTS + 2 * table, 24 * N * len(sweeps)
        ),
        "exp3_scaling": Work(2 * _START, _IMPORTS + 3 * table),
        "exp3_bandwidths": Work(
            # so few features at a time stay in the cache
            _START + _FEATURE / 2 * events * len(third["bandwidth_scan"]) * float(scanned)
        ),
        "exp3_scatter_part": Work(
            _START * cuts["experiment3.scatter.surrogates_per_job"]
            + _FEATURE * scatter["surrogates"] * drawn * D,
            _IMPORTS + 340 * drawn,
        ),
        "exp3_seeds_part": Work(
            _START * cuts["experiment3.scatter.seeds_per_job"] + scatter["seeds"] * features,
            _IMPORTS + 340 * events,
        ),
        "exp3 small studies": Work(
            _SMALL_STUDIES * features, _IMPORTS + 2 * table + 6 * square, 90 * events
        ),
    }


def _statistics(config: Mapping[str, Any]) -> Work:
    """Return the cost of the study of other statistics."""
    study = config["statistics"]
    scored = float(study["toys"]) * (study["signal_events"] + study["background_events"])
    mapped = float(study["map"]["cells"]) ** 2 * study["map"]["contexts"] * max(study["m"])
    joined = scored * len(study["m"]) * study["occurrences"] + mapped
    started = _START * jobs(config)["statistics.toys_per_job"]
    return Work(started + _JOINED * len(study["names"]) * joined, _IMPORTS * 2)


def _growth(config: Mapping[str, Any]) -> Work:
    """Return the cost of the benchmark, of which the largest sizes are nearly all."""
    sizes = config["growth"]
    N, m, R, D = (float(sizes[name][-1]) for name in "NmRD")
    middle = {name: float(sizes[name][len(sizes[name]) // 2]) for name in "NmRD"}
    occurrences = (m * middle["R"] + middle["m"] * R) * middle["D"]
    occurrences += middle["m"] * middle["R"] * D
    once = _PAIR * N * N / 2 + _OCCURRENCE * occurrences + _FEATURE * N * middle["D"]
    return Work(
        _START + 2 * (sizes["repeats"] + 1) * once,
        _IMPORTS + 8 * max(N * middle["D"], middle["N"] * D) + 6 * m * sizes["group_size"],
    )


def _sweeps(third: Mapping[str, Any]) -> list[tuple[int, int, int, list[int]]]:
    """Return m, the last R, the size of a group and the checkpoints of every run of batches."""
    scan, run = third["m_scan"], third["r_scan"]
    found = {
        m: (scan["R"], size, sorted({R for R in (*run["R"], scan["R"]) if R <= scan["R"]}))
        for m, size in zip(scan["m"], scan["group_size"], strict=True)
    }
    found[run["m"]] = (run["R"][-1], run["group_size"], run["R"])
    return [(m, *rest) for m, rest in found.items()]


def _toys_by_size(second: Mapping[str, Any]) -> dict[int, int]:
    """Return the toys of Experiment II at each size: a size that two studies share, once."""
    scan = second["n_scan"]
    toys = dict.fromkeys(scan["N"], scan["toys"])
    toys[second["N"]] = max(second["toys"], toys.get(second["N"], 0))
    return toys


def _toys(rule: str, toys: Mapping[int, int], per_job: int) -> Work:
    count = sum(toys.values())
    return Work(
        seconds=_START * sum(_cut(number, per_job) for number in toys.values())
        + _TOY_EVENT[rule] * sum(float(N) * number for N, number in toys.items()),
        memory=_IMPORTS + 200.0 * max(toys),
        disk=float(_TOY_ROW * count),
    )


def _companions(study: Mapping[str, Any], sizes: Iterable[int]) -> int:
    contexts = study["contexts"]
    most = max(contexts) if isinstance(contexts, list) else contexts
    probes = study["signal_probes"] + study["background_probes"]
    return int(probes * most * sum(sizes))


def _cut(number: int, size: int) -> int:
    return math.ceil(number / size)
