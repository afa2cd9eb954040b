"""Score every event of the sample: how much it contributes to the departure."""

from functools import partial

import _packages
import pandas as pd
from localizer.base.randomness import stream
from localizer.own import analysis, problem, score
from localizer.own.recipe import Recipe
from stage import Stage, files

with Stage(snakemake):
    params = snakemake.params
    arrays = files.read_npz(snakemake.input.problem)
    parts = [score.EventScores.from_dict(files.read_npz(part)) for part in snakemake.input.parts]
    table, about = analysis.event_table(
        *(arrays["sample"], arrays["reference"], Recipe(**params.recipe)),
        partial(stream, params.seed, "score"),
        weights=problem.weights_of(arrays),
        folds=params.folds,
        batches=params.batches,
        scored=score.EventScores.joined(parts) if parts else None,
    )
    table.insert(0, "event", pd.read_parquet(snakemake.input.events, columns=["event"])["event"])
    if "label" in arrays:
        table["label"] = arrays["label"]
    files.write_parquet(table, snakemake.output.scores)
    files.write_json(about, snakemake.output.about)
