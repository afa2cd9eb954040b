"""The features before and after the transform, and the surrogate beside the real events."""

from pathlib import Path

import _packages
import pandas as pd
from localizer.base.randomness import stream
from localizer.experiments import event_distributions, experiment3
from localizer.lhco import surrogate
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    edition = files.read_edition(snakemake.input.edition)
    samples = files.read_npz(snakemake.input.samples)
    coordinates = files.read_npz(snakemake.input.coordinates)
    background = ~samples["labels"]
    before, after = (
        {"qcd": arrays["mixed"][background], "signal": arrays["evaluation_signal"]}
        for arrays in (samples, coordinates)
    )
    histograms = event_distributions.histograms(before, after)

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
        score, labels = event_distributions.noise_free_score(
            classes["qcd"],
            classes["signal"],
            stream(p.seed, "lhco", "portrait", "witness"),
            bandwidths=p.bandwidths,
            features_per_bandwidth=p.features_per_bandwidth,
            copula=p.copula,
        )
        rows.append(event_distributions.summary_row(source, score, labels, floor=p.sic_floor))
        curve = event_distributions.sic_curve(score, labels, floor=max(10, p.sic_floor // 10))
        curves.append(curve.assign(source=source))
    tables = {
        "features": histograms,
        "quantiles": event_distributions.quantile_table(sources),
        "correlations": event_distributions.correlation_table(sources),
        "curves": pd.concat(curves, ignore_index=True),
        "table": pd.DataFrame(rows),
    }
    for name, table in tables.items():
        files.write_csv(experiment3.with_edition(table, edition), snakemake.output[name])
