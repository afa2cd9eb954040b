"""The scaling law over the grid of m and R: points, predicted curves and fits."""

from functools import partial

import _packages
import pandas as pd
from localizer.base.randomness import stream
from localizer.experiments import convergence, experiment3, scaling_law
from localizer.theory import scaling
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    numbers = files.read_json(snakemake.input.numbers)
    moments = scaling.PairMoments(**numbers["moments"])
    found = scaling_law.study(
        pd.concat([pd.read_csv(path) for path in snakemake.input.sweeps], ignore_index=True),
        files.read_npz(snakemake.input.compressed)["z"],
        moments,
        partial(stream, p.seed, "experiment3", "fit"),
        fit_minimum=p.fit_minimum,
        m_scan_R=p.m_scan_R,
        r_scan_m=p.r_scan_m,
        draws=p.fit_draws,
    )
    by_m = found.sweep[found.sweep["R"] == p.m_scan_R]
    by_number = found.sweep[found.sweep["m"] == p.r_scan_m]
    tables = {
        **{"sweep": found.sweep, "by_m": by_m, "by_R": by_number, "fits": found.fits},
        "curves": scaling_law.law_curves(moments, found.sweep, rho_limit=numbers["rho_limit"]),
        "table_m": convergence.convergence_table(by_m),
        "table_R": convergence.convergence_table(by_number),
    }
    for name, table in tables.items():
        shown = experiment3.with_edition(table, numbers["edition"])
        files.write_csv(shown, snakemake.output[name])
    files.write_json(found.numbers, snakemake.output.numbers)
    files.write_csv(found.repeated, snakemake.output.repeated)
