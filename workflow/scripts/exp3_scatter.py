"""Where the published values lie among the draws, and how far the draws scatter."""

import json
from pathlib import Path

import pandas as pd
from localizer import experiment3, findings3, realizations, scoreboard
from stage import Stage, files

with Stage(snakemake):
    edition = json.loads(Path(snakemake.input.edition).read_text())["name"]
    draws = pd.read_csv(snakemake.input.surrogates)
    seeds = pd.read_csv(snakemake.input.seeds)
    table = pd.read_csv(snakemake.input.published, dtype=str)
    published = {row.id: row for row in scoreboard.read_published(table)}
    columns = findings3.column_ids(draws.columns, published)
    values = {column: published[name].value for column, name in columns.items()}
    summary = realizations.rank_summary(draws, seeds, values)
    files.write_csv(experiment3.with_edition(summary, edition), snakemake.output[0])
