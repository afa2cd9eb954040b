"""The analytic targets of Experiment I: what the Gaussian benchmark gives in closed form."""

import _packages
import pandas as pd
from localizer.models.gaussian import GaussianBenchmark
from stage import Stage, files

with Stage(snakemake):
    model = GaussianBenchmark(**snakemake.params.model)
    sizes = sorted({snakemake.params.m, *snakemake.params.m_scan})
    rows = [{"m": m, "class_separation": model.class_separation(m)} for m in sizes]
    files.write_csv(pd.DataFrame(rows), snakemake.output.table)
    names = ("K_BB", "K_SS", "K_SB", "D_SB", "mmd2", "mean_witness")
    numbers = {name: getattr(model, name) for name in names}
    numbers["class_separation"] = model.class_separation(snakemake.params.m)
    files.write_json(numbers, snakemake.output.numbers)
