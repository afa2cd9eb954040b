# Experiment I: controlled validation with a known signal (sec. exp-known-signal).
EXPERIMENT1 = config["experiment1"]
MODEL1 = {"seed": config["seed"], "model": EXPERIMENT1["model"]}


rule exp1_targets:
    input:
        code=code("exp1_targets.py"),
    output:
        numbers=result("experiment1/targets.json"),
        table=table("exp1_targets", "Experiment I", "Closed forms of the benchmark"),
    log:
        result("logs/exp1_targets.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        model=EXPERIMENT1["model"],
        m=EXPERIMENT1["m"],
        m_scan=EXPERIMENT1["m_scan"]["m"],
    script:
        "../scripts/exp1_targets.py"


# --- the pseudoexperiments ---------------------------------------------------------


rule exp1_toys_part:
    input:
        **compiled("exp1_toys_part.py"),
    output:
        result("experiment1/toys/{part}.csv"),
    log:
        result("logs/exp1_toys_part/{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        **MODEL1,
        N=EXPERIMENT1["N"],
        m=EXPERIMENT1["m"],
        numbers=lambda wildcards: JOBS.toys1.parts[wildcards.part],
    script:
        "../scripts/exp1_toys_part.py"


rule exp1_toys:
    input:
        code=code("exp1_toys.py"),
        parts=expand(result("experiment1/toys/{part}.csv"), part=JOBS.toys1.parts),
    output:
        toys=result("experiment1/toys.csv"),
        roc=result("experiment1/roc.csv"),
        field=result("experiment1/residual_field.csv"),
    log:
        result("logs/exp1_toys.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        **MODEL1,
        N=EXPERIMENT1["N"],
    script:
        "../scripts/exp1_toys.py"


# --- forced inclusion --------------------------------------------------------------


rule exp1_forced:
    input:
        **compiled("exp1_forced.py"),
    output:
        result("experiment1/{study}/m{m}.csv"),
    log:
        result("logs/exp1_forced/{study}_m{m}.log"),
    wildcard_constraints:
        study="|".join(JOBS.contexts),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        **MODEL1,
        study=lambda wildcards: wildcards.study,
        m=lambda wildcards: int(wildcards.m),
        contexts=lambda wildcards: JOBS.contexts[wildcards.study],
        signal_probes=lambda wildcards: EXPERIMENT1[wildcards.study]["signal_probes"],
        background_probes=lambda wildcards: EXPERIMENT1[wildcards.study][
            "background_probes"
        ],
    script:
        "../scripts/exp1_forced.py"


rule exp1_resampling:
    input:
        code=code("exp1_resampling.py"),
        forced=result(f"experiment1/resampling/m{EXPERIMENT1['resampling']['m']}.csv"),
    output:
        scores=result("experiment1/resampled.csv"),
        scaling=result("experiment1/resampling_scaling.csv"),
    log:
        result("logs/exp1_resampling.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        model=EXPERIMENT1["model"],
    script:
        "../scripts/exp1_resampling.py"


rule exp1_null_probe:
    input:
        **compiled("exp1_null_probe.py"),
    output:
        result("experiment1/null_probe.csv"),
    log:
        result("logs/exp1_null_probe.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        **EXPERIMENT1["null_probe"],
        **MODEL1,
    script:
        "../scripts/exp1_null_probe.py"


rule exp1_m_scan:
    input:
        code=code("exp1_precision.py"),
        parts=expand(
            result("experiment1/m_scan/m{m}.csv"), m=EXPERIMENT1["m_scan"]["m"]
        ),
    output:
        probes=result("experiment1/m_scan.csv"),
        points=result("experiment1/m_scan_points.csv"),
        curve=result("experiment1/m_scan_exact.csv"),
    log:
        result("logs/exp1_m_scan.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        model=EXPERIMENT1["model"],
    script:
        "../scripts/exp1_precision.py"


use rule exp1_m_scan as exp1_efficiency with:
    input:
        code=code("exp1_precision.py"),
        parts=expand(
            result("experiment1/efficiency/m{m}.csv"), m=EXPERIMENT1["efficiency"]["m"]
        ),
    output:
        probes=result("experiment1/efficiency.csv"),
        points=result("experiment1/efficiency_points.csv"),
        curve=result("experiment1/efficiency_exact.csv"),
    log:
        result("logs/exp1_efficiency.log"),


rule exp1_generic:
    input:
        **compiled("exp1_generic.py"),
    output:
        points=result("experiment1/generic_points.csv"),
        curve=result("experiment1/generic_exact.csv"),
        linear=result("experiment1/generic_linear.csv"),
    log:
        result("logs/exp1_generic.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        **EXPERIMENT1["generic"],
        **MODEL1,
    script:
        "../scripts/exp1_generic.py"


# --- self-influence at the exact null ----------------------------------------------


rule exp1_self_influence_part:
    input:
        **compiled("exp1_self_influence_part.py"),
    output:
        probe=result("experiment1/self_influence/{part}.csv"),
        profile=result("experiment1/self_influence/{part}_profile.csv"),
    log:
        result("logs/exp1_self_influence_part/{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        **MODEL1,
        N=EXPERIMENT1["N"],
        x=EXPERIMENT1["null_probe"]["x"],
        numbers=lambda wildcards: JOBS.null_toys.parts[wildcards.part],
    script:
        "../scripts/exp1_self_influence_part.py"


rule exp1_self_influence:
    input:
        code=code("exp1_self_influence.py"),
        probe=expand(
            result("experiment1/self_influence/{part}.csv"), part=JOBS.null_toys.parts
        ),
        profile=expand(
            result("experiment1/self_influence/{part}_profile.csv"),
            part=JOBS.null_toys.parts,
        ),
    output:
        probe=result("experiment1/self_influence.csv"),
        profile=result("experiment1/self_influence_profile.csv"),
    log:
        result("logs/exp1_self_influence.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    script:
        "../scripts/exp1_self_influence.py"


# --- figures and findings ----------------------------------------------------------


FIGURES["experiment1"] = {
    "fig01_resampled_analytic": drawn(
        "Fig. 1: resampled and analytic scores",
        scores=rules.exp1_resampling.output.scores,
    ),
    "supp_resampling": drawn(
        "Residual against the number of contexts",
        scaling=rules.exp1_resampling.output.scaling,
    ),
    "fig02_roc": drawn(
        "Fig. 2: ROC curves of a representative toy",
        curves=rules.exp1_toys.output.roc,
    ),
    "supp_loo_auc": drawn("The AUC over all toys", toys=rules.exp1_toys.output.toys),
    "supp_residual_field": drawn(
        "The residual field of the worst toy",
        options={name: EXPERIMENT1["model"][name] for name in ("mean", "sigma_s")},
        field=rules.exp1_toys.output.field,
    ),
    "fig03_mscan": drawn(
        "Fig. 3: batch size and the near-degenerate regime",
        points=rules.exp1_m_scan.output.points,
        curve=rules.exp1_m_scan.output.curve,
        targets=rules.exp1_targets.output.table,
        toys=rules.exp1_toys.output.toys,
        published=shipped("resources/published.csv"),
        options={"m": EXPERIMENT1["m"]},
    ),
    "fig04_marginal_pair": drawn(
        "Fig. 4: efficiency of the estimators",
        points=rules.exp1_efficiency.output.points,
        curve=rules.exp1_efficiency.output.curve,
    ),
    "supp_generic_regime": drawn(
        "The generic regime of the variance ratio",
        points=rules.exp1_generic.output.points,
        curve=rules.exp1_generic.output.curve,
        linear=rules.exp1_generic.output.linear,
    ),
    "supp_self_influence": drawn(
        "Self-influence at the exact null",
        options={"x": EXPERIMENT1["null_probe"]["x"]},
        profile=rules.exp1_self_influence.output.profile,
        probe=rules.exp1_self_influence.output.probe,
    ),
}


rule exp1_findings:
    input:
        code=code("exp1_findings.py"),
        toys=rules.exp1_toys.output.toys,
        field=rules.exp1_toys.output.field,
        scores=rules.exp1_resampling.output.scores,
        scaling=rules.exp1_resampling.output.scaling,
        null_probe=rules.exp1_null_probe.output[0],
        m_scan=rules.exp1_m_scan.output.points,
        m_scan_probes=rules.exp1_m_scan.output.probes,
        efficiency=rules.exp1_efficiency.output.probes,
        generic=rules.exp1_generic.output.curve,
        self_influence=rules.exp1_self_influence.output.probe,
    output:
        result("experiment1/findings.json"),
    log:
        result("logs/exp1_findings.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        **MODEL1,
        m=EXPERIMENT1["m"],
        loo_toys=EXPERIMENT1["loo_toys_published"],
        contexts=EXPERIMENT1["null_probe"]["contexts"],
    script:
        "../scripts/exp1_findings.py"


rule experiment1:
    input:
        rules.exp1_targets.output,
        rules.exp1_findings.output,
        drawings("experiment1"),
