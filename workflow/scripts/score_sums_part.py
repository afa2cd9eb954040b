"""Sum random features over some chunks of the events, for jobs that share the scores."""

from functools import partial

import _packages
from localizer.base.randomness import stream
from localizer.own import problem, score
from localizer.own.recipe import Recipe
from stage import Stage, files

with Stage(snakemake):
    params = snakemake.params
    arrays = files.read_npz(snakemake.input.problem)
    sums = score.feature_sums(
        *(arrays["sample"], arrays["reference"], Recipe(**params.recipe)),
        partial(stream, params.seed, "score"),
        weights=problem.weights_of(arrays),
        part=params.part,
        parts=params.jobs,
    )
    files.write_npz(sums, snakemake.output[0])
