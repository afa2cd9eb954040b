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
    registry,
)
from stage import Stage, files

with Stage(snakemake):
    seed, model = snakemake.params.seed, GaussianBenchmark(**snakemake.params.model)
    findings = registry.findings(
        findings_marginal,
        findings_projection,
        findings_mmd,
        findings_estimation,
        findings_context,
        findings_interpretation,
        seed=seed,
        model=model,
        marginals=findings_marginal.marginals(seed, model),
        projections=findings_projection.projections(seed),
        draws=findings_mmd.draws(seed, model),
        samples=findings_estimation.samples(seed, model),
        few=findings_context.few(seed, model),
        choices=findings_interpretation.choices(seed, model),
    )
    files.write_json([finding.as_dict() for finding in findings], snakemake.output[0])
