"""AUC and SIC of the direct witness, on the mixed sample and on the evaluation sample."""

import _packages
from localizer.experiments import experiment3
from stage import Stage, files

with Stage(snakemake):
    targets = files.read_npz(snakemake.input.targets)
    evaluation = files.read_npz(snakemake.input.evaluation)
    table = experiment3.witness_table(
        targets,
        targets["labels"],
        evaluation["witness"],
        evaluation["labels"],
        sic_floor=snakemake.params.sic_floor,
    )
    edition = files.read_edition(snakemake.input.edition)
    files.write_csv(experiment3.with_edition(table, edition), snakemake.output[0])
