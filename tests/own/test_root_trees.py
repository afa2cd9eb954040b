"""ROOT files: both kinds of trees, and what is said of one that cannot be used."""

import sys

import awkward
import numpy as np
import pandas as pd
import pytest
import uproot
from localizer.own import input_tables
from localizer.own.problem import select

KINDS = ("mktree", "mkrntuple")


@pytest.fixture
def columns():
    rng = np.random.default_rng(1)
    return {
        "mass": rng.normal(size=60),
        "pt": rng.normal(size=60).astype(np.float32),
        "jets": rng.integers(0, 9, size=60).astype(np.int32),
        "tagged": np.arange(60) % 3 == 0,
        "jet_pt": awkward.Array([[0.5] * (k % 4) for k in range(60)]),
        "momentum": rng.normal(size=(60, 3)),
        "run": awkward.Array([f"r{k}" for k in range(60)]),
    }


@pytest.fixture
def write(tmp_path):
    """Return what writes trees of one kind into a file and returns its path."""

    def write(kind, **trees):
        path = tmp_path / "a.root"
        with uproot.recreate(path) as file:
            for name, content in trees.items():
                getattr(file, kind)(name.replace("__", "/"), content)
        return str(path)

    return write


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_read_and_the_others_named(write, columns, kind):
    table = input_tables.read(write(kind, events=columns))
    assert table.rows == 60
    chosen = ["tagged", "pt", "jets"]
    found = table.frame(chosen)
    for name in chosen:
        assert found[name].tolist() == columns[name].tolist()
    assert set(table.unusable) == {"jet_pt", "momentum", "run"}
    assert "a list of numbers for each event" in table.unusable["jet_pt"]
    assert "a list of numbers for each event" in table.unusable["momentum"]
    assert "it holds text" in table.unusable["run"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_jagged_branch_is_left_out_or_refused_by_name(write, columns, kind, tmp_path):
    sample = input_tables.read(write(kind, events=columns))
    shifted = {**columns, "mass": columns["mass"] + 1}
    (tmp_path / "a.root").rename(tmp_path / "b.root")
    reference = input_tables.read(write(kind, events=shifted))
    sample = input_tables.read(f"{tmp_path}/b.root:events")
    problem = select(sample, reference)
    numbers = ["mass", "pt", "jets", "tagged"]
    assert set(problem.features) - {"njet_pt"} == set(numbers)
    assert set(problem.left_out) == {"jet_pt", "momentum", "run"}
    where = problem.features.index("mass")
    np.testing.assert_array_equal(problem.reference[:, where], shifted["mass"])
    with pytest.raises(ValueError, match="jet_pt cannot be used: it holds a list") as told:
        select(sample, reference, columns=["mass", "jet_pt"])
    assert "\n" not in str(told.value)
    with pytest.raises(ValueError, match=r"has no column masss; did you mean mass\?"):
        select(sample, reference, columns=["masss"])


@pytest.mark.parametrize("kind", KINDS)
def test_one_tree_of_several(write, columns, kind):
    few = {"mass": columns["mass"][:20]}
    place = write(kind, events=columns, selected__tight=few)
    with pytest.raises(ValueError, match="holds several trees") as told:
        input_tables.read(place)
    for name in ("events", "selected/tight", f"name one, as {place}:events"):
        assert name in str(told.value)
    for name in ("selected/tight", "selected/tight;1", ":selected/tight"):
        assert input_tables.read(f"{place}:{name}").rows == 20
    with pytest.raises(ValueError, match=r"has no tree evnets; did you mean events\?"):
        input_tables.read(f"{place}:evnets")


def test_the_newest_version_of_a_tree_is_read(tmp_path):
    """ROOT keeps older states of a tree that is being filled in the same file."""
    path = tmp_path / "a.root"
    with uproot.recreate(path) as file:
        file.mktree("events", {"x": np.zeros(3)})
        file.mktree("events", {"x": np.ones(5)})
    assert input_tables.read(str(path)).frame()["x"].tolist() == [1.0] * 5


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_tree_is_told(write, columns, kind):
    empty = input_tables.read(write(kind, events={"mass": np.zeros(0)}))
    assert empty.frame().shape == (0, 1)
    with pytest.raises(ValueError, match="the sample holds 0 events; at least 10 are needed"):
        select(empty, pd.DataFrame({"mass": columns["mass"]}))


def test_a_file_without_trees(tmp_path):
    with uproot.recreate(tmp_path / "a.root") as file:
        file["note"] = "no events"
    with pytest.raises(ValueError, match=r"a\.root holds no tree"):
        input_tables.read(f"{tmp_path}/a.root")


def test_a_colon_in_the_name_of_a_folder(tmp_path, columns):
    folder = tmp_path / "run:7"
    folder.mkdir()
    with uproot.recreate(tmp_path / "a.root") as file:
        file.mktree("events", {"mass": columns["mass"]})
    (tmp_path / "a.root").rename(folder / "a.root")
    assert input_tables.read(f"{folder}/a.root:events").rows == 60


def test_without_uproot_it_is_said_how_to_get_it(write, columns, monkeypatch):
    place = write("mktree", events=columns)
    monkeypatch.setitem(sys.modules, "uproot", None)
    with pytest.raises(ValueError, match=r"needs uproot: install it with `pip install uproot`"):
        input_tables.read(place)
