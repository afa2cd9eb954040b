"""The maximum SIC of each score against the floor in background events."""

import _packages
from localizer.base.vocabulary import BATCH_ESTIMATORS
from localizer.experiments import experiment3
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    edition = files.read_edition(snakemake.input.edition)
    targets = files.read_npz(snakemake.input.targets)
    scores = files.read_npz(snakemake.input.scores)
    listed = {
        "direct witness": targets["self_inclusive"],
        "exact kernel": files.read_npz(snakemake.input.exact)["exact"],
        **{name: scores[name] for name in BATCH_ESTIMATORS},
    }
    table = experiment3.floor_scan(listed, targets["labels"], floors=p.sic_floors)
    files.write_csv(experiment3.with_edition(table, edition), snakemake.output[0])
