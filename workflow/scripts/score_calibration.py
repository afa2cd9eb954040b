"""Hold the sample against those without a departure: p-value, and the band of the scores."""

from functools import partial

import _packages
import pandas as pd
from localizer.base.randomness import stream
from localizer.own import calibration, significance
from localizer.own.recipe import Recipe
from stage import Stage, files

with Stage(snakemake):
    params = snakemake.params
    problem = files.read_npz(snakemake.input.problem)
    sample, reference = problem["sample"], problem["reference"]
    observed = significance.observe(
        sample,
        reference,
        Recipe(**params.recipe).decided(len(sample), len(reference)),
        partial(stream, params.seed, "score"),
        top=params.top,
    )
    parts = [
        significance.NullDraws.from_dict(files.read_npz(path)) for path in snakemake.input.parts
    ]
    null = significance.joined(parts)
    scores = pd.read_parquet(snakemake.input.scores)
    files.write_csv(calibration.ranking(scores, null), snakemake.output.ranking)

    used = files.read_json(snakemake.input.about)["used"]
    found = {
        **calibration.summary(observed, null, draws_from=params.draw),
        **{"events": used["sample"], "reference_events": used["reference"]},
        **files.read_json(snakemake.input.scored),
        **calibration.auc_by_label(scores),
    }
    files.write_json(found, snakemake.output.about)
    names = {name: value for name, value in found.items() if isinstance(value, int | float)}
    files.write_csv(
        pd.DataFrame(
            {
                "quantity": [calibration.WORDS.get(name, name) for name in names],
                "value": list(names.values()),
            }
        ),
        snakemake.output.table,
    )
