"""Map what each statistic localizes over the plane, in a large sample."""

import _packages
import pandas as pd
from localizer.estimators import statistics
from localizer.experiments import other_statistics
from localizer.models.gaussian import GaussianBenchmark
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    model = GaussianBenchmark(**p.model)
    background = other_statistics.reference(p.seed, model=model, events=p.reference)
    sample = other_statistics.large_sample(p.seed, model=model, N=p.N)
    maps = [
        other_statistics.score_map(
            p.seed,
            sample,
            statistics.by_name(name, bandwidths=[model.h], **p.options).prepare(background),
            model=model,
            m=max(p.m),
            R=p.contexts,
            half_width=p.half_width,
            cells=p.cells,
        )
        for name in stage.track(p.names)
    ]
    files.write_csv(pd.concat(maps, ignore_index=True), snakemake.output[0])
