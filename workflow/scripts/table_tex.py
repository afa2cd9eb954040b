"""Set a table for a LaTeX manuscript."""

import pandas as pd
from stage import Stage, files, latex

with Stage(snakemake, record=False):
    files.write_text(latex.typeset(pd.read_csv(snakemake.input.csv)), snakemake.output[0])
