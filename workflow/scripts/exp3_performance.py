"""AUC and SIC of every direct witness, from scores and heads that were made before."""

import _packages
import pandas as pd
from localizer.experiments import disjoint_references, event_distributions, experiment3
from localizer.experiments.witness_draws import Draws, judged
from stage import Stage, files

with Stage(snakemake):
    floor, given = snakemake.params.sic_floor, snakemake.input

    def judged_rows(name):
        """Return the rows of a study with their SIC."""
        draws = Draws.read(pd.read_csv(given[name]), files.read_npz(given[f"heads_of_{name}"]))
        return judged(draws, sic_floor=floor)

    targets, evaluation = files.read_npz(given.targets), files.read_npz(given.evaluation)
    references, bandwidths = judged_rows("references"), judged_rows("bandwidths")
    closed, portrait = files.read_json(given.closed), files.read_npz(given.portrait)
    rows, curves = [], []
    for source in dict.fromkeys(name.split(".")[0] for name in portrait):
        of = portrait[f"{source}.score"], portrait[f"{source}.labels"]
        rows.append(event_distributions.summary_row(source, *of, floor=floor))
        curve = event_distributions.sic_curve(*of, floor=max(10, floor // 10))
        curves.append(curve.assign(source=source))
    tables = {
        "witness": experiment3.witness_table(
            targets,
            targets["labels"],
            evaluation["witness"],
            evaluation["labels"],
            sic_floor=floor,
        ),
        "bandwidth_rows": bandwidths,
        "bandwidths": experiment3.bandwidth_table(bandwidths),
        "reference_rows": references,
        "references": disjoint_references.reference_table(
            references, (closed["variance"], closed["spread"]), source="sample"
        ),
        "curves": pd.concat(curves, ignore_index=True),
        "surrogate": pd.DataFrame(rows),
    }
    edition = files.read_edition(given.edition)
    for name, table in tables.items():
        files.write_csv(experiment3.with_edition(table, edition), snakemake.output[name])
