"""Put the other statistics side by side with the witness, event by event."""

import _packages
import pandas as pd
from localizer.own import top_events
from stage import Stage, files

with Stage(snakemake):
    localized = pd.concat(map(pd.read_csv, snakemake.input.parts), ignore_index=True)
    table, summary = top_events.statistics_beside_witness(
        localized, pd.read_parquet(snakemake.input.scores)
    )
    files.write_csv(table, snakemake.output.scores)
    files.write_csv(summary, snakemake.output.table)
