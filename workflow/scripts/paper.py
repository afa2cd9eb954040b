"""Typeset the reproduction paper from the results of this run."""

import json
import os
from pathlib import Path

import _packages
from stage import Stage, files, typesetting

# made beside provenance.json, which a record of its own would outdate
with Stage(snakemake, record=False) as stage:
    results = Path(snakemake.output[0]).resolve().parent
    root = Path(os.path.commonpath([Path(snakemake.input.main).resolve(), results]))
    pdf, warnings = typesetting.compiled(
        snakemake.input.main,
        # sources and results may lie in folders of their own; nothing outside of both is read
        root=root,
        inputs={
            "results": f"/{results.relative_to(root)}",
            "config": json.dumps(snakemake.params.config),
            "other-sizes": snakemake.params.other_sizes,
        },
    )
    for warning in warnings:
        stage.say(warning)
    with files.complete(snakemake.output[0]) as temporary:
        temporary.write_bytes(pdf)
