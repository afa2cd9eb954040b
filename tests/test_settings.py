"""The configuration: sound as shipped, and every mistake told in a sentence that names the key."""

import copy
from pathlib import Path

import pytest
import yaml
from stage import settings

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
SMOKE = yaml.safe_load((ROOT / "config" / "smoke.yaml").read_text())


def overlaid(base, changes):
    """Return ``base`` with ``changes`` laid over it, as Snakemake does with two files."""
    result = copy.deepcopy(base)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = overlaid(result[key], value) if both else value
    return result


def leaves(tree, path=()):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        else:
            yield ".".join((*path, key)), value


def test_the_shipped_files_are_sound():
    assert settings.problems(SHIPPED) == []
    assert settings.problems(overlaid(SHIPPED, SMOKE)) == []


def test_smoke_changes_sizes_and_the_name_only():
    paper = dict(leaves(SHIPPED))
    for key, value in leaves(SMOKE):
        if key == "run":
            continue
        values = value if isinstance(value, list) else [value]
        originals = paper[key] if isinstance(paper[key], list) else [paper[key]]
        assert all(isinstance(number, int) for number in values), key
        assert max(values) <= max(originals), key


def test_every_key_is_explained():
    """config/README.md has a line for each key of the configuration."""
    explained = (ROOT / "config" / "README.md").read_text()
    missing = [key for key, _ in leaves(SHIPPED) if f"`{key}`" not in explained]
    assert not missing


def test_the_schema_requires_every_key_that_it_knows():
    """Defaults in a schema get lost in remote jobs, so every value stands in the file."""

    def sections(schema):
        if isinstance(schema, dict):
            if "properties" in schema:
                yield schema
            for part in schema.values():
                yield from sections(part)

    for section in sections(settings.load_schema()):
        assert section["additionalProperties"] is False
        assert set(section["required"]) == set(section["properties"])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"experiment1": {"toyz": 5}}, "experiment1.toyz is not a key; did you mean toys?"),
        ({"colour": 1}, "colour is not a key; known are run, seed,"),
        ({"experiment1": {"N": -5}}, "experiment1.N is -5; it must be at least 2."),
        ({"experiment1": {"N": "many"}}, 'experiment1.N is "many"; it must be a whole number.'),
        ({"experiment1": {"N": 2.5}}, "experiment1.N is 2.5; it must be a whole number."),
        ({"seed": None}, "seed is empty; it must be a whole number."),
        ({"run": "../up"}, 'run is "../up"; it must be made of letters'),
        ({"lhco": {"source": "cern"}}, 'lhco.source is "cern"; it must be one of auto, full,'),
        ({"experiment3": 7}, "experiment3 is 7; it must be a section with keys of its own."),
        (
            {"experiment1": {"model": {"epsilon": 1.5}}},
            "experiment1.model.epsilon is 1.5; it must be below 1.",
        ),
        (
            {"experiment1": {"model": {"h": 0}}},
            "experiment1.model.h is 0; it must be above 0.",
        ),
        (
            {"experiment1": {"m_scan": {"m": []}}},
            "experiment1.m_scan.m is []; it must have at least 1 entries.",
        ),
        (
            {"experiment1": {"m_scan": {"m": [5, 5]}}},
            "experiment1.m_scan.m is [5, 5]; its entries must differ.",
        ),
        (
            {"experiment1": {"m_scan": {"m": [5, "x"]}}},
            'experiment1.m_scan.m[1] is "x"; it must be a whole number.',
        ),
        (
            {"experiment2": {"recovery": {"m": 6000}}},
            "experiment2.recovery.m is 6000; a batch cannot be larger than the sample, "
            "experiment2.recovery.N = 5000.",
        ),
        (
            {"experiment1": {"N": 10}},
            "experiment1.N is 10, of which experiment1.model.epsilon = 0.02 makes 0 signal",
        ),
        (
            {"score": {"statistics": {"names": ["../../out:f"]}}},
            'score.statistics.names[0] is "../../out:f"; it must be mmd, energy, ks, ad,',
        ),
        ({"score": {"sample": "../x.csv"}}, 'score.sample is "../x.csv"; a file outside the'),
        ({"score": {"sample": "none.csv"}}, 'score.sample is "none.csv"; there is no such file.'),
        ({"score": {"folds": 1}}, "score.folds is 1; it must be 0, for none, or at least 2."),
        (
            {"score": {"folds": 5, "source": "reference"}},
            "score.folds is 5; with score.source = reference nothing is decided from the sample",
        ),
        (
            {"score": {"batches": {"R": 200_000, "group_size": 100_000}}},
            "score.batches.group_size is 100000; it must be at most 65536.",
        ),
        (
            {"score": {"batches": {"m": 1_000_000, "R": 100_000, "group_size": 50_000}}},
            "score.batches.group_size is 50000; with score.batches.m = 1000000 a group must hold",
        ),
        (
            {"score": {"batches": {"R": 1500}}},
            "score.batches.R is 1500; it must be two or more times score.batches.group_size = "
            "1000, a whole number of groups.",
        ),
        (
            {"statistics": {"toys": 1000000, "toys_per_job": 1}},
            "statistics.toys_per_job is too small for the sizes in statistics",
        ),
        (
            {"experiment2": {"recovery": {"R": [2000, 1000]}}},
            "experiment2.recovery.R is [2000, 1000]; it must be in increasing order.",
        ),
    ],
)
def test_a_mistake_is_told_in_one_sentence(changes, says):
    told = settings.problems(overlaid(SHIPPED, changes))
    assert len(told) >= 1
    assert told[0].startswith(says)


@pytest.mark.parametrize("path", ["experiment2", "experiment1.model.h", "lhco.mirror"])
def test_a_missing_key_is_named(path):
    config = copy.deepcopy(SHIPPED)
    *above, last = path.split(".")
    section = config
    for name in above:
        section = section[name]
    del section[last]
    assert settings.problems(config) == [f"{path} is missing; it must be given."]


def test_several_mistakes_are_told_at_once():
    told = settings.problems(overlaid(SHIPPED, {"seed": -1, "experiment1": {"toys": 0, "x": 1}}))
    assert len(told) == 3
