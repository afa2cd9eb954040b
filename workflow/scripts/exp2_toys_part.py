"""Some of the toys of Experiment II at one size, one row each."""

import _packages
import pandas as pd
from localizer.experiments.experiment2 import LatentModel, toy_row
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    model = LatentModel(**p.model)
    rows = [toy_row(p.seed, toy, model=model, N=p.N) for toy in stage.track(p.numbers)]
    files.write_csv(pd.DataFrame(rows), snakemake.output[0])
