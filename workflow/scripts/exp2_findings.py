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
        *findings2.of_toys(tables["toys"], N=p.N),
        *findings2.of_n_scan(tables["toys"], tables["scan"], published_toys=p.published_toys),
        *findings2.of_recovery(
            tables["targets"],
            tables["runs"],
            m=p.recovery_m,
            N=p.recovery_N,
            published=published,
        ),
        *findings2.of_context(tables["context"], numbers),
        *findings2.of_model(p.seed, model=model),
        *findings2.of_origin(p.seed, model=model, sizes=(min(p.sizes), p.N, max(p.sizes))),
        *findings2.of_fixed_scores(p.seed, model=model, N=p.N),
    ]
    files.write_json([finding.as_dict() for finding in findings], snakemake.output[0])
