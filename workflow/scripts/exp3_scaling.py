"""The scaling law over the grid of m and R: points, predicted curves and fits."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from localizer import convergence, experiment3, scaling
from localizer.randomness import stream
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    numbers = json.loads(Path(snakemake.input.numbers).read_text())
    edition = numbers["edition"]
    moments = scaling.PairMoments(**numbers["moments"])
    sweep = pd.concat([pd.read_csv(path) for path in snakemake.input.sweeps], ignore_index=True)
    pair = sweep[sweep["estimator"] == "pair"]
    z = files.read_npz(snakemake.input.compressed)["z"]
    covariance = scaling.log_q_covariance(z, m=pair["m"].tolist(), R=pair["R"].tolist())
    error = np.sqrt(np.diag(covariance))
    sweep["log_q_error"] = convergence.log_q_errors(sweep, error, moments.N)
    found = [
        fit
        for estimator in ("pair", "marginal")
        for fit in convergence.fits(
            sweep, covariance, estimator=estimator, fit_minimum=p.fit_minimum, C=moments.C
        )
    ]
    pair = sweep[sweep["estimator"] == "pair"]
    used = (pair["exposure"] >= p.fit_minimum).to_numpy()
    # the points that the paper's Figs. 7 and 8 show, and all checkpoints of all runs
    shown = ((pair["R"] == p.m_scan_R) | (pair["m"] == p.r_scan_m)).to_numpy()
    repeated = [
        convergence.fit_realizations(
            stream(p.seed, "experiment3", "fit", name),
            pair[keep],
            covariance[np.ix_(keep, keep)],
            draws=p.fit_draws,
        ).assign(points=name)
        for name, keep in (("all", used), ("shown", used & shown))
    ]
    deviation, error = convergence.finite_deviation(
        pair[~used], covariance[np.ix_(~used, ~used)], C=moments.C
    )
    law = scaling.fit_power_law(pair[used & shown]["exposure"], pair[used & shown]["q"])
    files.write_json(
        {
            **{"deviation": deviation, "deviation_error": error},
            **{"alpha_shown": law.alpha, "scatter_shown": law.scatter, "points_shown": law.points},
        },
        snakemake.output.numbers,
    )
    fits = convergence.fit_table(found, moments.C)
    curves = convergence.law_curves(moments, sweep, rho_limit=numbers["rho_limit"])
    by_m = sweep[sweep["R"] == p.m_scan_R]
    by_number = sweep[sweep["m"] == p.r_scan_m]
    files.write_csv(experiment3.with_edition(sweep, edition), snakemake.output.sweep)
    files.write_csv(experiment3.with_edition(by_m, edition), snakemake.output.by_m)
    files.write_csv(experiment3.with_edition(by_number, edition), snakemake.output.by_R)
    files.write_csv(experiment3.with_edition(curves, edition), snakemake.output.curves)
    files.write_csv(experiment3.with_edition(fits, edition), snakemake.output.fits)
    files.write_csv(pd.concat(repeated, ignore_index=True), snakemake.output.repeated)
    for rows, path in ((by_m, snakemake.output.table_m), (by_number, snakemake.output.table_R)):
        table = convergence.convergence_table(rows)
        files.write_csv(experiment3.with_edition(table, edition), path)
