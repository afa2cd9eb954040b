"""A table as a reader wants it: numbers rounded to their errors, headers in words.

Files keep full precision; only what is printed rounds. What is prepared here is set by
:mod:`stage.latex` for a manuscript and by :mod:`stage.report` for the page.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

#: significant digits of a number without an error, and of an error
DIGITS, ERROR_DIGITS = 5, 2
#: the first digits that need no power of ten: from 0.001 to 99999
SMALLEST, LARGEST = -3, 4
#: a whole number below is a count
COUNTED = 1e9


@dataclass(frozen=True)
class Cell:
    """One entry: its text, the power of ten behind it, and what it sorts by."""

    text: str
    exponent: int = 0
    sort: float | str = ""


@dataclass(frozen=True)
class Column:
    """One column: the name that its header is made of, and its cells."""

    name: str
    numeric: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Prepared:
    """A table to print: its columns, and what is the same in every row."""

    columns: tuple[Column, ...]
    common: dict[str, str]


def rounded(value: float, error: float | None = None) -> tuple[str, str, int]:
    """Return value, error and a common power of ten, rounded to two digits of the error.

    Without an error (``None`` or 0) the value has five significant digits, or fewer if it
    has no more, and the error's text is empty; a count is written in full.

    Examples
    --------
    >>> rounded(0.88727, 0.00243)
    ('0.8873', '0.0024', 0)
    >>> rounded(2.536e9, 1.86e8)
    ('2.54', '0.19', 9)
    >>> rounded(9.2172327e-4)
    ('9.2172', '', -4)
    >>> rounded(121352.0, 0.0)
    ('121352', '', 0)
    """
    if not math.isfinite(value) or not math.isfinite(error or 0.0):
        raise ValueError(f"a printed number must be finite; this one is {value} +- {error}")
    if error is not None and error < 0:
        raise ValueError(f"an error must not be negative; this one is {error}")
    if not error and value == round(value) and abs(value) < COUNTED:
        return f"{int(value)}", "", 0
    size = max(abs(value), error or 0.0)
    power = _power(size, DIGITS) if size else 0
    exponent = 0 if SMALLEST <= power <= LARGEST else power
    if not error:
        return _significant(value, DIGITS, exponent), "", exponent
    last = Decimal(1).scaleb(_power(error, ERROR_DIGITS) - ERROR_DIGITS + 1)
    texts = [
        f"{Decimal(repr(float(number))).quantize(last).scaleb(-exponent):f}"
        for number in (value, error)
    ]
    return _unsigned_zero(texts[0]), texts[1], exponent


def _power(size: float, digits: int) -> int:
    """Return the power of ten of a number's first digit, once it is rounded."""
    return Decimal(f"{size:.{digits - 1}e}").adjusted()


def _significant(value: float, digits: int, exponent: int) -> str:
    number = Decimal(f"{value:.{digits - 1}e}")
    text = f"{number.scaleb(-exponent):f}"
    # closing zeros say that there are more digits; a half is 0.5, and so is 0.1 + 0.4
    closed = math.isclose(number, value, rel_tol=1e-14) and "." in text
    return text.rstrip("0").rstrip(".") if closed else text


def _unsigned_zero(text: str) -> str:
    return text if float(text) else text.lstrip("-")


def short(value: float, error: float | None = None) -> tuple[str, int]:
    """Return a number with its error in brackets, in units of the last digit.

    Examples
    --------
    >>> short(0.88727, 0.00243)
    ('0.8873(24)', 0)
    >>> short(0.2, 1.6)
    ('0.2(1.6)', 0)
    """
    number, uncertainty, exponent = rounded(value, error)
    if not uncertainty:
        return number, exponent
    inside = uncertainty if float(uncertainty) >= 1 else uncertainty.replace(".", "").lstrip("0")
    return f"{number}({inside})", exponent


def printed(text: str, error: str = "") -> Cell:
    """Return digits as the paper prints them, with their error and the power of ten apart.

    Examples
    --------
    >>> printed("0.420").text, printed("1.86e8", "2e6")
    ('0.420', Cell(text='(1.86 ± 0.02)', exponent=8, sort=186000000.0))
    """
    if not text:
        return Cell("")
    digits, _, exponent = text.lower().partition("e")
    power = int(exponent or 0)
    if error:
        digits = f"{digits} ± {Decimal(f'{float(error):.6g}').scaleb(-power):f}"
    return Cell(f"({digits})" if error and power else digits, power, float(text))


def entry(value: Any, error: float | None = None) -> Cell:
    """Return a number with its error in brackets, or a truth in words."""
    if _is_truth(value):
        value = str(bool(value)).lower()
    if isinstance(value, str):
        return Cell(value, sort=value)
    if pd.isna(value):
        return Cell("")
    text, exponent = short(float(value), None if pd.isna(error) else error)
    return Cell(text, exponent, float(value))


def read(path: str | Path) -> pd.DataFrame:
    """Return a table of the results; digits as printed and names of events stay text."""
    return pd.read_csv(path, dtype=dict.fromkeys(("published", "event"), str))


def prepare(frame: pd.DataFrame, *, foreign: Collection[str] = ()) -> Prepared:
    """Return ``frame`` rounded, an error beside its value, the edition apart.

    A column ``x`` that has a column ``x_error`` takes it in; one that has ``x_spread``
    is rounded to it. ``edition`` is the same in every row and is set apart. The columns of
    ``foreign`` were named by a user and mean none of this.
    """
    names = [str(name) for name in frame.columns if name not in foreign]
    if "edition" in names and frame["edition"].nunique() != 1:
        raise ValueError("a table must have one edition of the data; this one has several")
    common = {"edition": str(frame["edition"].iloc[0])} if "edition" in names else {}
    taken = {f"{name}_error" for name in names if f"{name}_error" in names} | set(common)
    own = frame[names]
    columns = [
        _column(own, str(name)) if name in names else _bare(str(name), frame[name])
        for name in frame.columns
        if name not in taken
    ]
    return Prepared(tuple(columns), common)


def _bare(name: str, values: pd.Series) -> Column:
    return Column(name, pd.api.types.is_numeric_dtype(values), tuple(map(entry, values)))


def _column(frame: pd.DataFrame, name: str) -> Column:
    values = frame[name]
    if name == "published":
        return Column(name, True, tuple(printed(text) for text in values.fillna("")))
    known = values.dropna()
    if not any(isinstance(value, Real) and not _is_truth(value) for value in known):
        return Column(name, False, tuple(map(entry, values)))
    errors, spreads = frame.get(f"{name}_error"), frame.get(f"{name}_spread")
    if errors is not None:
        return Column(name, True, tuple(map(entry, values, errors)))
    if any(map(_is_truth, known)):
        return Column(name, True, tuple(map(entry, values)))
    if spreads is None and (known == known.round()).all():
        # counts are printed in full
        return Column(name, True, tuple(map(_whole, values)))
    if {"error", "spread"} & set(name.split("_")):
        spreads = values
    scale = [None] * len(values) if spreads is None else spreads
    return Column(name, True, tuple(map(_alone, values, scale)))


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _whole(value: float) -> Cell:
    return Cell("") if pd.isna(value) else Cell(f"{int(value)}", sort=float(value))


def _alone(value: float, error: float | None) -> Cell:
    """Return a number rounded to its error, which is printed elsewhere."""
    if pd.isna(value):
        return Cell("")
    text, _, exponent = rounded(float(value), None if pd.isna(error) else error)
    return Cell(text, exponent, float(value))
