"""The growth of the contextual information with the ensemble, by N (Fig. 5)."""

import _packages
import pandas as pd
from localizer.experiments import experiment2
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    toys = pd.read_csv(snakemake.input.toys)
    paired = toys[toys["N"].isin(p.N) & (toys["toy"] < p.toys)]
    files.write_csv(experiment2.n_scan(paired), snakemake.output[0])
