"""A user's own tables: read by their ending, checked, and cut to the features they share.

Nothing is unpickled: files that would need it are refused. Every mistake gives one
sentence that names the file and the column.
"""

from __future__ import annotations

import difflib
import gzip
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow

#: with fewer events than this, neither a score nor its p-value says anything
FEWEST = 10


@dataclass(frozen=True)
class Problem:
    """What is to be scored: a sample and a reference in the same features.

    Attributes
    ----------
    features
        The names of the columns.
    sample, reference
        Events by features.
    label
        For each event of the sample whether it is of the kind sought, where that is known.
    names
        The events' own names, as text, or their row numbers.
    left_out
        Columns that both tables have and that were not used, with the reason.
    """

    features: tuple[str, ...]
    sample: npt.NDArray[np.float64]
    reference: npt.NDArray[np.float64]
    label: npt.NDArray[np.bool_] | None
    names: pd.Series
    left_out: Mapping[str, str]


def read(place: str, *, event_id: str = "") -> pd.DataFrame:
    """Return the table at ``place``: a path, or ``path::key`` for one array of several.

    The column ``event_id`` of a csv is kept as text, so that 007 stays 007.
    """
    path, _, key = place.partition("::")
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"{path} does not exist, or is not a file; give the path of a table")
    try:
        table = _read(file, key, event_id)
    except _SaidError:
        raise
    # what a reader says of a broken file depends on its library; the sentence is ours
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, pyarrow.ArrowInvalid) as e:
        reason = " ".join(str(e).split()).rstrip(".")
        if "pickle" in reason:
            reason = "it holds Python objects, which are never loaded"
        raise ValueError(f"{path} cannot be read: {reason}") from None
    table.columns = table.columns.map(str)
    twice = table.columns[table.columns.duplicated()]
    if len(twice):
        raise ValueError(f"{path} has two columns named {twice[0]}; give them different names")
    return table


def select(
    sample: pd.DataFrame,
    reference: pd.DataFrame,
    *,
    columns: Sequence[str] = (),
    label: str = "",
    event_id: str = "",
    shared_events: str = "refuse",
) -> Problem:
    """Return the features that both tables have, checked.

    Parameters
    ----------
    sample, reference
        The tables.
    columns
        The features; none named, every column of numbers that both tables have.
    label
        The column of the sample that tells the events sought (1) from the others (0).
    event_id
        The column of the sample that names its events.
    shared_events
        ``refuse`` events that stand in both tables, or ``allow`` them.
    """
    for name, key in ((label, "label"), (event_id, "id")):
        if name:
            _present(sample, [name], "the sample", f"score.{key}")
        if name and name in columns:
            raise ValueError(f"score.{key}: column {name} is a feature of score.columns too")
    left_out: dict[str, str] = {}
    if columns:
        for table, which in ((sample, "the sample"), (reference, "the reference")):
            _present(table, columns, which, "score.columns")
        chosen = list(columns)
        _refuse_first(chosen, lambda name: _useless(sample[name], reference[name]))
    else:
        chosen, left_out = _common(sample, reference, except_for={label, event_id} - {""})
    taken = [name for name in chosen if name in _RESULTS]
    if taken:
        raise ValueError(
            f"column {taken[0]} has the name of a result ({', '.join(_RESULTS)}); rename it"
        )
    arrays = []
    for table, which in ((sample, "the sample"), (reference, "the reference")):
        if len(table) < FEWEST:
            raise ValueError(f"{which} holds {len(table)} events; at least {FEWEST} are needed")
        values = table[chosen].to_numpy(dtype=np.float64)
        _refuse_gaps(values, chosen, which)
        arrays.append(values)
    if shared_events == "refuse":
        _refuse_shared(*arrays)
    return Problem(
        features=tuple(chosen),
        sample=arrays[0],
        reference=arrays[1],
        label=_labels(sample[label], label) if label else None,
        names=_names(sample, event_id),
        left_out=left_out,
    )


#: the columns of the tables of results
_RESULTS = (
    *("event", "rank", "loo", "error", "error_features", "witness", "cross_fitted"),
    *("raw", "marginal", "pair", "raw_error", "marginal_error", "pair_error", "label"),
)


def _names(sample: pd.DataFrame, event_id: str) -> pd.Series:
    """Return the events' names as text, or the numbers of their rows."""
    if not event_id:
        return pd.Series(np.arange(len(sample)))
    names = sample[event_id]
    nameless = int((names.isna() | (names == "")).sum())
    if nameless:
        raise ValueError(
            f"score.id: column {event_id} is empty or NA for {nameless} of {len(names)} events; "
            "give each a name, or leave score.id out"
        )
    names = names.map(str)
    twice = names[names.duplicated()]
    if len(twice):
        raise ValueError(
            f"score.id: column {event_id} names {names[names == twice.iloc[0]].size} events "
            f"{twice.iloc[0]} (and repeats {twice.nunique()} names in all); give each event a "
            "unique name, or leave score.id out"
        )
    return names


class _SaidError(ValueError):
    """A sentence of ours, complete as it is."""


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
        raise _SaidError(
            f"{path} has rows with more entries than its first line has names; name every column, "
            f"and let no line end with a {_MARKS[separator]}"
        )
    return table


_MARKS = {",": "comma", ";": "semicolon", "\t": "tab"}


def _numeric(table: pd.DataFrame) -> set[str]:
    return set(table.select_dtypes("number").columns)


def _parquet(path: Path, _: str) -> pd.DataFrame:
    return pd.read_parquet(path)


def _npy(path: Path, _: str) -> pd.DataFrame:
    return _frame(np.load(path, allow_pickle=False), str(path))


def _npz(path: Path, key: str) -> pd.DataFrame:
    with np.load(path, allow_pickle=False) as archive:
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


_TABLES: dict[str, Callable[[Path, str], pd.DataFrame]] = {
    **dict.fromkeys((".csv", ".csv.gz", ".tsv", ".tsv.gz"), _csv),
    **{".parquet": _parquet, ".npy": _npy},
}
_ARCHIVES: dict[str, Callable[[Path, str], pd.DataFrame]] = {
    **{".npz": _npz, ".h5": _hdf5, ".hdf5": _hdf5},
}


def _read(path: Path, key: str, event_id: str) -> pd.DataFrame:
    for ending, read_archive in _ARCHIVES.items():
        if path.name.endswith(ending):
            return read_archive(path, key)
    if key:
        raise _SaidError(f"{path} holds one table; leave ::{key} away")
    for ending, read_table in _TABLES.items():
        if path.name.endswith(ending):
            return read_table(path, event_id)
    raise _SaidError(f"{path} is of no known kind; known are {', '.join((*_TABLES, *_ARCHIVES))}")


def _datasets(group: Any) -> list[tuple[str, Any]]:
    return [(name, item) for name, item in group.items() if isinstance(item, h5py.Dataset)]


def _paths(file: Any) -> list[str]:
    found: list[str] = []
    file.visit(found.append)
    return found


def _known(key: str, names: Iterable[str], path: Path) -> None:
    known = [name.strip("/") for name in names]
    if key.strip("/") not in known:
        raise _SaidError(f"{path} has no {key}; {_nearest(key, known)}")


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
        raise _SaidError(f"{path} holds no array")
    if len(arrays) == 1:
        return _frame(next(iter(arrays.values())), str(path))
    sizes = {array.shape for array in arrays.values()}
    if len(sizes) == 1 and len(next(iter(sizes))) == 1:
        return pd.DataFrame(dict(arrays))
    raise _SaidError(
        f"{path} holds several arrays ({', '.join(list(arrays)[:8])}); "
        f"name one, as {path}::{next(iter(arrays), 'name')}"
    )


def _frame(array: npt.NDArray[Any], where: str) -> pd.DataFrame:
    if array.dtype.names:
        return pd.DataFrame({name: array[name] for name in array.dtype.names})
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise _SaidError(
            f"{where} must be a table of events by features, its shape is {array.shape}"
        )
    return pd.DataFrame(array, columns=[f"x{number}" for number in range(array.shape[1])])


def _nearest(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known[:12])}"


def _present(table: pd.DataFrame, names: Sequence[str], which: str, key: str) -> None:
    known = [str(name) for name in table.columns]
    for name in names:
        if name not in known:
            raise ValueError(f"{key}: {which} has no column {name}; {_nearest(name, known)}")


def _common(
    sample: pd.DataFrame, reference: pd.DataFrame, *, except_for: set[str]
) -> tuple[list[str], dict[str, str]]:
    """Return the columns of numbers that both tables have, and why others are left out."""
    only = sorted(
        (set(map(str, sample.columns)) ^ set(map(str, reference.columns))) - except_for,
    )
    if only:
        where = "sample" if only[0] in sample.columns else "reference"
        raise ValueError(
            f"the two tables have different columns: {', '.join(only[:6])} "
            f"({only[0]} only in the {where}); name the features to use in score.columns"
        )
    candidates = [name for name in sample.columns if name not in except_for]
    reasons = {
        name: _row_numbers(name, sample[name], reference[name])
        or _useless(sample[name], reference[name])
        for name in candidates
    }
    left_out = {name: reason for name, reason in reasons.items() if reason}
    chosen = [name for name in candidates if name not in left_out]
    if not chosen:
        raise ValueError(
            "the two tables share no column of numbers that varies; "
            "name the features to use in score.columns"
        )
    return chosen, left_out


def _useless(sample: pd.Series, reference: pd.Series) -> str:
    """Say why a column cannot be a feature, or nothing."""
    for series in (sample, reference):
        if not (pd.api.types.is_numeric_dtype(series) or pd.api.types.is_bool_dtype(series)):
            kept = series.dropna()
            if _dates(kept):
                return (
                    f"it holds dates, as {kept.iloc[0]}; turn them into numbers, for example days "
                    "since the first"
                )
            example = f", as {kept.iloc[0]!r}" if len(kept) else ""
            return f"it holds text{example}; turn it into numbers, one column for each category"
        if pd.api.types.is_complex_dtype(series):
            return "it holds complex numbers; give their parts as two columns"
    values = pd.concat([sample, reference]).dropna()
    if len(values) and values.min() == values.max():
        return f"it is constant, {values.iloc[0]} everywhere"
    return ""


def _dates(values: pd.Series) -> bool:
    """Tell whether a column holds dates, as 2024-05-17 or 17.5.2024, with or without a time."""
    if pd.api.types.is_datetime64_any_dtype(values):
        return True
    written = r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
    return len(values) > 0 and values.head(20).map(str).str.match(written).all()


def _row_numbers(name: str, *columns: pd.Series) -> str:
    """Say that a column only numbers the rows, as that of a table saved with its index."""
    numbered = all(
        pd.api.types.is_integer_dtype(column)
        and len(column) > 0
        and np.array_equal(column - column.iloc[0], np.arange(len(column)))
        for column in columns
    )
    return "it numbers the rows" if numbered or name.startswith("Unnamed: ") else ""


def _refuse_first(names: Sequence[str], reason_of: Callable[[str], str]) -> None:
    for name in names:
        reason = reason_of(name)
        if reason:
            raise ValueError(f"score.columns: {name} cannot be used: {reason}")


def _refuse_gaps(values: npt.NDArray[np.float64], names: Sequence[str], which: str) -> None:
    bad = np.count_nonzero(~np.isfinite(values), axis=0)
    if bad.any():
        counted = ", ".join(f"{name} {n}" for name, n in zip(names, bad, strict=True) if n)
        raise ValueError(
            f"{which} has missing or infinite values ({counted} of {len(values)}); "
            "remove these events or fill the values first"
        )


def _refuse_shared(sample: npt.NDArray[np.float64], reference: npt.NDArray[np.float64]) -> None:
    # the bytes of a row as one value, so that a sort finds equal rows; + 0.0 makes -0.0 0.0
    kind = np.dtype((np.void, sample.dtype.itemsize * sample.shape[1]))
    rows = [np.ascontiguousarray(array + 0.0).view(kind).ravel() for array in (sample, reference)]
    shared = int(np.isin(rows[0], rows[1]).sum())
    if shared:
        raise ValueError(
            f"{shared} events of the sample are also in the reference, which would hide a "
            "departure; remove them there, or set score.shared_events to allow if equal rows "
            "are different events"
        )


def _labels(values: pd.Series, name: str) -> npt.NDArray[np.bool_]:
    found = list(pd.unique(values))
    if set(found) != {0, 1}:
        shown = ", ".join(repr(value) for value in found[:5])
        raise ValueError(
            f"score.label: column {name} must hold 0 and 1, both of them, it holds {shown}"
        )
    return np.asarray(values, dtype=np.bool_)
