"""The configuration: sound as shipped, and every mistake told in a sentence that names the key."""

import copy
import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from stage.configuration import check, own, pages
from stage.configuration.model import Configuration

ROOT = Path(__file__).resolve().parents[2]
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
    assert check.problems(SHIPPED) == []
    assert check.problems(overlaid(SHIPPED, SMOKE)) == []


def test_smoke_changes_sizes_and_the_name_only():
    paper = dict(leaves(SHIPPED))
    for key, value in leaves(SMOKE):
        if key == "run":
            continue
        values = value if isinstance(value, list) else [value]
        originals = paper[key] if isinstance(paper[key], list) else [paper[key]]
        assert all(isinstance(number, int) for number in values), key
        assert max(values) <= max(originals), key


def test_what_is_generated_is_the_present_model():
    """The schema for editors and the tables of config/README.md; `make docs` writes them anew."""
    assert json.loads((ROOT / pages.SCHEMA).read_text()) == pages.schema()
    text = (ROOT / pages.README).read_text()
    assert pages.readme(text) == text


def test_both_are_written_anew(tmp_path):
    (tmp_path / pages.README).parent.mkdir(parents=True)
    text = (ROOT / pages.README).read_text()
    table = pages.table("experiment1")
    assert table in text
    (tmp_path / pages.README).write_text(text.replace(table, table.replace("| --- ", "| - ", 1)))
    pages.write(tmp_path)
    assert (tmp_path / pages.README).read_text() == text
    assert (tmp_path / pages.SCHEMA).read_text() == (ROOT / pages.SCHEMA).read_text()


def test_every_key_is_explained():
    """config/README.md has a line for each key of the configuration and of one's own data."""
    explained = (ROOT / pages.README).read_text()
    known = [key for key, _ in leaves(SHIPPED)]
    known += [f"score.{key}" for key, _ in leaves(check.resolved(SHIPPED)[0]["score"])]
    tables = ("score.sample", "score.reference")
    assert {*known, *tables} == {key for key, _ in pages._keys(pages.schema())}
    assert [key for key in [*known, *tables] if f"| `{key}` |" not in explained] == []


def test_every_key_of_the_paper_stands_in_the_file():
    """The paper's values are not hidden in code; only one's own data have defaults there."""

    def required(model):
        for name, field, inner in check.sections(model):
            if inner is not own.Score:
                assert field.is_required(), name
                if inner:
                    required(inner)

    required(Configuration)
    assert "score" not in SHIPPED


def test_the_tables_of_ones_own_data_have_no_default():
    told = check.problems({**SHIPPED, "score": {}})
    assert told == [
        f"score.{name} is missing; it must be given." for name in ("sample", "reference")
    ]


def test_an_editor_gets_the_keys_of_a_file_that_is_laid_over():
    """No key of the paper is required there, and no unknown one is let pass."""
    schema = pages.schema()
    validator = jsonschema.Draft202012Validator(schema)
    for content in (SHIPPED, SMOKE, yaml.safe_load((ROOT / "config" / "own.yaml").read_text())):
        assert list(validator.iter_errors(content)) == []
    for wrong in ({"sede": 1}, {"experiment1": {"toys": "x"}}, {"score": {"sample": "a.csv"}}):
        assert list(validator.iter_errors(wrong))


def test_a_key_that_is_written_twice_is_refused(tmp_path):
    path = tmp_path / "twice.yaml"
    path.write_text("seed: 1\nexperiment1:\n  N: 5\n  m: 3\nexperiment1:\n  N: 6\n")
    assert check.unreadable(path) == [
        f"{path}, line 5, column 1 is not valid YAML: experiment1 is written twice."
    ]
    path.write_text("a: {b: 1, c: 2}\nb: {b: 1}\n")
    assert check.unreadable(path) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"experiment1": {"toyz": 5}}, "experiment1.toyz is not a key; did you mean toys?"),
        (
            {"comparison": {"small": {"without": ["oracle"]}}},
            'comparison.small.without[0] is "oracle"; the competitors are coin_flip, ',
        ),
        ({"colour": 1}, "colour is not a key; known are run, seed,"),
        ({"experiment1": {"N": -5}}, "experiment1.N is -5; it must be at least 2."),
        ({"experiment1": {"N": "many"}}, 'experiment1.N is "many"; it must be a whole number.'),
        (
            {"experiment1": {"N": "1e3"}},
            'experiment1.N is "1e3"; it must be a whole number, written 1000.',
        ),
        (
            {"experiment1": {"model": {"h": "1e-3"}}},
            'experiment1.model.h is "1e-3"; it must be a finite number, written 0.001.',
        ),
        ({"experiment1": {"N": 2.5}}, "experiment1.N is 2.5; it must be a whole number."),
        ({"seed": None}, "seed is empty; it must be a whole number."),
        ({"run": "../up"}, 'run is "../up"; it must consist of letters'),
        ({"lhco": {"source": "cern"}}, 'lhco.source is "cern"; it must be one of auto, full,'),
        ({"experiment2": None}, "experiment2 is empty; it must be a section with keys of its own."),
        ({"score": None}, "score is empty; it must be a section with keys of its own."),
        ({"experiment1": {"N": [5000]}}, "experiment1.N is [5000]; it must be a whole number."),
        (
            {"experiment1": {"model": {"h": float("nan")}}},
            "experiment1.model.h is nan; it must be a finite number.",
        ),
        ({"experiment2": {"model": {"d": 3}}}, "experiment2.model.d is 3; it must be 2."),
        ({"experiment2": {"model": {"d": 2.0}}}, "experiment2.model.d is 2.0; it must be a whole"),
        (
            {"experiment2": {"recovery": {"replacement": True}}},
            "experiment2.recovery.replacement is True; it must be false.",
        ),
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
            "experiment1.m_scan.m is []; it must have at least 2 entries.",
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
    own_data = {"sample": "results/a.csv", "reference": "results/b.csv"}
    base = {**SHIPPED, "score": own_data} if "score" in changes else SHIPPED
    told = check.problems(overlaid(base, changes))
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
    assert check.problems(config) == [f"{path} is missing; it must be given."]


def test_several_mistakes_are_told_at_once():
    told = check.problems(overlaid(SHIPPED, {"seed": -1, "experiment1": {"toys": 0, "x": 1}}))
    assert len(told) == 3
