"""The scores of explicitly resampled events against the analytic expectation (Fig. 1)."""

import pandas as pd
from localizer import experiment1
from localizer.gaussian import GaussianBenchmark
from stage import Stage, files

with Stage(snakemake):
    model = GaussianBenchmark(**snakemake.params.model)
    table = pd.read_csv(snakemake.input.forced)
    largest = table[table["contexts"] == table["contexts"].max()]
    files.write_csv(largest, snakemake.output.scores)
    files.write_csv(experiment1.resampling_summary(table, model), snakemake.output.scaling)
