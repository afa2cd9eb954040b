"""The relative error of the estimators by batch size, on exact curves (Figs. 3 and 4)."""

import _packages
import numpy as np
import pandas as pd
from localizer.experiments import precision
from localizer.models.gaussian import GaussianBenchmark
from stage import Stage, files

with Stage(snakemake):
    model = GaussianBenchmark(**snakemake.params.model)
    table = pd.concat([pd.read_csv(path) for path in snakemake.input.parts], ignore_index=True)
    points = precision.precision(table, model)
    files.write_csv(table, snakemake.output.probes)
    files.write_csv(points, snakemake.output.points)
    sizes = np.unique(np.geomspace(points["m"].min(), points["m"].max(), 200).round().astype(int))
    R = int(points["contexts"].iloc[0])
    share = float(table["signal"].mean())
    curve = precision.precision_curve(model, map(int, sizes), R=R, signal_share=share)
    files.write_csv(curve, snakemake.output.curve)
