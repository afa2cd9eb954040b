"""Force the probes of a study into contexts of one batch size."""

import _packages
from localizer.experiments import precision
from localizer.models.gaussian import GaussianBenchmark
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    model = GaussianBenchmark(**p.model)
    counts = {"signal": p.signal_probes, "background": p.background_probes}
    x, labels = precision.probes(p.seed, p.study, model=model, **counts)
    table = precision.forced_table(
        p.seed, p.study, x, labels, model=model, m=p.m, contexts=p.contexts
    )
    files.write_csv(table, snakemake.output[0])
