"""Where the published values lie among the draws, and how far the draws scatter."""

import _packages
import pandas as pd
from localizer.experiments import experiment3, reference_draws
from localizer.verdicts import board, findings3
from stage import Stage, files

with Stage(snakemake):
    edition = files.read_edition(snakemake.input.edition)
    draws, seeds = (
        pd.concat(map(pd.read_csv, snakemake.input[name]), ignore_index=True)
        for name in ("surrogates", "seeds")
    )
    files.write_csv(draws, snakemake.output.surrogates)
    files.write_csv(seeds, snakemake.output.seeds)
    table = pd.read_csv(snakemake.input.published, dtype=str)
    published = {row.id: row for row in board.read_published(table)}
    columns = findings3.column_ids(draws.columns, published)
    values = {column: published[name].value for column, name in columns.items()}
    summary = reference_draws.rank_summary(draws, seeds, values)
    files.write_csv(experiment3.with_edition(summary, edition), snakemake.output.table)
