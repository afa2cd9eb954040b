"""A user's tables: every kind reads as the same numbers, every mistake is one sentence."""

import pickle

import h5py
import numpy as np
import pandas as pd
import pytest
from localizer.own import input_tables


@pytest.fixture
def frame():
    rng = np.random.default_rng(1)
    return pd.DataFrame(rng.normal(size=(40, 3)), columns=["x0", "x1", "x2"])


def _npz(frame, path):
    np.savez(path, **{name: frame[name].to_numpy() for name in frame})


def _structured(frame, path):
    np.save(path, frame.to_records(index=False))


def _columns(frame, path):
    with h5py.File(path, "w") as file:
        for name in frame:
            file[f"events/{name}"] = frame[name].to_numpy()


def _pandas(frame, path):
    frame.to_hdf(path, key="df")


WRITERS = {
    "a.csv": lambda frame, path: frame.to_csv(path, index=False),
    "a.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "semicolons.csv": lambda frame, path: frame.to_csv(path, index=False, sep=";"),
    "decimal_commas.csv": lambda frame, path: frame.to_csv(path, index=False, sep=";", decimal=","),
    "tabs.csv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "a.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "a.tsv.gz": lambda frame, path: frame.to_csv(path, index=False, sep="\t", decimal=","),
    "a.parquet": lambda frame, path: frame.to_parquet(path),
    "a.npy": lambda frame, path: np.save(path, frame.to_numpy()),
    "structured.npy": _structured,
    "a.npz": _npz,
    "a.h5": _columns,
    "pandas.hdf5": _pandas,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_reads_as_the_same_table(frame, tmp_path, name):
    path = tmp_path / name
    WRITERS[name](frame, path)
    pd.testing.assert_frame_equal(input_tables.read(str(path)), frame, check_exact=True)


def test_one_array_of_several(frame, tmp_path):
    np.savez(tmp_path / "a.npz", first=frame.to_numpy(), second=np.zeros((3, 2)))
    pd.testing.assert_frame_equal(input_tables.read(f"{tmp_path}/a.npz::first"), frame)
    with pytest.raises(ValueError, match=r"holds several arrays \(first, second\); name one"):
        input_tables.read(f"{tmp_path}/a.npz")
    with pytest.raises(ValueError, match="has no frist; did you mean first"):
        input_tables.read(f"{tmp_path}/a.npz::frist")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["group/values"] = frame.to_numpy()
        file["group/other"] = np.zeros(3)
    pd.testing.assert_frame_equal(input_tables.read(f"{tmp_path}/a.h5::group/values"), frame)
    with pytest.raises(ValueError, match="has no group/value; did you mean group/values"):
        input_tables.read(f"{tmp_path}/a.h5::group/value")


def test_the_only_array_needs_no_name(frame, tmp_path):
    np.savez(tmp_path / "a.npz", events=frame.to_numpy())
    with h5py.File(tmp_path / "group.h5", "w") as file:
        file["group/values"] = frame.to_numpy()
    with h5py.File(tmp_path / "plain.h5", "w") as file:
        file["values"] = frame.to_numpy()
    for name in ("a.npz", "group.h5", "plain.h5"):
        pd.testing.assert_frame_equal(input_tables.read(f"{tmp_path}/{name}"), frame)


class _Trap:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return (open, (str(self.mark), "w"))


def test_nothing_is_unpickled(tmp_path):
    mark = tmp_path / "mark"
    np.save(tmp_path / "a.npy", np.array([_Trap(mark)], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "a.npz", a=np.array([_Trap(mark)], dtype=object))
    (tmp_path / "b.npy").write_bytes(pickle.dumps(_Trap(mark)))
    for name in ("a.npy", "a.npz", "b.npy"):
        with pytest.raises(ValueError, match="Python objects, which are never loaded"):
            input_tables.read(str(tmp_path / name))
    assert not mark.exists()


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet", "a.npy", "a.npz", "a.h5"])
@pytest.mark.parametrize("content", [b"", b"\x00\xffnot a table\n" * 20])
def test_a_broken_file_is_named(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.(csv|csv\.gz|parquet|npy|npz|h5)") as told:
        input_tables.select(input_tables.read(str(path)), input_tables.read(str(path)))
    assert "\n" not in str(told.value)


def test_places_that_are_no_tables(tmp_path):
    with pytest.raises(ValueError, match="does not exist"):
        input_tables.read(str(tmp_path / "none.csv"))
    (tmp_path / "a.root").write_text("")
    with pytest.raises(ValueError, match=r"of no known kind; known are \.csv"):
        input_tables.read(str(tmp_path / "a.root"))
    (tmp_path / "a.csv").write_text("x\n1\n")
    with pytest.raises(ValueError, match="holds one table; leave ::x away"):
        input_tables.read(f"{tmp_path}/a.csv::x")
    np.save(tmp_path / "deep.npy", np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match=r"events by features, its shape is \(2, 2, 2\)"):
        input_tables.read(str(tmp_path / "deep.npy"))


def other(frame):
    return frame + 10.0


def test_features_label_and_names(frame):
    sample = frame.assign(found=[0, 1] * 20, name=[f"event {i}" for i in range(40)])
    problem = input_tables.select(sample, other(frame), label="found", event_id="name")
    assert problem.features == ("x0", "x1", "x2")
    assert problem.label is not None
    assert problem.label.tolist() == [False, True] * 20
    assert problem.names[3] == "event 3"
    np.testing.assert_array_equal(problem.reference, other(frame).to_numpy())
    chosen = input_tables.select(sample, other(frame), columns=["x2", "x0"])
    np.testing.assert_array_equal(chosen.sample, frame[["x2", "x0"]].to_numpy())
    assert chosen.label is None
    assert chosen.names.tolist() == list(range(40))


def test_points_and_commas_in_one_table_are_left_as_they_stand(tmp_path):
    """1,234 may be a thousand or one and a bit: with 1.5 beside it, it stays text."""
    (tmp_path / "a.csv").write_text("a;b\n1.5;1,234\n2.5;2,345\n")
    table = input_tables.read(str(tmp_path / "a.csv"))
    assert table["a"].tolist() == [1.5, 2.5]
    assert table["b"].tolist() == ["1,234", "2,345"]


def test_names_that_repeat_are_refused(frame):
    sample = frame.assign(name=["a", "b", "a", "a", "b", *map(str, range(35))])
    with pytest.raises(ValueError, match=r"column name names 3 events a \(and repeats 2 names"):
        input_tables.select(sample, other(frame), event_id="name")


@pytest.mark.parametrize("day", ["2024-05-17", "17.5.2024 12:30", pd.Timestamp("2024-05-17")])
def test_dates_are_called_dates(frame, day):
    problem = input_tables.select(frame.assign(day=day), other(frame).assign(day=day))
    assert problem.left_out["day"].startswith("it holds dates, as ")
    assert "days since the first" in problem.left_out["day"]


def test_text_and_constants_are_left_out_and_said(frame):
    more = {"shift": "day", "version": 3.0}
    problem = input_tables.select(frame.assign(**more), other(frame).assign(**more))
    assert problem.features == ("x0", "x1", "x2")
    assert "text" in problem.left_out["shift"]
    assert "constant" in problem.left_out["version"]


REFUSED = {
    "missing": (lambda f: (f, other(f)), {"columns": ["x0", "x9"]}, "no column x9; did you mean"),
    "missing there": (
        lambda f: (f.assign(y=f.x0), other(f)),
        {"columns": ["y"]},
        "the reference has no column y",
    ),
    "label": (lambda f: (f, other(f)), {"label": "found"}, "score.label: the sample has no column"),
    "not two-valued": (
        lambda f: (f.assign(found=range(40)), other(f)),
        {"label": "found"},
        "must hold 0 and 1, both of them, it holds",
    ),
    "one-valued": (
        lambda f: (f.assign(found=0), other(f)),
        {"label": "found"},
        "must hold 0 and 1, both of them, it holds",
    ),
    "text": (
        lambda f: (f.assign(t="a"), other(f).assign(t="b")),
        {"columns": ["x0", "t"]},
        "t cannot be used: it holds text, as 'a'",
    ),
    "constant": (
        lambda f: (f.assign(c=1.0), other(f).assign(c=1.0)),
        {"columns": ["x0", "c"]},
        "c cannot be used: it is constant",
    ),
    "different columns": (
        lambda f: (f.assign(y=f.x0), other(f)),
        {},
        r"different columns: y \(y only in the sample\)",
    ),
    "nothing shared": (
        lambda f: (f[["x0"]].assign(x0=1.0), f[["x0"]].assign(x0=1.0)),
        {},
        "share no column of numbers that varies",
    ),
    "NaN": (
        lambda f: (f.assign(x1=np.where(f.index < 3, np.nan, f.x1)), other(f)),
        {},
        r"the sample has missing or infinite values \(x1 3 of 40\)",
    ),
    "infinite": (
        lambda f: (f, other(f).assign(x2=np.inf)),
        {},
        r"the reference has missing or infinite values \(x2 40 of 40\)",
    ),
    "empty": (lambda f: (f[:0], other(f)), {}, "the sample holds 0 events; at least 10"),
    "empty, of whole numbers": (
        lambda f: (f[:0].astype(int), other(f)[:0].astype(int)),
        {},
        "the sample holds 0 events; at least 10",
    ),
    "tiny": (lambda f: (f, other(f)[:9]), {}, "the reference holds 9 events; at least 10"),
    "a result's name": (
        lambda f: (f.assign(rank=f.x0), other(f).assign(rank=f.x1)),
        {},
        "column rank has the name of a result",
    ),
    "complex": (
        lambda f: (f.assign(z=f.x0 + 1j), other(f).assign(z=f.x1 + 1j)),
        {"columns": ["x0", "z"]},
        "z cannot be used: it holds complex numbers",
    ),
    "label as a feature": (
        lambda f: (f.assign(found=[0, 1] * 20), other(f).assign(found=f.x0)),
        {"columns": ["x0", "found"], "label": "found"},
        "score.label: column found is a feature of score.columns too",
    ),
    "shared": (lambda f: (f, pd.concat([other(f), f[:7]])), {}, "7 events of the sample are also"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_tables_are_refused_in_one_sentence(frame, case):
    made, options, sentence = REFUSED[case]
    with pytest.raises(ValueError, match=sentence) as told:
        input_tables.select(*made(frame), **options)
    assert "\n" not in str(told.value)


def test_shared_events_may_be_allowed(frame):
    problem = input_tables.select(frame, frame, shared_events="allow")
    np.testing.assert_array_equal(problem.sample, problem.reference)


def test_the_index_of_a_saved_table_is_no_feature(frame, tmp_path):
    frame.to_csv(tmp_path / "new.csv")
    other(frame)[:30].to_csv(tmp_path / "old.csv")
    problem = input_tables.select(
        input_tables.read(f"{tmp_path}/new.csv"), input_tables.read(f"{tmp_path}/old.csv")
    )
    assert problem.features == ("x0", "x1", "x2")
    assert problem.left_out == {"Unnamed: 0": "it numbers the rows"}
    numbered = frame.assign(run=np.arange(7, 47))
    assert "run" in input_tables.select(numbered, other(numbered).assign(run=numbered.run)).left_out


def test_columns_without_words_for_names(frame, tmp_path):
    plain = pd.DataFrame(frame.to_numpy())
    for place in ("a.csv", "a.parquet"):
        path = tmp_path / place
        plain.to_csv(path, index=False) if place == "a.csv" else plain.to_parquet(path)
        table = input_tables.read(str(path))
        chosen = input_tables.select(table, table + 10.0, columns=["2", "0"])
        np.testing.assert_array_equal(chosen.sample, plain[[2, 0]].to_numpy())


def test_names_of_events_that_a_file_can_hold(frame):
    for ids in (
        [2**70 + i for i in range(40)],
        [*range(39), "last"],
        np.arange(40, dtype=">i8"),
        np.arange(40, dtype=np.uint64) + np.uint64(2**63),
    ):
        problem = input_tables.select(
            frame.assign(name=pd.Series(ids)), other(frame), columns=["x0"], event_id="name"
        )
        problem.names.to_frame().to_parquet("/dev/null")
        assert str(problem.names[3]) == str(ids[3])


def test_names_in_a_csv_stay_as_they_are_written(frame, tmp_path):
    written = ["007", "1E2", str(2**63 + 5), *(f"e{i}" for i in range(37))]
    path = tmp_path / "a.csv"
    frame.assign(name=written).to_csv(path, index=False)
    table = input_tables.read(str(path), event_id="name")
    problem = input_tables.select(table, other(frame), columns=["x0"], event_id="name")
    assert problem.names.tolist() == written
    assert table["x0"].dtype == np.float64


@pytest.mark.parametrize("gap", ["", None, np.nan, pd.NA])
def test_an_event_without_a_name_is_told(frame, tmp_path, gap):
    ids = pd.Series([gap, *map(str, range(39))])
    with pytest.raises(ValueError, match="column name is empty or NA for 1 of 40 events"):
        input_tables.select(frame.assign(name=ids), other(frame), columns=["x0"], event_id="name")
    frame.assign(name=ids).to_csv(tmp_path / "a.csv", index=False)
    table = input_tables.read(str(tmp_path / "a.csv"), event_id="name")
    with pytest.raises(ValueError, match="column name is empty or NA for 1 of 40 events"):
        input_tables.select(table, other(frame), columns=["x0"], event_id="name")


def test_more_entries_than_names_are_refused(tmp_path):
    """The first of them would be taken for a name of the row, and each column for the next."""
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\n" + "0,10,100,\n" * 20)
    with pytest.raises(ValueError, match="more entries than its first line has names"):
        input_tables.read(str(path))


def test_an_archive_without_arrays(tmp_path):
    np.savez(tmp_path / "a.npz")
    with pytest.raises(ValueError, match="holds no array"):
        input_tables.read(f"{tmp_path}/a.npz")
