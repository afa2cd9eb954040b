"""Every configuration that is accepted finishes: small sizes, drawn at random."""

import random
from pathlib import Path

import pytest
import yaml
from real_workflow import SMOKE
from snakemake.utils import update_config
from stage.configuration import check

SEED = 20261118
DRAWS = 3


def small(number):
    """Return a draw of small sizes for one experiment, among those that are accepted."""
    rng = random.Random(f"{SEED} {number}")
    while True:
        toys = rng.randint(2, 4)
        one = {"N": rng.randint(100, 600), "toys": toys, "toys_per_job": rng.randint(1, toys)}
        two = {
            "N": rng.randint(100, 600),
            "toys": rng.randint(2, 4),
            "recovery": {"N": rng.randint(100, 600), "target_toys": 3, "batch_toys": 2},
        }
        drawn = {"experiment1": one} if number % 2 == 0 else {"experiment2": two}
        config = {}
        for path in ("config/config.yaml", "config/smoke.yaml"):
            update_config(config, yaml.safe_load(Path(path).read_text(encoding="utf-8")))
        update_config(config, drawn)
        if check.problems(config) == []:
            return drawn


@pytest.mark.slow
@pytest.mark.parametrize("number", range(DRAWS))
def test_small_sizes_finish(branch, monkeypatch, number):
    monkeypatch.chdir(branch.root)
    drawn = small(number)
    (branch.root / "config" / "small.yaml").write_text(yaml.safe_dump(drawn))
    done = branch.snakemake(*SMOKE, "config/small.yaml", check=False)
    assert done.returncode == 0, (drawn, done.stdout[-6000:])
    assert (branch.root / "results/smoke/paper.pdf").exists()
