"""Hold the sample against those without a departure: p-value, and the band of the scores."""

import json
from functools import partial
from pathlib import Path

import pandas as pd
from localizer import metrics, score, significance
from localizer.randomness import stream
from stage import Stage, files

LEVELS = {"low": 0.025, "median": 0.5, "high": 0.975}

with Stage(snakemake):
    params = snakemake.params
    problem = files.read_npz(snakemake.input.problem)
    sample, reference = problem["sample"], problem["reference"]
    observed = significance.observe(
        sample,
        reference,
        score.Recipe(**params.recipe).decided(len(sample), len(reference)),
        partial(stream, params.seed, "score"),
        top=params.top,
    )
    parts = [
        significance.NullDraws.from_dict(files.read_npz(path)) for path in snakemake.input.parts
    ]
    null = significance.joined(parts)
    scores = pd.read_parquet(snakemake.input.scores)
    largest = scores.nsmallest(null.largest.shape[1], "rank")[["rank", "loo", "error"]]
    band = {name: significance.band(null.largest, level=at) for name, at in LEVELS.items()}
    files.write_csv(largest.assign(**band), snakemake.output.ranking)

    scored = json.loads(Path(snakemake.input.scored).read_text())
    about = json.loads(Path(snakemake.input.about).read_text())
    found = {
        "mmd2": float(observed.mmd2[0]),
        "mmd2_null_sd": float(null.mmd2.std(ddof=1)),
        "p_value": significance.p_value(observed.mmd2[0], null.mmd2),
        "draws": len(null.mmd2),
        "draws_from": params.draw,
        "largest": float(observed.largest[0, 0]),
        "p_largest": significance.p_value(observed.largest[0, 0], null.largest[:, 0]),
        "events": about["used"]["sample"],
        "reference_events": about["used"]["reference"],
        **scored,
    }
    if "label" in scores and scores["label"].nunique() == 2:
        found["auc"] = metrics.auc(scores["loo"], scores["label"])
    files.write_json(found, snakemake.output.about)
    names = {name: value for name, value in found.items() if isinstance(value, int | float)}
    files.write_csv(
        pd.DataFrame({"quantity": list(names), "value": list(names.values())}),
        snakemake.output.table,
    )
