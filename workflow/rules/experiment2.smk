# Experiment II: information that no single event carries (sec. exp-zero-info).
EXPERIMENT2 = config["experiment2"]
MODEL2 = {"seed": config["seed"], "model": EXPERIMENT2["model"]}
N_SCAN, RECOVERY = EXPERIMENT2["n_scan"], EXPERIMENT2["recovery"]


rule exp2_toys_part:
    input:
        **compiled("exp2_toys_part.py"),
    output:
        result("experiment2/toys/N{N}_{part}.csv"),
    log:
        result("logs/exp2_toys_part/N{N}_{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        **MODEL2,
        N=lambda wildcards: int(wildcards.N),
        numbers=lambda wildcards: JOBS.toys2[int(wildcards.N)].parts[wildcards.part],
    script:
        "../scripts/exp2_toys_part.py"


rule exp2_toys:
    input:
        code=code("exp2_toys.py"),
        parts=[
            result(f"experiment2/toys/N{N}_{part}.csv")
            for N, jobs in JOBS.toys2.items()
            for part in jobs.parts
        ],
    output:
        toys=result("experiment2/toys.csv"),
        scan=table("exp2_n_scan", "Experiment II", "AUC by ensemble size"),
    log:
        result("logs/exp2_toys.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        N=N_SCAN["N"],
        toys=N_SCAN["toys"],
    script:
        "../scripts/exp2_toys.py"


rule exp2_recovery_targets_part:
    input:
        **compiled("exp2_recovery_targets.py"),
    output:
        result("experiment2/recovery_targets/{part}.csv"),
    log:
        result("logs/exp2_recovery_targets_part/{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        **MODEL2,
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
        **compiled("exp2_recovery_runs.py"),
    output:
        result("experiment2/recovery_runs/{part}.csv"),
    log:
        result("logs/exp2_recovery_runs_part/{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        **MODEL2,
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


rule exp2_recovery:
    input:
        code=code("exp2_recovery.py"),
        targets=expand(
            result("experiment2/recovery_targets/{part}.csv"),
            part=JOBS.target_toys.parts,
        ),
        runs=expand(
            result("experiment2/recovery_runs/{part}.csv"), part=JOBS.batch_toys.parts
        ),
    output:
        targets=result("experiment2/recovery_targets.csv"),
        runs=result("experiment2/recovery_runs.csv"),
        typical=result("experiment2/recovery_typical.csv"),
        correlations=result("experiment2/recovery_correlations.csv"),
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
        **compiled("exp2_context_part.py"),
    output:
        result("experiment2/context/N{N}.csv"),
    log:
        result("logs/exp2_context_part/N{N}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        **MODEL2,
        N=lambda wildcards: int(wildcards.N),
        toys=N_SCAN["context_toys"],
    script:
        "../scripts/exp2_context_part.py"


rule exp2_context:
    input:
        **compiled("exp2_context.py"),
        parts=expand(result("experiment2/context/N{N}.csv"), N=N_SCAN["N"]),
        toys=rules.exp2_toys.output.toys,
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
        **MODEL2,
        N=EXPERIMENT2["N"],
    script:
        "../scripts/exp2_context.py"


# --- figures and findings ----------------------------------------------------------


FIGURES["experiment2"] = {
    "fig05_nscan": drawn(
        "Fig. 5: recovery with ensemble size", scan=rules.exp2_toys.output.scan
    ),
    "fig06_marginal_recovery": drawn(
        "Fig. 6: recovery by random batches",
        typical=rules.exp2_recovery.output.typical,
        runs=rules.exp2_recovery.output.runs,
    ),
    "supp_auc_by_mu": drawn(
        "AUC against the hidden location",
        options={"N": EXPERIMENT2["N"]},
        toys=rules.exp2_toys.output.toys,
    ),
    "supp_recovery_ensemble": drawn(
        "What sets a toy's correlation",
        correlations=rules.exp2_recovery.output.correlations,
        targets=rules.exp2_recovery.output.targets,
    ),
    "supp_context": drawn(
        "The bound of the contextual posterior",
        context=rules.exp2_context.output.table,
    ),
}


rule exp2_findings:
    input:
        code=code("exp2_findings.py"),
        toys=rules.exp2_toys.output.toys,
        scan=rules.exp2_toys.output.scan,
        targets=rules.exp2_recovery.output.targets,
        runs=rules.exp2_recovery.output.runs,
        context=rules.exp2_context.output.toys,
        numbers=rules.exp2_context.output.numbers,
        published=shipped("resources/published.csv"),
    output:
        result("experiment2/findings.json"),
    log:
        result("logs/exp2_findings.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        **MODEL2,
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
        rules.exp2_toys.output,
        drawings("experiment2"),
