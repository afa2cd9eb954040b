"""Make the samples of Experiment III from the files of the edition, or from the surrogate."""

import json
from dataclasses import asdict
from pathlib import Path

import pandas as pd
from localizer.lhco import editions, registry, samples
from stage import Stage, files, seals

with Stage(snakemake):
    verified = snakemake.input.files
    for name, sha256 in json.loads(Path(verified).read_text()).items():
        seals.refuse_altered(Path(name), sha256, delete=f"{name} and {verified}")
    path = Path(snakemake.input.registry)
    edition = editions.Edition.from_dict(json.loads(Path(snakemake.input.edition).read_text()))
    made = editions.load(edition.name, path.parent, registry.read(path), seed=snakemake.params.seed)
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
