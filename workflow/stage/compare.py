"""Compare the results of two runs: byte by byte, or number by number to a tolerance.

    python -m stage.compare results/one results/two --tolerance 1e-9

The same configuration promises the same bytes with the same lock on the same family of
processors; across families the last digits may differ, and a tolerance says by how much.
Files that describe the run instead of its results (:data:`EXCEPTED`) are left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from stage import files

EXCEPTED = (
    "provenance.json",
    "ro-crate-metadata.json",
    "report.html",
    "logs",
    "benchmarks",
    "kernels",
    "seals",
)
"""Files and folders of a run that hold dates, times or paths, and no results."""

PICTURES = (".pdf", ".png")
"""Drawn from tables that are compared themselves; a picture is the same or it is not."""

Columns = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Comparison:
    """What was found: a sentence for each difference, and how many files were compared."""

    differences: list[str]
    compared: int
    pictures_left_out: int


def compare(one: Path, two: Path, *, tolerance: float | None = None) -> Comparison:
    """Compare two results folders.

    Parameters
    ----------
    one, two
        The folders.
    tolerance
        The largest deviation that is let pass in a column of a csv file, an array of an
        npz file or a value of a json file: the largest difference of two numbers over the
        largest magnitude in that column. Everything else must be equal, but pictures are
        not compared. Without a tolerance all bytes must be equal.

    The name of a run, which a run of other sizes than the paper's puts on what it makes, is
    no result: it is ignored in text, and a picture that carries it is left out. paper.pdf always
    carries it.
    """
    if tolerance is not None and not tolerance >= 0:
        raise ValueError(f"the tolerance is {tolerance}; it must be at least 0")
    here, there = results_of(one), results_of(two)
    differences = [f"{name} is only in {one}" for name in sorted(here - there)]
    differences += [f"{name} is only in {two}" for name in sorted(there - here)]
    compared = pictures = 0
    for name in sorted(here & there):
        picture = Path(name).suffix in PICTURES
        named = name == "paper.pdf" or all(map(_named, (one, two)))
        named = named and one.name != two.name
        if picture and (tolerance is not None or named):
            pictures += 1
            continue
        compared += 1
        marks = _mark(one), _mark(two)
        found = _of_file(one / name, two / name, tolerance, marks)
        differences += [f"{name}: {what}" for what in found]
    return Comparison(differences, compared, pictures)


def results_of(folder: Path) -> set[str]:
    """Return the files of a run that hold results, relative to its folder."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder with results")
    found = {
        path.relative_to(folder)
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).parts[0] not in EXCEPTED
    }
    if not found:
        raise ValueError(f"{folder} holds no results")
    return {path.as_posix() for path in found}


def _mark(folder: Path) -> str:
    """Return how a run that is not of the paper's sizes is named on what it makes."""
    return f"{folder.name}: not the paper's statistics"


def _named(folder: Path) -> bool:
    tally = folder / "scoreboard.txt"
    return tally.exists() and _mark(folder) in tally.read_text(encoding="utf-8")


def _of_file(
    one: Path, two: Path, tolerance: float | None, marks: tuple[str, str]
) -> Iterator[str]:
    """Yield what differs between two files of the same name, but for the runs' own marks."""
    a, b = one.read_bytes(), two.read_bytes().replace(marks[1].encode(), marks[0].encode())
    if a == b:
        return
    reader = _READERS.get(one.suffix)
    if reader is None:
        where = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
        at = min(len(a), len(b)) if where is None else where
        yield f"{len(a)} and {len(b)} bytes, different from byte {at} on"
        return
    try:
        columns = (
            reader(one),
            {name: _renamed(column, marks) for name, column in reader(two).items()},
        )
    except Exception as error:
        yield f"the bytes differ, and one cannot be read: {' '.join(str(error).split())}"
        return
    found = list(_of_columns(*columns, tolerance or 0.0))
    yield from found
    if not found and tolerance is None:
        yield "the bytes differ, the values do not"


def _of_columns(one: Columns, two: Columns, tolerance: float) -> Iterator[str]:
    """Yield what differs between the columns of two tables."""
    for name in (*one, *(name for name in two if name not in one)):
        if name not in one or name not in two:
            yield f"{name} is only in the {'first' if name in one else 'second'}"
            continue
        a, b = one[name], two[name]
        if a.shape != b.shape or (a.dtype != b.dtype and not _both_numbers(a, b)):
            yield f"{name} is {_shape(a)} in the first and {_shape(b)} in the second"
            continue
        differing = ~((a == b) | ((a != a) & (b != b)))
        if not differing.any():
            continue
        share = f"{differing.sum()} of {differing.size} values"
        if not _both_numbers(a, b):
            i = np.argwhere(differing)[0]
            yield f"{name} differs in {share}, first {a[tuple(i)]!s} and {b[tuple(i)]!s}"
        elif (largest := deviation(a, b)) > tolerance:
            yield f"{name} differs in {share}, by up to {largest:.2g} of its largest magnitude"


def _renamed(column: npt.NDArray[Any], marks: tuple[str, str]) -> npt.NDArray[Any]:
    """Return a column with the second run's mark as the first's."""
    if column.dtype != object:
        return column
    texts = [
        each.replace(marks[1], marks[0]) if isinstance(each, str) else each for each in column.flat
    ]
    renamed = np.empty(len(texts), dtype=object)
    renamed[:] = texts
    return renamed.reshape(column.shape)


def deviation(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float:
    """Return the largest difference of two arrays over their largest finite magnitude.

    A number against none, or against an infinite one, deviates by infinity.

    >>> deviation(np.array([1.0, 4.0]), np.array([1.0, 3.0]))
    0.25
    """
    same = (a == b) | ((a != a) & (b != b))
    if same.all():
        return 0.0
    both = np.stack([a, b]).astype(complex if np.iscomplexobj(a) else float)
    finite = np.isfinite(both)
    if not (finite.all(axis=0) | same).all():
        return float("inf")
    scale = np.abs(both[finite]).max()
    return float(np.abs(both[0][~same] - both[1][~same]).max() / scale)


def _both_numbers(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    return all(np.issubdtype(each.dtype, np.number) for each in (a, b))


def _shape(array: npt.NDArray[Any]) -> str:
    kind = "numbers" if np.issubdtype(array.dtype, np.number) else array.dtype.name
    return f"{' x '.join(map(str, array.shape)) or 'a single one'} ({kind})"


def _csv(path: Path) -> Columns:
    """Read a csv file; a column of which every entry is a number or empty holds numbers."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    return {name: _as_numbers(table[name].to_numpy(dtype=object)) for name in table}


def _as_numbers(text: npt.NDArray[Any]) -> npt.NDArray[Any]:
    try:
        return np.array([float(entry) if entry else np.nan for entry in text])
    except ValueError:
        return text


def _json(path: Path) -> Columns:
    """Read a json file: its values by their place, a list of numbers as one column."""

    def walk(place: str, value: Any) -> Iterator[tuple[str, npt.NDArray[Any]]]:
        if isinstance(value, Mapping) and value:
            for key, inner in value.items():
                yield from walk(f"{place}.{key}" if place else key, inner)
        elif isinstance(value, list) and not all(map(_number, value)):
            for i, inner in enumerate(value):
                yield from walk(f"{place}[{i}]", inner)
        elif isinstance(value, list) or _number(value):
            yield place, np.array(value, dtype=float)
        else:
            yield place, np.array(value, dtype=object)

    return dict(walk("", json.loads(path.read_text(encoding="utf-8"))))


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _parquet(path: Path) -> Columns:
    table = pd.read_parquet(path)
    return {str(name): table[name].to_numpy() for name in table}


_READERS: dict[str, Callable[[Path], Columns]] = {
    ".csv": _csv,
    ".json": _json,
    ".npz": files.read_npz,
    ".parquet": _parquet,
}


def main(words: list[str] | None = None) -> int:
    """Print what differs; return 0 if nothing does, 1 if something does, 2 if it cannot be told."""
    parser = argparse.ArgumentParser(prog="compare", description="Compare two results folders.")
    parser.add_argument("one", type=Path)
    parser.add_argument("two", type=Path)
    parser.add_argument("--tolerance", type=float, help="largest deviation that is let pass")
    given = parser.parse_args(words)
    try:
        found = compare(given.one, given.two, tolerance=given.tolerance)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(*found.differences, sep="\n", end="\n" if found.differences else "")
    how = "byte by byte" if given.tolerance is None else f"to {given.tolerance:g}"
    left_out = f"; pictures left out: {found.pictures_left_out}" if found.pictures_left_out else ""
    print(
        f"{given.one} and {given.two}: files compared {how}: {found.compared}{left_out}; "
        f"differences: {len(found.differences)}"
    )
    return 1 if found.differences else 0


if __name__ == "__main__":
    sys.exit(main())
