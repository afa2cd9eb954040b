"""Render the page on a user's own data."""

import json
from pathlib import Path

from stage import Stage, files, report

with Stage(snakemake, record=False):
    page = report.render(
        Path(snakemake.input.template),
        items=snakemake.params.content,
        run=snakemake.params.run,
        about=json.loads(Path(snakemake.input.about).read_text()),
        found=json.loads(Path(snakemake.input.found).read_text()),
    )
    files.write_text(page, snakemake.output[0])
