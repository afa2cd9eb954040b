"""Some of the pseudoexperiments of Experiment I, one row each."""

import _packages
import pandas as pd
from localizer.experiments.experiment1 import toy_row
from localizer.models.gaussian import GaussianBenchmark
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    model = GaussianBenchmark(**p.model)
    rows = [toy_row(p.seed, toy, model=model, N=p.N, m=p.m) for toy in stage.track(p.numbers)]
    files.write_csv(pd.DataFrame(rows), snakemake.output[0])
