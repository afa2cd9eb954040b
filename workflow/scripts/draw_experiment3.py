"""Draw a figure of Experiment III: the one that the rule names, with the edition on its face."""

import _packages
import pandas as pd
from localizer.figures import experiment3
from stage import Stage, files

with Stage(snakemake):
    edition = files.read_edition(snakemake.input.edition)
    kept = {name: path for name, path in snakemake.input.items() if name not in ("code", "edition")}
    tables = {name: pd.read_csv(path) for name, path in kept.items()}
    options = dict(snakemake.params.items())
    draw = getattr(experiment3, options.pop("figure"))
    with draw(**tables, **options) as figure:
        experiment3.stamp(figure, edition)
        files.write_figure(figure, *snakemake.output[:2])
    for table, beside in zip(kept.values(), snakemake.output[2:], strict=False):
        files.copy(table, beside)
