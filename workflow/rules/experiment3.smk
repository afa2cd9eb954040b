# Experiment III: the LHC Olympics benchmark and the scaling law (sec. exp-lhco).
EXPERIMENT3 = config["experiment3"]
M_SCAN, R_SCAN, SCATTER = (
    EXPERIMENT3[name] for name in ("m_scan", "r_scan", "scatter")
)

LHCO = {
    "edition": rules.lhco_edition.output[0],
    "coordinates": rules.lhco_coordinates.output.coordinates,
    "scale": rules.lhco_coordinates.output.scale,
}
WITNESS = {
    "seed": config["seed"],
    "max_events": EXPERIMENT3["max_events"],
    "bandwidths": EXPERIMENT3["bandwidths"],
    "features_per_bandwidth": EXPERIMENT3["features_per_bandwidth"],
    "rff_form": EXPERIMENT3["rff_form"],
}


# --- the direct witness ------------------------------------------------------------


rule exp3_features:
    input:
        **LHCO,
        **compiled("exp3_features.py"),
    output:
        features=result("experiment3/features.npz"),
        compressed=result("experiment3/compressed.npz"),
        targets=result("experiment3/targets.npz"),
        evaluation=result("experiment3/evaluation.npz"),
        numbers=result("experiment3/numbers.json"),
    log:
        result("logs/exp3_features.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=3),
    params:
        **WITNESS,
        target=EXPERIMENT3["target"],
        replacement=EXPERIMENT3["replacement"],
        noise_lost=EXPERIMENT3["noise_lost"],
    script:
        "../scripts/exp3_features.py"


rule exp3_bandwidths:
    input:
        **LHCO,
        **compiled("exp3_bandwidths.py"),
    output:
        **draws("experiment3/bandwidths/all"),
    log:
        result("logs/exp3_bandwidths.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        **WITNESS,
        bandwidth_scan=EXPERIMENT3["bandwidth_scan"],
        draws=EXPERIMENT3["bandwidth_draws"],
    script:
        "../scripts/exp3_bandwidths.py"


rule exp3_exact_part:
    input:
        **compiled("exp3_exact_part.py"),
        coordinates=LHCO["coordinates"],
        scale=LHCO["scale"],
    output:
        result("experiment3/exact/{part}.npz"),
    log:
        result("logs/exp3_exact_part/{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        max_events=EXPERIMENT3["max_events"],
        bandwidths=EXPERIMENT3["bandwidths"],
        part=lambda wildcards: wildcards.part,
        parts=JOBS.exact_parts,
    script:
        "../scripts/exp3_exact_part.py"


# --- batches -----------------------------------------------------------------------


rule exp3_batches_part:
    input:
        **compiled("exp3_batches_part.py"),
        compressed=rules.exp3_features.output.compressed,
    output:
        result("experiment3/batches/m{m}_{part}.npz"),
    log:
        result("logs/exp3_batches_part/m{m}_{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=2, minutes=20),
    params:
        seed=config["seed"],
        m=lambda wildcards: int(wildcards.m),
        ends=lambda wildcards: JOBS.sweeps[int(wildcards.m)].parts[wildcards.part],
        group_size=lambda wildcards: JOBS.sweeps[int(wildcards.m)].group_size,
        replacement=EXPERIMENT3["replacement"],
    script:
        "../scripts/exp3_batches_part.py"


rule exp3_sweep:
    input:
        code=code("exp3_sweep.py"),
        parts=lambda wildcards: [
            result(f"experiment3/batches/m{wildcards.m}_{part}.npz")
            for part in JOBS.sweeps[int(wildcards.m)].parts
        ],
        compressed=rules.exp3_features.output.compressed,
        targets=rules.exp3_features.output.targets,
        numbers=rules.exp3_features.output.numbers,
    output:
        table=result("experiment3/sweep/m{m}.csv"),
        scores=result("experiment3/sweep/m{m}.npz"),
    log:
        result("logs/exp3_sweep/m{m}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=2),
    params:
        seed=config["seed"],
        m=lambda wildcards: int(wildcards.m),
        R=lambda wildcards: JOBS.sweeps[int(wildcards.m)].R,
        target=EXPERIMENT3["target"],
        sic_floor=EXPERIMENT3["sic_floor"],
    script:
        "../scripts/exp3_sweep.py"


rule exp3_lowest:
    input:
        **compiled("exp3_lowest.py"),
        compressed=rules.exp3_features.output.compressed,
        targets=rules.exp3_features.output.targets,
        numbers=rules.exp3_features.output.numbers,
    output:
        result("experiment3/lowest.csv"),
    log:
        result("logs/exp3_lowest.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=2),
    params:
        seed=config["seed"],
        runs=EXPERIMENT3["lowest_runs"],
        m=min(JOBS.sweeps),
        R=min(JOBS.sweeps[min(JOBS.sweeps)].R),
        after=max(JOBS.sweeps[min(JOBS.sweeps)].R),
        group_size=JOBS.sweeps[min(JOBS.sweeps)].group_size,
        replacement=EXPERIMENT3["replacement"],
        target=EXPERIMENT3["target"],
    script:
        "../scripts/exp3_lowest.py"


rule exp3_scaling:
    input:
        code=code("exp3_scaling.py"),
        sweeps=expand(result("experiment3/sweep/m{m}.csv"), m=JOBS.sweeps),
        compressed=rules.exp3_features.output.compressed,
        numbers=rules.exp3_features.output.numbers,
    output:
        sweep=result("experiment3/sweep.csv"),
        curves=result("experiment3/law.csv"),
        by_m=result("experiment3/by_m.csv"),
        by_R=result("experiment3/by_R.csv"),
        repeated=result("experiment3/repeated_fits.csv"),
        numbers=result("experiment3/scaling.json"),
        fits=table("exp3_scaling", "Experiment III", "Fits of the scaling law"),
        table_m=table("exp3_by_m", "Experiment III", "Convergence with the batch size"),
        table_R=table("exp3_by_R", "Experiment III", "Convergence with the batches"),
    log:
        result("logs/exp3_scaling.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=2),
    params:
        seed=config["seed"],
        fit_minimum=EXPERIMENT3["fit_minimum"],
        fit_draws=EXPERIMENT3["fit_draws"],
        m_scan_R=M_SCAN["R"],
        r_scan_m=R_SCAN["m"],
    script:
        "../scripts/exp3_scaling.py"


# --- what limits it ----------------------------------------------------------------


rule exp3_scatter_part:
    input:
        **compiled("exp3_scatter_part.py"),
        surrogate=shipped("resources/lhco/surrogate/parameters.json"),
        samples=rules.lhco_samples.output.samples,
        scale=LHCO["scale"],
        edition=LHCO["edition"],
    output:
        **draws("experiment3/scatter/{part}"),
    log:
        result("logs/exp3_scatter_part/{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=2),
    params:
        **WITNESS,
        **{
            name: SCATTER[name]
            for name in ("references", "predicted", "predicted_per_map")
        },
        copula=EXPERIMENT3["copula"],
        points=JOBS.points,
        numbers=lambda wildcards: JOBS.surrogates.parts[wildcards.part],
    script:
        "../scripts/exp3_scatter_part.py"


rule exp3_seeds_part:
    input:
        **compiled("exp3_seeds_part.py"),
        coordinates=LHCO["coordinates"],
        scale=LHCO["scale"],
    output:
        **draws("experiment3/seeds/{part}"),
    log:
        result("logs/exp3_seeds_part/{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=2),
    params:
        **WITNESS,
        points=JOBS.points,
        numbers=lambda wildcards: JOBS.seeds.parts[wildcards.part],
    script:
        "../scripts/exp3_seeds_part.py"


rule exp3_scatter:
    input:
        code=code("exp3_scatter.py"),
        edition=LHCO["edition"],
        surrogates=expand(
            rules.exp3_scatter_part.output.rows, part=JOBS.surrogates.parts
        ),
        heads_of_surrogates=expand(
            rules.exp3_scatter_part.output.heads, part=JOBS.surrogates.parts
        ),
        seeds=expand(rules.exp3_seeds_part.output.rows, part=JOBS.seeds.parts),
        heads_of_seeds=expand(rules.exp3_seeds_part.output.heads, part=JOBS.seeds.parts),
        published=shipped("resources/published.csv"),
    output:
        surrogates=result("experiment3/surrogates.csv"),
        seeds=result("experiment3/seeds.csv"),
        table=table("exp3_scatter", "Experiment III", "Published values among draws"),
    log:
        result("logs/exp3_scatter.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        sic_floor=EXPERIMENT3["sic_floor"],
        floors=SCATTER["floors"],
    script:
        "../scripts/exp3_scatter.py"


rule exp3_references:
    input:
        **compiled("exp3_references.py"),
        coordinates=LHCO["coordinates"],
        features=rules.exp3_features.output.features,
        compressed=rules.exp3_features.output.compressed,
        surrogate=shipped("resources/lhco/surrogate/parameters.json"),
    output:
        **draws("experiment3/references/all"),
        closed=result("experiment3/references/closed.json"),
    log:
        result("logs/exp3_references.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=3),
    params:
        seed=config["seed"],
        max_events=EXPERIMENT3["max_events"],
        copula=EXPERIMENT3["copula"],
        parts=SCATTER["parts"],
        gaussians=SCATTER["gaussians"],
    script:
        "../scripts/exp3_references.py"


rule exp3_variants:
    input:
        **compiled("exp3_variants.py"),
        samples=rules.lhco_samples.output.samples,
        targets=rules.exp3_features.output.targets,
    output:
        **draws("experiment3/variants/all"),
    log:
        result("logs/exp3_variants.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=2),
    params:
        **WITNESS,
        copula=EXPERIMENT3["copula"],
    script:
        "../scripts/exp3_variants.py"


rule exp3_choices:
    input:
        code=code("exp3_choices.py"),
        edition=LHCO["edition"],
        targets=rules.exp3_features.output.targets,
        within=result("experiment3/exact/within.npz"),
        across=expand(
            result("experiment3/exact/{part}.npz"), part=range(JOBS.exact_parts)
        ),
        scores=result(f"experiment3/sweep/m{R_SCAN['m']}.npz"),
        seeds=rules.exp3_scatter.output.seeds,
        variants=rules.exp3_variants.output.rows,
        heads=rules.exp3_variants.output.heads,
    output:
        table=table(
            "exp3_choices", "Experiment III", "Choices that the paper leaves open"
        ),
        floors=result("experiment3/sic_floors.csv"),
    log:
        result("logs/exp3_choices.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        sic_floor=EXPERIMENT3["sic_floor"],
        sic_floors=EXPERIMENT3["sic_floors"],
    script:
        "../scripts/exp3_choices.py"


rule lhco_portrait:
    input:
        **compiled("lhco_portrait.py"),
        edition=LHCO["edition"],
        samples=rules.lhco_samples.output.samples,
        coordinates=LHCO["coordinates"],
        surrogate=shipped("resources/lhco/surrogate/parameters.json"),
    output:
        features=result("experiment3/portrait/features.csv"),
        quantiles=result("experiment3/portrait/quantiles.csv"),
        correlations=result("experiment3/portrait/correlations.csv"),
        scores=result("experiment3/portrait/scores.npz"),
    log:
        result("logs/lhco_portrait.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        seed=config["seed"],
        bandwidths=EXPERIMENT3["bandwidths"],
        features_per_bandwidth=EXPERIMENT3["features_per_bandwidth"],
        copula=EXPERIMENT3["copula"],
    script:
        "../scripts/lhco_portrait.py"


rule exp3_performance:
    input:
        code=code("exp3_performance.py"),
        edition=LHCO["edition"],
        targets=rules.exp3_features.output.targets,
        evaluation=rules.exp3_features.output.evaluation,
        bandwidths=rules.exp3_bandwidths.output.rows,
        heads_of_bandwidths=rules.exp3_bandwidths.output.heads,
        references=rules.exp3_references.output.rows,
        heads_of_references=rules.exp3_references.output.heads,
        closed=rules.exp3_references.output.closed,
        portrait=rules.lhco_portrait.output.scores,
    output:
        witness=table("exp3_witness", "Experiment III", "The direct witness"),
        bandwidth_rows=result("experiment3/bandwidths.csv"),
        bandwidths=table("exp3_bandwidths", "Experiment III", "Single bandwidths"),
        reference_rows=result("experiment3/references.csv"),
        references=table(
            "exp3_references", "Experiment III", "The spread over references"
        ),
        curves=result("experiment3/portrait/curves.csv"),
        surrogate=table(
            "lhco_surrogate", "LHC Olympics data", "Real and surrogate events"
        ),
    log:
        result("logs/exp3_performance.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        sic_floor=EXPERIMENT3["sic_floor"],
    script:
        "../scripts/exp3_performance.py"


# --- figures and findings ----------------------------------------------------------


FIGURES["experiment3"] = {
    "fig07_vs_m": drawn(
        "Fig. 7: convergence with the batch size", points=rules.exp3_scaling.output.by_m
    ),
    "fig08_highm": drawn(
        "Fig. 8: convergence with the batches", points=rules.exp3_scaling.output.by_R
    ),
    "fig09_scaling": drawn(
        "Fig. 9: the scaling law",
        options={"fit_minimum": EXPERIMENT3["fit_minimum"]},
        points=rules.exp3_scaling.output.sweep,
        curves=rules.exp3_scaling.output.curves,
        fits=rules.exp3_scaling.output.fits,
    ),
    "supp_lhco_bandwidths": drawn(
        "Single bandwidths",
        scan=rules.exp3_performance.output.bandwidths,
        seeds=rules.exp3_scatter.output.seeds,
        published=shipped("resources/published.csv"),
    ),
    "supp_lhco_sic_floor": drawn(
        "Maximum SIC and its floor",
        options={"floor": EXPERIMENT3["sic_floor"]},
        scan=rules.exp3_choices.output.floors,
        published=shipped("resources/published.csv"),
    ),
    "supp_lhco_scatter": drawn(
        "One draw among many",
        draws=rules.exp3_scatter.output.surrogates,
        seeds=rules.exp3_scatter.output.seeds,
        summary=rules.exp3_scatter.output.table,
    ),
    "supp_lhco_references": drawn(
        "Disjoint references", rows=rules.exp3_performance.output.reference_rows
    ),
    "supp_lhco_features": drawn(
        "The four features",
        chapter="LHC Olympics data",
        histograms=rules.lhco_portrait.output.features,
    ),
    "supp_lhco_surrogate": drawn(
        "Real and surrogate events",
        chapter="LHC Olympics data",
        quantiles=rules.lhco_portrait.output.quantiles,
        correlations=rules.lhco_portrait.output.correlations,
        curves=rules.exp3_performance.output.curves,
        table=rules.exp3_performance.output.surrogate,
    ),
}


rule exp3_findings:
    input:
        code=code("exp3_findings.py"),
        published=shipped("resources/published.csv"),
        counts=rules.lhco_samples.output.counts,
        witness=rules.exp3_performance.output.witness,
        numbers=rules.exp3_features.output.numbers,
        bandwidths=rules.exp3_performance.output.bandwidth_rows,
        sweep=rules.exp3_scaling.output.sweep,
        fits=rules.exp3_scaling.output.fits,
        repeated=rules.exp3_scaling.output.repeated,
        law=rules.exp3_scaling.output.numbers,
        lowest=rules.exp3_lowest.output[0],
        surrogates=rules.exp3_scatter.output.surrogates,
        seeds=rules.exp3_scatter.output.seeds,
    output:
        result("experiment3/findings.json"),
    log:
        result("logs/exp3_findings.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        m=R_SCAN["m"],
        m_scan_R=M_SCAN["R"],
        fit_minimum=EXPERIMENT3["fit_minimum"],
    script:
        "../scripts/exp3_findings.py"


rule experiment3:
    input:
        rules.exp3_findings.output,
        rules.exp3_features.output,
        rules.exp3_performance.output,
        rules.exp3_scaling.output,
        rules.exp3_choices.output,
        rules.exp3_scatter.output,
        rules.lhco_samples.output,
        drawings("experiment3"),
