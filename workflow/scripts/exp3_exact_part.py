"""Exact kernel sums of the mixed sample: over itself, or over one part of the reference."""

import _packages
from localizer.experiments import experiment3
from stage import Stage, files

with Stage(snakemake):
    p = snakemake.params
    d_med = files.read_json(snakemake.input.scale)["value"]
    arrays = files.read_npz(snakemake.input.coordinates)
    sample = experiment3.Coordinates.of(arrays, max_events=p.max_events)
    bank = experiment3.kernel_bank(d_med, p.bandwidths)
    other = None if p.part == "within" else sample.reference[int(p.part) :: p.parts]
    sums = experiment3.exact_sums(sample.mixed, bank, other)
    events = len(sample.mixed) if other is None else len(other)
    files.write_npz({"sums": sums, "events": events}, snakemake.output[0])
