# The whole paper: `snakemake --cores all`. See README.md.
from snakemake.utils import min_version

# localrule, and the option of profiles/default; the oldest release that was tried
min_version("8.20")


include: "workflow/rules/common.smk"
include: "workflow/rules/kernels.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/experiment1.smk"
include: "workflow/rules/experiment2.smk"
include: "workflow/rules/experiment3.smk"
include: "workflow/rules/theory.smk"
include: "workflow/rules/statistics.smk"
include: "workflow/rules/comparison.smk"
include: "workflow/rules/nuisances.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/paper.smk"
include: "workflow/rules/manuscript.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/score.smk"


rule all:
    default_target: True
    input:
        rules.experiment1.input,
        rules.experiment2.input,
        rules.experiment3.input,
        rules.other_statistics.input,
        rules.comparison_summary.output,
        rules.supp_comparison_cost.output,
        drawings("comparison"),
        rules.nuisances.input,
        rules.scoreboard.output,
        rules.supp_scoreboard.output,
        rules.paper.output,
        rules.manuscript.output,
        rules.latex_tables.output,
        result("provenance.json"),
        result("report.html"),
        rules.crate.output,
