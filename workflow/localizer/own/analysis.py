"""The analysis of a user's own data, step by step: what the workflow's jobs do, and `score` does.

Sample and reference are :mod:`prepared <localizer.own.problem>`; the events are scored
(:func:`event_table`); draws without a departure are scored in the same way (:func:`null_draws`);
and the first are held against the second (:func:`calibrated`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from localizer.base.checks import Array
from localizer.estimators.weights import Weights, worth
from localizer.own import calibration, significance
from localizer.own.batch_estimates import batch_estimates
from localizer.own.bootstrap import bootstrap
from localizer.own.crossfit import cross_fit
from localizer.own.defaults import NullDrawsFrom
from localizer.own.progress import Advance, unseen
from localizer.own.recipe import Recipe, Streams, choose
from localizer.own.score import EventScores, score_events
from localizer.own.significance import NullDraws
from localizer.own.top_events import departures, ranks


def event_table(
    sample: Array,
    reference: Array,
    recipe: Recipe,
    streams: Streams,
    *,
    weights: Weights | None = None,
    folds: int = 0,
    batches: Mapping[str, Any] | None = None,
    scored: EventScores | None = None,
    advance: Advance = unseen,
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return a row of scores for every event of the sample, and how they were made.

    Parameters
    ----------
    weights
        Those of the events, where they have some.
    folds, batches
        The keys of these names in the configuration.
    scored
        The scores where jobs have shared the events, see :func:`localizer.own.score.rows_of`.
    advance
        Is told how many events were scored.
    """
    refuse_with_weights(weights, folds=folds, batches=batches)
    choices = choose(sample, reference, recipe, streams)
    scored = scored or score_events(
        sample, reference, recipe, streams, weights=weights, choices=choices, advance=advance
    )
    by = scored.ranked(recipe.ranking)
    table: dict[str, Any] = {
        "rank": ranks(by),
        "departure": departures(by),
        "loo": scored.loo,
        "error": scored.standard_error,
        "error_features": scored.error_features,
        "studentized": scored.studentized,
        "witness": scored.witness,
    }
    about: dict[str, Any] = {
        "ranking": recipe.ranking,
        "method": scored.method,
        "d_med": choices.d_med,
        "bandwidths": list(choices.bank.bandwidths),
    }
    if weights:
        table["sample_weight"] = weights.sample
        about["worth"] = {
            "sample": worth(weights.sample),
            "reference": worth(weights.reference),
        }
    if folds:
        table["cross_fitted"] = cross_fit(sample, reference, recipe, streams, k=folds).loo
    if batches and batches["estimators"]:
        size = {name: batches[name] for name in ("m", "R", "group_size", "rank")}
        estimates = batch_estimates(sample, reference, recipe, streams, choices=choices, **size)
        drawn = estimates.scores.drawn
        for name in batches["estimators"]:
            # an event that no batch drew has no estimate
            table[name] = np.where(drawn, getattr(estimates.scores, name), np.nan)
            table[f"{name}_error"] = estimates.errors[name]
        about["batches"] = {
            "events_drawn": int(np.count_nonzero(drawn)),
            "target_correlation": estimates.target_correlation,
        }
    return pd.DataFrame(table), about


def refuse_with_weights(
    weights: Weights | None, *, folds: int, batches: Mapping[str, Any] | None
) -> None:
    """Refuse what takes no account of weights."""
    asked = {"folds": bool(folds), "batches.estimators": bool(batches and batches["estimators"])}
    for key, wanted in asked.items():
        if weights and wanted:
            raise ValueError(f"score.{key} takes no account of weights; leave one of the two out")


def null_draws(
    sample: Array,
    reference: Array,
    recipe: Recipe,
    streams: Streams,
    *,
    source: NullDrawsFrom,
    numbers: range,
    top: int,
    weights: Weights | None = None,
    advance: Advance = unseen,
) -> NullDraws:
    """Return the statistics of some samples without a departure.

    Parameters
    ----------
    source
        Where they come from, see :func:`drawn_from`.
    """
    options: dict[str, Any] = {"numbers": numbers, "top": top, "advance": advance}
    drawn = drawn_from(source, weights)
    if drawn == "bootstrap":
        return bootstrap(sample, reference, recipe, streams, weights=weights, **options)
    if drawn == "permutations":
        return significance.permutations(sample, reference, recipe, streams, **options)
    return significance.pseudoexperiments(len(sample), reference, recipe, streams, **options)


def drawn_from(source: NullDrawsFrom, weights: Weights | None) -> NullDrawsFrom:
    """Return where draws without a departure come from: ``auto`` decided, a mistake refused."""
    if source == "auto":
        return "bootstrap" if weights else "permutations"
    if weights and source != "bootstrap":
        raise ValueError(
            f"score.calibration.from: {source} are not valid for events with weights; use bootstrap"
        )
    return source


def calibrated(
    scores: pd.DataFrame,
    sample: Array,
    reference: Array,
    recipe: Recipe,
    streams: Streams,
    null: NullDraws,
    *,
    source: NullDrawsFrom,
    top: int,
    weights: Weights | None = None,
) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return what is found beside samples without a departure, and the largest scores by rank.

    Parameters
    ----------
    scores
        What :func:`event_table` returned, with a column ``label`` where there are labels.
    null
        All draws.
    """
    observed = significance.observe(sample, reference, recipe, streams, top=top, weights=weights)
    decided = recipe.for_calibration(len(sample), len(reference)).method
    alike = decided == recipe.for_scores(len(sample), len(reference)).method
    found = {
        **calibration.summary(observed, null, draws_from=drawn_from(source, weights)),
        **{"calibration_method": decided, "events": len(sample)},
        "reference_events": len(reference),
        **calibration.auc_by_label(scores),
    }
    return found, calibration.ranking(scores, observed, null, by=recipe.ranking, alike=alike)
