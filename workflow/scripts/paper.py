"""Typeset the reproduction paper from the results of this run."""

import json
from pathlib import Path

import _packages
from stage import Stage, files, typesetting

# made beside provenance.json, which a record of its own would outdate
with Stage(snakemake, record=False) as stage:
    pdf, warnings = typesetting.compiled(
        snakemake.input.main,
        root=Path.cwd(),
        inputs={
            "results": f"/{Path(snakemake.output[0]).parent}",
            "config": json.dumps(snakemake.params.config),
            "other-statistics": snakemake.params.other_statistics,
        },
    )
    for warning in warnings:
        stage.say(warning)
    with files.complete(snakemake.output[0]) as temporary:
        temporary.write_bytes(pdf)
