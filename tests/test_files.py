"""Results appear complete or not at all, with bytes that depend on the content alone."""

import math
import time

import numpy as np
import pandas as pd
import pytest
from localizer.figures import style
from stage import files


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_an_error_in_the_middle_leaves_the_old_file(tmp_path):
    target = tmp_path / "a.txt"
    files.write_text("old", target)

    def interrupted():
        with files.complete(target) as temporary:
            temporary.write_text("half of the n")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        interrupted()
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_folders_are_made(tmp_path):
    files.write_json({"a": 1}, tmp_path / "b" / "c" / "d.json")
    assert (tmp_path / "b" / "c" / "d.json").read_text() == '{\n  "a": 1\n}\n'


def test_nan_is_no_json(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.write_json({"a": math.nan}, tmp_path / "a.json")
    assert names(tmp_path) == []


def test_csv_keeps_every_digit(tmp_path):
    values = np.array([1 / 3, 1e-300, np.nextafter(1, 2), -0.1])
    files.write_csv(pd.DataFrame({"x": values}), tmp_path / "a.csv")
    assert np.array_equal(pd.read_csv(tmp_path / "a.csv")["x"], values)


def test_npz_round_trip_and_no_pickles(tmp_path):
    files.write_npz({"x": np.arange(3), "y": np.eye(2)}, tmp_path / "a.npz")
    back = files.read_npz(tmp_path / "a.npz")
    assert list(back) == ["x", "y"]
    assert np.array_equal(back["y"], np.eye(2))
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        files.write_npz({"x": np.array([{}], dtype=object)}, tmp_path / "b.npz")
    assert names(tmp_path) == ["a.npz"]


def test_same_content_same_bytes(tmp_path):
    """Written at two different seconds: no date goes into the files."""

    def write(folder):
        files.write_npz({"x": np.arange(5)}, folder / "a.npz")
        with style.canvas() as (figure, axes):
            axes.plot([1, 2], [3, 4])
            files.write_figure(figure, folder / "a.pdf", folder / "a.png")

    write(tmp_path / "one")
    time.sleep(2.1)
    write(tmp_path / "two")
    for name in ("a.npz", "a.pdf", "a.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
