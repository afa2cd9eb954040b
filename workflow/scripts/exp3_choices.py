"""What each choice that the paper leaves open changes, one at a time."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from localizer import experiment3, metrics, realizations
from localizer.copula import BackgroundCDF, median_distance
from localizer.features import fourier_features
from localizer.randomness import stream
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    edition = json.loads(Path(snakemake.input.edition).read_text())["name"]
    samples = files.read_npz(snakemake.input.samples)
    targets = files.read_npz(snakemake.input.targets)
    exact = files.read_npz(snakemake.input.exact)["exact"]
    labels = targets["labels"]
    base = targets["self_inclusive"]
    cdf = BackgroundCDF.of(samples["reference"])
    names = ("mixed", "reference", "evaluation_background", "evaluation_signal")

    def witness(copula, form):
        """Make everything anew with these choices, from the same frequencies."""
        arrays = {name: cdf.transform(samples[name], scores=copula) for name in names}
        arrays["labels"] = samples["labels"]
        distance = median_distance(arrays["reference"], stream(p.seed, "lhco", "d_med"))
        sample = experiment3.Coordinates.of(arrays, max_events=p.max_events)
        features = fourier_features(
            experiment3.kernel_bank(distance.value, p.bandwidths),
            4,
            stream(p.seed, "experiment3", "features", 0),
            n_per_bandwidth=p.features_per_bandwidth,
            form=form,
        )
        rng = stream(p.seed, "experiment3", "choices")
        row, score = realizations.variant(features, sample, rng, sic_floor=p.sic_floor)
        return {**row, "correlation": metrics.correlation(score, base)}

    def same_features(score, sic_floor):
        found = experiment3.performance(score, labels, sic_floor=sic_floor)
        shown = {f"{name}_witness": found[name] for name in ("auc", "sic")}
        return {**shown, "correlation": metrics.correlation(score, base)}

    other = {"uniform": "normal", "normal": "uniform", "offset": "paired", "paired": "offset"}
    rows = [
        {"choice": "as configured", "is": "", **witness(p.copula, p.rff_form)},
        {"choice": "copula", "is": other[p.copula], **witness(other[p.copula], p.rff_form)},
        {"choice": "rff_form", "is": other[p.rff_form], **witness(p.copula, other[p.rff_form])},
        {"choice": "target", "is": "loo", **same_features(targets["loo"], p.sic_floor)},
        {"choice": "kernel", "is": "exact, no RFF", **same_features(exact, p.sic_floor)},
        *(
            {"choice": "sic_floor", "is": str(floor), **same_features(base, floor)}
            for floor in p.sic_floors
            if floor <= int((~labels).sum())
        ),
    ]
    seeds = pd.read_csv(snakemake.input.seeds)
    for name, statistic in (("mean", np.mean), ("standard deviation", np.std)):
        columns = {column: float(statistic(seeds[column])) for column in rows[0] if column in seeds}
        rows.append({"choice": f"RFF seed, {len(seeds)} draws", "is": name, **columns})
    files.write_csv(experiment3.with_edition(pd.DataFrame(rows), edition), snakemake.output[0])
