"""Single bandwidths on the independent evaluation sample, several draws of features each."""

import _packages
import pandas as pd
from localizer.base.randomness import stream
from localizer.base.sic import Heads, Standing
from localizer.experiments import experiment3
from localizer.experiments.witness_draws import Draws
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    d_med = files.read_json(snakemake.input.scale)["value"]
    arrays = files.read_npz(snakemake.input.coordinates)
    sample = experiment3.Coordinates.of(arrays, max_events=p.max_events)
    x, labels = sample.evaluation
    rows, heads = [], []
    for draw in stage.track(range(p.draws)):
        for h in p.bandwidth_scan:
            # the same frequencies, scaled, at every bandwidth: the scan compares like with like
            features = experiment3.draw_bank(
                d_med,
                [h],
                stream(p.seed, "experiment3", "bandwidths", draw),
                features_per_bandwidth=p.features_per_bandwidth,
                rff_form=p.rff_form,
            )
            score = experiment3.DirectWitness.of(features, sample.mixed, sample.reference)(x)
            standing = Standing.of(score, labels)
            rows.append({"bandwidth": h, "draw": draw, "auc": standing.auc})
            heads.append(Heads.of([standing]))
    draws = Draws(pd.DataFrame(rows), {"": Heads.joined(heads)})
    files.write_csv(draws.rows, snakemake.output.rows)
    files.write_npz(draws.arrays(), snakemake.output.heads)
