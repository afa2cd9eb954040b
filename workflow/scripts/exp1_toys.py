"""All pseudoexperiments; the ROC curves of a representative one, and the field of the worst."""

import _packages
import pandas as pd
from localizer.experiments import experiment1
from localizer.models.gaussian import GaussianBenchmark
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    model = GaussianBenchmark(**p.model)
    toys = pd.concat(map(pd.read_csv, snakemake.input.parts), ignore_index=True)
    files.write_csv(toys, snakemake.output.toys)
    number = experiment1.representative(toys)
    stage.say(f"toy {number} is nearest to the medians of the three AUCs")
    sample = experiment1.toy(p.seed, number, model=model, N=p.N)
    curves = experiment1.roc_curves(sample, model)
    files.write_csv(curves.assign(toy=number), snakemake.output.roc)
    worst = experiment1.worst(toys)
    sample = experiment1.toy(p.seed, worst, model=model, N=p.N)
    field = experiment1.residual_field(sample, model)
    files.write_csv(field.assign(toy=worst), snakemake.output.field)
