"""Put the other statistics side by side with the witness, event by event."""

import pandas as pd
from localizer import responsible
from stage import Stage, files

with Stage(snakemake):
    localized = pd.concat(map(pd.read_csv, snakemake.input.parts), ignore_index=True)
    table, summary = responsible.statistics_beside_witness(
        localized, pd.read_parquet(snakemake.input.scores)
    )
    files.write_csv(table, snakemake.output.scores)
    files.write_csv(summary, snakemake.output.table)
