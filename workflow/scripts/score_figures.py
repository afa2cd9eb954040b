"""Draw the figures of a user's own data."""

import pandas as pd
from localizer.figures import score
from stage import Stage, files

with Stage(snakemake):
    scores = pd.read_parquet(snakemake.input.scores)
    tables = {
        name: pd.read_csv(snakemake.input[name])
        for name in ("band", "top", "features", "histograms", "fields")
    }
    with score.ranking(scores, tables["band"]) as figure:
        files.write_figure(figure, *snakemake.output.ranking)
    with score.features(tables["histograms"], tables["features"]["feature"]) as figure:
        files.write_figure(figure, *snakemake.output.features)
    with score.pairs(tables["fields"], tables["top"]) as figure:
        files.write_figure(figure, *snakemake.output.pairs)
