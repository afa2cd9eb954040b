"""Disjoint references of equal size beside Gaussian ones, in the sample and in the surrogate."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from localizer import experiment3, realizations, surrogate
from localizer.features import FourierFeatures
from localizer.randomness import stream
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    edition = json.loads(Path(snakemake.input.edition).read_text())["name"]
    arrays = files.read_npz(snakemake.input.coordinates)
    saved = files.read_npz(snakemake.input.features)
    sample = experiment3.Coordinates.of(arrays, max_events=p.max_events)
    pool = np.concatenate([sample.reference, sample.evaluation_background])
    bank = FourierFeatures(saved["frequencies"], saved["offsets"])

    generator = surrogate.parse(Path(snakemake.input.surrogate).read_text())
    signal = int(sample.labels.sum())
    sizes = {
        "mixed_background": len(sample.mixed) - signal,
        "mixed_signal": signal,
        "reference": len(sample.reference),
        "evaluation_background": len(sample.evaluation_background),
        "evaluation_signal": len(sample.evaluation_signal),
    }
    drawn = realizations.draw_surrogate(
        generator,
        partial(stream, p.seed, "experiment3", "references"),
        sizes=sizes,
        pool=len(pool),
        copula=p.copula,
    )
    tables = []
    for source, mixed, background in (
        ("sample", sample, pool),
        ("surrogate", drawn.sample, drawn.pool),
    ):
        found = realizations.disjoint_references(
            bank,
            mixed,
            background,
            stream(p.seed, "experiment3", "references", "gaussian", source),
            parts=p.parts,
            draws=p.gaussians,
            sic_floor=p.sic_floor,
        )
        tables.append(found.assign(source=source))
    rows = pd.concat(tables, ignore_index=True)

    size = len(pool) // p.parts
    shift = (realizations.plain_mean(bank, pool) - saved["mean_background"]) @ saved["basis"]
    z = files.read_npz(snakemake.input.compressed)["z"]
    closed = realizations.predicted_variance(z, shift, tau=1 / size - 1 / (size * p.parts))
    files.write_csv(experiment3.with_edition(rows, edition), snakemake.output.rows)
    table = realizations.reference_table(rows, closed, source="sample")
    files.write_csv(experiment3.with_edition(table, edition), snakemake.output.table)
