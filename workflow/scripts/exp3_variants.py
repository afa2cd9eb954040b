"""The witness with each choice of coordinates and features that the paper leaves open."""

import _packages
from localizer.experiments import choices
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    names = ("seed", "bandwidths", "features_per_bandwidth", "max_events")
    made = choices.variants(
        files.read_npz(snakemake.input.samples),
        files.read_npz(snakemake.input.targets)["self_inclusive"],
        choices.Fixed(**{name: p[name] for name in names}),
        copula=p.copula,
        form=p.rff_form,
    )
    files.write_csv(made.rows, snakemake.output.rows)
    files.write_npz(made.arrays(), snakemake.output.heads)
