"""Compile the numba kernels once, into the cache that the jobs of every sweep read."""

import numpy as np
from localizer import forced, witness
from localizer.gaussian import GaussianBenchmark
from localizer.kernels import GaussianBank
from localizer.randomness import stream
from stage import Stage, files

with Stage(snakemake) as stage:
    model = GaussianBenchmark(mean=(1.0, 0.0), sigma_s=0.5, epsilon=0.1, h=1.0)
    contexts = forced.fresh(forced.population(model))
    # a small and a large batch: the kernel sum has a form for each
    for m in (5, 400):
        rngs = [stream(0, "compile", m)]
        forced.mmd_scores([[0.0, 0.0]], m=m, R=2, h=1.0, contexts=contexts, rngs=rngs)
        stage.say(f"forced inclusion, batches of {m}")
    x = np.linspace(-1, 1, 40).reshape(-1, 2)
    witness.self_difference(x, GaussianBank((1.0,)), method="pairwise")
    witness.self_difference(x, GaussianBank((1.0,)), method="fourier")
    stage.say("kernel sums")
    files.write_text("compiled\n", snakemake.output[0])
