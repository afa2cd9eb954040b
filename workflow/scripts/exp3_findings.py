"""What Experiment III found, for the scoreboard."""

import _packages
import pandas as pd
from localizer.theory.scaling import PairMoments
from localizer.verdicts import (
    board,
    findings3,
    findings3_bandwidths,
    findings3_batches,
    findings3_scaling,
    registry,
)
from stage import Stage, files

with Stage(snakemake):
    names = ("counts", "witness", "bandwidths", "sweep", "lowest", "fits", "repeated")
    names = (*names, "surrogates", "seeds")
    tables = {name: pd.read_csv(snakemake.input[name]) for name in names}
    numbers = files.read_json(snakemake.input.numbers)
    rows = board.read_published(pd.read_csv(snakemake.input.published, dtype=str))
    findings = registry.findings(
        findings3,
        findings3_bandwidths,
        findings3_batches,
        findings3_scaling,
        **{**dict(snakemake.params.items()), **tables},
        published={row.id: row for row in rows},
        moments=PairMoments(**numbers["moments"]),
        dimension=numbers["dimension"],
        edition=numbers["edition"],
        law=files.read_json(snakemake.input.law),
        measured=findings3.measured_values(
            *(tables[name] for name in ("witness", "bandwidths", "sweep", "fits"))
        ),
    )
    files.write_json([finding.as_dict() for finding in findings], snakemake.output[0])
