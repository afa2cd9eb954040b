"""P-values of samples without signal on the Gaussian benchmark, with a wrong reference."""

from functools import partial

import _packages
from localizer.base.randomness import stream
from localizer.experiments import nuisances
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    table = nuisances.null_p_values(
        partial(stream, p.seed, "nuisances", "null"),
        thetas=p.thetas,
        shift=p.shift,
        N=p.N,
        toys=p.toys,
        draws=p.draws,
    )
    files.write_csv(table, snakemake.output[0])
