"""Some of the batches of one size: their sums, one for each piece that ends at a checkpoint."""

from itertools import pairwise

import _packages
from localizer.estimators import batches, pair_forms, sweeps
from stage import Stage, files

with Stage(snakemake) as stage:
    p = snakemake.params
    pairs = pair_forms.RoundedPairs(files.read_npz(snakemake.input.compressed)["z"])
    pieces = {}
    ranges = {
        stop: batches.group_range(stop, start=start, group_size=p.group_size)
        for start, stop in pairwise(p.ends)
    }
    groups = [(stop, group) for stop, some in ranges.items() for group in some]
    for stop, group in stage.track(groups):
        sums = batches.run(
            pairs,
            m=p.m,
            groups=range(group, group + 1),
            group_size=p.group_size,
            streams=sweeps.group_streams(p.seed, p.m),
            replacement=p.replacement,
        )
        pieces[stop] = pieces[stop] + sums if stop in pieces else sums
    files.write_npz(sweeps.pieces_as_arrays(pieces), snakemake.output[0])
