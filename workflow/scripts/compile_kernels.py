"""Compile the numba kernels of one module, into the cache that the jobs of every sweep read."""

from importlib import import_module

import _packages
from stage import Stage, files

with Stage(snakemake):
    import_module(f"localizer.{snakemake.wildcards.module}").compile_kernels()
    files.write_text("compiled\n", snakemake.output[0])
