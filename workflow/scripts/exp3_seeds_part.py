"""AUC, SIC and C on the sample at hand, for some draws of the features."""

import _packages
import pandas as pd
from localizer.base.randomness import stream
from localizer.experiments import experiment3, reference_draws
from localizer.kernels import feature_products
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    d_med = files.read_json(snakemake.input.scale)["value"]
    arrays = files.read_npz(snakemake.input.coordinates)
    sample = experiment3.Coordinates.of(arrays, max_events=p.max_events)
    points = [experiment3.Point(**point) for point in p.points]
    draw = {name: p[name] for name in ("features_per_bandwidth", "rff_form")}
    rows = []
    for number in stage.track(p.numbers):
        rng = stream(p.seed, "experiment3", "features", number)
        features = experiment3.draw_bank(d_med, p.bandwidths, rng, **draw)
        found = reference_draws.rows_of_draws(
            features,
            sample,
            feature_products.plain_mean(features, sample.reference)[None],
            stream(p.seed, "experiment3", "seeds", number),
            points=points,
            sic_floor=p.sic_floor,
            bandwidths=len(p.bandwidths),
        )
        rows += [{"draw": number, **row} for row in found]
    files.write_csv(pd.DataFrame(rows), snakemake.output[0])
