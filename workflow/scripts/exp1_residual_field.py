"""The witness over the plane in the pseudoexperiment with the smallest LOO AUC."""

import _packages
import pandas as pd
from localizer.experiments import experiment1
from localizer.models.gaussian import GaussianBenchmark
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    model = GaussianBenchmark(**p.model)
    number = experiment1.worst(pd.read_csv(snakemake.input.toys))
    sample = experiment1.toy(p.seed, number, model=model, N=p.N)
    field = experiment1.residual_field(sample, model)
    files.write_csv(field.assign(toy=number), snakemake.output[0])
