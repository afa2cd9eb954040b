"""What each choice that the paper leaves open changes, one at a time; the SIC by its floor."""

import _packages
import pandas as pd
from localizer.base.vocabulary import BATCH_ESTIMATORS
from localizer.experiments import choices, experiment3
from localizer.experiments.witness_draws import Draws
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    edition = files.read_edition(snakemake.input.edition)
    targets = files.read_npz(snakemake.input.targets)
    parts = [files.read_npz(path) for path in snakemake.input.across]
    exact = experiment3.exact_witness(
        files.read_npz(snakemake.input.within)["sums"],
        sum(part["sums"] for part in parts),
        sum(int(part["events"]) for part in parts),
    )
    variants = pd.read_csv(snakemake.input.variants, keep_default_na=False)
    table = choices.table(
        Draws.read(variants, files.read_npz(snakemake.input.heads)),
        targets,
        exact,
        pd.read_csv(snakemake.input.seeds),
        sic_floor=p.sic_floor,
        sic_floors=p.sic_floors,
    )
    files.write_csv(experiment3.with_edition(table, edition), snakemake.output.table)
    scores = files.read_npz(snakemake.input.scores)
    listed = {
        "direct witness": targets["self_inclusive"],
        "exact kernel": exact,
        **{name: scores[name] for name in BATCH_ESTIMATORS},
    }
    floors = experiment3.floor_scan(listed, targets["labels"], floors=p.sic_floors)
    files.write_csv(experiment3.with_edition(floors, edition), snakemake.output.floors)
