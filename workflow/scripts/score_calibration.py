"""Hold the sample against those without a departure: p-value, and the band of the scores."""

from functools import partial

import _packages
import pandas as pd
from localizer.base.randomness import stream
from localizer.own import analysis, calibration, problem, significance
from localizer.own.recipe import Recipe
from stage import Stage, files

with Stage(snakemake):
    params = snakemake.params
    arrays = files.read_npz(snakemake.input.problem)
    parts = [
        significance.NullDraws.from_dict(files.read_npz(path)) for path in snakemake.input.parts
    ]
    found, ranking = analysis.calibrated(
        pd.read_parquet(snakemake.input.scores),
        *(arrays["sample"], arrays["reference"], Recipe(**params.recipe)),
        *(partial(stream, params.seed, "score"), significance.joined(parts)),
        source=params.draw,
        top=params.top,
        weights=problem.weights_of(arrays),
    )
    found |= files.read_json(snakemake.input.scored)
    files.write_csv(ranking, snakemake.output.ranking)
    files.write_json(found, snakemake.output.about)
    files.write_csv(calibration.in_words(found), snakemake.output.table)
