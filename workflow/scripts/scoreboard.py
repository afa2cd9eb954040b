"""Compare what was found with what was published."""

import json
from pathlib import Path

import pandas as pd
from localizer import scoreboard
from stage import Stage, files, latex

with Stage(snakemake):
    table = pd.read_csv(snakemake.input.published, dtype=str)
    published = scoreboard.read_published(table)
    findings = [
        scoreboard.Finding(**content)
        for path in snakemake.input.findings
        for content in json.loads(Path(path).read_text())
    ]
    reason = snakemake.params.not_comparable
    scores = scoreboard.board(published, findings, not_comparable=reason)
    tally = scoreboard.summary(scores, not_comparable=reason)
    files.write_text(tally + "\n", snakemake.output.tally)
    files.write_csv(scores, snakemake.output.csv)

    columns = ["id", "published", "reproduced", "reproduced_error", "measure", "value", "verdict"]
    files.write_text(latex.typeset(scores[columns]), snakemake.output.tex)

    numbers = {
        finding.id: {
            name: value for name, value in finding.as_dict().items() if name not in ("id", "draws")
        }
        for finding in findings
    }
    files.write_json(numbers, snakemake.output.numbers)
