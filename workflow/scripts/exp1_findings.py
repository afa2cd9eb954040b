"""What Experiment I found, for the scoreboard."""

import _packages
import pandas as pd
from localizer.models.gaussian import GaussianBenchmark
from localizer.verdicts import findings1, findings1_precision
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    model = GaussianBenchmark(**p.model)
    tables = {name: pd.read_csv(path) for name, path in snakemake.input.items() if name != "code"}
    findings = [
        *findings1.of_targets(model, p.m, seed=p.seed),
        *findings1.of_toys(tables["toys"], model, m=p.m, loo_toys=p.loo_toys, seed=p.seed),
        *findings1.of_field(tables["field"], model),
        *findings1.of_resampling(tables["scores"], tables["scaling"]),
        *findings1.of_null_probe(tables["null_probe"], p.contexts),
        *findings1_precision.of_m_scan(
            tables["m_scan"],
            tables["m_scan_probes"],
            model,
            sizes=(5, 80, 160, 320, 640),
        ),
        *findings1_precision.of_efficiency(tables["efficiency"], model),
        *findings1_precision.of_generic(
            tables["generic"], model, largest=int(tables["m_scan"]["m"].max())
        ),
        *findings1.of_self_influence(tables["self_influence"]),
    ]
    files.write_json([finding.as_dict() for finding in findings], snakemake.output[0])
