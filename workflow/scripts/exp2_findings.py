"""What Experiment II found, for the scoreboard."""

import _packages
import pandas as pd
from localizer.experiments import experiment2
from localizer.verdicts import board, findings2
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    model = experiment2.LatentModel(**p.model)
    names = ("toys", "scan", "targets", "runs", "context")
    tables = {name: pd.read_csv(snakemake.input[name]) for name in names}
    numbers = files.read_json(snakemake.input.numbers)
    rows = board.read_published(pd.read_csv(snakemake.input.published, dtype=str))
    published = {row.id: row.number for row in rows if row.value}
    findings = [
        *findings2.of_toys(tables["toys"], model=model, N=p.N),
        *findings2.of_n_scan(tables["toys"], tables["scan"], published_toys=p.published_toys),
        *findings2.of_recovery(
            tables["targets"],
            tables["runs"],
            m=p.recovery_m,
            N=p.recovery_N,
            nearly=p.nearly,
            published=published,
        ),
        *findings2.of_context(tables["context"], numbers),
        *findings2.of_model(p.seed, model=model),
    ]
    files.write_json([finding.as_dict() for finding in findings], snakemake.output[0])
