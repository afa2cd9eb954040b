"""Draw what each statistic localizes."""

import _packages
import pandas as pd
from localizer.figures import statistics
from stage import Stage, files

with Stage(snakemake):
    points = pd.read_csv(snakemake.input.points)
    with statistics.comparison(points, **dict(snakemake.params.items())) as figure:
        files.write_figure(figure, *snakemake.output)
