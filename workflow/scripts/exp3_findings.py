"""What Experiment III found, for the scoreboard."""

import _packages
import pandas as pd
from localizer.theory import scaling
from localizer.verdicts import board, findings3, findings3_batches
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    names = ("counts", "witness", "bandwidths", "sweep", "fits", "repeated", "surrogates", "seeds")
    tables = {name: pd.read_csv(snakemake.input[name]) for name in names}
    numbers = files.read_json(snakemake.input.numbers)
    table = pd.read_csv(snakemake.input.published, dtype=str)
    published = {row.id: row for row in board.read_published(table)}
    moments = scaling.PairMoments(**numbers["moments"])
    sweep, fits = tables["sweep"], tables["fits"]
    measured = findings3.measured_values(tables["witness"], tables["bandwidths"], sweep, fits)
    findings = [
        *findings3.of_dimension(tables["counts"], numbers["dimension"]),
        *findings3.of_draws(
            measured,
            tables["surrogates"],
            tables["seeds"],
            published,
            edition=numbers["edition"],
        ),
        *findings3.of_bandwidths(tables["bandwidths"], tables["seeds"]["auc_evaluation"].mean()),
        *findings3_batches.of_correlations(
            sweep,
            moments,
            tables["seeds"],
            published,
            tables["surrogates"],
            edition=numbers["edition"],
        ),
        *findings3_batches.of_convergence(sweep, published, m=p.m, m_scan_R=p.m_scan_R),
        *findings3_batches.of_scaling(
            sweep,
            fits,
            tables["repeated"],
            files.read_json(snakemake.input.law),
            published,
            fit_minimum=p.fit_minimum,
        ),
    ]
    files.write_json([finding.as_dict() for finding in findings], snakemake.output[0])
