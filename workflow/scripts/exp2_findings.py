"""What Experiment II found, for the scoreboard."""

import _packages
import pandas as pd
from localizer.experiments.experiment2 import LatentModel
from localizer.verdicts import board, findings2, findings2_information, findings2_recovery, registry
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    model = LatentModel(**p.model)
    names = ("toys", "scan", "targets", "runs", "context")
    tables = {name: pd.read_csv(snakemake.input[name]) for name in names}
    rows = board.read_published(pd.read_csv(snakemake.input.published, dtype=str))
    findings = registry.findings(
        findings2,
        findings2_recovery,
        findings2_information,
        **{**dict(p.items()), **tables, "model": model},
        published={row.id: row for row in rows},
        numbers=files.read_json(snakemake.input.numbers),
        pairs=findings2_information.signal_pairs(p.seed, model),
    )
    files.write_json([finding.as_dict() for finding in findings], snakemake.output[0])
