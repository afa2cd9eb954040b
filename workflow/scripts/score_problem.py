"""Read the two tables, check them, and put them into arrays."""

import _packages
import pandas as pd
from localizer.base.randomness import stream
from localizer.own import input_tables
from stage import Stage, files

with Stage(snakemake) as stage:
    params = snakemake.params
    problem = input_tables.select(
        input_tables.read(params.tables["sample"], event_id=params.id),
        input_tables.read(params.tables["reference"]),
        columns=params.columns,
        label=params.label,
        event_id=params.id,
        shared_events=params.shared_events,
    )
    had = {"sample": len(problem.sample), "reference": len(problem.reference)}
    kept = {
        name: stream(params.seed, "score", "thin", name).permutation(size)[: params.max_events]
        for name, size in had.items()
    }
    for rows in kept.values():
        rows.sort()
    arrays = {
        "sample": problem.sample[kept["sample"]],
        "reference": problem.reference[kept["reference"]],
    }
    events = pd.DataFrame(arrays["sample"], columns=problem.features)
    events.insert(0, "event", problem.names.iloc[kept["sample"]].to_numpy())
    if problem.label is not None:
        arrays["label"] = problem.label[kept["sample"]]
    for name, reason in problem.left_out.items():
        stage.say(f"column {name} is left out: {reason}")
    files.write_npz(arrays, snakemake.output.arrays)
    files.write_parquet(events, snakemake.output.events)
    about = {
        **params.tables,
        "features": list(problem.features),
        "left_out": dict(problem.left_out),
        "events": had,
        "used": {name: len(rows) for name, rows in kept.items()},
    }
    files.write_json(about, snakemake.output.about)
