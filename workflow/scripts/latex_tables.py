"""Set every table for a LaTeX manuscript."""

import pandas as pd
from stage import Stage, files, latex

with Stage(snakemake, record=False):
    for table, path in zip(snakemake.input.tables, snakemake.output, strict=True):
        files.write_text(latex.typeset(pd.read_csv(table)), path)
