"""Find where the most responsible events lie: in each feature, and in pairs of features."""

import _packages
import pandas as pd
from localizer.base.randomness import stream
from localizer.own import top_events
from stage import Stage, files

with Stage(snakemake):
    arrays = files.read_npz(snakemake.input.problem)
    tables = top_events.portrait(
        pd.read_parquet(snakemake.input.scores),
        pd.read_parquet(snakemake.input.events),
        arrays["reference"],
        names=files.read_json(snakemake.input.about)["features"],
        top=snakemake.params.top,
        rng=stream(snakemake.params.seed, "score", "explorer"),
    )
    for name, table in tables.items():
        files.write_csv(table, snakemake.output[name])
