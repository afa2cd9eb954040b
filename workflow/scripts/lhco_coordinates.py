"""Map every sample through the reference's CDF, and measure the median distance there."""

from dataclasses import asdict

import _packages
from localizer.base.copula import BackgroundCDF, median_distance
from localizer.base.randomness import stream
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    samples = files.read_npz(snakemake.input.samples)
    cdf = BackgroundCDF.of(samples["reference"])
    names = ("mixed", "reference", "evaluation_background", "evaluation_signal")
    coordinates = {name: cdf.transform(samples[name], scores=p.copula) for name in names}
    distance = median_distance(coordinates["reference"], stream(p.seed, "lhco", "d_med"))
    files.write_json(asdict(distance), snakemake.output.scale)
    files.write_npz({**coordinates, "labels": samples["labels"]}, snakemake.output.coordinates)
