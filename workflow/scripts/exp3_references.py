"""Disjoint references of equal size beside Gaussian ones, in the sample and in the surrogate."""

from functools import partial
from pathlib import Path

import _packages
from localizer.base.randomness import stream
from localizer.experiments import disjoint_references, experiment3, surrogate_references
from localizer.experiments.witness_draws import Draws
from localizer.kernels.features import FourierFeatures
from localizer.lhco import surrogate
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    saved = files.read_npz(snakemake.input.features)
    sample = experiment3.Coordinates.of(
        files.read_npz(snakemake.input.coordinates), max_events=p.max_events
    )
    bank = FourierFeatures(saved["frequencies"], saved["offsets"])
    drawn = surrogate_references.draw_surrogate(
        surrogate.parse(Path(snakemake.input.surrogate).read_text()),
        partial(stream, p.seed, "experiment3", "references"),
        sizes=sample.sizes,
        pool=len(sample.background),
        copula=p.copula,
    )
    draws = [
        disjoint_references.disjoint_references(
            bank,
            mixed,
            pool,
            stream(p.seed, "experiment3", "references", "gaussian", source),
            parts=p.parts,
            draws=p.gaussians,
        ).labelled(source=source)
        for source, mixed, pool in (
            ("sample", sample, sample.background),
            ("surrogate", drawn.sample, drawn.pool),
        )
    ]
    both = Draws.joined(draws)
    files.write_csv(both.rows, snakemake.output.rows)
    files.write_npz(both.arrays(), snakemake.output.heads)
    variance, spread = disjoint_references.closed_form(
        files.read_npz(snakemake.input.compressed)["z"],
        bank,
        sample.background,
        centre=saved["mean_background"],
        basis=saved["basis"],
        parts=p.parts,
    )
    files.write_json({"variance": variance, "spread": spread}, snakemake.output.closed)
