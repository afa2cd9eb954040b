"""What context can tell at best, by ensemble size, in AUC and in nats."""

import _packages
import pandas as pd
from localizer.experiments import experiment2
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    model = experiment2.LatentModel(**p.model)
    context = pd.concat([pd.read_csv(path) for path in snakemake.input.parts], ignore_index=True)
    numbers = experiment2.context_numbers(p.seed, model=model, N=p.N)
    toys = pd.read_csv(snakemake.input.toys)
    files.write_csv(context, snakemake.output.toys)
    files.write_json(numbers, snakemake.output.numbers)
    files.write_csv(experiment2.context_table(context, toys, numbers), snakemake.output.table)
