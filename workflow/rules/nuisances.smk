# Beyond the paper: a wrong reference, profiled over nuisances.
NUISANCES = config["nuisances"]
LEARNED = config["lhco"]["learned"]
NUISANCES_CHAPTER = "Beyond the paper: a wrong reference"
NUISANCES_SETTING = {
    "seed": config["seed"],
    "bandwidths": EXPERIMENT3["bandwidths"],
    "max_events": EXPERIMENT3["max_events"],
    "copula": EXPERIMENT3["copula"],
    "sic_floor": EXPERIMENT3["sic_floor"],
    "features_per_bandwidth": NUISANCES["features_per_bandwidth"],
}


rule nuisances_scan:
    input:
        **compiled("nuisances_scan.py"),
        edition=rules.lhco_edition.output[0],
        samples=rules.lhco_samples.output.samples,
        scale=rules.lhco_coordinates.output.scale,
    output:
        table("nuisances_scan", NUISANCES_CHAPTER, "A reference that is mis-scaled"),
    log:
        result("logs/nuisances_scan.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=2),
    params:
        **NUISANCES_SETTING,
        amounts=NUISANCES["amounts"],
        wrong=NUISANCES["wrong"],
        step=NUISANCES["step"],
        test_events=NUISANCES["test_events"],
        draws=NUISANCES["draws"],
    script:
        "../scripts/nuisances_scan.py"


rule nuisances_null:
    input:
        **compiled("nuisances_null.py"),
    output:
        result("nuisances/null.csv"),
    log:
        result("logs/nuisances_null.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        **NUISANCES["p_values"],
        seed=config["seed"],
        draws=NUISANCES["draws"],
    script:
        "../scripts/nuisances_null.py"


FIGURES["nuisances"] = {
    "supp_null_p_values": drawn(
        "P-values without a signal",
        chapter=NUISANCES_CHAPTER,
        p_values=rules.nuisances_null.output[0],
    ),
}
FIGURES["nuisances_lhco"] = {
    "supp_lhco_nuisances": drawn(
        "A reference that is mis-scaled",
        chapter=NUISANCES_CHAPTER,
        scan=rules.nuisances_scan.output[0],
    ),
}


# Asked for where lhco.learned names samples; no part of the report.
rule nuisances_learned:
    input:
        **compiled("nuisances_learned.py"),
        edition=rules.lhco_edition.output[0],
        samples=rules.lhco_samples.output.samples,
        scale=rules.lhco_coordinates.output.scale,
        fits=(
            sorted(str(path) for path in Path(LEARNED).glob("*.npy"))
            if LEARNED
            else []
        ),
    output:
        table=result("nuisances/learned.csv"),
        figure=[result("nuisances/learned.png"), result("nuisances/learned.pdf")],
    log:
        result("logs/nuisances_learned.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=2),
    params:
        **NUISANCES_SETTING,
    script:
        "../scripts/nuisances_learned.py"


rule nuisances:
    input:
        rules.nuisances_scan.output,
        rules.nuisances_null.output,
        rules.nuisances_learned.output if LEARNED else [],
        drawings("nuisances"),
        drawings("nuisances_lhco"),
