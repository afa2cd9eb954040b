"""A user's own tables, read by their ending.

Nothing is unpickled: files that would need it are refused. Every mistake gives one
sentence that names the file and the column. Parquet, npy and ROOT files are read in blocks of
rows; the others are read whole.
"""

from __future__ import annotations

import gzip
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow
import pyarrow.parquet

from localizer.own import root_trees
from localizer.own.places import parted
from localizer.own.tables import BLOCK, SaidError, Table, nearest, of_frame, reasons


def read(place: str, *, event_id: str = "") -> Table:
    """Return the table at ``place``: a path, or ``path::key`` for one array of several.

    Parameters
    ----------
    place
        A tree of a ROOT file is ``file.root:tree``.
    event_id
        A column of a csv that is kept as text, so that 007 stays 007.
    """
    path, key = parted(place)
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"{path} does not exist, or is not a file; give the path of a table")
    with _in_a_sentence(path):
        found = _read(file, key, event_id)
        table = of_frame(found) if isinstance(found, pd.DataFrame) else found

    def blocks(columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        # a file may be broken in the middle
        with _in_a_sentence(path):
            yield from table.blocks(columns)

    return replace(table, blocks=blocks)


@contextmanager
def _in_a_sentence(path: str) -> Iterator[None]:
    try:
        yield
    except SaidError:
        raise
    # what a reader says of a broken file depends on its library; the sentence is ours
    except _BROKEN as error:
        reason = " ".join(str(error).split("\n\n")[0].split()).rstrip(".")
        if "pickle" in reason or "Python objects" in reason:
            reason = "it holds Python objects, which are never loaded"
        raise ValueError(f"{path} cannot be read: {reason or type(error).__name__}") from None


_BROKEN = (
    *(OSError, ValueError, LookupError, EOFError, struct.error),
    *(zipfile.BadZipFile, zlib.error, pyarrow.ArrowInvalid),
)


def _csv(path: Path, event_id: str) -> pd.DataFrame:
    """Read a table of text: commas, semicolons or tabs between its entries, as its head says.

    Where commas do not part the entries they may be decimal: they are, if so read more columns
    hold numbers and none fewer.
    """
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        head = file.readline(1_000_000)
    separator = max((",", ";", "\t"), key=lambda mark: head.count(mark.encode()))
    kind = {event_id: str} if event_id else None
    table = pd.read_csv(path, sep=separator, low_memory=False, dtype=kind)
    if separator != ",":
        other = pd.read_csv(path, sep=separator, low_memory=False, dtype=kind, decimal=",")
        if _numeric(table) < _numeric(other):
            table = other
    if not isinstance(table.index, pd.RangeIndex):
        raise SaidError(
            f"{path} has rows with more entries than its first line has names; name every column, "
            f"and let no line end with a {_MARKS[separator]}"
        )
    return table


_MARKS = {",": "comma", ";": "semicolon", "\t": "tab"}


def _numeric(table: pd.DataFrame) -> set[str]:
    return set(table.select_dtypes("number").columns)


def _parquet(path: Path, _: str) -> Table:
    file = pyarrow.parquet.ParquetFile(path)
    # an index that pandas wrote is no column
    index = (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
    columns = [name for name in file.schema_arrow.names if name not in index]

    def blocks(chosen: Sequence[str], rows: int = BLOCK) -> Iterator[pd.DataFrame]:
        with pyarrow.parquet.ParquetFile(path) as again:
            taken = list(chosen)
            empty = again.schema_arrow.empty_table().select(taken)
            batches = (
                again.iter_batches(rows, columns=taken) if again.metadata.num_rows else [empty]
            )
            for batch in batches:
                yield batch.select(taken).to_pandas(ignore_metadata=True)

    count = file.metadata.num_rows
    first = next(blocks(columns, 20)) if columns else pd.DataFrame()
    return Table(tuple(columns), count, blocks, reasons(first))


def _npy(path: Path, _: str) -> Table:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    first = _frame(array[:20], str(path))

    def blocks(columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        for start in range(0, max(len(array), 1), BLOCK):
            yield _frame(array[start : start + BLOCK], str(path))[list(columns)]

    return Table(tuple(first.columns), len(array), blocks, reasons(first))


def _npz(path: Path, key: str) -> pd.DataFrame:
    # numpy leaves a file open that it opened itself and that is no archive
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        if key:
            _known(key, archive.files, path)
            return _frame(archive[key], f"{path}::{key}")
        return _together({name: archive[name] for name in archive.files}, path)


def _hdf5(path: Path, key: str) -> pd.DataFrame:
    with h5py.File(path) as file:
        if key:
            _known(key, _paths(file), path)
        place = file[key] if key else file
        if not key and len(file) == 1:
            place = next(iter(file.values()))
        if isinstance(place, h5py.Dataset):
            return _frame(place[()], f"{path}::{place.name}")
        if "block0_values" in place:
            return _pandas_frame(place)
        return _together({name: item[()] for name, item in _datasets(place)}, path)


_TABLES: dict[str, Callable[[Path, str], pd.DataFrame | Table]] = {
    **dict.fromkeys((".csv", ".csv.gz", ".tsv", ".tsv.gz"), _csv),
    **{".parquet": _parquet, ".npy": _npy},
}
_ARCHIVES: dict[str, Callable[[Path, str], pd.DataFrame | Table]] = {
    **{".npz": _npz, ".h5": _hdf5, ".hdf5": _hdf5, ".root": root_trees.tree},
}


def _read(path: Path, key: str, event_id: str) -> pd.DataFrame | Table:
    for ending, read_archive in _ARCHIVES.items():
        if path.name.endswith(ending):
            return read_archive(path, key)
    if key:
        raise SaidError(f"{path} holds one table; leave ::{key} away")
    for ending, read_table in _TABLES.items():
        if path.name.endswith(ending):
            return read_table(path, event_id)
    raise SaidError(f"{path} is of no known kind; known are {', '.join((*_TABLES, *_ARCHIVES))}")


def _datasets(group: Any) -> list[tuple[str, Any]]:
    return [(name, item) for name, item in group.items() if isinstance(item, h5py.Dataset)]


def _paths(file: Any) -> list[str]:
    found: list[str] = []
    file.visit(found.append)
    return found


def _known(key: str, names: Iterable[str], path: Path) -> None:
    known = [name.strip("/") for name in names]
    if key.strip("/") not in known:
        raise SaidError(f"{path} has no {key}; {nearest(key, known)}")


def _pandas_frame(group: Any) -> pd.DataFrame:
    """Return a frame that pandas wrote in its fixed format, read without its pickles."""
    parts = []
    for name in sorted(group):
        if name.endswith("_values"):
            labels = group[name.replace("_values", "_items")][()]
            names = [one.decode() if isinstance(one, bytes) else str(one) for one in labels]
            parts.append(pd.DataFrame(group[name][()], columns=names))
    return pd.concat(parts, axis=1)


def _together(arrays: Mapping[str, npt.NDArray[Any]], path: Path) -> pd.DataFrame:
    """Return one array as a table, or several of one dimension as its columns."""
    if not arrays:
        raise SaidError(f"{path} holds no array")
    if len(arrays) == 1:
        return _frame(next(iter(arrays.values())), str(path))
    sizes = {array.shape for array in arrays.values()}
    if len(sizes) == 1 and len(next(iter(sizes))) == 1:
        return pd.DataFrame(dict(arrays))
    raise SaidError(
        f"{path} holds several arrays ({', '.join(list(arrays)[:8])}); "
        f"name one, as {path}::{next(iter(arrays), 'name')}"
    )


def _frame(array: npt.NDArray[Any], where: str) -> pd.DataFrame:
    if array.dtype.names:
        return pd.DataFrame({name: array[name] for name in array.dtype.names})
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise SaidError(
            f"{where} must be a table of events by features, its shape is {array.shape}"
        )
    return pd.DataFrame(array, columns=[f"x{number}" for number in range(array.shape[1])])
