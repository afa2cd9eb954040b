"""Draw the exact class separation against the batch size."""

import pandas as pd
from localizer.figures import experiment1
from stage import Stage, files

with Stage(snakemake):
    targets = pd.read_csv(snakemake.input.points)
    with experiment1.separation(targets) as figure:
        files.write_figure(figure, *snakemake.output)
