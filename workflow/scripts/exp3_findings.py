"""What Experiment III found, for the scoreboard."""

import json
from pathlib import Path

import pandas as pd
from localizer import findings3, scaling, scoreboard
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    names = ("counts", "witness", "bandwidths", "sweep", "fits", "repeated", "surrogates", "seeds")
    tables = {name: pd.read_csv(snakemake.input[name]) for name in names}
    numbers = json.loads(Path(snakemake.input.numbers).read_text())
    table = pd.read_csv(snakemake.input.published, dtype=str)
    published = {row.id: row for row in scoreboard.read_published(table)}
    moments = scaling.PairMoments(**numbers["moments"])
    sweep, fits = tables["sweep"], tables["fits"]
    measured = findings3.measured_values(tables["witness"], tables["bandwidths"], sweep, fits)
    findings = [
        *findings3.of_samples(tables["counts"], numbers["dimension"]),
        *findings3.of_draws(
            measured,
            tables["surrogates"],
            tables["seeds"],
            published,
            edition=numbers["edition"],
        ),
        *findings3.of_bandwidths(
            tables["bandwidths"], tables["seeds"]["auc_evaluation"].mean(), close=p.close
        ),
        *findings3.of_correlations(sweep, moments, published),
        *findings3.of_convergence(
            sweep, m=p.m, m_scan_R=p.m_scan_R, identical=p.identical, essentially=p.essentially
        ),
        *findings3.of_scaling(
            sweep,
            fits,
            tables["repeated"],
            json.loads(Path(snakemake.input.law).read_text()),
            fit_minimum=p.fit_minimum,
            alpha_tolerance=p.alpha,
        ),
    ]
    files.write_json([finding.as_dict() for finding in findings], snakemake.output[0])
