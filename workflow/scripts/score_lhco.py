"""Write the LHC Olympics samples as tables that a user might have."""

import _packages
import pandas as pd
from localizer.experiments.event_distributions import NAMES
from stage import Stage, files

with Stage(snakemake):
    samples = files.read_npz(snakemake.input.samples)
    mixed = pd.DataFrame(samples["mixed"], columns=NAMES)
    files.write_parquet(mixed.assign(signal=samples["labels"]), snakemake.output.sample)
    reference = pd.DataFrame(samples["reference"], columns=NAMES)
    files.write_parquet(reference, snakemake.output.reference)
