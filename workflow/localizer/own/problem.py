"""A user's two tables, checked and cut to the features they share.

The tables are read in blocks, twice: once to see which columns can be features, once to keep
these. Every mistake gives one sentence that names the column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from localizer.base.checks import Array, IntArray
from localizer.base.randomness import stream
from localizer.estimators.weights import Weights, worth
from localizer.own.tables import Table, nearest, of_frame

#: with fewer events than this, neither a score nor its p-value says anything
FEWEST = 10

Keep: TypeAlias = Callable[[str, int], IntArray]
"""Which rows of a table (``sample`` or ``reference``, of so many) are kept, in rising order."""


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
    rows
        The numbers of events that the tables hold.
    weights
        Those of sample and reference, where either has some; 1 for an event of the other.
    """

    features: tuple[str, ...]
    sample: npt.NDArray[np.float64]
    reference: npt.NDArray[np.float64]
    label: npt.NDArray[np.bool_] | None
    names: pd.Series
    left_out: Mapping[str, str]
    rows: Mapping[str, int]
    weights: Weights | None = None


def select(
    sample: pd.DataFrame | Table,
    reference: pd.DataFrame | Table,
    *,
    columns: Sequence[str] = (),
    label: str = "",
    event_id: str = "",
    sample_weight: str = "",
    reference_weight: str = "",
    shared_events: str = "refuse",
    keep: Keep = lambda _, rows: np.arange(rows),
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
    sample_weight, reference_weight
        The columns of the weights; those of the reference may be negative.
    shared_events
        ``refuse`` events that stand in both tables, or ``allow`` them.
    keep
        Which events are kept, by default all; those left out are checked all the same.
    """
    tables = {
        name: of_frame(table) if isinstance(table, pd.DataFrame) else table
        for name, table in (("sample", sample), ("reference", reference))
    }
    weighted = {"sample": sample_weight, "reference": reference_weight}
    others = (
        *(("sample", label, "label"), ("sample", event_id, "id")),
        *((which, name, f"{which}_weight") for which, name in weighted.items()),
    )
    for which, name, key in others:
        if name:
            _present(tables[which], [name], f"the {which}", f"score.{key}")
        if name and name in columns:
            raise ValueError(f"score.{key}: column {name} is a feature of score.columns too")
    no_features = {name for _, name, _ in others} - {""}
    if columns:
        for which, table in tables.items():
            _present(table, columns, f"the {which}", "score.columns")
    else:
        _refuse_different(tables, except_for=no_features)
    candidates = list(columns) or [
        name for name in tables["sample"].columns if name not in no_features
    ]
    for which, table in tables.items():
        if table.rows < FEWEST:
            raise ValueError(f"the {which} holds {table.rows} events; at least {FEWEST} are needed")
    facts, left_out = _examined(tables, candidates, named=bool(columns))
    for name, reason in left_out.items() if columns else ():
        raise ValueError(f"score.columns: {name} cannot be used: {reason}")
    chosen = [name for name in candidates if name not in left_out]
    if not chosen:
        raise ValueError(
            "the two tables share no column of numbers that varies; "
            "name the features to use in score.columns"
        )
    taken = [name for name in chosen if name in _RESULTS]
    if taken:
        raise ValueError(
            f"column {taken[0]} has the name of a result ({', '.join(_RESULTS)}): rename it, "
            "or name the features in columns; weights go into sample_weight and reference_weight"
        )
    for which, fact in facts.items():
        _refuse_gaps(fact.bad[chosen], f"the {which}", tables[which].rows)
    kept = {which: keep(which, table.rows) for which, table in tables.items()}
    events = {which: _events(tables[which], chosen, kept[which]) for which in tables}
    if shared_events == "refuse":
        _refuse_shared(tables, chosen, {which: prints for which, (_, prints) in events.items()})
    rows = kept["sample"]
    return Problem(
        features=tuple(chosen),
        sample=events["sample"][0],
        reference=events["reference"][0],
        label=_labels(_column(tables["sample"], label), label)[rows] if label else None,
        names=_names(tables["sample"], event_id).iloc[rows].reset_index(drop=True),
        left_out=left_out,
        rows={which: table.rows for which, table in tables.items()},
        weights=_weights(tables, weighted, kept),
    )


#: the columns of the tables of results
_RESULTS = (
    *("event", "rank", "loo", "error", "error_features", "witness", "cross_fitted"),
    *("raw", "marginal", "pair", "raw_error", "marginal_error", "pair_error", "label"),
    *("studentized", "departure", "sample_weight"),
    *("profiled", "profiled_error", "profiled_rank", "absorbed"),
)


# --- which columns -------------------------------------------------------------------------


def _present(table: Table, names: Sequence[str], which: str, key: str) -> None:
    for name in names:
        if name not in table.columns:
            raise ValueError(f"{key}: {which} has no column {name}; {nearest(name, table.columns)}")


def _refuse_different(tables: Mapping[str, Table], *, except_for: set[str]) -> None:
    sample, reference = (set(tables[which].columns) for which in ("sample", "reference"))
    only = sorted((sample ^ reference) - except_for)
    if only:
        where = "sample" if only[0] in sample else "reference"
        raise ValueError(
            f"the two tables have different columns: {', '.join(only[:6])} "
            f"({only[0]} only in the {where}); name the features to use in score.columns"
        )


def _examined(
    tables: Mapping[str, Table], candidates: Sequence[str], *, named: bool
) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """Return what the columns hold in each table, and which can be no features, and why."""
    left_out: dict[str, str] = {}
    for which in ("reference", "sample"):
        reasons = tables[which].unusable
        left_out |= {name: reasons[name] for name in candidates if name in reasons}
    numbers = [name for name in candidates if name not in left_out]
    facts = {which: _facts(table, numbers) for which, table in tables.items()}
    for name in numbers:
        one, other = (facts[which].loc[name] for which in ("sample", "reference"))
        low = np.fmin(one["low"], other["low"])
        # a feature may number the rows if it is asked for by its name
        if not named and (name.startswith("Unnamed: ") or (one["counts"] and other["counts"])):
            left_out[name] = "it numbers the rows"
        elif low == np.fmax(one["high"], other["high"]):
            left_out[name] = f"it is constant, {low:.12g} everywhere"
    return facts, {name: left_out[name] for name in candidates if name in left_out}


def _facts(table: Table, names: Sequence[str]) -> pd.DataFrame:
    """Return of each column its range, how many values are no numbers, and if it counts rows."""
    low, high = np.full(len(names), np.inf), np.full(len(names), -np.inf)
    bad, counts = np.zeros(len(names), dtype=int), np.full(len(names), True)
    first: list[int] = []
    start = 0
    for block in table.blocks(names) if names else ():
        values = _floats(block)
        low = np.fmin(low, np.fmin.reduce(values, axis=0, initial=np.inf))
        high = np.fmax(high, np.fmax.reduce(values, axis=0, initial=-np.inf))
        bad += np.count_nonzero(~np.isfinite(values), axis=0)
        whole = np.array([pd.api.types.is_integer_dtype(kind) for kind in block.dtypes])
        counts &= whole & (len(block) > 0)
        first = first or block.head(1).to_numpy(dtype=object).ravel().tolist()
        for k in np.flatnonzero(counts):
            steps = block.iloc[:, k].to_numpy() - first[k]
            counts[k] = np.array_equal(steps, np.arange(start, start + len(block)))
        start += len(block)
    return pd.DataFrame({"low": low, "high": high, "bad": bad, "counts": counts}, index=list(names))


# --- which events --------------------------------------------------------------------------


def _floats(block: pd.DataFrame) -> Array:
    return np.asarray(block.to_numpy(dtype=np.float64, na_value=np.nan))


def _column(table: Table, name: str) -> pd.Series:
    return table.frame([name])[name]


def _events(
    table: Table, chosen: Sequence[str], rows: IntArray
) -> tuple[Array, npt.NDArray[np.uint64]]:
    """Return some rows, and fingerprints of all of them."""
    kept = np.empty((len(rows), len(chosen)))
    prints = np.empty(table.rows, dtype=np.uint64)
    start = 0
    for block in table.blocks(chosen):
        # + 0.0 makes -0.0 0.0
        values = _floats(block) + 0.0
        stop = start + len(values)
        prints[start:stop] = pd.util.hash_pandas_object(pd.DataFrame(values), index=False)
        first, last = np.searchsorted(rows, [start, stop])
        kept[first:last] = values[rows[first:last] - start]
        start = stop
    return kept, prints


def _refuse_gaps(bad: pd.Series, which: str, rows: int) -> None:
    if bad.any():
        counted = ", ".join(f"{name} {n}" for name, n in bad[bad > 0].items())
        raise ValueError(
            f"{which} has missing or infinite values ({counted} of {rows}); "
            "remove these events or fill the values first"
        )


def _refuse_shared(
    tables: Mapping[str, Table],
    chosen: Sequence[str],
    prints: Mapping[str, npt.NDArray[np.uint64]],
) -> None:
    common = np.intersect1d(prints["sample"], prints["reference"])
    if not common.size:
        return
    # two different rows may have one fingerprint: those that have one are compared themselves
    kind = np.dtype((np.void, 8 * len(chosen)))
    alike = {
        which: _events(table, chosen, np.flatnonzero(np.isin(prints[which], common)))[0]
        for which, table in tables.items()
    }
    rows = [np.ascontiguousarray(alike[which]).view(kind).ravel() for which in tables]
    shared = int(np.isin(rows[0], rows[1]).sum())
    if shared:
        raise ValueError(
            f"{shared} events of the sample are also in the reference, which would hide a "
            "departure; remove them there, or set score.shared_events to allow if equal rows "
            "are different events"
        )


def _weights(
    tables: Mapping[str, Table], columns: Mapping[str, str], kept: Mapping[str, IntArray]
) -> Weights | None:
    """Return the weights of the events that are kept, None where there are no columns of them."""
    if not any(columns.values()):
        return None
    found = {}
    for which, name in columns.items():
        if name and name in tables[which].unusable:
            reason = tables[which].unusable[name]
            raise ValueError(f"score.{which}_weight: {name} cannot be used: {reason}")
        values = _floats(tables[which].frame([name]))[:, 0] if name else np.ones(len(kept[which]))
        found[which] = check_weights(values[kept[which]] if name else values, which, name)
    return Weights(**found)


def thinned(seed: int, most: int) -> Keep:
    """Return what keeps at most so many rows of each table, drawn at random if it has more."""

    def keep(which: str, rows: int) -> IntArray:
        return np.sort(stream(seed, "score", "thin", which).permutation(rows)[:most])

    return keep


def arrays_of(problem: Problem) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a problem by their names, those that it has."""
    found: dict[str, npt.NDArray[Any]] = {
        "sample": problem.sample,
        "reference": problem.reference,
    }
    if problem.label is not None:
        found["label"] = problem.label
    if problem.weights is not None:
        found["sample_weight"] = problem.weights.sample
        found["reference_weight"] = problem.weights.reference
    return found


def weights_of(arrays: Mapping[str, npt.NDArray[Any]]) -> Weights | None:
    """Return the weights among the arrays that :func:`arrays_of` returned."""
    if "sample_weight" not in arrays:
        return None
    return Weights(arrays["sample_weight"], arrays["reference_weight"])


def check_weights(values: Array, which: str, name: str) -> Array:
    """Refuse weights that no score can be made of.

    Parameters
    ----------
    which
        ``sample``, whose weights must not be negative, or ``reference``.
    name
        What the weights are called.
    """
    said = f"score.{which}_weight: {name} "
    if bad := int(np.count_nonzero(~np.isfinite(values))):
        raise ValueError(
            f"{said}has {bad} missing or infinite values of {len(values)}; remove these events"
        )
    if which == "sample" and (bad := int(np.count_nonzero(values < 0))):
        raise ValueError(
            f"{said}is negative for {bad} of {len(values)} events; only weights of the reference "
            "may be"
        )
    if not values.sum() > 0 or worth(values) < FEWEST:
        raise ValueError(
            f"{said}makes the events worth fewer than {FEWEST}: their sum must be positive, and "
            "its square large beside the sum of the squares"
        )
    return values


def _labels(values: pd.Series, name: str) -> npt.NDArray[np.bool_]:
    found = list(pd.unique(values))
    if set(found) != {0, 1}:
        shown = ", ".join(repr(value) for value in found[:5])
        raise ValueError(
            f"score.label: column {name} must hold 0 and 1, both of them, it holds {shown}"
        )
    return np.asarray(values, dtype=np.bool_)


def _names(sample: Table, event_id: str) -> pd.Series:
    """Return the events' names as text, or the numbers of their rows."""
    if not event_id:
        return pd.Series(np.arange(sample.rows))
    names = _column(sample, event_id)
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
