"""What Experiment I found, for the scoreboard."""

import _packages
import pandas as pd
from localizer.models.gaussian import GaussianBenchmark
from localizer.verdicts import findings1, findings1_precision, registry
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    tables = {name: pd.read_csv(path) for name, path in snakemake.input.items() if name != "code"}
    findings = registry.findings(
        findings1,
        findings1_precision,
        **{**dict(p.items()), **tables, "model": GaussianBenchmark(**p.model)},
    )
    files.write_json([finding.as_dict() for finding in findings], snakemake.output[0])
