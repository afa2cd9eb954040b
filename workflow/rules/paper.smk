# What is held against the paper, and the papers made of it.
PAPER_PARTS = sorted(
    str(path)
    for folder in ("lib", "sections")
    for path in Path(shipped("paper"), folder).glob("*.typ")
)
PAPER_SECTIONS = [
    *("run", "seed", "experiment1", "experiment2", "experiment3"),
    *("nuisances", "comparison"),
]


rule scoreboard:
    input:
        code=code("scoreboard.py"),
        published=shipped("resources/published.csv"),
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
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        not_comparable=OTHER_SIZES,
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
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        other_sizes=OTHER_SIZES,
    script:
        "../scripts/draw_scoreboard.py"


rule paper:
    input:
        code=code("paper.py"),
        main=shipped("paper/main.typ"),
        parts=PAPER_PARTS,
        references=shipped("paper/references.yml"),
        figures=expand(result("figures/{name}.pdf"), name=read_by_the_paper("drawn")),
        points=expand(result("{name}.csv"), name=read_by_the_paper("points-of")),
        tables=expand(result("tables/{name}.csv"), name=read_by_the_paper("rows-of")),
        constants=result("experiment3/numbers.json"),
        scores=rules.scoreboard.output.csv,
        numbers=rules.scoreboard.output.numbers,
        edition=rules.lhco_edition.output[0],
        # no content: where typesetting fails, the report has been made
        before=ancient(result("report.html")),
    output:
        result("paper.pdf"),
    log:
        result("logs/paper.log"),
    localrule: True
    conda:
        "../../envs/paper.yaml"
    params:
        config={name: config[name] for name in PAPER_SECTIONS},
        other_sizes=OTHER_SIZES,
    script:
        "../scripts/paper.py"
