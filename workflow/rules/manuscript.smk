# What the author's LaTeX manuscript takes in: tables, numbers, and a map of its labels.


# One job for all of them: to start it takes longer than to set a table.
rule latex_tables:
    input:
        code=code("latex_tables.py"),
        tables=tables(".csv"),
    output:
        tables(".tex"),
    log:
        result("logs/latex_tables.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    script:
        "../scripts/latex_tables.py"


rule manuscript:
    input:
        code=code("manuscript.py"),
        labels=shipped("resources/manuscript.csv"),
        published=shipped("resources/published.csv"),
        numbers=rules.scoreboard.output.numbers,
        findings=rules.scoreboard.input.findings,
        edition=rules.lhco_edition.output[0],
        modules=modules_of_the_package(),
    output:
        numbers=result("numbers.tex"),
        map=result("manuscript_map.csv"),
        map_tex=result("manuscript_map.tex"),
    log:
        result("logs/manuscript.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        run=config["run"],
        # timings differ from run to run and have no place in a manuscript
        content=lambda wildcards: [
            item for item in reported() if "benchmarks" not in Path(item["file"]).parts
        ],
        findings=lambda wildcards: {
            str(path): makers()[str(path)] for path in rules.scoreboard.input.findings
        },
    script:
        "../scripts/manuscript.py"
