"""Render report.html: one self-contained page with everything that was made."""

import json
from pathlib import Path

import pandas as pd
from stage import Stage, files, graph, report

with Stage(snakemake, record=False):
    page = report.render(
        Path(snakemake.input.template),
        at=Path(snakemake.output[0]),
        run=snakemake.params.run,
        notice=snakemake.params.notice,
        items=snakemake.params.content,
        downloads=snakemake.params.downloads,
        scoreboard=pd.read_csv(snakemake.input.scoreboard, dtype=str),
        rules=graph.definitions(snakemake.input.sources),
        pictures={
            name: Path(snakemake.input[name]).read_text(encoding="utf-8")
            for name in ("stages", "rules")
        },
        provenance=json.loads(Path(snakemake.input.provenance).read_text()),
    )
    files.write_text(page, snakemake.output[0])
