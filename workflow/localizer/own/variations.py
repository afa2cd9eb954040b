"""Variations of a user's reference: read, checked, and put beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from localizer.base import checks
from localizer.base.checks import Array
from localizer.estimators.weights import Weights
from localizer.own.frames import as_table
from localizer.own.problem import FEWEST, Keep, check_weights, thinned
from localizer.own.tables import Table, nearest, of_frame

_KEYS = ("table", "weight", "events", "width")

_EVENTS = ("auto", "same", "other")

# Rows of a variation are those of the reference if some feature goes with the reference's.
_ALIKE = 0.5


@dataclass(frozen=True, eq=False)
class Variation:
    """One variation of the reference.

    Attributes
    ----------
    name
        What it is called.
    events, weights
        Its events in the features of the problem, and their weights where they have some.
    same_events
        Whether its event i is the reference's event i, shifted or reweighted.
    width
        The standard deviation of its prior, None if it is free.
    """

    name: str
    events: Array
    weights: Array | None
    same_events: bool
    width: float | None


def prepared(
    given: Mapping[str, Any],
    *,
    features: Sequence[str],
    reference: Array,
    rows: int,
    weights: Weights | None,
    table: Any,
    seed: int,
    max_events: int,
) -> list[Variation]:
    """Return the variations of a problem, checked.

    Parameters
    ----------
    given
        By name a table (as a sample is given), or a mapping with the keys ``table``, ``weight``
        (the column with its weights), ``events`` (``same``, row by row those of the reference,
        ``other`` or ``auto``) and ``width``. Without a table it is the reference itself, with
        other weights.
    features, reference, rows, weights
        Of the problem: its columns, the reference's events that are kept, of how many rows, and
        their weights.
    table
        The table of the reference.
    seed, max_events
        Those of the problem, which thin its tables.
    """
    if not isinstance(given, Mapping):
        raise ValueError(
            "variations must be a mapping from a name to a table, for example "
            f"{{'energy scale': 'scale_up.csv'}}, not a {type(given).__name__}"
        )
    kept = _Kept(tuple(features), reference, rows, weights, thinned(seed, max_events))
    return [_prepared(str(name), this, kept, table) for name, this in given.items()]


@dataclass(frozen=True, eq=False)
class _Kept:
    """What a variation must fit to."""

    features: tuple[str, ...]
    reference: Array
    rows: int
    weights: Weights | None
    keep: Keep


def _prepared(name: str, this: Any, kept: _Kept, reference: Any) -> Variation:
    options = dict(this) if isinstance(this, Mapping) else {"table": this}
    said = f"score.variations: {name}"
    if unknown := set(options) - set(_KEYS):
        raise ValueError(
            f"{said} has no key {min(map(str, unknown))}; there are {', '.join(_KEYS)}"
        )
    weight, which = options.get("weight") or "", options.get("events", "auto")
    checks.one_of(which, f"{said}: events", _EVENTS)
    own_table = options.get("table")
    if own_table is None or (isinstance(own_table, str) and not own_table):
        if not weight:
            raise ValueError(f"{said} needs a table, or the column of other weights")
        own_table, which = reference, "same"
    if isinstance(own_table, np.ndarray) and own_table.shape[1:] == (len(kept.features),):
        own_table = pd.DataFrame(own_table, columns=list(kept.features))
    table = as_table(own_table, f"variation {name}")
    if not isinstance(table, Table):
        table = of_frame(table)
    for column in (*kept.features, *([weight] if weight else [])):
        if column not in table.columns:
            raise ValueError(f"{said} has no column {column}; {nearest(column, table.columns)}")
    if table.rows < FEWEST:
        raise ValueError(f"{said} holds {table.rows} events; at least {FEWEST} are needed")
    alike = table.rows == kept.rows
    if which == "same" and not alike:
        raise ValueError(
            f"{said} holds {table.rows} events and the reference {kept.rows}: "
            "the same events, varied, must stand in the same rows; set events to other for "
            "another sample"
        )
    events = _finite(table, list(kept.features), said)
    same, rows = which == "same", kept.keep("reference", kept.rows)
    if which == "auto" and alike:
        same = _follows(events[rows], kept.reference)
    if not same:
        rows = kept.keep(f"variation {name}", table.rows)
    if same and not weight and np.array_equal(events[rows], kept.reference):
        raise ValueError(f"{said} is the reference itself: give the events as they are varied")
    weights = None
    if weight:
        column = _finite(table, [weight], said)[:, 0]
        # as those of the reference, they may be negative
        weights = check_weights(column[rows], "reference", f"{name}: {weight}")
    elif same and kept.weights is not None:
        weights = kept.weights.reference
    width = options.get("width")
    return Variation(
        name,
        events[rows],
        weights,
        same,
        None if width is None else checks.positive(width, f"{said}: width"),
    )


def _finite(table: Table, columns: list[str], said: str) -> Array:
    values = np.asarray(table.frame(columns).to_numpy(dtype=np.float64, na_value=np.nan))
    if bad := int(np.count_nonzero(~np.isfinite(values))):
        raise ValueError(f"{said} has {bad} missing or infinite values; remove these events")
    return values


def _follows(events: Array, reference: Array) -> bool:
    """Return whether some feature of the events goes with that of the reference, row by row."""
    for one, other in zip(events.T, reference.T, strict=True):
        if np.ptp(one) > 0 and np.ptp(other) > 0 and np.corrcoef(one, other)[0, 1] > _ALIKE:
            return True
    return False
