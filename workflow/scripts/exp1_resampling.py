"""The scores of explicitly resampled events against the analytic expectation (Fig. 1)."""

import _packages
import pandas as pd
from localizer.experiments import precision
from localizer.models.gaussian import GaussianBenchmark
from stage import Stage, files

with Stage(snakemake):
    model = GaussianBenchmark(**snakemake.params.model)
    table = pd.read_csv(snakemake.input.forced)
    largest = table[table["contexts"] == table["contexts"].max()]
    files.write_csv(largest, snakemake.output.scores)
    files.write_csv(precision.resampling_summary(table, model), snakemake.output.scaling)
