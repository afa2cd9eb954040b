"""From the published jet features to the auxiliary variables (sec. exp-lhco).

The features are two jets' momenta and masses (GeV) and their subjettiness, one event a row, in
an HDF5 file as pandas writes it. The file is read with h5py alone, and of the column names that
pandas pickles only the words are read, without unpickling: a file cannot run code.
"""

from __future__ import annotations

import pickletools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import h5py
import numpy as np

from localizer.base import checks
from localizer.base.checks import Array, BoolArray
from localizer.lhco.samples import Events, Samples, checked, expected
from localizer.lhco.surrogate import SIGNAL_REGION

Table: TypeAlias = Mapping[str, Array]

JET = ("pxj", "pyj", "pzj", "mj", "tau1j", "tau2j")
COLUMNS = tuple(f"{name}{jet}" for jet in (1, 2) for name in JET)

# What a pickled list of words is made of, besides the words themselves.
_LIST = {
    *("PROTO", "FRAME", "STOP", "MARK", "EMPTY_LIST", "LIST", "APPEND", "APPENDS"),
    *("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"),
}
_WORDS = {"UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"}

# The signal events that the mock data contain are the first of the file; 772 of them lie in
# the signal region.
INJECTED = 1000
# The extra QCD events before this row make the reference and a part of the evaluation sample.
FIRST_PART = 312_858


def read_features(path: Path, *, labelled: bool) -> dict[str, Array]:
    """Return the columns that are needed from the HDF5 file at ``path``.

    Parameters
    ----------
    path
        A file that pandas has written, in its fixed or its table layout.
    labelled
        Whether the column ``label`` is needed too.
    """
    wanted = (*COLUMNS, "label") if labelled else COLUMNS
    try:
        with h5py.File(path) as file:
            found = _columns(file, set(wanted))
    except OSError as error:
        raise ValueError(f"{path} is not a complete HDF5 file: {error}") from None
    except (LookupError, AttributeError, TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{path} is not a table that pandas has written: {error}") from None
    missing = [name for name in wanted if name not in found]
    if missing:
        raise ValueError(f"{path} lacks the columns {', '.join(missing)}")
    return {name: _numbers(found[name], f"{name} of {path}") for name in wanted}


def signal_region(table: Table) -> tuple[Array, BoolArray]:
    r"""Return the events of the signal region and which rows they are.

    With E = sqrt(p^2 + m^2) of each jet, m_JJ is the mass of the sum of the two jets. The jets
    are ordered by mass, and tau21 = tau2 / (1e-5 + tau1), where the small number also keeps
    tau1 = 0 from dividing by zero. The region is open: 3.3 < m_JJ < 3.7 TeV.

    Returns
    -------
    events
        Shape (k, 5): mJJ, mJmin, dmJ in TeV, and tau21 of the lighter and the heavier jet.
    inside
        Shape (n,): which rows of the table these are.
    """
    rows = len(table[COLUMNS[0]])
    # Needed of every row, to know whether it lies in the region; subjettiness only of those.
    momenta = [
        np.stack([checks.vector(table[f"{p}{jet}"], f"{p}{jet}", size=rows) for p in JET[:3]])
        for jet in (1, 2)
    ]
    masses = np.stack([checks.vector(table[f"mj{jet}"], f"mj{jet}", size=rows) for jet in (1, 2)])
    energy = sum(np.sqrt((p**2).sum(axis=0) + m**2) for p, m in zip(momenta, masses, strict=True))
    square = energy**2 - ((momenta[0] + momenta[1]) ** 2).sum(axis=0)
    dijet = np.sqrt(np.maximum(square, 0)) / 1000
    low, high = SIGNAL_REGION
    inside = (low < dijet) & (dijet < high)
    tau21 = np.stack(
        [
            np.divide(
                checks.vector(table[f"tau2j{jet}"][inside], f"tau2j{jet}", minimum=0),
                1e-5 + checks.vector(table[f"tau1j{jet}"][inside], f"tau1j{jet}", minimum=0),
            )
            for jet in (1, 2)
        ]
    )
    mass = masses[:, inside] / 1000
    lighter = np.where(mass[0] <= mass[1], 0, 1)
    event = np.arange(mass.shape[1])
    events = np.column_stack(
        [
            dijet[inside],
            mass[lighter, event],
            np.abs(mass[1] - mass[0]),
            tau21[lighter, event],
            tau21[1 - lighter, event],
        ]
    )
    return events, np.asarray(inside)


def from_features(main: Table, extra: Table, rng: np.random.Generator) -> Samples:
    """Return the samples of the edition ``zenodo``.

    The mixed sample is all background of ``main`` and its first 1000 signal events; the signal
    events after those make the evaluation signal, in the file's order. Of the extra QCD events
    the first 312858 are shuffled and shared between evaluation and reference, the others are
    for evaluation. The sizes are the paper's; which of the shuffled events go where is this
    project's draw, not the one behind the edition ``full``.

    Parameters
    ----------
    main
        The labelled features, background and signal.
    extra
        The features of the extra QCD events.
    rng
        The source of the shuffle.
    """
    counts = expected("zenodo")
    label = checks.labels(main["label"], "label", size=len(main[COLUMNS[0]]))
    injected = label & (np.cumsum(label) <= INJECTED)
    events, inside = signal_region(main)
    mixed = (~label | injected)[inside]
    signal = events[(label & ~injected)[inside]][: counts.evaluation_signal]
    qcd, kept = signal_region(extra)
    border = int(np.count_nonzero(kept[:FIRST_PART]))
    first = rng.permutation(qcd[:border])
    reference, remainder = first[: counts.reference], first[counts.reference :]
    return checked(
        Samples(
            mixed=Events.of(events[mixed]),
            labels=label[inside][mixed],
            reference=Events.of(reference),
            evaluation_background=Events.of(np.concatenate([qcd[border:], remainder])),
            evaluation_signal=Events.of(signal),
        ),
        "zenodo",
    )


def _columns(file: h5py.File, wanted: set[str]) -> dict[str, Any]:
    """Return the wanted columns of the one table in ``file``."""
    if len(file) != 1:
        raise KeyError(f"it must hold one table, it holds {len(file)}")
    group = next(iter(file.values()))
    found: dict[str, Any] = {}
    if "table" in group:
        records = group["table"]
        for name in records.dtype.names:
            packed = records.attrs.get(f"{name}_kind") if name.startswith("values_block_") else None
            values = records[name]
            columns = [name] if packed is None else _strings(packed)
            values = values.reshape(len(values), len(columns))
            found |= {c: values[:, k] for k, c in enumerate(columns) if c in wanted}
        return found
    for block in range(int(group.attrs["nblocks"])):
        columns = [item.decode() for item in group[f"block{block}_items"][:]]
        if wanted.isdisjoint(columns):
            continue
        values = group[f"block{block}_values"][:]
        found |= {c: values[:, k] for k, c in enumerate(columns) if c in wanted}
    return found


def _numbers(values: Any, name: str) -> Array:
    if values.dtype.kind not in "fiu":
        raise ValueError(f"{name} must hold numbers, it holds {values.dtype}")
    return np.asarray(values, dtype=np.float64)


def _strings(packed: bytes) -> list[str]:
    """Return the words of a pickled list, read from its opcodes; any other pickle is refused."""
    words: list[str] = []
    for opcode, argument, _ in pickletools.genops(bytes(packed)):
        if opcode.name in _WORDS:
            words.append(str(argument))
        elif opcode.name not in _LIST:
            raise ValueError(f"its column names refer to more than words ({opcode.name})")
    return words
