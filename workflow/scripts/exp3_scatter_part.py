"""AUC, SIC and C in some surrogate samples of the paper's sizes, over many references."""

from dataclasses import asdict
from functools import partial
from pathlib import Path

import _packages
import pandas as pd
from localizer.base.randomness import stream
from localizer.experiments import experiment3, reference_draws
from localizer.lhco import surrogate
from localizer.lhco.samples import PAPER
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    generator = surrogate.parse(Path(snakemake.input.surrogate).read_text())
    sizes = experiment3.thinned_sizes(asdict(PAPER), max_events=p.max_events)
    points = [experiment3.Point(**point) for point in p.points]
    draw = {name: p[name] for name in ("features_per_bandwidth", "rff_form")}
    rows = []
    for number in stage.track(p.numbers):
        drawn = reference_draws.draw_surrogate(
            generator,
            partial(stream, p.seed, "experiment3", "scatter", number),
            sizes=sizes,
            pool=2 * sizes["reference"],
            copula=p.copula,
        )
        rng = stream(p.seed, "experiment3", "scatter", number, "features and references")
        features = experiment3.draw_bank(drawn.d_med, p.bandwidths, rng, **draw)
        means = reference_draws.reference_means(
            features, drawn.pool, rng, n=sizes["reference"], draws=p.references
        )
        found = reference_draws.rows_of_draws(
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
