"""Samples of a learned background as the reference: alone, mixed and profiled over each other."""

from functools import partial
from pathlib import Path

import _packages
import numpy as np
from localizer.base import checks
from localizer.base.randomness import stream
from localizer.experiments import experiment3, nuisances
from localizer.figures import nuisances_lhco
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    edition = files.read_edition(snakemake.input.edition)
    sample = experiment3.Coordinates.of(
        files.read_npz(snakemake.input.samples), max_events=p.max_events
    )
    here = nuisances.setting(
        files.read_json(snakemake.input.scale)["value"],
        p.bandwidths,
        partial(stream, p.seed, "nuisances", "learned"),
        features_per_bandwidth=p.features_per_bandwidth,
        copula=p.copula,
        sic_floor=p.sic_floor,
    )
    if not snakemake.input.fits:
        raise ValueError(
            "lhco.learned is empty: name a directory with samples of a learned background"
        )
    fits = {
        Path(path).stem: checks.points(np.load(path), path, d=4)[: p.max_events]
        for path in snakemake.input.fits
    }
    table = nuisances.learned(sample, fits, here)
    files.write_csv(experiment3.with_edition(table, edition), snakemake.output.table)
    with nuisances_lhco.learned(table) as figure:
        nuisances_lhco.stamp(figure, edition)
        files.write_figure(figure, *snakemake.output.figure)
