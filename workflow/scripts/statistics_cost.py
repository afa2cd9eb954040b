"""Average what each statistic cost over the pseudoexperiments."""

import _packages
import pandas as pd
from stage import Stage, files

with Stage(snakemake):
    times = pd.concat(map(pd.read_csv, snakemake.input.parts), ignore_index=True)
    keys = ["statistic", "m", "contexts"]
    cost = times.groupby(keys, sort=False, as_index=False)["milliseconds_per_event"].mean()
    files.write_csv(cost, snakemake.output[0])
