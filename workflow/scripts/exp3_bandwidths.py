"""Single bandwidths on the independent evaluation sample, several draws of features each."""

import json
from pathlib import Path

import pandas as pd
from localizer import experiment3, realizations
from localizer.features import fourier_features
from localizer.randomness import stream
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    edition = json.loads(Path(snakemake.input.edition).read_text())["name"]
    d_med = json.loads(Path(snakemake.input.scale).read_text())["value"]
    arrays = files.read_npz(snakemake.input.coordinates)
    sample = experiment3.Coordinates.of(arrays, max_events=p.max_events)
    x, labels = sample.evaluation
    rows = []
    for draw in stage.track(range(p.draws)):
        for h in p.bandwidth_scan:
            # the same frequencies, scaled, at every bandwidth: the scan compares like with like
            features = fourier_features(
                experiment3.kernel_bank(d_med, [h]),
                4,
                stream(p.seed, "experiment3", "bandwidths", draw),
                n_per_bandwidth=p.features_per_bandwidth,
                form=p.rff_form,
            )
            score = realizations.evaluated(features, sample, x)
            found = experiment3.performance(score, labels, sic_floor=p.sic_floor)
            rows.append({"bandwidth": h, "draw": draw, **found})
    draws = pd.DataFrame(rows)
    table = experiment3.bandwidth_table(draws)
    files.write_csv(experiment3.with_edition(draws, edition), snakemake.output.rows)
    files.write_csv(experiment3.with_edition(table, edition), snakemake.output.table)
