"""Set every table for a LaTeX manuscript."""

import _packages
from stage import Stage, files, latex, tables

with Stage(snakemake, record=False):
    for table, path in zip(snakemake.input.tables, snakemake.output, strict=True):
        files.write_text(latex.typeset(tables.read(table)), path)
