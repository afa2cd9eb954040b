"""Collect the records that the stages left into provenance.json."""

from pathlib import Path

import _packages
from stage import Stage, provenance

with Stage(snakemake, record=False, seal=False):
    provenance.write(snakemake.params.config, Path(snakemake.output[0]))
