# The claims of the theory sections, checked at finite size (secs. problem to algorithm).


rule theory_findings:
    input:
        **compiled("theory_findings.py"),
    output:
        result("theory/findings.json"),
    log:
        result("logs/theory_findings.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        seed=config["seed"],
        model=config["experiment1"]["model"],
    script:
        "../scripts/theory_findings.py"
