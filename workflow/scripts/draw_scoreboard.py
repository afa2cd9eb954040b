"""Draw the scoreboard, and write down the points it draws."""

import _packages
import pandas as pd
from localizer.figures import scoreboard
from stage import Stage, files

with Stage(snakemake):
    edition = files.read_edition(snakemake.input.edition)
    points = scoreboard.points(pd.read_csv(snakemake.input.scores))
    files.write_csv(points, snakemake.output.points)
    with scoreboard.scoreboard(
        points, other_sizes=snakemake.params.other_sizes, edition=edition
    ) as figure:
        files.write_figure(figure, *snakemake.output.drawn)
