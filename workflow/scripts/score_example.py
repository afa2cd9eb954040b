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
            # the same month by instruments that are a little off, and what may be wrong with it
            off = example.misread(table, power=0.03, temperature=-0.6)
            files.write_csv(off, snakemake.output.off)
            files.write_csv(example.misread(off, power=-0.05), snakemake.output.power)
            files.write_csv(example.misread(off, temperature=1.0), snakemake.output.temperature)
        files.write_csv(table, snakemake.output[name])
