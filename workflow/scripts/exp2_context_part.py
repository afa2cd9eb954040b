"""The contextual posterior of the toys of one size: its AUC and its information."""

import _packages
import pandas as pd
from localizer.experiments import experiment2
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    model = experiment2.LatentModel(**p.model)
    rows = [
        experiment2.context_row(p.seed, toy, model=model, N=p.N)
        for toy in stage.track(range(p.toys))
    ]
    files.write_csv(pd.DataFrame(rows), snakemake.output[0])
