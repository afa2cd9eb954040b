"""Localize another statistic: its matched marginal contribution for a range of events."""

from functools import partial

import _packages
import numpy as np
import pandas as pd
from localizer.base.randomness import stream
from localizer.estimators import batch_statistic, localize, statistics
from localizer.own.recipe import Recipe, choose
from stage import Stage, files

with Stage(snakemake):
    params = snakemake.params
    problem = files.read_npz(snakemake.input.problem)
    streams = partial(stream, params.seed, "score")
    recipe = Recipe(**params.recipe)
    # in the coordinates and with the bandwidths of the scores, so that the two can be compared
    choices = choose(problem["sample"], problem["reference"], recipe, streams)
    # some of these statistics visit every pair of events, so that a pool of them must do
    rows = {
        name: streams("statistics", name).permutation(len(problem[name]))[: params.pool]
        for name in ("sample", "reference")
    }
    sample, reference = (choices.transform(problem[name][rows[name]]) for name in rows)
    bandwidths = [choices.d_med * factor for factor in recipe.factors]
    chosen = statistics.by_name(params.statistic, bandwidths=bandwidths, features=params.features)
    prepared = chosen.prepare(reference)
    batch_statistic.check(
        prepared, sample, m=params.m, rng=streams("statistics", params.statistic, "check")
    )
    scored = np.arange(min(params.max_events, len(sample)))
    events = np.array_split(scored, params.jobs)[params.part]
    localized = localize.localize(
        prepared,
        sample,
        m=params.m,
        R=params.contexts,
        seed=params.seed,
        key=("score", params.statistic),
        probes=events,
    )
    table = {"row": rows["sample"][events], "statistic": params.statistic}
    for name in ("addition", "replacement", "raw"):
        table |= {name: localized[name].mean, f"{name}_error": localized[name].standard_error}
    files.write_csv(pd.DataFrame(table), snakemake.output[0])
