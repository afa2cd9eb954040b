"""The exact targets of some toys with a mu of given length, and their predicted correlation."""

import _packages
import pandas as pd
from localizer.experiments import experiment2
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    model = experiment2.LatentModel(**p.model)
    rows = []
    for toy in stage.track(p.numbers):
        for construction in experiment2.CONSTRUCTIONS:
            sample, mu = experiment2.recovery_sample(
                p.seed, toy, construction, model=model, N=p.N, mu_norm=p.mu_norm
            )
            targets = experiment2.recovery_targets(
                sample, mu, model=model, m=p.m, R=p.R, tol=p.tolerance
            )
            rows.append({"construction": construction, "toy": toy, **targets})
    files.write_csv(pd.DataFrame(rows), snakemake.output[0])
