"""The batches of some toys, and how near each estimator comes to the targets."""

import _packages
import pandas as pd
from localizer.experiments import experiment2
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    model = experiment2.LatentModel(**p.model)
    tables = []
    for toy in stage.track(p.numbers):
        for construction in experiment2.CONSTRUCTIONS:
            sample, _ = experiment2.recovery_sample(
                p.seed, toy, construction, model=model, N=p.N, mu_norm=p.mu_norm
            )
            tables.append(
                experiment2.recovery_run(
                    p.seed,
                    toy,
                    construction,
                    sample,
                    model=model,
                    m=p.m,
                    R=p.R,
                    replacement=p.replacement,
                    group_size=p.group_size,
                    tol=p.tolerance,
                )
            )
    files.write_csv(pd.concat(tables, ignore_index=True), snakemake.output[0])
