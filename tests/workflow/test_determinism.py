"""The same bytes on one core and on two, in another folder, and cut into other blocks."""

import pytest
import yaml
from real_workflow import ROOT, SMOKE, copy_of_the_sources
from stage import compare

pytestmark = pytest.mark.slow

BLOCKS = """\
run: blocks
experiment1:
  toys_per_job: 5
experiment2:
  n_scan: {toys_per_job: 5}
  recovery: {target_toys_per_job: 2, batch_toys_per_job: 1}
experiment3:
  occurrences_per_job: 50000
  scatter: {surrogates_per_job: 1, seeds_per_job: 1}
statistics:
  toys_per_job: 1
"""
#: what the blocks are put together to, and the last block of two of them
PUT_TOGETHER = (
    "experiment1/toys.csv",
    "experiment1/self_influence.csv",
    "figures/supp_self_influence.csv",
    "experiment2/toys.csv",
    "experiment2/recovery_targets.csv",
    "experiment2/recovery_runs.csv",
    "experiment3/seeds.csv",
    "experiment3/sweep/m20.csv",
    "experiment3/sweep/m100.npz",
    "figures/supp_lhco_scatter.csv",
    "figures/supp_statistics.csv",
)
LAST = ("experiment1/toys/000020.csv", "experiment3/batches/m100_00001500.npz")


def test_one_core_another_folder_other_blocks(finished, tmp_path):
    """The reference ran on two cores; this ends on one, in a path with a space.

    The second run cuts the work into smaller jobs and begins with the last of them.
    """
    clone = copy_of_the_sources(tmp_path / "another" / "fresh clone")
    clone.snakemake(*SMOKE, cores=1)
    results = clone.root / "results"
    reference = finished.root / "results" / "smoke"
    assert compare.compare(reference, results / "smoke").differences == []

    (clone.root / "config" / "blocks.yaml").write_text(BLOCKS)
    wanted = [f"results/blocks/{name}" for name in PUT_TOGETHER]
    first = [f"results/blocks/{name}" for name in LAST]
    overlays = (*SMOKE, "config/blocks.yaml")
    clone.snakemake(*wanted, "--prioritize", *first, *overlays)
    # the blocks were others indeed
    assert all((results / "blocks" / name).exists() for name in LAST)
    assert not any((reference / name).exists() for name in LAST)
    differing = [
        name
        for name in PUT_TOGETHER
        if (results / "blocks" / name).read_bytes() != (reference / name).read_bytes()
    ]
    assert differing == []


def test_every_size_of_a_job_is_tried():
    """A key that cuts work into jobs and is not tried above would be a promise untested."""

    def cuts(tree, *place):
        for key, value in tree.items():
            if isinstance(value, dict):
                yield from cuts(value, *place, key)
            elif key.endswith("_per_job"):
                yield (*place, key)

    shipped = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    assert set(cuts(yaml.safe_load(BLOCKS))) == set(cuts(shipped))
