"""Score one's own data from Python, with the keys and the defaults of the configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, get_args

import pandas as pd
from threadpoolctl import threadpool_limits

from localizer.base import checks
from localizer.base.randomness import stream
from localizer.own import analysis, top_events
from localizer.own.defaults import (
    CALIBRATION,
    DEFAULTS,
    SEED,
    CoordinateForm,
    Method,
    NullDrawsFrom,
    RankedBy,
    SharedEvents,
    Source,
)
from localizer.own.frames import as_table, index_of
from localizer.own.nuisances import nuisances
from localizer.own.problem import Problem, select, thinned
from localizer.own.progress import bar
from localizer.own.recipe import Recipe
from localizer.own.result import Result
from localizer.own.significance import joined
from localizer.own.variations import prepared

# Draws that are scored in one pass by random features: a pass holds that many scores of a block.
_DRAWS = 240


def score(
    sample: Any,
    reference: Any,
    *,
    columns: Sequence[str] = DEFAULTS.columns,
    label: str = DEFAULTS.label,
    id: str = DEFAULTS.id,  # noqa: A002
    sample_weight: str = DEFAULTS.sample_weight,
    reference_weight: str = DEFAULTS.reference_weight,
    shared_events: SharedEvents = DEFAULTS.shared_events,
    max_events: int = DEFAULTS.max_events,
    coordinates: CoordinateForm = DEFAULTS.coordinates,
    source: Source = DEFAULTS.source,
    bandwidths: Sequence[float] = DEFAULTS.bandwidths,
    ladder: Sequence[float] = DEFAULTS.ladder,
    ranking: RankedBy = DEFAULTS.ranking,
    method: Method = DEFAULTS.method,
    exact_limit: int = DEFAULTS.exact_limit,
    features_per_bandwidth: int = DEFAULTS.features_per_bandwidth,
    companions: int = DEFAULTS.companions,
    pairs: int = DEFAULTS.pairs,
    top: int = DEFAULTS.top,
    folds: int = 0,
    calibration: Mapping[str, Any] | None = None,
    variations: Mapping[str, Any] | None = None,
    seed: int = SEED,
    progress: bool = True,
) -> Result:
    """Score every event of a sample: how much it contributes to the departure from a reference.

    Parameters
    ----------
    sample, reference
        Each a DataFrame, a table of polars or pyarrow (or any that speaks the Arrow PyCapsule
        interface), an array of events by features, or the path of a file.
    columns
        The features; if empty, every column of numbers that both have.
    label, id
        Columns of the sample: 0 and 1, to measure how well the scores rank; names of the events.
    sample_weight, reference_weight
        Columns with the weights of the events; those of the reference may be negative.
    ranking
        ``contribution``: how much an event adds to the departure. ``evidence``: how significant
        the excess of the sample at the event is, which ranks rare events better.
    calibration
        The keys ``from``, ``draws`` and ``exact_limit`` of the configuration, those that differ
        from the defaults.
    variations
        Systematic variations of the reference, by name: a table of the same events varied, or of
        another sample; or a mapping with the keys ``table``, ``weight``, ``events`` and
        ``width`` (docs/imperfect-reference.md).
    seed
        Of all random numbers. The workflow finds the same p-values with the same seed.
    progress
        Whether to show a progress bar, on a terminal or in a notebook.
    shared_events, max_events, coordinates, source, bandwidths, ladder, method, exact_limit
        As in the configuration (config/README.md), as are all that are not listed here.
    features_per_bandwidth, companions, pairs, top, folds
        The same.

    Returns
    -------
    Result
        The scores, the p-values, the figures and the page.

    Examples
    --------
    >>> from functools import partial
    >>> import localizer
    >>> streams = partial(localizer.stream, 1)
    >>> reference = streams("reference").normal(size=(300, 2))
    >>> sample = streams("sample").normal(size=(200, 2))
    >>> sample[:20] = [1.5, 1.5] + 0.1 * sample[:20]
    >>> result = localizer.score(sample, reference, calibration={"draws": 99})
    >>> result.p_value
    0.02
    >>> (result.top(3).index < 20).tolist()
    [True, True, True]
    """
    settings = _calibration(calibration)
    columns = checks.listed(columns, "columns")
    checks.one_of(shared_events, "shared_events", get_args(SharedEvents))
    _refuse_no_names(
        label=label, id=id, sample_weight=sample_weight, reference_weight=reference_weight
    )
    recipe = Recipe(
        coordinates=coordinates,
        source=source,
        factors=checks.listed(bandwidths, "bandwidths"),
        ladder=checks.listed(ladder, "ladder"),
        ranking=ranking,
        method=method,
        exact_limit=exact_limit,
        calibration_limit=settings["exact_limit"],
        n_per_bandwidth=features_per_bandwidth,
        companions=companions,
        pairs=pairs,
    )
    checks.integer(top, "top")
    tables = {
        "sample": as_table(sample, "sample", event_id=id),
        "reference": as_table(reference, "reference"),
    }
    problem = select(
        **tables,
        columns=columns,
        label=label,
        event_id=id,
        sample_weight=sample_weight,
        reference_weight=reference_weight,
        shared_events=shared_events,
        keep=thinned(seed, checks.integer(max_events, "max_events", minimum=10)),
    )
    drawn_from: NullDrawsFrom = settings["from"]
    # refused before anything takes time
    analysis.drawn_from(drawn_from, problem.weights)
    moved = prepared(
        variations or {},
        features=problem.features,
        reference=problem.reference,
        rows=problem.rows["reference"],
        weights=problem.weights,
        table=tables["reference"],
        seed=seed,
        max_events=max_events,
    )
    # the last digits of a product depend on the number of BLAS's threads
    with threadpool_limits(1, user_api="blas"):
        scores, found, ranked = _analysed(
            problem, recipe, seed, drawn_from, settings["draws"], top, folds, progress
        )
        profiled = None
        if moved:
            profiled = nuisances(
                *(problem.sample, problem.reference, moved, recipe),
                partial(stream, seed, "score"),
                draws=settings["draws"],
                weights=problem.weights,
                label=problem.label,
            )
            scores = pd.concat([scores, profiled.scores], axis=1)
    events = pd.DataFrame(problem.sample, columns=list(problem.features))
    index = _index(sample, problem, id)
    portrait = top_events.portrait(
        *(scores, events, problem.reference),
        names=problem.features,
        top=top,
        rng=stream(seed, "score", "explorer"),
    )
    return Result.of(scores, events, index, found, ranked, portrait, problem, profiled)


def _analysed(
    problem: Problem,
    recipe: Recipe,
    seed: int,
    drawn_from: NullDrawsFrom,
    draws: int,
    top: int,
    folds: int,
    progress: bool,
) -> tuple[pd.DataFrame, dict[str, Any], pd.DataFrame]:
    """Return the scores, what is found of the whole sample, and the largest scores by rank."""
    x, y, w = problem.sample, problem.reference, problem.weights
    streams = partial(stream, seed, "score")
    with bar("scores", len(x), show=progress) as advance:
        scores, about = analysis.event_table(
            x, y, recipe, streams, weights=w, folds=folds, advance=advance
        )
    if problem.label is not None:
        scores["label"] = problem.label
    whole = recipe.for_calibration(len(x), len(y)).method == "exact"
    step = draws if whole else _DRAWS
    passes = -(-draws // step) if recipe.source == "pooled" else draws
    parts = []
    with bar("draws without a departure", passes * (len(x) + len(y)), show=progress) as advance:
        for first in range(0, draws, step):
            numbers = range(first, min(first + step, draws))
            parts.append(
                analysis.null_draws(
                    *(x, y, recipe, streams),
                    source=drawn_from,
                    numbers=numbers,
                    top=top,
                    weights=w,
                    advance=advance,
                )
            )
    found, ranked = analysis.calibrated(
        *(scores, x, y, recipe, streams, joined(parts)), source=drawn_from, top=top, weights=w
    )
    return scores, found | about, ranked


def _calibration(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the settings of the calibration, checked."""
    known = {
        **{"from": CALIBRATION.source, "draws": CALIBRATION.draws},
        "exact_limit": CALIBRATION.exact_limit,
    }
    if not isinstance(given or {}, Mapping):
        raise ValueError(
            f"calibration must be a mapping, for example {{'draws': 999}}, not {given!r}"
        )
    settings = {**known, **(given or {})}
    if unknown := set(settings) - set(known):
        raise ValueError(
            f"calibration has no key {min(map(str, unknown))}; there are {', '.join(known)}"
        )
    checks.integer(settings["draws"], "calibration draws", minimum=39)
    checks.one_of(settings["from"], "calibration from", get_args(NullDrawsFrom))
    return settings


def _refuse_no_names(**given: Any) -> None:
    for name, value in given.items():
        if not isinstance(value, str):
            raise ValueError(
                f"{name} must be the name of a column, not {value!r:.60}; values of "
                "your own can be added to the table as a column"
            )


def _index(sample: Any, problem: Problem, event_id: str) -> pd.Index:
    """Return the caller's names of the events that are scored."""
    if event_id:
        return pd.Index(problem.names, name=event_id)
    # without a column of names these are the numbers of the rows
    return index_of(sample, problem.rows["sample"])[problem.names.to_numpy()]
