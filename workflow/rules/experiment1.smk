# Experiment I: controlled validation with a known signal (sec. exp-known-signal).
EXPERIMENT1 = config["experiment1"]


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
        code=code("exp1_toys_part.py"),
        compiled=compiled("exp1_toys_part.py"),
    output:
        result("experiment1/toys/{part}.csv"),
    log:
        result("logs/exp1_toys_part/{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        seed=config["seed"],
        model=EXPERIMENT1["model"],
        N=EXPERIMENT1["N"],
        m=EXPERIMENT1["m"],
        numbers=lambda wildcards: JOBS.toys1.parts[wildcards.part],
    script:
        "../scripts/exp1_toys_part.py"


rule exp1_toys:
    input:
        code=code("join_tables.py"),
        parts=expand(result("experiment1/toys/{part}.csv"), part=JOBS.toys1.parts),
    output:
        result("experiment1/toys.csv"),
    log:
        result("logs/exp1_toys.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    script:
        "../scripts/join_tables.py"


rule exp1_roc:
    input:
        code=code("exp1_roc.py"),
        toys=rules.exp1_toys.output[0],
    output:
        result("figures/fig02_roc.csv"),
    log:
        result("logs/exp1_roc.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        seed=config["seed"],
        model=EXPERIMENT1["model"],
        N=EXPERIMENT1["N"],
    script:
        "../scripts/exp1_roc.py"


rule exp1_residual_field:
    input:
        code=code("exp1_residual_field.py"),
        toys=rules.exp1_toys.output[0],
    output:
        result("experiment1/residual_field.csv"),
    log:
        result("logs/exp1_residual_field.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        seed=config["seed"],
        model=EXPERIMENT1["model"],
        N=EXPERIMENT1["N"],
    script:
        "../scripts/exp1_residual_field.py"


# --- forced inclusion --------------------------------------------------------------


rule exp1_forced:
    input:
        code=code("exp1_forced.py"),
        compiled=compiled("exp1_forced.py"),
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
        seed=config["seed"],
        model=EXPERIMENT1["model"],
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
        code=code("exp1_null_probe.py"),
        compiled=compiled("exp1_null_probe.py"),
    output:
        result("experiment1/null_probe.csv"),
    log:
        result("logs/exp1_null_probe.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        seed=config["seed"],
        model=EXPERIMENT1["model"],
        x=EXPERIMENT1["null_probe"]["x"],
        m=EXPERIMENT1["null_probe"]["m"],
        contexts=EXPERIMENT1["null_probe"]["contexts"],
        replicas=EXPERIMENT1["null_probe"]["replicas"],
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


rule exp1_efficiency:
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
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        model=EXPERIMENT1["model"],
    script:
        "../scripts/exp1_precision.py"


rule exp1_generic:
    input:
        code=code("exp1_generic.py"),
        compiled=compiled("exp1_generic.py"),
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
        seed=config["seed"],
        model=EXPERIMENT1["model"],
    script:
        "../scripts/exp1_generic.py"


# --- self-influence at the exact null ----------------------------------------------


rule exp1_self_influence_part:
    input:
        code=code("exp1_self_influence_part.py"),
        compiled=compiled("exp1_self_influence_part.py"),
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
        seed=config["seed"],
        model=EXPERIMENT1["model"],
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
        profile=result("figures/supp_self_influence.csv"),
    log:
        result("logs/exp1_self_influence.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    script:
        "../scripts/exp1_self_influence.py"


# --- figures and findings ----------------------------------------------------------


rule fig01:
    input:
        code=code("draw_experiment1.py"),
        scores=rules.exp1_resampling.output.scores,
    output:
        figure(
            "fig01_resampled_analytic",
            "Experiment I",
            "Fig. 1: resampled and analytic scores",
            points=[""],
        ),
    log:
        result("logs/fig01.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        figure="resampled_analytic",
    script:
        "../scripts/draw_experiment1.py"


use rule fig01 as supp_resampling with:
    input:
        code=code("draw_experiment1.py"),
        scaling=rules.exp1_resampling.output.scaling,
    output:
        figure(
            "supp_resampling",
            "Experiment I",
            "Residual against the number of contexts",
            points=[""],
        ),
    log:
        result("logs/supp_resampling.log"),
    params:
        figure="resampling",


use rule fig01 as fig02 with:
    input:
        code=code("draw_experiment1.py"),
        curves=rules.exp1_roc.output[0],
    output:
        figure(
            "fig02_roc", "Experiment I", "Fig. 2: ROC curves of a representative toy"
        ),
    log:
        result("logs/fig02.log"),
    params:
        figure="roc",


use rule fig01 as supp_loo_auc with:
    input:
        code=code("draw_experiment1.py"),
        toys=rules.exp1_toys.output[0],
    output:
        figure("supp_loo_auc", "Experiment I", "The AUC over all toys", points=[""]),
    log:
        result("logs/supp_loo_auc.log"),
    params:
        figure="loo_auc",


use rule fig01 as supp_residual_field with:
    input:
        code=code("draw_experiment1.py"),
        field=rules.exp1_residual_field.output[0],
    output:
        figure(
            "supp_residual_field",
            "Experiment I",
            "The residual field of the worst toy",
            points=[""],
        ),
    log:
        result("logs/supp_residual_field.log"),
    params:
        figure="residual_field",
        mean=EXPERIMENT1["model"]["mean"],
        sigma_s=EXPERIMENT1["model"]["sigma_s"],


use rule fig01 as fig03 with:
    input:
        code=code("draw_experiment1.py"),
        points=rules.exp1_m_scan.output.points,
        curve=rules.exp1_m_scan.output.curve,
        targets=rules.exp1_targets.output.table,
    output:
        figure(
            "fig03_mscan",
            "Experiment I",
            "Fig. 3: batch size and the near-degenerate regime",
            points=["", "_exact"],
        ),
    log:
        result("logs/fig03.log"),
    params:
        figure="mscan",


use rule fig01 as fig04 with:
    input:
        code=code("draw_experiment1.py"),
        points=rules.exp1_efficiency.output.points,
        curve=rules.exp1_efficiency.output.curve,
    output:
        figure(
            "fig04_marginal_pair",
            "Experiment I",
            "Fig. 4: efficiency of the estimators",
            points=["", "_exact"],
        ),
    log:
        result("logs/fig04.log"),
    params:
        figure="marginal_pair",


use rule fig01 as supp_generic_regime with:
    input:
        code=code("draw_experiment1.py"),
        points=rules.exp1_generic.output.points,
        curve=rules.exp1_generic.output.curve,
        linear=rules.exp1_generic.output.linear,
    output:
        figure(
            "supp_generic_regime",
            "Experiment I",
            "The generic regime of the variance ratio",
            points=["", "_exact", "_linear"],
        ),
    log:
        result("logs/supp_generic_regime.log"),
    params:
        figure="generic_regime",


use rule fig01 as supp_self_influence with:
    input:
        code=code("draw_experiment1.py"),
        profile=rules.exp1_self_influence.output.profile,
        probe=rules.exp1_self_influence.output.probe,
    output:
        figure(
            "supp_self_influence", "Experiment I", "Self-influence at the exact null"
        ),
    log:
        result("logs/supp_self_influence.log"),
    params:
        figure="self_influence",
        x=EXPERIMENT1["null_probe"]["x"],


rule exp1_findings:
    input:
        code=code("exp1_findings.py"),
        toys=rules.exp1_toys.output[0],
        field=rules.exp1_residual_field.output[0],
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
        seed=config["seed"],
        model=EXPERIMENT1["model"],
        m=EXPERIMENT1["m"],
        loo_toys=EXPERIMENT1["loo_toys_published"],
        contexts=EXPERIMENT1["null_probe"]["contexts"],
    script:
        "../scripts/exp1_findings.py"


rule experiment1:
    input:
        rules.exp1_targets.output,
        rules.exp1_findings.output,
        rules.fig01.output,
        rules.fig02.output,
        rules.fig03.output,
        rules.fig04.output,
        rules.supp_resampling.output,
        rules.supp_loo_auc.output,
        rules.supp_residual_field.output,
        rules.supp_generic_regime.output,
        rules.supp_self_influence.output,
