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
        points, other_statistics=snakemake.params.other_statistics, edition=edition
    ) as figure:
        files.write_figure(figure, *snakemake.output.drawn)
