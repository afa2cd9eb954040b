"""Put tables of the same columns one below the other, in the order given."""

import _packages
import pandas as pd
from stage import Stage, files

with Stage(snakemake):
    parts = [pd.read_csv(path) for path in snakemake.input.parts]
    files.write_csv(pd.concat(parts, ignore_index=True), snakemake.output[0])
