"""The objective of the comparison: what a competitor is given and how its scores are judged.

A competitor gets a sample, a reference and a generator, and returns one score an event: high
where the sample has more than the reference, low where it has less. Labels judge the scores; only
an oracle, which is no rival but a bound, is given labelled events.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, cast

import numpy as np

from localizer.base import checks, metrics
from localizer.base.checks import Array, BoolArray
from localizer.base.randomness import stream
from localizer.comparison.known import names


@dataclass(frozen=True, eq=False)
class Problem:
    """One realization of a problem, the same for every competitor.

    Attributes
    ----------
    sample
        The events to be scored, in the units of the problem.
    labels
        True for the events that a good score finds; for judging only.
    reference
        Events of the background alone; none is in the sample.
    signal
        Independent events of the kind that is to be found, for oracles only.
    sign
        1 where those events are too many, -1 where they are too few: then the lowest scores count.
    """

    sample: Array
    labels: BoolArray
    reference: Array
    signal: Array
    sign: int = 1

    def __post_init__(self) -> None:
        sample = checks.points(self.sample, "sample", minimum=2)
        object.__setattr__(self, "sample", sample)
        object.__setattr__(self, "labels", checks.labels(self.labels, size=len(sample)))
        for name in ("reference", "signal"):
            events = checks.points(getattr(self, name), name, d=sample.shape[1], minimum=2)
            object.__setattr__(self, name, events)
        if self.sign not in (-1, 1):
            raise ValueError(f"sign must be 1 or -1, it is {self.sign}")


class Competitor(Protocol):
    """A module of the folder ``competitors``.

    Attributes
    ----------
    LABEL
        What tables and figures call it.
    """

    LABEL: str

    def score(
        self, sample: Array, reference: Array, rng: np.random.Generator, **labelled: Array
    ) -> Array:
        """Return one score for each event of the sample."""


def competitor(name: str) -> Competitor:
    """Return a competitor by the name of its module."""
    if name not in names():
        raise ValueError(f"the competitor must be one of {', '.join(names())}, not {name!r}")
    # by name, as text: a job depends on the module of its own competitor alone
    return cast(Competitor, import_module(f"localizer.comparison.competitors.{name}"))


def is_oracle(one: Competitor) -> bool:
    """Tell whether a competitor is given labelled events."""
    return bool(getattr(one, "ORACLE", False))


def scores(one: Competitor, problem: Problem, rng: np.random.Generator) -> Array:
    """Return the competitor's scores, checked and turned so that high ones are to be found.

    The competitor gets the events in a random order, which reveals nothing of their classes.
    """
    order = rng.permutation(len(problem.sample))
    sample, reference = problem.sample[order], problem.reference.copy()
    if is_oracle(one):
        found, sign = one.score(sample, reference, rng, signal=problem.signal.copy()), 1
    else:
        found, sign = one.score(sample, reference, rng), problem.sign
    out = np.empty(len(order))
    out[order] = sign * checks.vector(found, "score", size=len(order))
    return out


def excerpt(problem: Problem, events: int = 200) -> Problem:
    """Return a small part of a problem, of both classes, on which a competitor warms up."""
    rows = np.unique(np.linspace(0, len(problem.sample) - 1, events).astype(int))
    of_each = [np.flatnonzero(problem.labels == label)[:20] for label in (False, True)]
    rows = np.union1d(rows, np.concatenate(of_each))
    parts = problem.reference[:events], problem.signal[:events]
    return Problem(problem.sample[rows], problem.labels[rows], *parts, sign=problem.sign)


def judged(found: Array, labels: BoolArray, *, floors: Sequence[int]) -> dict[str, Any]:
    """Return the AUC, and the maximum SIC at each floor that the sample's background allows.

    Parameters
    ----------
    floors
        Background events that a threshold must keep, see
        :meth:`localizer.base.metrics.Ranking.sic`. A floor of more events than the sample's
        background has gives NaN.
    """
    ranking = metrics.ranking(found, labels)
    available = int(ranking.background[-1])
    row: dict[str, Any] = {"auc": ranking.auc}
    for floor in floors:
        row[f"sic_{floor}"] = ranking.sic(floor=floor)[0] if floor <= available else np.nan
    return row


def generator(seed: int, problem: str, mock: int, name: str) -> np.random.Generator:
    """Return the random numbers of one competitor on one realization."""
    return stream(seed, "comparison", problem, mock, "competitor", name)
