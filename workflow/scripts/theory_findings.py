"""What the theory sections claim, checked at finite size, for the scoreboard."""

import _packages
from localizer.models.gaussian import GaussianBenchmark
from localizer.verdicts import (
    findings_context,
    findings_estimation,
    findings_interpretation,
    findings_marginal,
    findings_mmd,
    findings_projection,
)
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    model = GaussianBenchmark(**p.model)
    findings = [
        *findings_marginal.of_marginals(p.seed, model),
        *findings_projection.of_projections(p.seed),
        *findings_marginal.of_influence(p.seed, model),
        *findings_mmd.of_mmd(p.seed, model),
        *findings_mmd.of_variances(p.seed, model),
        *findings_estimation.of_sampling(p.seed, model),
        *findings_estimation.of_witness(p.seed, model),
        *findings_context.of_context(p.seed, model),
        *findings_interpretation.of_interpretation(p.seed, model),
        *findings_interpretation.of_choices(p.seed, model),
    ]
    files.write_json([finding.as_dict() for finding in findings], snakemake.output[0])
