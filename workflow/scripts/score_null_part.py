"""Score samples without a departure: permutations, or sample-sized parts of the reference."""

from functools import partial

import _packages
from localizer.base.randomness import stream
from localizer.own import significance
from localizer.own.recipe import Recipe
from stage import Stage, files

with Stage(snakemake):
    params = snakemake.params
    problem = files.read_npz(snakemake.input.problem)
    sample, reference = problem["sample"], problem["reference"]
    recipe = Recipe(**params.recipe).decided(len(sample), len(reference))
    streams = partial(stream, params.seed, "score")
    options = {
        "numbers": range(params.numbers[0], params.numbers[-1] + 1),
        "top": params.top,
    }
    if params.draw == "permutations":
        null = significance.permutations(sample, reference, recipe, streams, **options)
    else:
        null = significance.pseudoexperiments(len(sample), reference, recipe, streams, **options)
    files.write_npz(null.as_dict(), snakemake.output[0])
