"""AUC, SIC and C in some surrogate samples of the paper's sizes, over many references."""

from dataclasses import asdict
from functools import partial
from pathlib import Path

import pandas as pd
from localizer import experiment3, realizations, surrogate
from localizer.features import fourier_features
from localizer.lhco.samples import PAPER
from localizer.randomness import stream
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    generator = surrogate.parse(Path(snakemake.input.surrogate).read_text())
    sizes = experiment3.thinned_sizes(asdict(PAPER), max_events=p.max_events)
    points = [experiment3.Point(**point) for point in p.points]
    rows = []
    for number in stage.track(p.numbers):
        drawn = realizations.draw_surrogate(
            generator,
            partial(stream, p.seed, "experiment3", "scatter", number),
            sizes=sizes,
            pool=2 * sizes["reference"],
            copula=p.copula,
        )
        bank = experiment3.kernel_bank(drawn.d_med, p.bandwidths)
        rng = stream(p.seed, "experiment3", "scatter", number, "features and references")
        features = fourier_features(
            bank, 4, rng, n_per_bandwidth=p.features_per_bandwidth, form=p.rff_form
        )
        means = realizations.reference_means(
            features, drawn.pool, rng, n=sizes["reference"], draws=p.references
        )
        found = realizations.rows_of_draws(
            features,
            drawn.sample,
            means,
            rng,
            points=points,
            sic_floor=p.sic_floor,
            bandwidths=len(p.bandwidths),
        )
        rows += [
            {"sample_number": number, "reference_number": k, **row} for k, row in enumerate(found)
        ]
    files.write_csv(pd.DataFrame(rows), snakemake.output[0])
