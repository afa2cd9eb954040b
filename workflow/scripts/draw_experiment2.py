"""Draw a figure of Experiment II: the one that the rule names, from the tables it gives."""

import _packages
import pandas as pd
from localizer.figures import experiment2
from stage import Stage, files

with Stage(snakemake):
    kept = {name: path for name, path in snakemake.input.items() if name != "code"}
    tables = {name: pd.read_csv(path) for name, path in kept.items()}
    options = dict(snakemake.params.items())
    draw = getattr(experiment2, options.pop("figure"))
    with draw(**tables, **options) as figure:
        files.write_figure(figure, *snakemake.output[:2])
    for table, beside in zip(kept.values(), snakemake.output[2:], strict=False):
        files.copy(table, beside)
