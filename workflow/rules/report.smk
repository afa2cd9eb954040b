# The last things made: provenance and the page that shows everything.


DOWNLOADS = [
    *(rules.scoreboard.output[name] for name in ("csv", "tex", "numbers")),
    *rules.manuscript.output,
    result("provenance.json"),
]


rule provenance:
    input:
        code=code("provenance.py"),
        results=lambda wildcards: [item["file"] for item in reported()],
    output:
        result("provenance.json"),
    log:
        result("logs/provenance.log"),
    priority: 1
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        config=config,
    script:
        "../scripts/provenance.py"


rule report:
    input:
        code=code("report.py"),
        template=shipped("workflow/report/report.html.j2"),
        templates=page_templates(),
        sources=rule_files(),
        provenance=rules.provenance.output[0],
        scoreboard=rules.scoreboard.output.csv,
        files=lambda wildcards: [item["file"] for item in reported()],
        captions=lambda wildcards: sorted({item["caption"] for item in reported()}),
        # what the page links to
        downloads=DOWNLOADS,
        exports=rules.latex_tables.output,
    output:
        result("report.html"),
    log:
        result("logs/report.log"),
    priority: 1
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        run=config["run"],
        notice=OTHER_SIZES,
        content=lambda wildcards: reported(),
        # the page does not wait for typesetting, which may fail
        downloads=[
            os.path.relpath(path, RESULTS)
            for path in (*rules.paper.output, *DOWNLOADS)
        ],
    script:
        "../scripts/report.py"


rule crate:
    input:
        code=code("crate.py"),
        workflow=shipped("Snakefile"),
        registry=shipped("resources/lhco/registry.csv"),
        provenance=rules.provenance.output[0],
        listed=listed_in_the_crate,
    output:
        metadata=result("ro-crate-metadata.json"),
        workflow=result("Snakefile"),
    log:
        result("logs/crate.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        outputs=lambda wildcards, input: [
            os.path.relpath(path, RESULTS) for path in input.listed
        ],
    script:
        "../scripts/crate.py"


onstart:
    kills.note_owner(Path.cwd())


onsuccess:
    say_how_it_went()


onerror:
    say_what_failed()
