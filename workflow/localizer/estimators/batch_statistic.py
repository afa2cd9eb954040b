r"""What a statistic of a batch is, and a check that it is one (sec. problem).

The paper localizes any symmetric T_m(X_1, ..., X_m; B). A :class:`Statistic` is bound to its
reference by ``prepare``; the :class:`Prepared` statistic is then a function of a batch
alone, which :func:`localizer.estimators.localize.localize` brings down to events.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array


@dataclass(frozen=True)
class Prepared:
    """A statistic with its reference: a symmetric function of a batch.

    Parameters
    ----------
    name
        How messages call it.
    encode
        Events of shape (n, d) to rows of shape (n, k): what of each event enters. It is
        done once an event, however many batches the event is in.
    many
        Batches of such rows, of shape (R, m, k), to their R values. The value of a batch
        does not depend on the other batches.
    minimum
        The smallest batch that has a value.
    """

    name: str
    encode: Callable[[npt.ArrayLike], Array]
    many: Callable[[Array], Array]
    minimum: int = 1

    def __call__(self, batch: npt.ArrayLike) -> float:
        """Return the value of one batch of events, of shape (m, d)."""
        return float(self.values(self.encode(batch)[None])[0])

    def values(self, batches: Array) -> Array:
        """Return what ``many`` says of batches of encoded events; only finite numbers pass."""
        count, m = batches.shape[:2]
        if m < self.minimum:
            raise ValueError(
                f"batches must hold at least {self.minimum} events for {self.name}, they hold {m}"
            )
        values = np.asarray(self.many(np.ascontiguousarray(batches)))
        if values.shape != (count,) or values.dtype.kind not in "fiub":
            raise ValueError(
                f"{self.name} must return one number for each of {count} batches, "
                f"it returned an array of {values.dtype} of shape {values.shape}"
            )
        bad = values[~np.isfinite(values)]
        if bad.size:
            raise ValueError(
                f"{self.name} must return finite numbers, "
                f"it returned {bad[0]} for a batch of {m} events"
            )
        return values.astype(np.float64)


class Statistic(Protocol):
    """A two-sample statistic before it has met its reference."""

    @property
    def name(self) -> str:
        """How configurations and messages call it."""

    def prepare(self, reference: npt.ArrayLike) -> Prepared:
        """Bind the statistic to a reference sample of shape (n, d)."""


def check(
    statistic: Prepared,
    sample: npt.ArrayLike,
    *,
    m: int,
    rng: np.random.Generator,
    batches: int = 8,
    permutations: int = 8,
    tolerance: float = 1e-6,
) -> None:
    """Refuse a statistic that is not symmetric, not finite or not a function of its batch.

    Batches of m and of m - 1 events of the sample are evaluated twice as they are, then in
    reversed and in random orders. An asymmetry that shows in one order of many can escape:
    more ``batches`` and ``permutations`` look harder.

    Parameters
    ----------
    rng
        A stream of its own, so that the answer is always the same.
    tolerance
        What rounding may change, relative to the largest value found.
    """
    rows = statistic.encode(checks.points(sample, "sample", minimum=2))
    size = checks.integer(m, "m", minimum=2, maximum=len(rows))
    count, shuffles = (
        checks.integer(batches, "batches"),
        checks.integer(permutations, "permutations"),
    )
    drawn = np.array([rng.choice(len(rows), size, replace=False) for _ in range(count)])
    for events in (size, size - 1):
        if events < statistic.minimum:
            continue
        these = rows[drawn[:, :events]]
        values = statistic.values(these)
        allowed = checks.positive(tolerance, "tolerance") * float(np.max(np.abs(values)))
        if np.any(np.abs(statistic.values(these) - values) > allowed):
            raise ValueError(
                f"{statistic.name} must be a function of its batch, "
                "it returned two values for the same batch: fix its random numbers"
            )
        shuffled = (rng.permutation(events) for _ in range(shuffles))
        for order in (np.arange(events)[::-1], *shuffled):
            change = np.abs(statistic.values(these[:, order]) - values)
            if np.any(change > allowed):
                worst = int(np.argmax(change))
                raise ValueError(
                    f"{statistic.name} must be symmetric, the order of the events must not "
                    f"matter: another order of a batch of {events} events changed its value "
                    f"{values[worst]:.6g} by {change[worst]:.2g}"
                )
