"""What a caller hands over as a table, as a DataFrame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow

from localizer.own.input_tables import read
from localizer.own.tables import Table


def as_table(data: Any, which: str, *, event_id: str = "") -> pd.DataFrame | Table:
    """Return data as a table, whose columns have names that are text.

    Parameters
    ----------
    data
        A DataFrame; a table that speaks the Arrow PyCapsule interface (polars, pyarrow); an array
        of events by features, whose columns become x0, x1, ..., or one with named fields; or the
        path of a file.
    which
        What it is, for messages: ``sample`` or ``reference``.
    """
    if isinstance(data, Table):
        return data
    if isinstance(data, str | Path):
        return read(str(data), event_id=event_id)
    if isinstance(data, pd.DataFrame):
        return data.set_axis([str(name) for name in data.columns], axis=1)
    if hasattr(data, "__arrow_c_stream__"):
        return pyarrow.table(data).to_pandas()
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise ValueError(f"the {which} must be a table of events by features: {error}") from None
    if array.dtype.names:
        return pd.DataFrame({name: array[name] for name in array.dtype.names})
    if array.ndim == 1 and array.dtype != object:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(
            f"the {which} must be a table of events by features, its shape is {array.shape}"
        )
    return pd.DataFrame(array, columns=[f"x{number}" for number in range(array.shape[1])])


def index_of(data: Any, rows: int) -> pd.Index:
    """Return the caller's own names of the rows, or their numbers."""
    return data.index if isinstance(data, pd.DataFrame) else pd.RangeIndex(rows)
