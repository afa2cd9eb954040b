"""A user's tables: every kind reads as the same numbers, every mistake is one sentence."""

import pickle
import tracemalloc

import h5py
import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
import uproot
from localizer.own import input_tables, root_trees, tables
from localizer.own.problem import select


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


def _tree(frame, path, kind):
    with uproot.recreate(path) as file:
        getattr(file, kind)("events", {name: frame[name].to_numpy() for name in frame})


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
    "tree.root": lambda frame, path: _tree(frame, path, "mktree"),
    "ntuple.root": lambda frame, path: _tree(frame, path, "mkrntuple"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_reads_as_the_same_table(frame, tmp_path, name):
    path = tmp_path / name
    WRITERS[name](frame, path)
    pd.testing.assert_frame_equal(input_tables.read(str(path)).frame(), frame, check_exact=True)


@pytest.mark.parametrize("name", WRITERS)
def test_blocks_are_the_rows_in_order_and_the_columns_asked_for(frame, tmp_path, name, monkeypatch):
    for module in (tables, input_tables, root_trees):
        monkeypatch.setattr(module, "BLOCK", 7)
    path = tmp_path / name
    WRITERS[name](frame, path)
    table = input_tables.read(str(path))
    assert (table.columns, table.rows) == (("x0", "x1", "x2"), 40)
    blocks = list(table.blocks(["x2", "x0"]))
    assert [len(block) for block in blocks] == [7] * 5 + [5]
    whole = pd.concat(blocks, ignore_index=True)
    pd.testing.assert_frame_equal(whole, frame[["x2", "x0"]], check_exact=True)


@pytest.mark.parametrize("name", ["a.npy", "tree.root", "ntuple.root"])
def test_what_is_read_in_blocks_is_never_read_whole(tmp_path, name, monkeypatch):
    """Beside the two columns that are asked for, the file holds a hundred."""
    for module in (tables, input_tables, root_trees):
        monkeypatch.setattr(module, "BLOCK", 1000)
    rows, rng = 20_000, np.random.default_rng(2)
    wide = pd.DataFrame({f"x{k}": rng.normal(size=rows) for k in range(100)})
    path = tmp_path / name
    WRITERS[name](wide, path)
    table = input_tables.read(str(path))
    list(table.blocks(["x3"]))  # what a library loads for itself
    tracemalloc.start()
    total = sum(block["x7"].sum() + block["x50"].sum() for block in table.blocks(["x7", "x50"]))
    largest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == pytest.approx(wide["x7"].sum() + wide["x50"].sum())
    assert largest < wide.memory_usage(index=False).sum() / 8


def test_parquet_gives_only_the_columns_asked_for(frame, tmp_path, monkeypatch):
    """What arrow holds is not seen by tracemalloc."""
    frame.to_parquet(tmp_path / "a.parquet")
    table = input_tables.read(f"{tmp_path}/a.parquet")
    read, given = pyarrow.parquet.ParquetFile.iter_batches, []

    def watched(self, *words, **named):
        for batch in read(self, *words, **named):
            given.append(batch.schema.names)
            yield batch

    monkeypatch.setattr(pyarrow.parquet.ParquetFile, "iter_batches", watched)
    list(table.blocks(["x2"]))
    assert given == [["x2"]]


def test_one_array_of_several(frame, tmp_path):
    np.savez(tmp_path / "a.npz", first=frame.to_numpy(), second=np.zeros((3, 2)))
    pd.testing.assert_frame_equal(input_tables.read(f"{tmp_path}/a.npz::first").frame(), frame)
    with pytest.raises(ValueError, match=r"holds several arrays \(first, second\); name one"):
        input_tables.read(f"{tmp_path}/a.npz")
    with pytest.raises(ValueError, match="has no frist; did you mean first"):
        input_tables.read(f"{tmp_path}/a.npz::frist")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["group/values"] = frame.to_numpy()
        file["group/other"] = np.zeros(3)
    found = input_tables.read(f"{tmp_path}/a.h5::group/values").frame()
    pd.testing.assert_frame_equal(found, frame)
    with pytest.raises(ValueError, match="has no group/value; did you mean group/values"):
        input_tables.read(f"{tmp_path}/a.h5::group/value")


def test_the_only_array_needs_no_name(frame, tmp_path):
    np.savez(tmp_path / "a.npz", events=frame.to_numpy())
    with h5py.File(tmp_path / "group.h5", "w") as file:
        file["group/values"] = frame.to_numpy()
    with h5py.File(tmp_path / "plain.h5", "w") as file:
        file["values"] = frame.to_numpy()
    for name in ("a.npz", "group.h5", "plain.h5"):
        pd.testing.assert_frame_equal(input_tables.read(f"{tmp_path}/{name}").frame(), frame)


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


@pytest.mark.parametrize(
    "name", ["a.csv", "a.csv.gz", "a.parquet", "a.npy", "a.npz", "a.h5", "a.root"]
)
@pytest.mark.parametrize("content", [b"", b"\x00\xffnot a table\n" * 20])
def test_a_broken_file_is_named(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.(csv|csv\.gz|parquet|npy|npz|h5|root)") as told:
        select(input_tables.read(str(path)), input_tables.read(str(path)))
    assert "\n" not in str(told.value)


def test_places_that_are_no_tables(tmp_path):
    with pytest.raises(ValueError, match="does not exist"):
        input_tables.read(str(tmp_path / "none.csv"))
    (tmp_path / "a.xls").write_text("")
    with pytest.raises(ValueError, match=r"of no known kind; known are \.csv"):
        input_tables.read(str(tmp_path / "a.xls"))
    (tmp_path / "a.csv").write_text("x\n1\n")
    with pytest.raises(ValueError, match="holds one table; leave ::x away"):
        input_tables.read(f"{tmp_path}/a.csv::x")
    np.save(tmp_path / "deep.npy", np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match=r"events by features, its shape is \(2, 2, 2\)"):
        input_tables.read(str(tmp_path / "deep.npy"))


@pytest.mark.parametrize(
    "name", ["a.parquet", "a.npy", "a.npz", "a.h5", "tree.root", "ntuple.root"]
)
@pytest.mark.parametrize("left", [0.02, 0.3, 0.6, 0.9, 0.99])
def test_a_truncated_file_is_one_sentence(tmp_path, name, left):
    rng = np.random.default_rng(3)
    whole = pd.DataFrame(rng.normal(size=(3000, 3)), columns=["x0", "x1", "x2"])
    path = tmp_path / name
    WRITERS.get(name, _columns)(whole, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(left * len(content))])
    with pytest.raises(ValueError, match=rf"{name} (cannot be read: \S|holds)") as told:
        input_tables.read(str(path)).frame()
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 400


def test_points_and_commas_in_one_table_are_left_as_they_stand(tmp_path):
    """1,234 may be a thousand or one and a bit: with 1.5 beside it, it stays text."""
    (tmp_path / "a.csv").write_text("a;b\n1.5;1,234\n2.5;2,345\n")
    table = input_tables.read(str(tmp_path / "a.csv")).frame()
    assert table["a"].tolist() == [1.5, 2.5]
    assert table["b"].tolist() == ["1,234", "2,345"]


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
