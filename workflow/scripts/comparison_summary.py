"""Gather the scores of all competitors: means over mocks, differences to the witness, costs."""

import _packages
import pandas as pd
from localizer.comparison import tables
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    shown = f"sic_{p.sic_floor}"
    measures = ["auc", *(f"sic_{floor}" for floor in p.sic_floors)]
    scores = pd.concat(map(pd.read_csv, snakemake.input.scores), ignore_index=True)
    # one order of problems and competitors, however the work was cut into jobs
    place = {problem: number for number, problem in enumerate(p.problems)}
    scores = scores.sort_values(
        ["problem", "competitor", "mock"],
        key=lambda column: column.map(place) if column.name == "problem" else column,
    )
    table = tables.summary(scores, measures=measures)
    costs = pd.concat(map(pd.read_csv, snakemake.input.costs), ignore_index=True)
    edition = files.read_edition(snakemake.input.edition)
    points = tables.drawn_points(table, measure=shown)
    files.write_csv(table.drop(columns="label").assign(edition=edition), snakemake.output.table)
    files.write_csv(points, snakemake.output.points)
    cost = tables.cost_table(costs, table, measure=shown).assign(edition=edition)
    files.write_csv(cost, snakemake.output.cost)
