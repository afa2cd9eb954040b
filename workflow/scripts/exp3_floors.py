"""The maximum SIC of each score against the floor in background events."""

import json
from pathlib import Path

from localizer import convergence, experiment3
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    edition = json.loads(Path(snakemake.input.edition).read_text())["name"]
    targets = files.read_npz(snakemake.input.targets)
    scores = files.read_npz(snakemake.input.scores)
    listed = {
        "direct witness": targets["self_inclusive"],
        "exact kernel": files.read_npz(snakemake.input.exact)["exact"],
        **{name: scores[name] for name in convergence.ESTIMATORS},
    }
    table = experiment3.floor_scan(listed, targets["labels"], floors=p.sic_floors)
    files.write_csv(experiment3.with_edition(table, edition), snakemake.output[0])
