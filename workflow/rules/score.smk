# A user's own data: is there a departure, and which events carry it (docs/own-data.md).
SCORE = config["score"]
SCORE_BATCHES, SCORE_STATISTICS = SCORE["batches"], SCORE["statistics"]
# A statistic's files are named after it; the colon of module:function is not for file names.
STATISTIC_NAMES = {name.replace(":", "-"): name for name in SCORE_STATISTICS["names"]}
RECIPE = {
    **{
        name: SCORE[name]
        for name in (
            *("coordinates", "source", "ladder", "ranking", "method"),
            *("exact_limit", "companions", "pairs"),
        )
    },
    "calibration_limit": SCORE["calibration"]["exact_limit"],
    "factors": SCORE["bandwidths"],
    "n_per_bandwidth": SCORE["features_per_bandwidth"],
}


# --- the tables --------------------------------------------------------------------


rule score_example:
    input:
        code=code("score_example.py"),
    output:
        sample="results/example/sample.csv",
        reference="results/example/reference.csv",
        off="results/example/reference_off.csv",
        power="results/example/reference_power.csv",
        temperature="results/example/reference_temperature.csv",
    log:
        "results/example/logs/score_example.log",
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        seed=config["seed"],
        readings=SCORE["example"]["readings"],
        worn=SCORE["example"]["worn"],
    script:
        "../scripts/score_example.py"


rule score_lhco:
    input:
        code=code("score_lhco.py"),
        samples=rules.lhco_samples.output.samples,
    output:
        sample=result("lhco/mixed.parquet"),
        reference=result("lhco/reference.parquet"),
    log:
        result("logs/score_lhco.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    script:
        "../scripts/score_lhco.py"


rule score_problem:
    input:
        code=code("score_problem.py"),
        sample=own_table("sample"),
        reference=own_table("reference"),
    output:
        arrays=result("score/problem.npz"),
        events=result("score/events.parquet"),
        about=result("score/problem.json"),
    log:
        result("logs/score_problem.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=2),
    params:
        **{
            name: SCORE[name]
            for name in (
                *("columns", "label", "id", "sample_weight", "reference_weight"),
                *("shared_events", "max_events"),
            )
        },
        # with the name of an array in the file, where there is one
        tables={name: SCORE.get(name) for name in ("sample", "reference")},
        seed=config["seed"],
    script:
        "../scripts/score_problem.py"


# --- scores and their calibration --------------------------------------------------


rule score_sums_part:
    input:
        **compiled("score_sums_part.py"),
        problem=rules.score_problem.output.arrays,
    output:
        result("score/sums/{part}.npz"),
    log:
        result("logs/score_sums_part/{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    threads: 8
    resources:
        **needs(gb=4, minutes=60),
    params:
        seed=config["seed"],
        recipe=RECIPE,
        part=lambda wildcards: int(wildcards.part),
        jobs=SCORE["jobs"],
    script:
        "../scripts/score_sums_part.py"


rule score_events_part:
    input:
        **compiled("score_events_part.py"),
        problem=rules.score_problem.output.arrays,
        sums=expand(result("score/sums/{part}.npz"), part=range(SCORE["jobs"])),
    output:
        result("score/events/{part}.npz"),
    log:
        result("logs/score_events_part/{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    threads: 8
    resources:
        **needs(gb=4, minutes=60),
    params:
        seed=config["seed"],
        recipe=RECIPE,
        part=lambda wildcards: int(wildcards.part),
        jobs=SCORE["jobs"],
    script:
        "../scripts/score_events_part.py"


rule score_events:
    input:
        **compiled("score_events.py"),
        problem=rules.score_problem.output.arrays,
        events=rules.score_problem.output.events,
        # one job scores them all by itself
        parts=expand(
            result("score/events/{part}.npz"),
            part=range(SCORE["jobs"]) if SCORE["jobs"] > 1 else [],
        ),
    output:
        scores=result("score/scores.parquet"),
        about=result("score/scores.json"),
    log:
        result("logs/score_events.log"),
    conda:
        "../../envs/analysis.yaml"
    threads: 8
    resources:
        **needs(gb=4, minutes=60),
    params:
        seed=config["seed"],
        recipe=RECIPE,
        folds=SCORE["folds"],
        batches=SCORE_BATCHES,
    script:
        "../scripts/score_events.py"


rule score_null_part:
    input:
        **compiled("score_null_part.py"),
        problem=rules.score_problem.output.arrays,
    output:
        result("score/null/{part}.npz"),
    log:
        result("logs/score_null_part/{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=2, minutes=30),
    params:
        seed=config["seed"],
        recipe=RECIPE,
        top=SCORE["top"],
        draw=SCORE["calibration"]["from"],
        numbers=lambda wildcards: JOBS.calibration.parts[wildcards.part],
    script:
        "../scripts/score_null_part.py"


rule score_calibration:
    input:
        **compiled("score_calibration.py"),
        problem=rules.score_problem.output.arrays,
        scores=rules.score_events.output.scores,
        scored=rules.score_events.output.about,
        about=rules.score_problem.output.about,
        parts=expand(result("score/null/{part}.npz"), part=JOBS.calibration.parts),
    output:
        about=result("score/global.json"),
        table=your("global.csv", "Is there a departure?", "The sample as a whole"),
        ranking=result("score/ranking.csv"),
    log:
        result("logs/score_calibration.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=2, minutes=30),
    params:
        seed=config["seed"],
        recipe=RECIPE,
        top=SCORE["top"],
        draw=SCORE["calibration"]["from"],
    script:
        "../scripts/score_calibration.py"


# --- what a reader sees ------------------------------------------------------------


rule score_portrait:
    input:
        code=code("score_portrait.py"),
        problem=rules.score_problem.output.arrays,
        about=rules.score_problem.output.about,
        events=rules.score_problem.output.events,
        scores=rules.score_events.output.scores,
    output:
        top=your("top.csv", "Which events?", "The most responsible events"),
        deficits=your("deficits.csv", "Which events?", "Where the sample has too few"),
        features=your("features.csv", "Where do they lie?", "By feature, in numbers"),
        histograms=result("score/histograms.csv"),
        fields=result("score/pairs.csv"),
        explorer=result("score/explorer.csv"),
    log:
        result("logs/score_portrait.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=2),
    params:
        top=SCORE["top"],
        seed=config["seed"],
    script:
        "../scripts/score_portrait.py"


rule score_figures:
    input:
        code=code("score_figures.py"),
        ranking=rules.score_calibration.output.ranking,
        top=rules.score_portrait.output.top,
        features=rules.score_portrait.output.features,
        histograms=rules.score_portrait.output.histograms,
        fields=rules.score_portrait.output.fields,
    output:
        ranking=[
            your("ranking.png", "Is there a departure?", "The largest scores"),
            result("score/ranking.pdf"),
        ],
        features=[
            your("histograms.png", "Where do they lie?", "By feature"),
            result("score/histograms.pdf"),
        ],
        pairs=[
            your("pairs.png", "Where do they lie?", "By pairs of features"),
            result("score/pairs.pdf"),
        ],
    log:
        result("logs/score_figures.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    script:
        "../scripts/score_figures.py"


# --- other statistics --------------------------------------------------------------


rule score_statistic_part:
    input:
        **compiled("score_statistic_part.py"),
        own=lambda wildcards: own_module(STATISTIC_NAMES[wildcards.statistic]),
        problem=rules.score_problem.output.arrays,
    output:
        result("score/statistics/{statistic}/{part}.csv"),
    log:
        result("logs/score_statistic/{statistic}_{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=2, minutes=30),
    params:
        seed=config["seed"],
        statistic=lambda wildcards: STATISTIC_NAMES[wildcards.statistic],
        part=lambda wildcards: int(wildcards.part),
        jobs=SCORE_STATISTICS["jobs"],
        recipe=RECIPE,
        m=SCORE_STATISTICS["m"],
        contexts=SCORE_STATISTICS["contexts"],
        pool=SCORE_STATISTICS["pool"],
        max_events=SCORE_STATISTICS["max_events"],
        features=SCORE_STATISTICS["features"],
    script:
        "../scripts/score_statistic_part.py"


rule score_statistics:
    input:
        code=code("score_statistics.py"),
        scores=rules.score_events.output.scores,
        parts=expand(
            result("score/statistics/{statistic}/{part}.csv"),
            statistic=STATISTIC_NAMES,
            part=range(SCORE_STATISTICS["jobs"]),
        ),
    output:
        scores=result("score/statistics.csv"),
        table=your(
            "statistics_summary.csv",
            "Other statistics",
            "Matched marginal contributions",
        ),
    log:
        result("logs/score_statistics.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    script:
        "../scripts/score_statistics.py"


# --- a reference that may be wrong -------------------------------------------------
VARIATIONS = SCORE["variations"]


rule score_nuisances:
    input:
        **compiled("score_nuisances.py"),
        problem=rules.score_problem.output.arrays,
        about=rules.score_problem.output.about,
        events=rules.score_problem.output.events,
        reference=own_table("reference"),
        tables=[parted(v["table"])[0] for v in VARIATIONS if v["table"]],
    output:
        scores=your(
            "profiled.csv",
            "Is it the reference?",
            "Scores beside the profiled ones",
        ),
        table=your("variations.csv", "Is it the reference?", "What was fitted"),
        figure=[
            your("pulls.png", "Is it the reference?", "The size of each variation"),
            result("score/pulls.pdf"),
        ],
        about=result("score/variations.json"),
    log:
        result("logs/score_nuisances.log"),
    conda:
        "../../envs/analysis.yaml"
    threads: 8
    resources:
        **needs(gb=4, minutes=60),
    params:
        seed=config["seed"],
        recipe=RECIPE,
        max_events=SCORE["max_events"],
        draws=SCORE["calibration"]["draws"],
        reference=SCORE.get("reference"),
        variations=VARIATIONS,
        top=SCORE["top"],
    script:
        "../scripts/score_nuisances.py"


rule score_page:
    input:
        code=code("score_page.py"),
        template=shipped("workflow/report/score.html.j2"),
        templates=page_templates(),
        explorer=shipped("workflow/localizer/own/explorer.html.j2"),
        sources=rule_files(),
        about=rules.score_problem.output.about,
        found=rules.score_calibration.output.about,
        ranking=rules.score_calibration.output.ranking,
        drawn=rules.score_portrait.output.explorer,
        by_distance=rules.score_portrait.output.features,
        profiled=rules.score_nuisances.output.about if VARIATIONS else [],
        files=lambda wildcards: [item["file"] for item in scored()],
        captions=lambda wildcards: sorted({item["caption"] for item in scored()}),
    output:
        result("score/report.html"),
    log:
        result("logs/score_page.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        run=config["run"],
        content=lambda wildcards: scored(),
    script:
        "../scripts/score_page.py"


rule score:
    input:
        rules.score_events.output,
        rules.score_calibration.output,
        rules.score_portrait.output,
        rules.score_figures.output,
        rules.score_nuisances.output if VARIATIONS else [],
        rules.score_page.output,
