"""Compare what was found with what was published."""

import _packages
import pandas as pd
from localizer.verdicts import board
from stage import Stage, files, latex

with Stage(snakemake):
    table = pd.read_csv(snakemake.input.published, dtype=str)
    published = board.read_published(table)
    findings = [
        board.Finding(**content)
        for path in snakemake.input.findings
        for content in files.read_json(path)
    ]
    reason = snakemake.params.not_comparable
    scores = board.board(published, findings, not_comparable=reason)
    tally = board.summary(scores, not_comparable=reason)
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
