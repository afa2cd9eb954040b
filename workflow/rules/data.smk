# The LHC Olympics events (sec. exp-lhco): which edition, its files, samples and coordinates.
# None of these rules changes the shape of the DAG, and nothing here asks the network before
# a job runs.
from localizer.lhco import registry  # noqa: E402

REGISTRY = shipped("resources/lhco/registry.csv")
EVENT_FILES = [file.path for file in registry.read(Path(REGISTRY)) if file.editions]


rule lhco_edition:
    input:
        code=code("lhco_edition.py"),
        registry=REGISTRY,
    output:
        result("lhco/edition.json"),
    log:
        result("logs/lhco_edition.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        source=config["lhco"]["source"],
        mirror=config["lhco"]["mirror"],
    script:
        "../scripts/lhco_edition.py"


# Files that the edition does not use are empty: the DAG has the same shape for all of them.
rule lhco_files:
    input:
        code=code("lhco_files.py"),
        registry=REGISTRY,
        edition=rules.lhco_edition.output[0],
    output:
        digests=result("lhco/files.json"),
        events=expand(result("lhco/events/{path}"), path=EVENT_FILES),
    log:
        result("logs/lhco_files.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        mirror=config["lhco"]["mirror"],
        paths=EVENT_FILES,
    script:
        "../scripts/lhco_files.py"


rule lhco_samples:
    input:
        code=code("lhco_samples.py"),
        registry=REGISTRY,
        surrogate=shipped("resources/lhco/surrogate/parameters.json"),
        edition=rules.lhco_edition.output[0],
        events=rules.lhco_files.output.events,
    output:
        samples=result("lhco/samples.npz"),
        counts=table("lhco_samples", "LHC Olympics data", "The samples and their sizes"),
    log:
        result("logs/lhco_samples.log"),
    conda:
        "../../envs/analysis.yaml"
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
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        seed=config["seed"],
        copula=config["experiment3"]["copula"],
    script:
        "../scripts/lhco_coordinates.py"
