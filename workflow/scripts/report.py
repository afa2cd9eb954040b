"""Render report.html: one self-contained page with everything that was made."""

import json
from pathlib import Path

from stage import Stage, files, report

with Stage(snakemake, record=False):
    page = report.render(
        Path(snakemake.input.template).read_text(encoding="utf-8"),
        run=snakemake.params.run,
        items=snakemake.params.content,
        provenance=json.loads(Path(snakemake.input.provenance).read_text()),
    )
    files.write_text(page, snakemake.output[0])
