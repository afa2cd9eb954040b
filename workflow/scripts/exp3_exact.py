"""The exact witness of the mixed sample, from its kernel sums."""

import _packages
from localizer.experiments import experiment3
from stage import Stage, files

with Stage(snakemake):
    within = files.read_npz(snakemake.input.within)["sums"]
    parts = [files.read_npz(path) for path in snakemake.input.across]
    across = sum(part["sums"] for part in parts)
    events = sum(int(part["events"]) for part in parts)
    witness = experiment3.exact_witness(within, across, events)
    files.write_npz({"exact": witness}, snakemake.output[0])
