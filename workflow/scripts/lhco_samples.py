"""Make the samples of Experiment III from the files of the edition, or from the surrogate."""

from dataclasses import asdict
from pathlib import Path

import _packages
import pandas as pd
from localizer.lhco import editions, registry, samples
from stage import Stage, files

with Stage(snakemake):
    path = Path(snakemake.input.registry)
    edition = editions.Edition.from_dict(files.read_json(snakemake.input.edition))
    # the generator's parameters lie beside the registry
    folder = (
        path.parent
        if edition.name == "surrogate"
        else Path(snakemake.input.edition).with_name("events")
    )
    made = editions.load(edition.name, folder, registry.read(path), seed=snakemake.params.seed)
    arrays = {"labels": made.labels}
    for name in ("mixed", "reference", "evaluation_background", "evaluation_signal"):
        events = getattr(made, name)
        arrays |= {f"{name}_mass": events.mass, name: events.x}
    files.write_npz(arrays, snakemake.output.samples)

    paper = asdict(samples.PAPER)
    rows = [
        {"edition": edition.name, "sample": name, "events": count, "in_the_paper": paper[name]}
        for name, count in asdict(made.counts).items()
    ]
    files.write_csv(pd.DataFrame(rows), snakemake.output.counts)
