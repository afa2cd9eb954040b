"""Score every event of the sample: how much it contributes to the departure."""

from functools import partial

import _packages
import numpy as np
import pandas as pd
from localizer.base.randomness import stream
from localizer.own import batch_estimates, crossfit, score
from localizer.own.recipe import Recipe, choose
from localizer.own.top_events import ranks
from stage import Stage, files

with Stage(snakemake):
    params = snakemake.params
    problem = files.read_npz(snakemake.input.problem)
    sample, reference = problem["sample"], problem["reference"]
    recipe = Recipe(**params.recipe).decided(len(sample), len(reference))
    streams = partial(stream, params.seed, "score")

    choices = choose(sample, reference, recipe, streams)
    scored = score.score_events(sample, reference, recipe, streams, choices=choices)
    about = {
        "method": scored.method,
        "d_med": choices.d_med,
        "bandwidths": [choices.d_med * factor for factor in recipe.factors],
    }
    table = {
        "event": pd.read_parquet(snakemake.input.events, columns=["event"])["event"],
        "rank": ranks(scored.loo),
        "loo": scored.loo,
        "error": scored.standard_error,
        "error_features": scored.error_features,
        "witness": scored.witness,
    }
    if params.folds:
        fitted = crossfit.cross_fit(sample, reference, recipe, streams, k=params.folds)
        table["cross_fitted"] = fitted.loo
    if params.batches["estimators"]:
        size = {name: params.batches[name] for name in ("m", "R", "group_size", "rank")}
        estimates = batch_estimates.batch_estimates(
            sample, reference, recipe, streams, choices=choices, **size
        )
        drawn = estimates.scores.drawn
        for name in params.batches["estimators"]:
            # an event that no batch drew has no estimate
            table[name] = np.where(drawn, getattr(estimates.scores, name), np.nan)
            table[f"{name}_error"] = estimates.errors[name]
        about["batches"] = {
            "events_drawn": int(np.count_nonzero(drawn)),
            "target_correlation": estimates.target_correlation,
        }
    if "label" in problem:
        table["label"] = problem["label"]
    files.write_parquet(pd.DataFrame(table), snakemake.output.scores)
    files.write_json(about, snakemake.output.about)
