"""The samples of Experiment III, whichever edition they come from (sec. exp-lhco)."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from localizer.base import checks
from localizer.base.checks import Array, BoolArray
from localizer.base.randomness import stream
from localizer.lhco.surrogate import FEATURES, SIGNAL_REGION, Surrogate

COLUMNS = (*FEATURES, "label")


@dataclass(frozen=True)
class Counts:
    """How many events each sample holds."""

    mixed_background: int
    mixed_signal: int
    reference: int
    evaluation_background: int
    evaluation_signal: int


PAPER = Counts(121_352, 772, 272_858, 340_000, 20_000)
# What the files leave where the paper's reference is missing: the 40000 independent QCD
# events serve as reference and, disjointly, as evaluation background.
SUBSET = Counts(121_352, 772, 30_000, 10_000, 20_000)
COUNTS = {"full": PAPER, "zenodo": PAPER, "surrogate": PAPER, "subset": SUBSET}


@dataclass(frozen=True, eq=False)
class Events:
    """Events of the signal region.

    Parameters
    ----------
    mass
        The resonant variable m_JJ in TeV; it defines the region and is no input of the localizer.
    x
        The auxiliary variables, shape (n, 4): mJmin and dmJ in TeV, and tau21 of the lighter
        and of the heavier jet.
    """

    mass: Array
    x: Array

    def __post_init__(self) -> None:
        x = checks.points(self.x, "x", d=len(FEATURES) - 1)
        mass = checks.vector(self.mass, "mass", size=len(x))
        low, high = SIGNAL_REGION
        outside = int(np.count_nonzero((mass <= low) | (mass >= high)))
        if outside:
            raise ValueError(
                f"mass must lie strictly between {low} and {high} TeV, {outside} events do not"
            )
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "mass", mass)

    def __len__(self) -> int:
        return len(self.mass)

    @classmethod
    def of(cls, table: Array) -> Events:
        """Return the events of a table whose first five columns are :data:`FEATURES`."""
        return cls(mass=table[:, 0].copy(), x=table[:, 1 : len(FEATURES)].copy())


@dataclass(frozen=True, eq=False)
class Samples:
    """Everything that Experiment III is given.

    No event may belong to two of the samples. The public files keep this: not even the
    signal events of the mixed and of the evaluation sample coincide.

    Parameters
    ----------
    mixed
        The mock sample whose events are to be localized.
    labels
        True for the signal events of ``mixed``; for evaluation only.
    reference
        Independent background.
    evaluation_background, evaluation_signal
        The independent evaluation sample.
    """

    mixed: Events
    labels: BoolArray
    reference: Events
    evaluation_background: Events
    evaluation_signal: Events

    def __post_init__(self) -> None:
        labels = checks.labels(self.labels, "labels", size=len(self.mixed))
        object.__setattr__(self, "labels", labels)
        samples = {
            "mixed sample": self.mixed,
            "reference": self.reference,
            "evaluation background": self.evaluation_background,
            "evaluation signal": self.evaluation_signal,
        }
        for (one, first), (other, second) in combinations(samples.items(), 2):
            shared = overlap(first, second)
            if shared:
                raise ValueError(f"the {one} and the {other} have {shared} events in common")

    @property
    def counts(self) -> Counts:
        """How many events each sample holds."""
        signal = int(np.count_nonzero(self.labels))
        return Counts(
            mixed_background=len(self.mixed) - signal,
            mixed_signal=signal,
            reference=len(self.reference),
            evaluation_background=len(self.evaluation_background),
            evaluation_signal=len(self.evaluation_signal),
        )


def overlap(first: Events, second: Events) -> int:
    """Return how many events of ``first`` also stand, digit by digit, in ``second``."""
    # Equal events have equal m_JJ, which hardly any two different events share.
    a, b = np.isin(first.mass, second.mass), np.isin(second.mass, first.mass)
    rows = {
        (mass, *row)
        for mass, row in zip(second.mass[b].tolist(), second.x[b].tolist(), strict=True)
    }
    candidates = zip(first.mass[a].tolist(), first.x[a].tolist(), strict=True)
    return sum((mass, *row) in rows for mass, row in candidates)


def read_table(path: Path) -> Array:
    """Return the table of an ``.npy`` file with :data:`COLUMNS`, checked value by value.

    Pickled content is never loaded.
    """
    try:
        with path.open("rb") as content:
            table = np.lib.format.read_array(content, allow_pickle=False)
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist") from None
    except Exception as error:
        # numpy reads the header as Python, and it may promise more numbers than there is room
        # for: a broken one fails in any of a dozen ways
        reason = textwrap.shorten(str(error), 200)
        raise ValueError(f"{path} is not a plain .npy file: {reason}") from None
    if table.dtype != np.float64:
        raise ValueError(f"{path} must hold float64 numbers, it holds {table.dtype}")
    if table.ndim != 2 or table.shape[1] != len(COLUMNS):
        raise ValueError(
            f"{path} must have the {len(COLUMNS)} columns {', '.join(COLUMNS)}, "
            f"its shape is {table.shape}"
        )
    events = checks.points(table, str(path))
    if not np.isin(events[:, -1], (0.0, 1.0)).all():
        raise ValueError(f"the labels of {path} must be 0 (background) or 1 (signal)")
    return events


def from_tables(tables: Mapping[str, Array], edition: str) -> Samples:
    """Return the samples of the edition ``full`` or ``subset``.

    Parameters
    ----------
    tables
        The content of the edition's files, by the registry's path.
    edition
        ``"full"`` or ``"subset"``.
    """
    counts = expected(edition)
    mixed = np.concatenate([tables["innerdata_train.npy"], tables["innerdata_test.npy"]])
    both = tables["separated_data/innerdata_test.npy"]
    extra, signal = both[: -counts.evaluation_signal], both[-counts.evaluation_signal :]
    if edition == "full":
        parts = {
            name: tables[f"separated_data/innerdata_extrabkg_{name}.npy"]
            for name in ("train", "val", "test")
        }
        reference = np.concatenate([parts["train"], parts["val"]])
        background = np.concatenate([parts["test"], extra])
    elif edition == "subset":
        reference, background = extra[: counts.reference], extra[counts.reference :]
    else:
        raise ValueError(f"edition must be full or subset, not {edition!r}")
    for table, name, label in (
        (reference, "reference", 0),
        (background, "evaluation background", 0),
        (signal, "evaluation signal", 1),
    ):
        wrong = int(np.count_nonzero(table[:, -1] != label))
        if wrong:
            raise ValueError(f"the {name} must have the label {label}, {wrong} events do not")
    return checked(
        Samples(
            mixed=Events.of(mixed),
            labels=mixed[:, -1] == 1,
            reference=Events.of(reference),
            evaluation_background=Events.of(background),
            evaluation_signal=Events.of(signal),
        ),
        edition,
    )


def from_surrogate(surrogate: Surrogate, seed: int) -> Samples:
    """Return samples of the paper's sizes, drawn from ``surrogate``.

    Each sample has its own stream below ``seed``, so that none depends on another's size.
    """
    counts = COUNTS["surrogate"]

    def draw(name: str, kind: str, n: int) -> Array:
        return surrogate.sample(stream(seed, "lhco", "surrogate", name, kind), n, kind)

    mixed = np.concatenate(
        [
            draw("mixed", "qcd", counts.mixed_background),
            draw("mixed", "signal", counts.mixed_signal),
        ]
    )
    return checked(
        Samples(
            mixed=Events.of(mixed),
            labels=np.arange(len(mixed)) >= counts.mixed_background,
            reference=Events.of(draw("reference", "qcd", counts.reference)),
            evaluation_background=Events.of(
                draw("evaluation", "qcd", counts.evaluation_background)
            ),
            evaluation_signal=Events.of(draw("evaluation", "signal", counts.evaluation_signal)),
        ),
        "surrogate",
    )


def expected(edition: str) -> Counts:
    """Return the sizes that the samples of ``edition`` must have."""
    if edition not in COUNTS:
        raise ValueError(f"edition must be one of {', '.join(COUNTS)}, not {edition!r}")
    return COUNTS[edition]


def checked(samples: Samples, edition: str) -> Samples:
    """Return ``samples`` if they have the sizes of ``edition``."""
    wanted, got = expected(edition), samples.counts
    for name in Counts.__dataclass_fields__:
        want, have = getattr(wanted, name), getattr(got, name)
        if want != have:
            raise ValueError(
                f"{name.replace('_', ' ')} of the edition {edition} must hold {want} events, "
                f"it holds {have}"
            )
    return samples
