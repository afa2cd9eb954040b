"""Score every event of the sample: how much it contributes to the departure."""

from functools import partial

import pandas as pd
from localizer import crossfit, score
from localizer.randomness import stream
from localizer.responsible import ranks
from stage import Stage, files

with Stage(snakemake):
    params = snakemake.params
    problem = files.read_npz(snakemake.input.problem)
    sample, reference = problem["sample"], problem["reference"]
    recipe = score.Recipe(**params.recipe)
    streams = partial(stream, params.seed, "score")

    choices = score.choose(sample, reference, recipe, streams)
    scored = score.score_events(sample, reference, recipe, streams, choices=choices)
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
        estimates = score.batch_estimates(
            sample, reference, recipe, streams, choices=choices, **size
        )
        table |= {name: getattr(estimates.scores, name) for name in params.batches["estimators"]}
    if "label" in problem:
        table["label"] = problem["label"]
    files.write_parquet(pd.DataFrame(table), snakemake.output.scores)
    about = {
        "method": scored.method,
        "d_med": choices.d_med,
        "bandwidths": [choices.d_med * factor for factor in recipe.factors],
    }
    files.write_json(about, snakemake.output.about)
