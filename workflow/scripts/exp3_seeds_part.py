"""The witness on the sample at hand, for some draws of the features."""

import _packages
from localizer.base.randomness import stream
from localizer.experiments import experiment3
from localizer.experiments.witness_draws import Draws, draws_of_means
from localizer.kernels import feature_products
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    d_med = files.read_json(snakemake.input.scale)["value"]
    arrays = files.read_npz(snakemake.input.coordinates)
    sample = experiment3.Coordinates.of(arrays, max_events=p.max_events)
    points = [experiment3.Point(**point) for point in p.points]
    draw = {name: p[name] for name in ("features_per_bandwidth", "rff_form")}
    parts = []
    for number in stage.track(p.numbers):
        rng = stream(p.seed, "experiment3", "features", number)
        features = experiment3.draw_bank(d_med, p.bandwidths, rng, **draw)
        found = draws_of_means(
            features,
            sample,
            feature_products.plain_mean(features, sample.reference)[None],
            stream(p.seed, "experiment3", "seeds", number),
            points=points,
            bandwidths=len(p.bandwidths),
        )
        parts.append(found.labelled(draw=number))
    draws = Draws.joined(parts)
    files.write_csv(draws.rows, snakemake.output.rows)
    files.write_npz(draws.arrays(), snakemake.output.heads)
