"""Summarise the scores of all statistics and their cost, and gather what the figure draws."""

import _packages
import pandas as pd
from localizer.experiments import other_statistics
from localizer.models.gaussian import GaussianBenchmark
from stage import Stage, files

with Stage(snakemake):
    model = GaussianBenchmark(**snakemake.params.model)
    scores = pd.concat([pd.read_csv(path) for path in snakemake.input.scores], ignore_index=True)
    maps = pd.read_csv(snakemake.input.maps)
    table = other_statistics.summary(scores)
    points = other_statistics.drawn_points(scores, maps, table, model=model)
    files.write_csv(table, snakemake.output.table)
    files.write_csv(points, snakemake.output.points)
    times = pd.concat(map(pd.read_csv, snakemake.input.times), ignore_index=True)
    keys = ["statistic", "m", "contexts"]
    cost = times.groupby(keys, sort=False, as_index=False)["milliseconds_per_event"].mean()
    files.write_csv(cost, snakemake.output.cost)
