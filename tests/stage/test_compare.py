"""Two results folders: every planted difference is found, named and measured."""

import json
import math
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stage import compare, files

TABLE = {"m": [10, 20, 40], "rho": [1.0, -4.0, 2.0], "name": ["raw", "pair", ""]}
NUMBERS = {"C": 6.8e9, "ids": [1.0, 2.0], "rows": [{"id": "a", "value": None}], "none": {}}
ARRAYS = {"z": np.linspace(-1, 1, 5).reshape(5, 1), "labels": np.array([True, False])}


@pytest.fixture
def one(tmp_path):
    folder = tmp_path / "one"
    files.write_csv(pd.DataFrame(TABLE), folder / "tables" / "a.csv")
    files.write_json(NUMBERS, folder / "numbers.json")
    files.write_npz(ARRAYS, folder / "experiment3" / "a.npz")
    files.write_text("a & b \\\\\n", folder / "a.tex")
    (folder / "a.png").write_bytes(b"\x89PNG")
    for name in ("provenance.json", "report.html", "logs/a.log", "benchmarks/a.tsv"):
        files.write_text("one", folder / name)
    return folder


@pytest.fixture
def two(one, tmp_path):
    folder = tmp_path / "two"
    shutil.copytree(one, folder)
    for name in ("provenance.json", "report.html", "logs/a.log", "benchmarks/a.tsv"):
        files.write_text("two", folder / name)
    files.write_text("compiled", folder / "kernels" / "sums.txt")
    return folder


def differences(one, two, tolerance=None):
    return compare.compare(one, two, tolerance=tolerance).differences


def test_what_tells_of_the_run_is_excepted(one, two):
    found = compare.compare(one, two)
    assert found.differences == []
    assert found.compared == 5
    found = compare.compare(one, two, tolerance=0.0)
    assert (found.differences, found.compared, found.pictures_left_out) == ([], 4, 1)


def test_the_name_of_a_run_is_no_result(one, two):
    for folder in (one, two):
        mark = f"{folder.name}: not the paper's statistics"
        files.write_text(f"Scoreboard: {mark}.\n", folder / "scoreboard.txt")
        table = pd.DataFrame({"value": [1.0], "note": [f"{mark}; more"]})
        files.write_csv(table, folder / "scoreboard.csv")
        (folder / "a.png").write_bytes(folder.name.encode())
    found = compare.compare(one, two)
    assert (found.differences, found.pictures_left_out) == ([], 1)
    table = pd.DataFrame({"value": [2.0], "note": ["two: not the paper's statistics; more"]})
    files.write_csv(table, two / "scoreboard.csv")
    (difference,) = differences(one, two)
    assert difference.startswith("scoreboard.csv: value differs in 1 of 1 values")


def test_the_paper_of_a_run_carries_its_name(one, two):
    """At full size nothing else does. Runs of one name make the same bytes."""
    for folder in (one, two):
        (folder / "paper.pdf").write_bytes(folder.name.encode())
    found = compare.compare(one, two)
    assert (found.differences, found.pictures_left_out) == ([], 1)
    there = two.parent / "there" / one.name
    there.parent.mkdir()
    two.rename(there)
    (difference,) = differences(one, there)
    assert difference.startswith("paper.pdf: 3 and 3 bytes, different")


def test_a_file_on_one_side_only(one, two):
    (two / "a.tex").unlink()
    files.write_text("", two / "figures" / "logs" / "b.txt")
    assert differences(one, two) == [
        f"a.tex is only in {one}",
        f"figures/logs/b.txt is only in {two}",
    ]


@pytest.mark.parametrize("tolerance", [None, 1e-9])
def test_a_number_of_a_table(one, two, tolerance):
    """The deviation refers to the largest magnitude of the column: 2 of 4 here."""
    files.write_csv(pd.DataFrame({**TABLE, "rho": [1.0, -4.0, 0.0]}), two / "tables" / "a.csv")
    assert differences(one, two, tolerance) == [
        "tables/a.csv: rho differs in 1 of 3 values, by up to 0.5 of its largest magnitude"
    ]


def test_the_tolerance_lets_pass_what_is_below_it(one, two):
    files.write_csv(
        pd.DataFrame({**TABLE, "rho": [1.0, -4.0, 2.0 + 4e-10]}), two / "tables" / "a.csv"
    )
    files.write_json({**NUMBERS, "C": 6.8e9 + 1}, two / "numbers.json")
    files.write_npz({**ARRAYS, "z": ARRAYS["z"] + 1e-10}, two / "experiment3" / "a.npz")
    assert differences(one, two, 1e-9) == []
    strict = differences(one, two, 1e-11)
    assert [line.split(" differs")[0] for line in strict] == [
        "experiment3/a.npz: z",
        "numbers.json: C",
        "tables/a.csv: rho",
    ]
    assert differences(one, two) == strict


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"name": ["raw", "pair", "x"]}, "name differs in 1 of 3 values, first  and x"),
        ({"rho": [1.0, math.nan, 2.0]}, "rho differs in 1 of 3 values, by up to inf"),
        ({"rho": [1.0, math.inf, 2.0]}, "rho differs in 1 of 3 values, by up to inf"),
        ({"rho": ["1", "-4", "two"]}, "rho is 3 (numbers) in the first and 3 (object)"),
        ({"extra": [1, 2, 3]}, "extra is only in the second"),
    ],
)
def test_other_changes_of_a_table(one, two, changed, says):
    """No tolerance helps against another text, another column or a number that is none."""
    files.write_csv(pd.DataFrame({**TABLE, **changed}), two / "tables" / "a.csv")
    (line,) = differences(one, two, 1e9)
    assert line.startswith(f"tables/a.csv: {says}")


def test_a_missing_row(one, two):
    files.write_csv(pd.DataFrame(TABLE).iloc[:2], two / "tables" / "a.csv")
    assert differences(one, two, 1.0)[0] == (
        "tables/a.csv: m is 3 (numbers) in the first and 2 (numbers) in the second"
    )


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"ids": [1.0, 3.0]}, "ids differs in 1 of 2 values, by up to 0.33"),
        ({"ids": [1.0]}, "ids is 2 (numbers) in the first and 1 (numbers)"),
        ({"rows": [{"id": "b", "value": None}]}, "rows[0].id differs"),
        ({"rows": [{"id": "a", "value": False}]}, "rows[0].value differs"),
        ({"none": None}, "none differs"),
    ],
)
def test_changes_of_a_json_file(one, two, changed, says):
    files.write_json({**NUMBERS, **changed}, two / "numbers.json")
    (line,) = differences(one, two, 1e-9)
    assert line.startswith(f"numbers.json: {says}")


def test_changes_of_an_npz_file(one, two):
    files.write_npz({**ARRAYS, "labels": np.array([True, True])}, two / "experiment3" / "a.npz")
    assert differences(one, two, 1.0) == [
        "experiment3/a.npz: labels differs in 1 of 2 values, first False and True"
    ]


def test_other_files_are_compared_exactly(one, two):
    files.write_text("a & c \\\\\n", two / "a.tex")
    assert differences(one, two, 1.0) == ["a.tex: 9 and 9 bytes, different from byte 4 on"]
    (two / "a.tex").write_text("a &")
    assert differences(one, two) == ["a.tex: 9 and 3 bytes, different from byte 3 on"]


def test_a_picture_is_compared_exactly_or_not_at_all(one, two):
    (two / "a.png").write_bytes(b"\x89PNH")
    assert differences(one, two) == ["a.png: 4 and 4 bytes, different from byte 3 on"]
    assert differences(one, two, 1e-9) == []


def test_other_bytes_for_the_same_values(one, two):
    (two / "numbers.json").write_text(json.dumps(NUMBERS))
    assert differences(one, two) == ["numbers.json: the bytes differ, the values do not"]
    assert differences(one, two, 0.0) == []


@pytest.mark.parametrize("name", ["numbers.json", "experiment3/a.npz"])
@pytest.mark.parametrize("tolerance", [None, 1e-9])
def test_a_truncated_file_is_a_difference(one, two, name, tolerance):
    (two / name).write_bytes((one / name).read_bytes()[:-20])
    (line,) = differences(one, two, tolerance)
    assert line.startswith(f"{name}: the bytes differ, and one cannot be read: ")


@given(
    st.lists(st.floats(allow_nan=False, min_value=-1e100, max_value=1e100), min_size=1),
    st.data(),
    st.floats(1e-12, 1e-2),
)
def test_deviation_is_relative_to_the_column(values, data, share):
    a = np.array(values)
    b = a.copy()
    i = data.draw(st.integers(0, len(a) - 1))
    largest = np.abs(a).max()
    b[i] -= np.copysign(share * largest, a[i])
    if largest < 1e-290:
        return
    assert compare.deviation(a, b) == pytest.approx(share, rel=1e-3, abs=1e-15)
    assert compare.deviation(a, b) == compare.deviation(b, a)
    assert compare.deviation(a, a.copy()) == 0.0


def test_the_command(one, two):
    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "stage.compare", *map(str, words)],
            cwd=compare.__file__.rsplit("/", 2)[0],
            capture_output=True,
            text=True,
            check=False,
        )

    same = run(one, two)
    assert (same.returncode, same.stderr) == (0, "")
    assert same.stdout.endswith("files compared byte by byte: 5; differences: 0\n")
    (two / "a.tex").write_text("b")
    other = run(one, two, "--tolerance", "1e-6")
    assert other.returncode == 1
    assert "a.tex: 9 and 1 bytes" in other.stdout
    assert other.stdout.endswith("compared to 1e-06: 4; pictures left out: 1; differences: 1\n")
    missing = run(one, two / "nothing")
    assert missing.returncode == 2
    assert "is not a folder with results" in missing.stderr


def test_nothing_to_compare_is_refused(one, tmp_path):
    (tmp_path / "empty" / "logs").mkdir(parents=True)
    (tmp_path / "empty" / "logs" / "a.log").touch()
    with pytest.raises(ValueError, match="holds no results"):
        compare.compare(one, tmp_path / "empty")
    with pytest.raises(ValueError, match="must be at least 0"):
        compare.compare(one, one, tolerance=math.nan)
