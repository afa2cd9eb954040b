"""Draw how time and memory grow."""

import pandas as pd
from localizer.figures import growth
from stage import Stage, files

with Stage(snakemake), growth.growth(pd.read_csv(snakemake.input.points)) as figure:
    files.write_figure(figure, *snakemake.output)
