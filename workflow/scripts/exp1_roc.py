"""The ROC curves of the representative pseudoexperiment."""

import _packages
import pandas as pd
from localizer.experiments import experiment1
from localizer.models.gaussian import GaussianBenchmark
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    model = GaussianBenchmark(**p.model)
    number = experiment1.representative(pd.read_csv(snakemake.input.toys))
    stage.say(f"toy {number} is nearest to the medians of the three AUCs")
    sample = experiment1.toy(p.seed, number, model=model, N=p.N)
    curves = experiment1.roc_curves(sample, model)
    files.write_csv(curves.assign(toy=number), snakemake.output[0])
