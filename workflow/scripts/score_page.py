"""Render the page on a user's own data."""

import json
from pathlib import Path

from stage import Stage, files, graph, report

with Stage(snakemake, record=False):
    definitions = graph.definitions(snakemake.input.sources)
    used = {item["rule"] for item in snakemake.params.content}
    about = json.loads(Path(snakemake.input.about).read_text())
    page = report.page(
        Path(snakemake.input.template),
        at=Path(snakemake.output[0]),
        items=snakemake.params.content,
        rules={name: where for name, where in definitions.items() if name in used},
        run=snakemake.params.run,
        foreign=about["features"],
        about=about,
        found=json.loads(Path(snakemake.input.found).read_text()),
    )
    files.write_text(page, snakemake.output[0])
