"""All toys, and the growth of the contextual information with the ensemble, by N (Fig. 5)."""

import _packages
import pandas as pd
from localizer.experiments import experiment2
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    toys = pd.concat(map(pd.read_csv, snakemake.input.parts), ignore_index=True)
    files.write_csv(toys, snakemake.output.toys)
    paired = toys[toys["N"].isin(p.N) & (toys["toy"] < p.toys)]
    files.write_csv(experiment2.n_scan(paired), snakemake.output.scan)
