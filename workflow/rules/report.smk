# The last things made: provenance, and the page that shows everything.
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


onstart:
    kills.note_owner(Path.cwd())


onsuccess:
    say_how_it_went()


onerror:
    say_what_failed()
