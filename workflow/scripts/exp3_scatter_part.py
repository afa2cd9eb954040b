"""The witness over many references of the paper's size: predicted, or of surrogate samples.

Where the mixed sample is the paper's and the reference is not (edition subset), references are
predicted on the real mixed sample. Elsewhere mixed samples and references are the surrogate's.
"""

from dataclasses import asdict
from functools import partial
from pathlib import Path

import _packages
from localizer.base.randomness import stream
from localizer.experiments import experiment3, predicted_references, surrogate_references
from localizer.experiments.witness_draws import Draws
from localizer.lhco import surrogate
from localizer.lhco.samples import PAPER
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    sizes = experiment3.thinned_sizes(asdict(PAPER), max_events=p.max_events)
    draw = {
        **{name: p[name] for name in ("bandwidths", "features_per_bandwidth", "rff_form")},
        "sizes": sizes,
        "points": [experiment3.Point(**point) for point in p.points],
    }
    if files.read_edition(snakemake.input.edition) == "subset":
        sample = predicted_references.in_coordinates_of_the_pool(
            files.read_npz(snakemake.input.samples), copula=p.copula, max_events=p.max_events
        )
        draws_of = partial(
            predicted_references.draws_of_predictions,
            sample,
            files.read_json(snakemake.input.scale)["value"],
            draws_per_map=p.predicted_per_map,
        )
        word, count = "predicted", p.predicted
    else:
        draws_of = partial(
            surrogate_references.draws_of_surrogate,
            surrogate.parse(Path(snakemake.input.surrogate).read_text()),
            copula=p.copula,
        )
        word, count = "scatter", p.references
    parts = []
    for number in stage.track(p.numbers):
        found = draws_of(partial(stream, p.seed, "experiment3", word, number), draws=count, **draw)
        parts.append(found.labelled(sample_number=number, draw=range(count)))
    draws = Draws.joined(parts)
    files.write_csv(draws.rows.assign(source=word), snakemake.output.rows)
    files.write_npz(draws.arrays(), snakemake.output.heads)
