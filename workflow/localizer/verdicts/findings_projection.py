"""Sec. ustat, checked on a finite population, every batch of which is enumerated.

Kernels of order 2 and 3 on a few equally likely values, drawn at random; batches of ``m``
independent draws, all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.verdicts.board import Finding, statement
from localizer.verdicts.registry import finding

Kernel = Callable[[Sequence[int]], float]
"""A symmetric kernel of the numbers of some atoms of a finite population."""

Values = dict[tuple[int, ...], float]
"""A statistic of every batch."""


class Projections(NamedTuple):
    """Kernels by their order, one batch of m + 2 atoms for each, and a function of mean zero."""

    kernels: dict[int, Kernel]
    batches: dict[int, list[int]]
    centred: Array
    m: int

    @property
    def atoms(self) -> int:
        """The size of the population."""
        return len(self.centred)

    def every(self, kernel: Kernel, r: int, m: int) -> Values:
        """Return the U-statistic of every batch."""
        every = product(range(self.atoms), repeat=m)
        return {batch: _u_statistic(kernel, batch, r) for batch in every}

    def first_projection(self, r: int) -> tuple[float, Array]:
        """Return theta and h_1 at every atom."""
        theta = _mean_of(self.kernels[r], self.atoms, r)
        h_1 = [_mean_of(self.kernels[r], self.atoms, r, first=x) for x in range(self.atoms)]
        return theta, np.array(h_1) - theta


def projections(seed: int, *, atoms: int = 5, m: int = 5) -> Projections:
    """Return random kernels on a finite population."""
    rng = stream(seed, "theory", "projections")
    kernels = {r: _symmetric(rng, atoms, r) for r in (2, 3)}
    batches = {r: rng.integers(atoms, size=m + 2).tolist() for r in kernels}
    g = rng.standard_normal(atoms)
    return Projections(kernels, batches, g - g.mean(), m)


@finding("t.hoeffding")
def hoeffding(projections: Projections) -> Finding:
    """Return how far the localizer is from r/m times the first projection."""
    distances = []
    for (r, kernel), m in product(projections.kernels.items(), range(3, projections.m + 1)):
        _, h_1 = projections.first_projection(r)
        L = _localized(projections.every(kernel, r, m), projections.atoms)
        distances.append(float(np.abs(L - r / m * h_1).max()))
    return statement(
        max(distances),
        note=f"largest distance of L from (r/m) h_1 for r = 2, 3 and m = 3 to {projections.m}, "
        f"every one of {projections.atoms}^m batches",
    )


@finding("t.hajek")
def hajek(projections: Projections) -> Finding:
    """Return the mean, given one observation, of what the sum of localizers leaves."""
    means = []
    for r, kernel in projections.kernels.items():
        theta, _ = projections.first_projection(r)
        values = projections.every(kernel, r, projections.m)
        L = _localized(values, projections.atoms)
        # the projection leaves a rest without any function of a single observation
        rest = {batch: value - theta - L[list(batch)].sum() for batch, value in values.items()}
        means += [abs(_given(rest, x)) for x in range(projections.atoms)]
    return statement(
        max(means),
        note="largest mean, given one observation, of what the sum of localizers leaves of "
        "T_m - theta, r = 2, 3",
    )


@finding("t.context_difference")
def context_difference(projections: Projections) -> Finding:
    """Return how far both sides of eq. U-context-difference are apart in one batch."""
    return statement(
        max(
            _context_difference(kernel, projections.batches[r], r)
            for r, kernel in projections.kernels.items()
        ),
        note="largest distance of both sides in one batch, r = 2, 3",
    )


@finding("t.degenerate")
def degenerate(projections: Projections) -> Finding:
    """Return the localizer of a kernel without a first projection, and its variance."""
    g, m = projections.centred, projections.m
    flat = projections.every(lambda pair: float(g[pair[0]] * g[pair[1]]), 2, m)
    variance = float(np.var(list(flat.values())))
    expected = 2 * float(np.mean(g**2)) ** 2 / (m * (m - 1))
    return statement(
        max(abs(_given(flat, x)) for x in range(projections.atoms)),
        variance=variance,
        distance=abs(variance - expected),
        note=f"largest L of a kernel with h_1 = 0; its T_m still has the variance "
        f"{variance:.3g}, and 2 Var h / (m (m-1)) is {expected:.3g}",
    )


# --- helpers -------------------------------------------------------------------------------


def _symmetric(rng: np.random.Generator, atoms: int, r: int) -> Kernel:
    """Return a random symmetric kernel of order r on numbered atoms."""
    table = rng.standard_normal((atoms,) * r)
    return lambda members: float(table[tuple(sorted(members))])


def _u_statistic(kernel: Kernel, batch: Sequence[int], r: int) -> float:
    """Return the mean of the kernel over the subsets of a batch, eq. ustat-definition."""
    return float(np.mean([kernel(members) for members in combinations(batch, r)]))


def _mean_of(kernel: Kernel, atoms: int, r: int, *, first: int | None = None) -> float:
    """Return E h(X_1, ..., X_r), the first observation fixed if given."""
    free = r if first is None else r - 1
    head = () if first is None else (first,)
    return float(np.mean([kernel((*head, *rest)) for rest in product(range(atoms), repeat=free)]))


def _localized(values: dict[tuple[int, ...], float], atoms: int) -> Array:
    """Return the mean given each atom less the mean of all."""
    mean = float(np.mean(list(values.values())))
    return np.array([_given(values, x) for x in range(atoms)]) - mean


def _given(values: dict[tuple[int, ...], float], x: int) -> float:
    """Return the mean over the batches whose first observation is x."""
    return float(np.mean([value for batch, value in values.items() if batch[0] == x]))


def _context_difference(kernel: Kernel, batch: Sequence[int], r: int) -> float:
    """Return the distance of the two sides of eq. U-context-difference in one batch."""
    x, context, m = batch[0], batch[1:], len(batch)
    with_x = float(np.mean([kernel((x, *rest)) for rest in combinations(context, r - 1)]))
    without = _u_statistic(kernel, context, r)
    return abs(_u_statistic(kernel, batch, r) - without - r / m * (with_x - without))
