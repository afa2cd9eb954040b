# The LHC Olympics events (sec. exp-lhco): which edition, its files, samples and coordinates.
# None of these rules changes the shape of the DAG, and nothing here asks the network before
# a job runs.


rule lhco_edition:
    input:
        code=code("lhco_edition.py"),
        registry="resources/lhco/registry.csv",
    output:
        result("lhco/edition.json"),
    log:
        result("logs/lhco_edition.log"),
    conda:
        "../../envs/analysis.yaml"
    params:
        source=config["lhco"]["source"],
        mirror=config["lhco"]["mirror"],
    script:
        "../scripts/lhco_edition.py"


rule lhco_files:
    input:
        code=code("lhco_files.py"),
        registry="resources/lhco/registry.csv",
        edition=rules.lhco_edition.output[0],
    output:
        result("lhco/files.json"),
    log:
        result("logs/lhco_files.log"),
    conda:
        "../../envs/analysis.yaml"
    params:
        mirror=config["lhco"]["mirror"],
    script:
        "../scripts/lhco_files.py"


rule lhco_samples:
    input:
        code=code("lhco_samples.py"),
        registry="resources/lhco/registry.csv",
        surrogate="resources/lhco/surrogate/parameters.json",
        edition=rules.lhco_edition.output[0],
        files=rules.lhco_files.output[0],
    output:
        samples=result("lhco/samples.npz"),
        counts=table("lhco_samples", "LHC Olympics data", "The samples and their sizes"),
    log:
        result("logs/lhco_samples.log"),
    benchmark:
        result("benchmarks/lhco_samples.tsv")
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        **needs(gb=4, minutes=30),
    params:
        seed=config["seed"],
    script:
        "../scripts/lhco_samples.py"


rule lhco_coordinates:
    input:
        code=code("lhco_coordinates.py"),
        samples=rules.lhco_samples.output.samples,
    output:
        coordinates=result("lhco/coordinates.npz"),
        scale=result("lhco/scale.json"),
    log:
        result("logs/lhco_coordinates.log"),
    conda:
        "../../envs/analysis.yaml"
    params:
        seed=config["seed"],
        copula=config["experiment3"]["copula"],
    script:
        "../scripts/lhco_coordinates.py"
