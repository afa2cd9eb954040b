"""Draw a figure of Experiment II: the one that the rule names, from the tables it gives."""

import pandas as pd
from localizer.figures import experiment2
from stage import Stage, files

with Stage(snakemake):
    tables = {name: pd.read_csv(path) for name, path in snakemake.input.items() if name != "code"}
    options = dict(snakemake.params.items())
    draw = getattr(experiment2, options.pop("figure"))
    with draw(**tables, **options) as figure:
        files.write_figure(figure, *snakemake.output)
