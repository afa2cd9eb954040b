# Experiment I: controlled validation with a known signal (sec. exp-known-signal).
EXPERIMENT1 = config["experiment1"]


rule exp1_targets:
    input:
        code=code("exp1_targets.py"),
    output:
        numbers=result("experiment1/targets.json"),
        table=table(
            "exp1_targets",
            "Experiment I",
            "Closed forms of the Gaussian benchmark",
        ),
    log:
        result("logs/exp1_targets.log"),
    conda:
        "../../envs/analysis.yaml"
    params:
        model=EXPERIMENT1["model"],
        m=EXPERIMENT1["m"],
        m_scan=EXPERIMENT1["m_scan"]["m"],
    script:
        "../scripts/exp1_targets.py"


rule fig_exp1_separation:
    input:
        code=code("fig_exp1_separation.py"),
        points=rules.exp1_targets.output.table,
    output:
        figure(
            "supp_separation",
            "Experiment I",
            "Class separation against batch size",
        ),
    log:
        result("logs/fig_exp1_separation.log"),
    conda:
        "../../envs/analysis.yaml"
    script:
        "../scripts/fig_exp1_separation.py"


rule experiment1:
    input:
        rules.exp1_targets.output,
        rules.fig_exp1_separation.output,
