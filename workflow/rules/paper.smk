# What a reader sees: provenance and the report.
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


# A run of a single target, or one that failed, is on record as well.
onsuccess:
    provenance.refresh(config, Path(RESULTS))


onerror:
    provenance.refresh(config, Path(RESULTS))
