# Experiment II: information that no single event carries (sec. exp-zero-info).
EXPERIMENT2 = config["experiment2"]
N_SCAN, RECOVERY = EXPERIMENT2["n_scan"], EXPERIMENT2["recovery"]


rule exp2_toys_part:
    input:
        code=code("exp2_toys_part.py"),
        compiled=compiled("exp2_toys_part.py"),
    output:
        result("experiment2/toys/N{N}_{part}.csv"),
    log:
        result("logs/exp2_toys_part/N{N}_{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        seed=config["seed"],
        model=EXPERIMENT2["model"],
        N=lambda wildcards: int(wildcards.N),
        numbers=lambda wildcards: JOBS.toys2[int(wildcards.N)].parts[wildcards.part],
    script:
        "../scripts/exp2_toys_part.py"


use rule exp1_toys as exp2_toys with:
    input:
        code=code("join_tables.py"),
        parts=[
            result(f"experiment2/toys/N{N}_{part}.csv")
            for N, jobs in JOBS.toys2.items()
            for part in jobs.parts
        ],
    output:
        result("experiment2/toys.csv"),
    log:
        result("logs/exp2_toys.log"),


rule exp2_n_scan:
    input:
        code=code("exp2_n_scan.py"),
        toys=rules.exp2_toys.output[0],
    output:
        table("exp2_n_scan", "Experiment II", "AUC by ensemble size"),
    log:
        result("logs/exp2_n_scan.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        N=N_SCAN["N"],
        toys=N_SCAN["toys"],
    script:
        "../scripts/exp2_n_scan.py"


rule exp2_recovery_targets_part:
    input:
        code=code("exp2_recovery_targets.py"),
        compiled=compiled("exp2_recovery_targets.py"),
    output:
        result("experiment2/recovery_targets/{part}.csv"),
    log:
        result("logs/exp2_recovery_targets_part/{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        seed=config["seed"],
        model=EXPERIMENT2["model"],
        N=RECOVERY["N"],
        mu_norm=RECOVERY["mu_norm"],
        m=RECOVERY["m"],
        R=RECOVERY["R"][-1],
        tolerance=RECOVERY["kernel_tolerance"],
        numbers=lambda wildcards: JOBS.target_toys.parts[wildcards.part],
    script:
        "../scripts/exp2_recovery_targets.py"


rule exp2_recovery_runs_part:
    input:
        code=code("exp2_recovery_runs.py"),
        compiled=compiled("exp2_recovery_runs.py"),
    output:
        result("experiment2/recovery_runs/{part}.csv"),
    log:
        result("logs/exp2_recovery_runs_part/{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        seed=config["seed"],
        model=EXPERIMENT2["model"],
        N=RECOVERY["N"],
        mu_norm=RECOVERY["mu_norm"],
        m=RECOVERY["m"],
        R=RECOVERY["R"],
        replacement=RECOVERY["replacement"],
        group_size=RECOVERY["group_size"],
        tolerance=RECOVERY["kernel_tolerance"],
        numbers=lambda wildcards: JOBS.batch_toys.parts[wildcards.part],
    script:
        "../scripts/exp2_recovery_runs.py"


use rule exp1_toys as exp2_recovery_targets with:
    input:
        code=code("join_tables.py"),
        parts=expand(
            result("experiment2/recovery_targets/{part}.csv"),
            part=JOBS.target_toys.parts,
        ),
    output:
        result("experiment2/recovery_targets.csv"),
    log:
        result("logs/exp2_recovery_targets.log"),


use rule exp1_toys as exp2_recovery_runs with:
    input:
        code=code("join_tables.py"),
        parts=expand(
            result("experiment2/recovery_runs/{part}.csv"), part=JOBS.batch_toys.parts
        ),
    output:
        result("experiment2/recovery_runs.csv"),
    log:
        result("logs/exp2_recovery_runs.log"),


rule exp2_recovery:
    input:
        code=code("exp2_recovery.py"),
        targets=rules.exp2_recovery_targets.output[0],
        runs=rules.exp2_recovery_runs.output[0],
    output:
        typical=result("figures/fig06_marginal_recovery.csv"),
        correlations=result("figures/supp_recovery_ensemble.csv"),
    log:
        result("logs/exp2_recovery.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    script:
        "../scripts/exp2_recovery.py"


# --- what context can tell at best -------------------------------------------------


rule exp2_context_part:
    input:
        code=code("exp2_context_part.py"),
        compiled=compiled("exp2_context_part.py"),
    output:
        result("experiment2/context/N{N}.csv"),
    log:
        result("logs/exp2_context_part/N{N}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        seed=config["seed"],
        model=EXPERIMENT2["model"],
        N=lambda wildcards: int(wildcards.N),
        toys=N_SCAN["context_toys"],
    script:
        "../scripts/exp2_context_part.py"


rule exp2_context:
    input:
        code=code("exp2_context.py"),
        compiled=compiled("exp2_context.py"),
        parts=expand(result("experiment2/context/N{N}.csv"), N=N_SCAN["N"]),
        toys=rules.exp2_toys.output[0],
    output:
        toys=result("experiment2/context.csv"),
        numbers=result("experiment2/context.json"),
        table=table("exp2_context", "Experiment II", "What context can tell at best"),
    log:
        result("logs/exp2_context.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        seed=config["seed"],
        model=EXPERIMENT2["model"],
        N=EXPERIMENT2["N"],
    script:
        "../scripts/exp2_context.py"


# --- figures and findings ----------------------------------------------------------


rule fig05:
    input:
        code=code("draw_experiment2.py"),
        scan=rules.exp2_n_scan.output[0],
    output:
        figure(
            "fig05_nscan",
            "Experiment II",
            "Fig. 5: recovery with ensemble size",
            points=[""],
        ),
    log:
        result("logs/fig05.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        figure="nscan",
    script:
        "../scripts/draw_experiment2.py"


use rule fig05 as fig06 with:
    input:
        code=code("draw_experiment2.py"),
        typical=rules.exp2_recovery.output.typical,
    output:
        figure(
            "fig06_marginal_recovery",
            "Experiment II",
            "Fig. 6: recovery by random batches",
        ),
    log:
        result("logs/fig06.log"),
    params:
        figure="recovery",


use rule fig05 as supp_auc_by_mu with:
    input:
        code=code("draw_experiment2.py"),
        toys=rules.exp2_toys.output[0],
    output:
        figure(
            "supp_auc_by_mu",
            "Experiment II",
            "AUC against the hidden location",
            points=[""],
        ),
    log:
        result("logs/supp_auc_by_mu.log"),
    params:
        figure="auc_by_mu",
        N=EXPERIMENT2["N"],


use rule fig05 as supp_recovery_ensemble with:
    input:
        code=code("draw_experiment2.py"),
        correlations=rules.exp2_recovery.output.correlations,
        targets=rules.exp2_recovery_targets.output[0],
    output:
        figure(
            "supp_recovery_ensemble", "Experiment II", "What sets a toy's correlation"
        ),
    log:
        result("logs/supp_recovery_ensemble.log"),
    params:
        figure="recovery_ensemble",


use rule fig05 as supp_context with:
    input:
        code=code("draw_experiment2.py"),
        context=rules.exp2_context.output.table,
    output:
        figure(
            "supp_context",
            "Experiment II",
            "The bound of the contextual posterior",
            points=[""],
        ),
    log:
        result("logs/supp_context.log"),
    params:
        figure="context",


rule exp2_findings:
    input:
        code=code("exp2_findings.py"),
        toys=rules.exp2_toys.output[0],
        scan=rules.exp2_n_scan.output[0],
        targets=rules.exp2_recovery_targets.output[0],
        runs=rules.exp2_recovery_runs.output[0],
        context=rules.exp2_context.output.toys,
        numbers=rules.exp2_context.output.numbers,
        published="resources/published.csv",
    output:
        result("experiment2/findings.json"),
    log:
        result("logs/exp2_findings.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        seed=config["seed"],
        model=EXPERIMENT2["model"],
        N=EXPERIMENT2["N"],
        published_toys=N_SCAN["published_toys"],
        recovery_m=RECOVERY["m"],
        recovery_N=RECOVERY["N"],
        sizes=N_SCAN["N"],
    script:
        "../scripts/exp2_findings.py"


rule experiment2:
    input:
        rules.exp2_findings.output,
        rules.exp2_context.output,
        rules.supp_context.output,
        rules.exp2_n_scan.output,
        rules.fig05.output,
        rules.fig06.output,
        rules.supp_auc_by_mu.output,
        rules.supp_recovery_ensemble.output,
