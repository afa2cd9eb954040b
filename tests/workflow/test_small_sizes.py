"""Every configuration that is accepted finishes: small sizes, drawn at random.

``SMALL_SEED=7 make test-all`` draws others.
"""

import copy
import os
import random
from pathlib import Path

import pytest
import yaml
from real_workflow import SMOKE
from snakemake.utils import update_config
from stage.configuration import check

SEED = os.environ.get("SMALL_SEED", "20261118")
#: the sections that one run draws anew; together they are all that has sizes
PARTS = [
    ("experiment1", "comparison"),
    ("experiment2", "statistics"),
    ("experiment3", "nuisances"),
]
#: with so few toys an error is zero up to rounding
FEW_TOYS = {"experiment1": {"N": 500, "toys": 2, "toys_per_job": 2, "self_influence": {"toys": 3}}}


def smoke():
    """Return the configuration of a smoke run, and its own part."""
    config = {}
    for path in ("config/config.yaml", "config/smoke.yaml"):
        own = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        update_config(config, copy.deepcopy(own))
    return config, own


def sizes(section, path=()):
    """Yield the path and the value of every whole number and of every list of them."""
    for name, value in section.items():
        if isinstance(value, dict):
            yield from sizes(value, (*path, name))
        else:
            yield (*path, name), value


def at(path, value):
    """Return a configuration that has nothing but one key."""
    for name in reversed(path):
        value = {name: value}
    return value


def drawn_size(value, rng):
    """Return a size of at most this one, or some of these."""
    if isinstance(value, list):
        kept = sorted(rng.sample(range(len(value)), rng.randint(1, len(value))))
        return [value[place] for place in kept]
    return rng.randint(max(1, value // 4), value)


def small(number):
    """Return small sizes for some sections: each key is drawn anew where that is accepted."""
    rng = random.Random(f"{SEED} {number}")
    config, own = smoke()
    drawn = {}
    for path, value in sizes({name: own[name] for name in PARTS[number]}):
        one = at(path, drawn_size(value, rng))
        tried = copy.deepcopy(config)
        update_config(tried, one)
        if check.problems(tried) == []:
            config = tried
            update_config(drawn, one)
    return drawn


def finishes(branch, drawn):
    (branch.root / "config" / "small.yaml").write_text(yaml.safe_dump(drawn))
    done = branch.snakemake(*SMOKE, "config/small.yaml", check=False)
    assert done.returncode == 0, (drawn, done.stdout[-6000:])
    assert (branch.root / "results/smoke/paper.pdf").exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(PARTS)))
def test_small_sizes_finish(branch, monkeypatch, number):
    monkeypatch.chdir(branch.root)
    drawn = small(number)
    # a draw that refuses everything would test nothing
    assert len(list(sizes(drawn))) > 5
    finishes(branch, drawn)


@pytest.mark.slow
def test_very_few_toys_finish(branch):
    finishes(branch, FEW_TOYS)
