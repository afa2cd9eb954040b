"""Render report.html: one self-contained page with everything that was made."""

from pathlib import Path

import _packages
import pandas as pd
from localizer.verdicts import board
from stage import Stage, files, listing, report

with Stage(snakemake, record=False):
    page = report.render(
        Path(snakemake.input.template),
        at=Path(snakemake.output[0]),
        run=snakemake.params.run,
        notice=snakemake.params.notice,
        items=snakemake.params.content,
        downloads=snakemake.params.downloads,
        scoreboard=pd.read_csv(snakemake.input.scoreboard, dtype=str),
        verdicts=board.VERDICTS,
        rules=listing.definitions(snakemake.input.sources),
        provenance=files.read_json(snakemake.input.provenance),
    )
    files.write_text(page, snakemake.output[0])
