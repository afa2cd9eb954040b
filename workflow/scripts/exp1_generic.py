"""The variance ratio in the generic first-order regime: exact curves and simulation."""

from dataclasses import replace

import _packages
import numpy as np
import pandas as pd
from localizer.base.randomness import stream
from localizer.experiments import precision
from localizer.models.gaussian import GaussianBenchmark
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    model = GaussianBenchmark(**p.model)
    sizes = np.unique(np.geomspace(min(p.m), p.m_max, 200).round().astype(int))
    curves = [
        precision.generic_curve(replace(model, epsilon=epsilon), [int(m) for m in sizes])
        for epsilon in p.epsilon
    ]
    files.write_csv(pd.concat(curves, ignore_index=True), snakemake.output.curve)

    points = []
    for epsilon in p.epsilon:
        mixture = replace(model, epsilon=epsilon)
        counts = {"signal": p.signal_probes, "background": p.background_probes}
        study = f"generic {epsilon}"
        x, labels = precision.probes(p.seed, study, model=mixture, **counts)
        for m in stage.track(p.m):
            table = precision.forced_table(
                p.seed, study, x, labels, model=mixture, m=m, contexts=[p.contexts]
            )
            points.append(precision.precision(table, mixture).assign(epsilon=epsilon))
    linear = [
        {
            "m": m,
            "ratio": precision.linear_statistic_ratio(
                stream(p.seed, "experiment1", "linear", m), m=m, contexts=p.contexts
            ),
        }
        for m in p.m
    ]
    files.write_csv(pd.concat(points, ignore_index=True), snakemake.output.points)
    files.write_csv(pd.DataFrame(linear), snakemake.output.linear)
