"""The features before and after the transform, and the surrogate beside the real events."""

import json
from pathlib import Path

import pandas as pd
from localizer import experiment3, portrait, surrogate
from localizer.randomness import stream
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    edition = json.loads(Path(snakemake.input.edition).read_text())["name"]
    samples = files.read_npz(snakemake.input.samples)
    coordinates = files.read_npz(snakemake.input.coordinates)
    background = ~samples["labels"]
    before, after = (
        {"qcd": arrays["mixed"][background], "signal": arrays["evaluation_signal"]}
        for arrays in (samples, coordinates)
    )
    histograms = portrait.histograms(before, after)

    generator = surrogate.parse(Path(snakemake.input.surrogate).read_text())
    drawn = {
        kind: generator.sample(stream(p.seed, "lhco", "portrait", kind), len(events), kind)[:, 1:]
        for kind, events in before.items()
    }
    # in the edition of surrogate events there is nothing real to compare with
    sources = (
        {"real": before, "surrogate": drawn} if edition != "surrogate" else {"surrogate": drawn}
    )
    rows, curves = [], []
    for source, classes in sources.items():
        score, labels = portrait.noise_free_score(
            classes["qcd"],
            classes["signal"],
            stream(p.seed, "lhco", "portrait", "witness"),
            bandwidths=p.bandwidths,
            features_per_bandwidth=p.features_per_bandwidth,
            copula=p.copula,
        )
        rows.append(portrait.summary_row(source, score, labels, floor=p.sic_floor))
        curve = portrait.sic_curve(score, labels, floor=max(10, p.sic_floor // 10))
        curves.append(curve.assign(source=source))
    tables = {
        "features": histograms,
        "quantiles": portrait.quantile_table(sources),
        "correlations": portrait.correlation_table(sources),
        "curves": pd.concat(curves, ignore_index=True),
        "table": pd.DataFrame(rows),
    }
    for name, table in tables.items():
        files.write_csv(experiment3.with_edition(table, edition), snakemake.output[name])
