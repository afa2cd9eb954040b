"""Draw the figures of a user's own data."""

import _packages
import pandas as pd
from localizer.figures import score
from stage import Stage, files

with Stage(snakemake):
    # a feature may be called 1 or NA
    names = {"dtype": dict.fromkeys(("feature", "x", "y"), str), "keep_default_na": False}
    tables = {
        "ranking": pd.read_csv(snakemake.input.ranking),
        "top": pd.read_csv(snakemake.input.top),
        **{
            name: pd.read_csv(snakemake.input[name], **names)
            for name in ("features", "histograms", "fields")
        },
    }
    with score.ranking(tables["ranking"]) as figure:
        files.write_figure(figure, *snakemake.output.ranking)
    with score.features(tables["histograms"], tables["features"]["feature"]) as figure:
        files.write_figure(figure, *snakemake.output.features)
    with score.pairs(tables["fields"], tables["top"]) as figure:
        files.write_figure(figure, *snakemake.output.pairs)
