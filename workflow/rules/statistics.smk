# Beyond the paper: what other statistics localize on the benchmark of Experiment I.
BENCHMARK = config["experiment1"]
STATISTICS = config["statistics"]
STATISTICS_PARTS = [
    f"{name}_{part}" for name, jobs in JOBS.statistics.items() for part in jobs.parts
]
STATISTICS_OPTIONS = {"features": STATISTICS["features"], **STATISTICS["classifier"]}
OTHER_STATISTICS_CHAPTER = "Beyond the paper: other statistics"


rule statistics_part:
    input:
        code=code("statistics_part.py"),
        compiled=compiled("statistics_part.py"),
    output:
        scores=result("statistics/{statistic}_{part}.csv"),
        times=result("benchmarks/statistics_part/{statistic}_{part}.csv"),
    log:
        result("logs/statistics_part/{statistic}_{part}.log"),
    wildcard_constraints:
        statistic="[a-z]+",
        part=r"\d+",
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        seed=config["seed"],
        model=BENCHMARK["model"],
        N=BENCHMARK["N"],
        reference=STATISTICS["reference"],
        m=STATISTICS["m"],
        occurrences=STATISTICS["occurrences"],
        signal=STATISTICS["signal_events"],
        background=STATISTICS["background_events"],
        replacement=STATISTICS["replacement"],
        options=STATISTICS_OPTIONS,
        toys=lambda wildcards: JOBS.statistics[wildcards.statistic].parts[
            wildcards.part
        ],
    script:
        "../scripts/statistics_part.py"


rule statistics_map:
    input:
        code=code("statistics_map.py"),
        compiled=compiled("statistics_map.py"),
    output:
        result("statistics/maps.csv"),
    log:
        result("logs/statistics_map.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        seed=config["seed"],
        model=BENCHMARK["model"],
        N=STATISTICS["map"]["N"],
        names=STATISTICS["names"],
        reference=STATISTICS["reference"],
        m=STATISTICS["m"],
        contexts=STATISTICS["map"]["contexts"],
        half_width=STATISTICS["map"]["half_width"],
        cells=STATISTICS["map"]["cells"],
        options=STATISTICS_OPTIONS,
    script:
        "../scripts/statistics_map.py"


rule statistics_summary:
    input:
        code=code("statistics_summary.py"),
        scores=expand(result("statistics/{part}.csv"), part=STATISTICS_PARTS),
        maps=rules.statistics_map.output[0],
    output:
        table=table("statistics", OTHER_STATISTICS_CHAPTER, "Other statistics compared"),
        points=result("figures/supp_statistics.csv"),
    log:
        result("logs/statistics_summary.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        model=BENCHMARK["model"],
    script:
        "../scripts/statistics_summary.py"


rule statistics_cost:
    input:
        code=code("statistics_cost.py"),
        parts=expand(
            result("benchmarks/statistics_part/{part}.csv"), part=STATISTICS_PARTS
        ),
    output:
        shown(
            "benchmarks/statistics_cost.csv",
            OTHER_STATISTICS_CHAPTER,
            "What each statistic costs",
        ),
    log:
        result("logs/statistics_cost.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    script:
        "../scripts/statistics_cost.py"


rule supp_statistics:
    input:
        code=code("draw_statistics.py"),
        points=rules.statistics_summary.output.points,
    output:
        figure(
            "supp_statistics",
            OTHER_STATISTICS_CHAPTER,
            "What each statistic localizes",
        ),
    log:
        result("logs/supp_statistics.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        mean=BENCHMARK["model"]["mean"],
        sigma_s=BENCHMARK["model"]["sigma_s"],
    script:
        "../scripts/draw_statistics.py"


rule other_statistics:
    input:
        rules.statistics_summary.output,
        rules.statistics_cost.output,
        rules.supp_statistics.output,
