"""Make the example for a user's own data: two months of readings, the second with a fault."""

import _packages
from localizer.base.randomness import stream
from localizer.own import example
from stage import Stage, files

with Stage(snakemake):
    for name, worn in (("reference", 0.0), ("sample", snakemake.params.worn)):
        rng = stream(snakemake.params.seed, "example", name)
        table = example.month(rng, readings=snakemake.params.readings, worn=worn)
        if name == "reference":
            table = table.drop(columns="fault")
        files.write_csv(table, snakemake.output[name])
