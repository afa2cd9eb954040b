"""Measure how time and memory grow, one size at a time, and fit the exponents."""

from functools import partial

import pandas as pd
from localizer import growth
from stage import Stage, files, measure

with Stage(snakemake) as stage:
    p = snakemake.params
    planned = list(growth.points(p.sizes, group_size=p.group_size))
    ready = {name: growth.warm_up(name) for name in growth.WAYS}
    for work in ready.values():
        work()
    rows = []
    for name, grows, size in stage.track(planned):
        prepare = partial(growth.WAYS[name].prepare, size)
        seconds, memory = measure.alone(prepare, warm_up=ready[name], repeats=p.repeats)
        rows.append(growth.row(name, grows, size, seconds=seconds, memory=memory))
    measured = pd.DataFrame(rows)
    files.write_csv(measured, snakemake.output.points)
    files.write_csv(growth.exponents(measured), snakemake.output.table)
