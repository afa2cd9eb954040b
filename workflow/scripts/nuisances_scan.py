"""A reference that is wrong by a scanned amount, with and without profiling."""

from functools import partial

import _packages
import pandas as pd
from localizer.base.randomness import stream
from localizer.experiments import experiment3, nuisances
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    edition = files.read_edition(snakemake.input.edition)
    sample = experiment3.Coordinates.of(
        files.read_npz(snakemake.input.samples), max_events=p.max_events
    )
    streams = partial(stream, p.seed, "nuisances", "scan")
    here = nuisances.setting(
        files.read_json(snakemake.input.scale)["value"],
        p.bandwidths,
        streams,
        features_per_bandwidth=p.features_per_bandwidth,
        copula=p.copula,
        sic_floor=p.sic_floor,
    )
    rows = [
        nuisances.scanned(
            sample,
            here,
            streams,
            number=number,
            amount=amount,
            wrong=nuisances.Scaling(**p.wrong),
            step=nuisances.Scaling(**p.step),
            test_events=p.test_events,
            draws=p.draws,
        )
        for number, amount in stage.track(list(enumerate(p.amounts)))
    ]
    files.write_csv(experiment3.with_edition(pd.DataFrame(rows), edition), snakemake.output[0])
