"""The features before and after the transform, and the surrogate beside the real events."""

from pathlib import Path

import _packages
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
    scores = {}
    for source, classes in sources.items():
        score, labels = event_distributions.noise_free_score(
            classes["qcd"],
            classes["signal"],
            stream(p.seed, "lhco", "portrait", "witness"),
            bandwidths=p.bandwidths,
            features_per_bandwidth=p.features_per_bandwidth,
            copula=p.copula,
        )
        scores |= {f"{source}.score": score, f"{source}.labels": labels}
    files.write_npz(scores, snakemake.output.scores)
    tables = {
        "features": histograms,
        "quantiles": event_distributions.quantile_table(sources),
        "correlations": event_distributions.correlation_table(sources),
    }
    for name, table in tables.items():
        files.write_csv(experiment3.with_edition(table, edition), snakemake.output[name])
