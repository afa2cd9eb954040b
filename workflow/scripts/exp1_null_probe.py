"""An extreme event among background companions: its score and the exact error of it."""

from dataclasses import replace

import _packages
import numpy as np
import pandas as pd
from localizer.base.randomness import stream
from localizer.estimators import forced
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory.variance import ContextVariance
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    null = replace(GaussianBenchmark(**p.model), epsilon=0.0)
    contexts = forced.fresh(forced.population(null))
    exact = np.sqrt(ContextVariance(null).of("raw", m=p.m)([p.x])[0] / p.contexts)
    rows = []
    for replica in stage.track(range(p.replicas)):
        rngs = [stream(p.seed, "experiment1", "null probe", replica)]
        scores = forced.mmd_scores(
            [p.x], m=p.m, R=p.contexts, h=null.h, contexts=contexts, rngs=rngs
        )["raw"]
        rows.append(
            {
                "replica": replica,
                "score": scores.mean[0],
                "standard_error": scores.standard_error[0],
                "exact_standard_error": exact,
            }
        )
    files.write_csv(pd.DataFrame(rows), snakemake.output[0])
