"""Score samples without a departure: some of the draws that the scores are held against."""

from functools import partial

import _packages
from localizer.base.randomness import stream
from localizer.own import analysis, problem
from localizer.own.recipe import Recipe
from stage import Stage, files

with Stage(snakemake):
    params = snakemake.params
    arrays = files.read_npz(snakemake.input.problem)
    null = analysis.null_draws(
        *(arrays["sample"], arrays["reference"], Recipe(**params.recipe)),
        partial(stream, params.seed, "score"),
        source=params.draw,
        numbers=range(params.numbers[0], params.numbers[-1] + 1),
        top=params.top,
        weights=problem.weights_of(arrays),
    )
    files.write_npz(null.as_dict(), snakemake.output[0])
