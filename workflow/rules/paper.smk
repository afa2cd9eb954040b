# What is held against the paper, and the papers made of it.


rule scoreboard:
    input:
        code=code("scoreboard.py"),
        published="resources/published.csv",
        findings=[
            rules.theory_findings.output[0],
            rules.exp1_findings.output[0],
            rules.exp2_findings.output[0],
            rules.exp3_findings.output[0],
        ],
    output:
        csv=shown("scoreboard.csv", "Scoreboard", "Published against reproduced"),
        tex=result("scoreboard.tex"),
        tally=result("scoreboard.txt"),
        numbers=result("numbers.json"),
    log:
        result("logs/scoreboard.log"),
    conda:
        "../../envs/analysis.yaml"
    params:
        not_comparable=OTHER_STATISTICS,
    script:
        "../scripts/scoreboard.py"


rule supp_scoreboard:
    input:
        code=code("draw_scoreboard.py"),
        scores=rules.scoreboard.output.csv,
        edition=rules.lhco_edition.output[0],
    output:
        drawn=figure("supp_scoreboard", "Scoreboard", "The scoreboard at a glance"),
        points=result("figures/supp_scoreboard.csv"),
    log:
        result("logs/supp_scoreboard.log"),
    conda:
        "../../envs/analysis.yaml"
    params:
        other_statistics=OTHER_STATISTICS,
    script:
        "../scripts/draw_scoreboard.py"
