"""The typical toy of the recovery study (Fig. 6), and the ensemble behind it."""

import _packages
import pandas as pd
from localizer.experiments import experiment2
from stage import Stage, files

with Stage(snakemake) as stage:
    targets, runs = (
        pd.concat(map(pd.read_csv, snakemake.input[name]), ignore_index=True)
        for name in ("targets", "runs")
    )
    files.write_csv(targets, snakemake.output.targets)
    files.write_csv(runs, snakemake.output.runs)
    toy = experiment2.most_typical(targets, runs["toy"].nunique())
    stage.say(f"toy {toy} has the most typical AUC of the leave-one-out witness")
    chosen = targets[targets["toy"] == toy].rename(columns=lambda name: f"{name}_exact")
    joined = runs[runs["toy"] == toy].merge(
        chosen, left_on="construction", right_on="construction_exact"
    )
    files.write_csv(
        joined.drop(columns=["construction_exact", "toy_exact"]), snakemake.output.typical
    )
    files.write_csv(
        experiment2.predicted_and_measured(targets, runs), snakemake.output.correlations
    )
