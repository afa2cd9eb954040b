"""Read the two tables, check them, and put them into arrays."""

import _packages
import pandas as pd
from localizer.own import input_tables, problem
from stage import Stage, files

with Stage(snakemake) as stage:
    params = snakemake.params
    found = problem.select(
        input_tables.read(params.tables["sample"], event_id=params.id),
        input_tables.read(params.tables["reference"]),
        columns=params.columns,
        label=params.label,
        event_id=params.id,
        sample_weight=params.sample_weight,
        reference_weight=params.reference_weight,
        shared_events=params.shared_events,
        keep=problem.thinned(params.seed, params.max_events),
    )
    arrays = problem.arrays_of(found)
    events = pd.DataFrame(found.sample, columns=found.features)
    events.insert(0, "event", found.names.to_numpy())
    for name, reason in found.left_out.items():
        stage.say(f"column {name} is left out: {reason}")
    files.write_npz(arrays, snakemake.output.arrays)
    files.write_parquet(events, snakemake.output.events)
    about = {
        **params.tables,
        "features": list(found.features),
        "left_out": dict(found.left_out),
        "events": dict(found.rows),
        "used": {name: len(arrays[name]) for name in ("sample", "reference")},
    }
    files.write_json(about, snakemake.output.about)
