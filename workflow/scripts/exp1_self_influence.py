"""The mean of both witnesses by distance from the origin, over all background-only toys."""

import _packages
import pandas as pd
from localizer.experiments import experiment1
from stage import Stage, files

with Stage(snakemake):
    probe = pd.concat([pd.read_csv(path) for path in snakemake.input.probe], ignore_index=True)
    profile = pd.concat([pd.read_csv(path) for path in snakemake.input.profile], ignore_index=True)
    files.write_csv(probe, snakemake.output.probe)
    files.write_csv(experiment1.radial_profile(profile), snakemake.output.profile)
