"""Describe the run as an RO-Crate."""

from pathlib import Path

import _packages
import pandas as pd
from stage import Stage, crate, files

with Stage(snakemake, record=False, seal=False):
    results = Path(snakemake.output.metadata).parent
    files.copy(snakemake.input.workflow, snakemake.output.workflow)
    registry = pd.read_csv(snakemake.input.registry)
    events = [str(results / "lhco/events" / path) for path in registry["path"]]
    made = crate.crate(
        files.read_json(snakemake.input.provenance),
        results=results,
        workflow=Path(snakemake.output.workflow).name,
        outputs=snakemake.params.outputs,
        addresses=dict(zip(events, registry["address"], strict=True)),
    )
    files.write_json(made.metadata.generate(), snakemake.output.metadata)
