"""Draw a figure by the function of its name, and put the tables that it shows beside it."""

import importlib
import re
from pathlib import Path

import _packages
import pandas as pd
from stage import Stage, files

with Stage(snakemake):
    module = importlib.import_module(f"localizer.figures.{Path(snakemake.input.module).stem}")
    png, pdf, *beside = snakemake.output
    draw = getattr(module, re.sub(r"(fig\d\d|supp)_(lhco_)?", "", Path(png).stem))
    aside = ("code", "module", "edition")
    paths = {name: path for name, path in snakemake.input.items() if name not in aside}
    tables = {name: pd.read_csv(path) for name, path in paths.items()}
    with draw(**tables, **dict(snakemake.params.items())) as figure:
        if snakemake.input.edition:
            module.stamp(figure, files.read_edition(snakemake.input.edition[0]))
        files.write_figure(figure, png, pdf)
    paths.pop("published", None)
    for table, path in zip(paths.values(), beside, strict=True):
        files.copy(table, path)
