# Beyond the paper: the witness beside other scores of events. Every file in
# localizer/comparison/competitors is a competitor; a job is one of them on some problems.
from localizer.comparison import known  # noqa: E402

COMPARISON = config["comparison"]
COMPARISON_CHAPTER = "Beyond the paper: other scores"
COMPETITORS = {
    version: [
        name for name in known.names() if name not in COMPARISON[version]["without"]
    ]
    for version in JOBS.comparison
}
# what every run has shares its jobs: a process costs a second to start
COMPARISON_PARTS = {
    "small": {"all": list(JOBS.comparison["small"])},
    "full": {problem: [problem] for problem in JOBS.comparison["full"]},
}


rule comparison_scores:
    input:
        unpack(competitor_code),
        competitor=shipped("workflow/localizer/comparison/competitors/{competitor}.py"),
        samples=rules.lhco_samples.output.samples,
    output:
        scores=result("comparison/{version}/{part}/{competitor}.csv"),
        costs=result("benchmarks/comparison/{version}/{part}/{competitor}.csv"),
    log:
        result("logs/comparison_scores/{version}_{part}_{competitor}.log"),
    wildcard_constraints:
        version="small|full",
        part=r"[a-z0-9_.+-]+",
        competitor=r"\w+",
    conda:
        "../../envs/comparison.yaml"
    resources:
        **needs(gb=2, minutes=30),
    params:
        seed=config["seed"],
        problems=lambda wildcards: {
            problem: JOBS.comparison[wildcards.version][problem]
            for problem in COMPARISON_PARTS[wildcards.version][wildcards.part]
        },
        sic_floors=COMPARISON["sic_floors"],
    script:
        "../scripts/comparison_scores.py"


rule comparison_summary:
    input:
        code=code("comparison_summary.py"),
        edition=rules.lhco_edition.output[0],
        scores=compared("small", "comparison/{version}/{part}/{competitor}.csv"),
        costs=compared(
            "small", "benchmarks/comparison/{version}/{part}/{competitor}.csv"
        ),
    output:
        table=table("comparison", COMPARISON_CHAPTER, "The witness and other scores"),
        points=result("comparison/small/points.csv"),
        cost=shown(
            "benchmarks/comparison.csv", COMPARISON_CHAPTER, "What each score costs"
        ),
    log:
        result("logs/comparison_summary.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        problems=list(JOBS.comparison["small"]),
        sic_floor=COMPARISON["sic_floor"],
        sic_floors=COMPARISON["sic_floors"],
    script:
        "../scripts/comparison_summary.py"


FIGURES["comparison"] = {
    "supp_comparison": drawn(
        "The witness and other scores",
        chapter=COMPARISON_CHAPTER,
        points=rules.comparison_summary.output.points,
    ),
}


rule supp_comparison_cost:
    input:
        cost=rules.comparison_summary.output.cost,
        code=code("draw.py") + code("../localizer/figures/comparison.py"),
        module=shipped("workflow/localizer/figures/comparison.py"),
        edition=rules.lhco_edition.output,
    output:
        shown(
            "benchmarks/comparison_cost.png",
            COMPARISON_CHAPTER,
            "What is found, and what it costs",
        ),
        result("benchmarks/comparison_cost.pdf"),
        result("benchmarks/comparison_cost.csv"),
    log:
        result("logs/supp_comparison_cost.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    script:
        "../scripts/draw.py"


# --- the full version, on request: snakemake comparison ------------------------------


use rule comparison_summary as comparison_full_summary with:
    input:
        code=code("comparison_summary.py"),
        edition=rules.lhco_edition.output[0],
        scores=compared("full", "comparison/{version}/{part}/{competitor}.csv"),
        costs=compared(
            "full", "benchmarks/comparison/{version}/{part}/{competitor}.csv"
        ),
    output:
        table=result("comparison/full/comparison.csv"),
        points=result("comparison/full/points.csv"),
        cost=result("benchmarks/comparison_full.csv"),
    log:
        result("logs/comparison_full_summary.log"),
    params:
        problems=list(JOBS.comparison["full"]),
        sic_floor=COMPARISON["sic_floor"],
        sic_floors=COMPARISON["sic_floors"],


use rule supp_comparison_cost as comparison_full_cost with:
    input:
        cost=rules.comparison_full_summary.output.cost,
        code=code("draw.py") + code("../localizer/figures/comparison.py"),
        module=shipped("workflow/localizer/figures/comparison.py"),
        edition=rules.lhco_edition.output,
    output:
        result("benchmarks/full/comparison_cost.png"),
        result("benchmarks/full/comparison_cost.pdf"),
        result("benchmarks/full/comparison_cost.csv"),
    log:
        result("logs/comparison_full_cost.log"),


use rule supp_comparison_cost as comparison_full_figure with:
    input:
        points=rules.comparison_full_summary.output.points,
        code=code("draw.py") + code("../localizer/figures/comparison.py"),
        module=shipped("workflow/localizer/figures/comparison.py"),
        edition=rules.lhco_edition.output,
    output:
        result("comparison/full/supp_comparison.png"),
        result("comparison/full/supp_comparison.pdf"),
        result("comparison/full/supp_comparison.csv"),
    log:
        result("logs/comparison_full_figure.log"),


rule comparison_full_table:
    input:
        code=code("latex_tables.py"),
        tables=[rules.comparison_full_summary.output.table],
    output:
        result("comparison/full/comparison.tex"),
    log:
        result("logs/comparison_full_table.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    script:
        "../scripts/latex_tables.py"


rule comparison:
    input:
        rules.comparison_full_summary.output,
        rules.comparison_full_table.output,
        rules.comparison_full_figure.output,
        rules.comparison_full_cost.output,
