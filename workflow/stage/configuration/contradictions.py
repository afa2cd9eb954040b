"""Values that are valid alone but contradict each other: one sentence for each pair."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

from localizer.comparison.known import BASELINE, PAPER_RATIO

from stage.configuration.model import Configuration

LARGEST_GROUP = 2**31 - 1
"""Occurrences in a group of batches are numbered in 32 bits."""

MEAN_OCCURRENCES = 2**15
"""With replacement, an event is then in at most 2^16 places of a group of batches."""

LARGEST_JOB = 2**38
"""Bytes: a job that needs more runs nowhere."""

_BATCH = "a batch cannot be larger than the sample,"
_AT_MOST = (
    ("experiment1.m", _BATCH, "experiment1.N"),
    ("experiment2.recovery.m", _BATCH, "experiment2.recovery.N"),
    ("experiment2.n_scan.context_toys", "it must be at most", "experiment2.n_scan.toys"),
    ("experiment2.recovery.batch_toys", "it must be at most", "experiment2.recovery.target_toys"),
)


def value(config: Configuration, key: str) -> Any:
    """Return the value of a key, by its full name."""
    return reduce(getattr, key.split("."), config)


def found(config: Configuration) -> Iterator[str]:
    """Say what contradicts what in a configuration of which each value is sound."""
    yield from _classes(config)
    for key, words, limit in _AT_MOST:
        if value(config, key) > value(config, limit):
            yield f"{key} is {value(config, key)}; {words} {limit} = {value(config, limit)}."
    second = config.experiment2.recovery
    for R in second.R:
        if R % second.group_size:
            yield (
                f"experiment2.recovery.R holds {R}; it must be a multiple of "
                f"experiment2.recovery.group_size = {second.group_size}."
            )
    yield from _sweeps(config)
    yield from _statistics(config)
    yield from _comparison(config)
    yield from _own(config)
    yield from _too_large(config)


def _classes(config: Configuration) -> Iterator[str]:
    """Say which sample has no event of one class."""
    for key in ("experiment1.N", "experiment2.N", "experiment2.recovery.N", "experiment2.n_scan.N"):
        section = key.partition(".")[0]
        epsilon, sizes = value(config, f"{section}.model.epsilon"), value(config, key)
        for N in sizes if isinstance(sizes, list) else [sizes]:
            if not 1 <= round(epsilon * N) <= N - 1:
                yield (
                    f"{key} is {N}, of which {section}.model.epsilon = {epsilon:g} makes "
                    f"{round(epsilon * N)} signal events; it must leave at least one event of each "
                    "class."
                )


def _sweeps(config: Configuration) -> Iterator[str]:
    """Say which batches of Experiment III cannot be shared by the two scans, or leave no fit."""
    third = config.experiment3
    scan, run = third.m_scan, third.r_scan
    if len(scan.group_size) != len(scan.m):
        yield (
            f"experiment3.m_scan.group_size has {len(scan.group_size)} entries; it must have "
            f"one for each of the {len(scan.m)} entries of experiment3.m_scan.m."
        )
        return
    shared = dict(zip(scan.m, scan.group_size, strict=True)).get(run.m, run.group_size)
    if shared != run.group_size:
        yield (
            f"experiment3.r_scan.group_size is {run.group_size}; it must be {shared} as in "
            f"experiment3.m_scan, because the batches of m = {run.m} are the same."
        )
    for name, m, size in _batches_of_iii(config):
        if not third.replacement and m > third.max_events:
            yield f"{name}.m is {m}; {_BATCH} experiment3.max_events = {third.max_events}."
        elif third.replacement and m * size > MEAN_OCCURRENCES * third.max_events:
            yield (
                f"{name}.group_size is {size}; with {name}.m = {m} each of at most "
                f"experiment3.max_events = {third.max_events} events is in a group "
                f"{m * size / third.max_events:.0f} times, and at most {MEAN_OCCURRENCES} are "
                "allowed."
            )
    if scan.R > run.R[-1] and run.m in scan.m:
        yield (
            f"experiment3.m_scan.R is {scan.R}; it must be at most the last of "
            f"experiment3.r_scan.R, {run.R[-1]}."
        )
    for name, sizes in (("m_scan", scan.group_size), ("r_scan", [run.group_size])):
        for size in sizes:
            odd = next((R for R in (scan.R, *run.R) if R % size), None)
            if odd is not None:
                yield (
                    f"experiment3.{name}.group_size holds {size}; it must divide every number "
                    f"of batches in experiment3.m_scan.R and experiment3.r_scan.R, and {odd} "
                    "is not a multiple of it."
                )
    grid = {(m, R) for m in scan.m for R in (*run.R, scan.R) if R <= scan.R}
    grid |= {(run.m, R) for R in run.R}
    used = sum(R * m * m >= third.fit_minimum for m, R in grid)
    if used < 3:
        yield (
            f"experiment3.fit_minimum is {third.fit_minimum:g}; it must leave at least 3 of the "
            f"{len(grid)} points (m, R) of experiment3.m_scan and experiment3.r_scan to fit, it "
            f"leaves {used}."
        )


def _batches_of_iii(config: Configuration) -> list[tuple[str, int, int]]:
    """Return the section, the batch size and the group size of each m of Experiment III."""
    scan, run = config.experiment3.m_scan, config.experiment3.r_scan
    pairs = zip(scan.m, scan.group_size, strict=False)
    return [
        ("experiment3.r_scan", run.m, run.group_size),
        *(("experiment3.m_scan", m, size) for m, size in pairs),
    ]


def _statistics(config: Configuration) -> Iterator[str]:
    """Say where the other statistics ask for more than a toy of Experiment I has."""
    first, study = config.experiment1, config.statistics
    signal = round(first.model.epsilon * first.N)
    for m in study.m:
        if m >= first.N:
            yield f"statistics.m holds {m}; it must be below experiment1.N = {first.N}."
        if m >= study.map.N:
            yield f"statistics.map.N is {study.map.N}; it must be above statistics.m, {m}."
    for name, events in (("signal_events", signal), ("background_events", first.N - signal)):
        if getattr(study, name) > events:
            yield (
                f"statistics.{name} is {getattr(study, name)}; it must be at most {events}, as "
                f"many as a toy of experiment1.N = {first.N} events has."
            )


def _comparison(config: Configuration) -> Iterator[str]:
    """Say which problems of the comparison cannot be made or shown."""
    section = config.comparison
    if section.sic_floor not in section.sic_floors:
        yield (
            f"comparison.sic_floor is {section.sic_floor}; it must be one of "
            f"comparison.sic_floors, {section.sic_floors}."
        )
    if section.bump.informative > section.bump.features:
        yield (
            f"comparison.bump.informative is {section.bump.informative}; it must be at most "
            f"comparison.bump.features = {section.bump.features}."
        )
    for name in ("small", "full"):
        version = getattr(section, name)
        if BASELINE in version.without:
            yield (
                f"comparison.{name}.without holds {BASELINE}; all others are compared with it: "
                "it must stay."
            )
        for part, fractions in (("scan", section.signal_fractions), ("whole", [1.0])):
            sizes = getattr(version, part)
            if sizes.mocks and round(min(fractions) * PAPER_RATIO * sizes.background) < 1:
                yield (
                    f"comparison.{name}.{part}.background is {sizes.background}; with "
                    f"{min(fractions):g} of the paper's signal fraction it holds no signal event."
                )
        if not (version.scan.mocks and version.toys.mocks):
            part = "toys" if version.scan.mocks else "scan"
            yield f"comparison.{name}.{part}.mocks is 0; the figures need at least 2."
        for key, epsilon in (
            ("experiment1.model.epsilon", config.experiment1.model.epsilon),
            ("experiment2.model.epsilon", config.experiment2.model.epsilon),
            ("comparison.bump.epsilon", section.bump.epsilon),
        ):
            N = version.toys.N
            if not 1 <= round(epsilon * N) <= N - 1:
                yield (
                    f"comparison.{name}.toys.N is {N}, of which {key} = {epsilon:g} makes "
                    f"{round(epsilon * N)} signal events; it must leave at least one event of "
                    "each class."
                )


def _own(config: Configuration) -> Iterator[str]:
    """Say what cannot be asked of a user's own data."""
    score = config.score
    if score and score.folds and score.source == "reference":
        yield (
            f"score.folds is {score.folds}; with score.source = reference nothing is decided from "
            "the sample, and there is nothing to cross-fit: it must be 0."
        )
    if score and (
        score.batches.R % score.batches.group_size or score.batches.R == score.batches.group_size
    ):
        yield (
            f"score.batches.R is {score.batches.R}; it must be two or more times "
            f"score.batches.group_size = {score.batches.group_size}, a whole number of groups."
        )


def _too_large(config: Configuration) -> Iterator[str]:
    """Say which product of sizes no job can hold."""
    second, third = config.experiment2.recovery, config.experiment3
    groups = [("experiment2.recovery", second.m, second.group_size), *_batches_of_iii(config)]
    if config.score:
        groups += [("score.batches", config.score.batches.m, config.score.batches.group_size)]
    for section, m, size in groups:
        if m * size > LARGEST_GROUP:
            yield (
                f"{section}.group_size is {size}; with {section}.m = {m} a group must hold at "
                f"most {LARGEST_GROUP} occurrences, it holds {m * size}."
            )
    for key, needed in (
        # the factors of the pair kernel, of rank 1024 or less, for every event
        ("experiment2.recovery.N", 16 * 1024 * second.N),
        # the second moments of the features, in double precision, and their eigenvectors
        (
            "experiment3.features_per_bandwidth",
            16 * (len(third.bandwidths) * third.features_per_bandwidth) ** 2,
        ),
    ):
        if needed > LARGEST_JOB:
            yield (
                f"{key} is {value(config, key)}; one job would take {needed / 2**30:.3g} GiB of "
                f"memory, and at most {LARGEST_JOB // 2**30} GiB are allowed."
            )
