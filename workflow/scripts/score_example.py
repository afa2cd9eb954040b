"""Make the example for a user's own data: two months of readings, the second with a fault."""

from localizer import example
from localizer.randomness import stream
from stage import Stage, files

with Stage(snakemake):
    for name, worn in (("reference", 0.0), ("sample", snakemake.params.worn)):
        rng = stream(snakemake.params.seed, "example", name)
        table = example.month(rng, readings=snakemake.params.readings, worn=worn)
        if name == "reference":
            table = table.drop(columns="fault")
        files.write_csv(table, snakemake.output[name])
