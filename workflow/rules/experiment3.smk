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
    name: EXPERIMENT3[name]
    for name in (
        *("max_events", "bandwidths"),
        *("features_per_bandwidth", "rff_form"),
    )
}


# --- the direct witness ------------------------------------------------------------


rule exp3_features:
    input:
        **LHCO,
        code=code("exp3_features.py"),
        compiled=compiled("exp3_features.py"),
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
        seed=config["seed"],
        target=EXPERIMENT3["target"],
        replacement=EXPERIMENT3["replacement"],
        noise_lost=EXPERIMENT3["noise_lost"],
    script:
        "../scripts/exp3_features.py"


rule exp3_witness:
    input:
        code=code("exp3_witness.py"),
        edition=LHCO["edition"],
        targets=rules.exp3_features.output.targets,
        evaluation=rules.exp3_features.output.evaluation,
    output:
        table("exp3_witness", "Experiment III", "The direct witness"),
    log:
        result("logs/exp3_witness.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        sic_floor=EXPERIMENT3["sic_floor"],
    script:
        "../scripts/exp3_witness.py"


rule exp3_bandwidths:
    input:
        **LHCO,
        code=code("exp3_bandwidths.py"),
        compiled=compiled("exp3_bandwidths.py"),
    output:
        rows=result("figures/supp_lhco_bandwidths.csv"),
        table=table("exp3_bandwidths", "Experiment III", "Single bandwidths"),
    log:
        result("logs/exp3_bandwidths.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(),
    params:
        **WITNESS,
        sic_floor=EXPERIMENT3["sic_floor"],
        seed=config["seed"],
        bandwidth_scan=EXPERIMENT3["bandwidth_scan"],
        draws=EXPERIMENT3["bandwidth_draws"],
    script:
        "../scripts/exp3_bandwidths.py"


rule exp3_exact_part:
    input:
        code=code("exp3_exact_part.py"),
        compiled=compiled("exp3_exact_part.py"),
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


rule exp3_exact:
    input:
        code=code("exp3_exact.py"),
        within=result("experiment3/exact/within.npz"),
        across=expand(
            result("experiment3/exact/{part}.npz"), part=range(JOBS.exact_parts)
        ),
    output:
        result("experiment3/exact.npz"),
    log:
        result("logs/exp3_exact.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    script:
        "../scripts/exp3_exact.py"


# --- batches -----------------------------------------------------------------------


rule exp3_batches_part:
    input:
        code=code("exp3_batches_part.py"),
        compiled=compiled("exp3_batches_part.py"),
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


rule exp3_scaling:
    input:
        code=code("exp3_scaling.py"),
        sweeps=expand(result("experiment3/sweep/m{m}.csv"), m=JOBS.sweeps),
        compressed=rules.exp3_features.output.compressed,
        numbers=rules.exp3_features.output.numbers,
    output:
        sweep=result("experiment3/sweep.csv"),
        curves=result("experiment3/law.csv"),
        by_m=result("figures/fig07_vs_m.csv"),
        by_R=result("figures/fig08_highm.csv"),
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
        code=code("exp3_scatter_part.py"),
        compiled=compiled("exp3_scatter_part.py"),
        surrogate="resources/lhco/surrogate/parameters.json",
    output:
        result("experiment3/scatter/{part}.csv"),
    log:
        result("logs/exp3_scatter_part/{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=2),
    params:
        **WITNESS,
        sic_floor=EXPERIMENT3["sic_floor"],
        seed=config["seed"],
        copula=EXPERIMENT3["copula"],
        references=SCATTER["references"],
        points=JOBS.points,
        numbers=lambda wildcards: JOBS.surrogates.parts[wildcards.part],
    script:
        "../scripts/exp3_scatter_part.py"


use rule exp1_toys as exp3_surrogates with:
    input:
        code=code("join_tables.py"),
        parts=expand(
            result("experiment3/scatter/{part}.csv"), part=JOBS.surrogates.parts
        ),
    output:
        result("experiment3/surrogates.csv"),
    log:
        result("logs/exp3_surrogates.log"),


rule exp3_seeds_part:
    input:
        code=code("exp3_seeds_part.py"),
        compiled=compiled("exp3_seeds_part.py"),
        coordinates=LHCO["coordinates"],
        scale=LHCO["scale"],
    output:
        result("experiment3/seeds/{part}.csv"),
    log:
        result("logs/exp3_seeds_part/{part}.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=2),
    params:
        **WITNESS,
        sic_floor=EXPERIMENT3["sic_floor"],
        seed=config["seed"],
        points=JOBS.points,
        numbers=lambda wildcards: JOBS.seeds.parts[wildcards.part],
    script:
        "../scripts/exp3_seeds_part.py"


use rule exp1_toys as exp3_seeds with:
    input:
        code=code("join_tables.py"),
        parts=expand(result("experiment3/seeds/{part}.csv"), part=JOBS.seeds.parts),
    output:
        result("experiment3/seeds.csv"),
    log:
        result("logs/exp3_seeds.log"),


rule exp3_scatter:
    input:
        code=code("exp3_scatter.py"),
        edition=LHCO["edition"],
        surrogates=rules.exp3_surrogates.output[0],
        seeds=rules.exp3_seeds.output[0],
        published="resources/published.csv",
    output:
        table("exp3_scatter", "Experiment III", "Published values among draws"),
    log:
        result("logs/exp3_scatter.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    script:
        "../scripts/exp3_scatter.py"


rule exp3_references:
    input:
        code=code("exp3_references.py"),
        compiled=compiled("exp3_references.py"),
        edition=LHCO["edition"],
        coordinates=LHCO["coordinates"],
        features=rules.exp3_features.output.features,
        compressed=rules.exp3_features.output.compressed,
        surrogate="resources/lhco/surrogate/parameters.json",
    output:
        rows=result("figures/supp_lhco_references.csv"),
        table=table("exp3_references", "Experiment III", "The spread over references"),
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
        sic_floor=EXPERIMENT3["sic_floor"],
        parts=SCATTER["parts"],
        gaussians=SCATTER["gaussians"],
    script:
        "../scripts/exp3_references.py"


rule exp3_choices:
    input:
        code=code("exp3_choices.py"),
        compiled=compiled("exp3_choices.py"),
        edition=LHCO["edition"],
        samples=rules.lhco_samples.output.samples,
        targets=rules.exp3_features.output.targets,
        exact=rules.exp3_exact.output[0],
        seeds=rules.exp3_seeds.output[0],
    output:
        table("exp3_choices", "Experiment III", "Choices that the paper leaves open"),
    log:
        result("logs/exp3_choices.log"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        **needs(gb=2),
    params:
        **WITNESS,
        sic_floor=EXPERIMENT3["sic_floor"],
        seed=config["seed"],
        copula=EXPERIMENT3["copula"],
        sic_floors=EXPERIMENT3["sic_floors"],
    script:
        "../scripts/exp3_choices.py"


rule exp3_floors:
    input:
        code=code("exp3_floors.py"),
        edition=LHCO["edition"],
        targets=rules.exp3_features.output.targets,
        exact=rules.exp3_exact.output[0],
        scores=result(f"experiment3/sweep/m{R_SCAN['m']}.npz"),
    output:
        result("figures/supp_lhco_sic_floor.csv"),
    log:
        result("logs/exp3_floors.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        sic_floors=EXPERIMENT3["sic_floors"],
    script:
        "../scripts/exp3_floors.py"


rule lhco_portrait:
    input:
        code=code("lhco_portrait.py"),
        compiled=compiled("lhco_portrait.py"),
        edition=LHCO["edition"],
        samples=rules.lhco_samples.output.samples,
        coordinates=LHCO["coordinates"],
        surrogate="resources/lhco/surrogate/parameters.json",
    output:
        features=result("figures/supp_lhco_features.csv"),
        quantiles=result("figures/supp_lhco_surrogate.csv"),
        correlations=result("experiment3/portrait/correlations.csv"),
        curves=result("experiment3/portrait/curves.csv"),
        table=table("lhco_surrogate", "LHC Olympics data", "Real and surrogate events"),
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
        sic_floor=EXPERIMENT3["sic_floor"],
    script:
        "../scripts/lhco_portrait.py"


# --- figures and findings ----------------------------------------------------------


rule fig07:
    input:
        code=code("draw_experiment3.py"),
        edition=LHCO["edition"],
        points=rules.exp3_scaling.output.by_m,
    output:
        figure(
            "fig07_vs_m", "Experiment III", "Fig. 7: convergence with the batch size"
        ),
    log:
        result("logs/fig07.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        figure="vs_m",
    script:
        "../scripts/draw_experiment3.py"


use rule fig07 as fig08 with:
    input:
        code=code("draw_experiment3.py"),
        edition=LHCO["edition"],
        points=rules.exp3_scaling.output.by_R,
    output:
        figure("fig08_highm", "Experiment III", "Fig. 8: convergence with the batches"),
    log:
        result("logs/fig08.log"),
    params:
        figure="highm",


use rule fig07 as fig09 with:
    input:
        code=code("draw_experiment3.py"),
        edition=LHCO["edition"],
        points=rules.exp3_scaling.output.sweep,
        curves=rules.exp3_scaling.output.curves,
        fits=rules.exp3_scaling.output.fits,
    output:
        figure(
            "fig09_scaling", "Experiment III", "Fig. 9: the scaling law", points=[""]
        ),
    log:
        result("logs/fig09.log"),
    params:
        figure="scaling",
        fit_minimum=EXPERIMENT3["fit_minimum"],


use rule fig07 as supp_lhco_bandwidths with:
    input:
        code=code("draw_experiment3.py"),
        edition=LHCO["edition"],
        scan=rules.exp3_bandwidths.output.table,
        seeds=rules.exp3_seeds.output[0],
        published="resources/published.csv",
    output:
        figure("supp_lhco_bandwidths", "Experiment III", "Single bandwidths"),
    log:
        result("logs/supp_lhco_bandwidths.log"),
    params:
        figure="bandwidths",


use rule fig07 as supp_lhco_sic_floor with:
    input:
        code=code("draw_experiment3.py"),
        edition=LHCO["edition"],
        scan=rules.exp3_floors.output[0],
        published="resources/published.csv",
    output:
        figure("supp_lhco_sic_floor", "Experiment III", "Maximum SIC and its floor"),
    log:
        result("logs/supp_lhco_sic_floor.log"),
    params:
        figure="sic_floor",
        floor=EXPERIMENT3["sic_floor"],


use rule fig07 as supp_lhco_scatter with:
    input:
        code=code("draw_experiment3.py"),
        edition=LHCO["edition"],
        draws=rules.exp3_surrogates.output[0],
        seeds=rules.exp3_seeds.output[0],
        summary=rules.exp3_scatter.output[0],
    output:
        figure(
            "supp_lhco_scatter", "Experiment III", "One draw among many", points=[""]
        ),
    log:
        result("logs/supp_lhco_scatter.log"),
    params:
        figure="scatter",


use rule fig07 as supp_lhco_references with:
    input:
        code=code("draw_experiment3.py"),
        edition=LHCO["edition"],
        rows=rules.exp3_references.output.rows,
    output:
        figure("supp_lhco_references", "Experiment III", "Disjoint references"),
    log:
        result("logs/supp_lhco_references.log"),
    params:
        figure="references",


use rule fig07 as supp_lhco_features with:
    input:
        code=code("draw_experiment3.py"),
        edition=LHCO["edition"],
        histograms=rules.lhco_portrait.output.features,
    output:
        figure("supp_lhco_features", "LHC Olympics data", "The four features"),
    log:
        result("logs/supp_lhco_features.log"),
    params:
        figure="features",


use rule fig07 as supp_lhco_surrogate with:
    input:
        code=code("draw_experiment3.py"),
        edition=LHCO["edition"],
        quantiles=rules.lhco_portrait.output.quantiles,
        correlations=rules.lhco_portrait.output.correlations,
        curves=rules.lhco_portrait.output.curves,
        table=rules.lhco_portrait.output.table,
    output:
        figure("supp_lhco_surrogate", "LHC Olympics data", "Real and surrogate events"),
    log:
        result("logs/supp_lhco_surrogate.log"),
    params:
        figure="surrogate",


rule exp3_findings:
    input:
        code=code("exp3_findings.py"),
        published="resources/published.csv",
        counts=rules.lhco_samples.output.counts,
        witness=rules.exp3_witness.output[0],
        numbers=rules.exp3_features.output.numbers,
        bandwidths=rules.exp3_bandwidths.output.table,
        sweep=rules.exp3_scaling.output.sweep,
        fits=rules.exp3_scaling.output.fits,
        repeated=rules.exp3_scaling.output.repeated,
        law=rules.exp3_scaling.output.numbers,
        surrogates=rules.exp3_surrogates.output[0],
        seeds=rules.exp3_seeds.output[0],
    output:
        result("experiment3/findings.json"),
    log:
        result("logs/exp3_findings.log"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        **EXPERIMENT3["claims"],
        essentially=config["experiment1"]["claims"]["essentially"],
        m=R_SCAN["m"],
        m_scan_R=M_SCAN["R"],
        fit_minimum=EXPERIMENT3["fit_minimum"],
    script:
        "../scripts/exp3_findings.py"


rule experiment3:
    input:
        rules.exp3_findings.output,
        rules.exp3_features.output,
        rules.exp3_witness.output,
        rules.exp3_scaling.output,
        rules.exp3_choices.output,
        rules.exp3_scatter.output,
        rules.exp3_references.output,
        rules.lhco_samples.output,
        rules.fig07.output,
        rules.fig08.output,
        rules.fig09.output,
        rules.supp_lhco_bandwidths.output,
        rules.supp_lhco_sic_floor.output,
        rules.supp_lhco_scatter.output,
        rules.supp_lhco_references.output,
        rules.supp_lhco_features.output,
        rules.supp_lhco_surrogate.output,
