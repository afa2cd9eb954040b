"""Score every event against the reference profiled over its variations."""

from functools import partial

import _packages
import pandas as pd
from localizer.base.randomness import stream
from localizer.figures import pulls
from localizer.own import nuisances, problem, variations
from localizer.own.recipe import Recipe
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    arrays = files.read_npz(snakemake.input.problem)
    about = files.read_json(snakemake.input.about)
    events = pd.read_parquet(snakemake.input.events, columns=["event"])
    weights = problem.weights_of(arrays)
    moved = variations.prepared(
        {v["name"]: {key: v[key] for key in v if key != "name"} for v in p.variations},
        features=about["features"],
        reference=arrays["reference"],
        rows=about["events"]["reference"],
        weights=weights,
        table=p.reference,
        seed=p.seed,
        max_events=p.max_events,
    )
    found = nuisances.nuisances(
        *(arrays["sample"], arrays["reference"], moved, Recipe(**p.recipe)),
        partial(stream, p.seed, "score"),
        draws=p.draws,
        weights=weights,
        label=arrays.get("label"),
    )
    scores = pd.concat([events, found.scores], axis=1)
    files.write_csv(scores.sort_values("profiled_rank"), snakemake.output.scores)
    files.write_csv(found.table, snakemake.output.table)
    with pulls.pulls(found.table) as figure:
        files.write_figure(figure, *snakemake.output.figure)
    files.write_json(
        {"answer": found.answer, **found.found, "said": found.said}, snakemake.output.about
    )
