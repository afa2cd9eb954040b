"""Draw a figure of Experiment III: the one that the rule names, with the edition on its face."""

import json
from pathlib import Path

import pandas as pd
from localizer.figures import experiment3
from stage import Stage, files

with Stage(snakemake):
    edition = json.loads(Path(snakemake.input.edition).read_text())
    kept = {name: path for name, path in snakemake.input.items() if name not in ("code", "edition")}
    tables = {name: pd.read_csv(path) for name, path in kept.items()}
    options = dict(snakemake.params.items())
    draw = getattr(experiment3, options.pop("figure"))
    with draw(**tables, **options) as figure:
        experiment3.stamp(figure, edition["name"])
        files.write_figure(figure, *snakemake.output)
