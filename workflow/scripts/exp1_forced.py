"""Force the probes of a study into contexts of one batch size."""

from localizer import experiment1
from localizer.gaussian import GaussianBenchmark
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    model = GaussianBenchmark(**p.model)
    counts = {"signal": p.signal_probes, "background": p.background_probes}
    x, labels = experiment1.probes(p.seed, p.study, model=model, **counts)
    table = experiment1.forced_table(
        p.seed, p.study, x, labels, model=model, m=p.m, contexts=p.contexts
    )
    files.write_csv(table, snakemake.output[0])
