"""What each choice that the paper leaves open changes, one at a time."""

import _packages
import pandas as pd
from localizer.experiments import choices, experiment3
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    names = ("seed", "bandwidths", "features_per_bandwidth", "max_events", "sic_floor")
    table = choices.table(
        files.read_npz(snakemake.input.samples),
        files.read_npz(snakemake.input.targets),
        files.read_npz(snakemake.input.exact)["exact"],
        pd.read_csv(snakemake.input.seeds),
        choices.Fixed(**{name: p[name] for name in names}),
        copula=p.copula,
        form=p.rff_form,
        sic_floors=p.sic_floors,
    )
    edition = files.read_edition(snakemake.input.edition)
    files.write_csv(experiment3.with_edition(table, edition), snakemake.output[0])
