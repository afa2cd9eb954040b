"""Some background-only toys: self-inclusive and leave-one-out witness side by side."""

import _packages
from localizer.experiments import experiment1
from localizer.models.gaussian import GaussianBenchmark
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    model = GaussianBenchmark(**p.model)
    probe, profile = experiment1.self_influence(
        p.seed, stage.track(p.numbers), model=model, N=p.N, at=p.x
    )
    files.write_csv(probe, snakemake.output.probe)
    files.write_csv(profile, snakemake.output.profile)
