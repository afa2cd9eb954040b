# Beyond the paper: what other statistics localize on the benchmark of Experiment I.
BENCHMARK = config["experiment1"]
STATISTICS = config["statistics"]
STATISTICS_PARTS = [
    f"{name}_{part}" for name, jobs in JOBS.statistics.items() for part in jobs.parts
]
STATISTICS_OPTIONS = {"features": STATISTICS["features"], **STATISTICS["classifier"]}
STATISTICS_CHAPTER = "Beyond the paper: other statistics"


rule statistics_part:
    input:
        **compiled("statistics_part.py"),
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
        **compiled("statistics_map.py"),
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
        times=expand(
            result("benchmarks/statistics_part/{part}.csv"), part=STATISTICS_PARTS
        ),
        maps=rules.statistics_map.output[0],
    output:
        table=table("statistics", STATISTICS_CHAPTER, "Other statistics compared"),
        points=result("statistics/points.csv"),
        cost=shown(
            "benchmarks/statistics_cost.csv",
            STATISTICS_CHAPTER,
            "What each statistic costs",
        ),
    log:
        result("logs/statistics_summary.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        model=BENCHMARK["model"],
    script:
        "../scripts/statistics_summary.py"


FIGURES["statistics"] = {
    "supp_statistics": drawn(
        "What each statistic localizes",
        chapter=STATISTICS_CHAPTER,
        options={name: BENCHMARK["model"][name] for name in ("mean", "sigma_s")},
        points=rules.statistics_summary.output.points,
    ),
}


rule other_statistics:
    input:
        rules.statistics_summary.output,
        drawings("statistics"),
