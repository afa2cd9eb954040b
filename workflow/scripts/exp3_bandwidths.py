"""Single bandwidths on the independent evaluation sample, several draws of features each."""

import _packages
import pandas as pd
from localizer.base.randomness import stream
from localizer.experiments import experiment3
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    edition = files.read_edition(snakemake.input.edition)
    d_med = files.read_json(snakemake.input.scale)["value"]
    arrays = files.read_npz(snakemake.input.coordinates)
    sample = experiment3.Coordinates.of(arrays, max_events=p.max_events)
    x, labels = sample.evaluation
    rows = []
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
            found = experiment3.performance(score, labels, sic_floor=p.sic_floor)
            rows.append({"bandwidth": h, "draw": draw, **found})
    draws = pd.DataFrame(rows)
    table = experiment3.bandwidth_table(draws)
    files.write_csv(experiment3.with_edition(draws, edition), snakemake.output.rows)
    files.write_csv(experiment3.with_edition(table, edition), snakemake.output.table)
