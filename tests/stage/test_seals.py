"""Seals: every input is asked for its own, whatever stands before it."""

import hashlib

import pytest
from stage import seals


@pytest.fixture
def sealed(tmp_path):
    """Return three files with their seals, and the folder they lie in."""
    paths = [tmp_path / "a.csv", tmp_path / "deep" / "b.csv", tmp_path / "deep" / "c.csv"]
    (tmp_path / "deep").mkdir()
    for path in paths:
        path.write_text(path.name)
    seals.put(paths, tmp_path)
    seals.check(paths, tmp_path)
    return paths, tmp_path


@pytest.mark.parametrize("altered", [0, 1, 2])
def test_the_one_that_was_altered_is_refused(sealed, altered):
    paths, results = sealed
    known = hashlib.sha256(paths[altered].name.encode()).hexdigest()
    paths[altered].write_text("other")
    says = rf"{paths[altered]} \(5 bytes\) was altered .* its SHA-256 is not {known}\. Delete"
    with pytest.raises(ValueError, match=says):
        seals.check(paths, results)


def test_one_without_a_seal_hides_no_other(sealed, tmp_path_factory):
    paths, results = sealed
    outside = tmp_path_factory.mktemp("outside") / "x.csv"
    outside.write_text("x")
    (results / "new.csv").write_text("new")
    paths[1].write_text("other")
    with pytest.raises(ValueError, match=r"b\.csv \(5 bytes\) was altered"):
        seals.check([outside, results / "new.csv", *paths], results)


def test_seals_of_all_files_are_taken_off(sealed):
    paths, results = sealed
    seals.take_off(paths[1:], results)
    left = [path.name for path in (results / "seals").rglob("*") if path.is_file()]
    assert left == ["a.csv.sha256"]


def test_a_folder_called_logs_is_that_of_the_run(tmp_path):
    assert seals.results_of(tmp_path / "run/logs/rule/part.log") == tmp_path / "run"
    assert seals.results_of(tmp_path / "run/other/part.log") == tmp_path / "run/other"
