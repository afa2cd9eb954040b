# What a reader sees: the scoreboard, provenance and the report.


rule scoreboard:
    input:
        code=code("scoreboard.py"),
        published="resources/published.csv",
        findings=[
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


REPORTED = reported()


rule provenance:
    input:
        code=code("provenance.py"),
        results=[item["file"] for item in REPORTED],
    output:
        result("provenance.json"),
    log:
        result("logs/provenance.log"),
    conda:
        "../../envs/analysis.yaml"
    params:
        config=config,
        records=result("logs"),
    script:
        "../scripts/provenance.py"


rule report:
    input:
        code=code("report.py"),
        template="workflow/report/report.html.j2",
        provenance=result("provenance.json"),
        files=[item["file"] for item in REPORTED],
        captions=sorted({item["caption"] for item in REPORTED}),
    output:
        result("report.html"),
    log:
        result("logs/report.log"),
    conda:
        "../../envs/analysis.yaml"
    params:
        run=config["run"],
        content=REPORTED,
    script:
        "../scripts/report.py"


onsuccess:
    say_how_it_went()


onerror:
    provenance.refresh(config, Path(RESULTS))
