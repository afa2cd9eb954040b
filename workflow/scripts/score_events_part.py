"""Score some events of the sample, for jobs that share them."""

from functools import partial

import _packages
from localizer.base.randomness import stream
from localizer.own import problem, score
from localizer.own.recipe import Recipe
from stage import Stage, files

with Stage(snakemake):
    params = snakemake.params
    arrays = files.read_npz(snakemake.input.problem)
    scored = score.score_events(
        *(arrays["sample"], arrays["reference"], Recipe(**params.recipe)),
        partial(stream, params.seed, "score"),
        weights=problem.weights_of(arrays),
        rows=score.rows_of(len(arrays["sample"]), params.part, params.jobs),
        sums=score.joined_sums([files.read_npz(part) for part in snakemake.input.sums]),
    )
    files.write_npz(scored.as_dict(), snakemake.output[0])
