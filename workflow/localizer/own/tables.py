"""A table of events, read a block of rows at a time and only in the columns that are asked for."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

#: rows of a block; four columns of them take 4 MB
BLOCK = 1 << 17


@dataclass(frozen=True, eq=False)
class Table:
    """A table that may be larger than the memory.

    Attributes
    ----------
    columns
        The names of its columns.
    rows
        The number of its events.
    blocks
        Takes names of columns and returns their rows, block after block.
    unusable
        Columns that can be no feature, with the reason; they need not be readable.
    """

    columns: tuple[str, ...]
    rows: int
    blocks: Callable[[Sequence[str]], Iterator[pd.DataFrame]]
    unusable: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = pd.Index(self.columns)
        twice = names[names.duplicated()]
        if len(twice):
            raise ValueError(f"two columns are named {twice[0]}; give them different names")

    def frame(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return whole columns, by default all of them."""
        chosen = list(self.columns if columns is None else columns)
        return pd.concat(list(self.blocks(chosen)), ignore_index=True)


class SaidError(ValueError):
    """A sentence of ours, complete as it is."""


def of_frame(frame: pd.DataFrame) -> Table:
    """Return a table of what is in memory."""
    named = frame.set_axis([str(name) for name in frame.columns], axis=1)

    def blocks(columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        chosen = named[list(columns)]
        for start in range(0, max(len(chosen), 1), BLOCK):
            yield chosen.iloc[start : start + BLOCK]

    return Table(tuple(named.columns), len(named), blocks, reasons(named))


def reasons(frame: pd.DataFrame) -> dict[str, str]:
    """Say of each column of a frame, or of its first rows, why its kind can be no feature."""
    found = {str(name): _reason(column) for name, column in frame.items()}
    return {name: reason for name, reason in found.items() if reason}


def _reason(column: pd.Series) -> str:
    if pd.api.types.is_complex_dtype(column):
        return "it holds complex numbers; give their parts as two columns"
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return ""
    kept = column.dropna()
    if _dates(kept):
        return (
            f"it holds dates, as {kept.iloc[0]}; turn them into numbers, for example days "
            "since the first"
        )
    if len(kept) and pd.api.types.is_list_like(kept.iloc[0]):
        return LISTS
    example = f", as {kept.iloc[0]!r}" if len(kept) else ""
    return f"it holds text{example}; turn it into numbers, one column for each category"


LISTS = (
    "it holds a list of numbers for each event; make columns of one number for each event, "
    "for example of the first of them"
)


def nearest(name: str, known: Sequence[str]) -> str:
    """Say which names come near one that is not there, or which there are."""
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known[:12])}"


def _dates(values: pd.Series) -> bool:
    """Tell whether a column holds dates, as 2024-05-17 or 17.5.2024, with or without a time."""
    if pd.api.types.is_datetime64_any_dtype(values):
        return True
    written = r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
    return len(values) > 0 and values.head(20).map(str).str.match(written).all()
