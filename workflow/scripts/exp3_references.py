"""Disjoint references of equal size beside Gaussian ones, in the sample and in the surrogate."""

from functools import partial
from pathlib import Path

import _packages
import pandas as pd
from localizer.base.randomness import stream
from localizer.experiments import disjoint_references, experiment3, reference_draws
from localizer.kernels.features import FourierFeatures
from localizer.lhco import surrogate
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    edition = files.read_edition(snakemake.input.edition)
    saved = files.read_npz(snakemake.input.features)
    sample = experiment3.Coordinates.of(
        files.read_npz(snakemake.input.coordinates), max_events=p.max_events
    )
    bank = FourierFeatures(saved["frequencies"], saved["offsets"])
    drawn = reference_draws.draw_surrogate(
        surrogate.parse(Path(snakemake.input.surrogate).read_text()),
        partial(stream, p.seed, "experiment3", "references"),
        sizes=sample.sizes,
        pool=len(sample.background),
        copula=p.copula,
    )
    tables = [
        disjoint_references.disjoint_references(
            bank,
            mixed,
            pool,
            stream(p.seed, "experiment3", "references", "gaussian", source),
            parts=p.parts,
            draws=p.gaussians,
            sic_floor=p.sic_floor,
        ).assign(source=source)
        for source, mixed, pool in (
            ("sample", sample, sample.background),
            ("surrogate", drawn.sample, drawn.pool),
        )
    ]
    rows = pd.concat(tables, ignore_index=True)
    closed = disjoint_references.closed_form(
        files.read_npz(snakemake.input.compressed)["z"],
        bank,
        sample.background,
        centre=saved["mean_background"],
        basis=saved["basis"],
        parts=p.parts,
    )
    files.write_csv(experiment3.with_edition(rows, edition), snakemake.output.rows)
    table = disjoint_references.reference_table(rows, closed, source="sample")
    files.write_csv(experiment3.with_edition(table, edition), snakemake.output.table)
