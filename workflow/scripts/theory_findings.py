"""What the theory sections claim, checked at finite size, for the scoreboard."""

from localizer import findings_theory
from localizer.gaussian import GaussianBenchmark
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    model = GaussianBenchmark(**p.model)
    findings = [
        *findings_theory.of_marginals(p.seed, model),
        *findings_theory.of_projections(p.seed),
        *findings_theory.of_influence(p.seed, model),
        *findings_theory.of_mmd(p.seed, model),
        *findings_theory.of_variances(p.seed, model, about=p.about),
        *findings_theory.of_sampling(p.seed, model),
        *findings_theory.of_witness(p.seed, model),
        *findings_theory.of_context(p.seed, model),
        *findings_theory.of_interpretation(p.seed, model),
        *findings_theory.of_choices(p.seed, model),
    ]
    files.write_json([finding.as_dict() for finding in findings], snakemake.output[0])
