"""AUC, SIC and C on the sample at hand, for some draws of the features."""

import json
from pathlib import Path

import pandas as pd
from localizer import experiment3, realizations
from localizer.features import fourier_features
from localizer.randomness import stream
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    d_med = json.loads(Path(snakemake.input.scale).read_text())["value"]
    arrays = files.read_npz(snakemake.input.coordinates)
    sample = experiment3.Coordinates.of(arrays, max_events=p.max_events)
    points = [experiment3.Point(**point) for point in p.points]
    bank = experiment3.kernel_bank(d_med, p.bandwidths)
    rows = []
    for number in stage.track(p.numbers):
        features = fourier_features(
            bank,
            4,
            stream(p.seed, "experiment3", "features", number),
            n_per_bandwidth=p.features_per_bandwidth,
            form=p.rff_form,
        )
        found = realizations.rows_of_draws(
            features,
            sample,
            realizations.plain_mean(features, sample.reference)[None],
            stream(p.seed, "experiment3", "seeds", number),
            points=points,
            sic_floor=p.sic_floor,
            bandwidths=len(p.bandwidths),
        )
        rows += [{"draw": number, **row} for row in found]
    files.write_csv(pd.DataFrame(rows), snakemake.output[0])
