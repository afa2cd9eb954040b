"""Sec. ustat, checked on a finite population, every batch of which is enumerated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product

import numpy as np

from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.verdicts.board import Finding, statement

Kernel = Callable[[Sequence[int]], float]
"""A symmetric kernel of the numbers of some atoms of a finite population."""


def of_projections(seed: int, *, atoms: int = 5, m: int = 5) -> list[Finding]:
    """Return the Hoeffding projection, by enumeration of every batch of a finite population.

    Kernels of order 2 and 3 on ``atoms`` equally likely values, drawn at random; batches
    of ``m`` independent draws, all atoms^m of them.
    """
    rng = stream(seed, "theory", "projections")
    kernels: dict[int, Kernel] = {r: _symmetric(rng, atoms, r) for r in (2, 3)}
    identity, residual, difference = {}, {}, {}
    for r, kernel in kernels.items():
        theta = _mean_of(kernel, atoms, r)
        h_1 = np.array([_mean_of(kernel, atoms, r, first=x) for x in range(atoms)]) - theta
        values = {
            batch: _u_statistic(kernel, batch, r) for batch in product(range(atoms), repeat=m)
        }
        L = _localized(values, atoms)
        identity[r] = float(np.abs(L - r / m * h_1).max())
        for smaller in range(3, m):
            batches_of = product(range(atoms), repeat=smaller)
            some = {batch: _u_statistic(kernel, batch, r) for batch in batches_of}
            off = np.abs(_localized(some, atoms) - r / smaller * h_1).max()
            identity[r] = max(identity[r], float(off))
        # the projection leaves a rest without any function of a single observation
        rest = {batch: value - theta - L[list(batch)].sum() for batch, value in values.items()}
        residual[r] = max(abs(_given(rest, x)) for x in range(atoms))
        difference[r] = _context_difference(kernel, rng.integers(atoms, size=m + 2).tolist(), r)
    g = rng.standard_normal(atoms)
    g -= g.mean()
    flat = {
        batch: _u_statistic(lambda pair: float(g[pair[0]] * g[pair[1]]), batch, 2)
        for batch in product(range(atoms), repeat=m)
    }
    vanishing = max(abs(_given(flat, x)) for x in range(atoms))
    variance = float(np.var(list(flat.values())))
    expected = 2 * float(np.mean(g**2)) ** 2 / (m * (m - 1))
    return [
        statement(
            "t.hoeffding",
            max(identity.values()),
            note=f"largest distance of L from (r/m) h_1 for r = 2, 3 and m = 3 to {m}, every one "
            f"of {atoms}^m batches",
        ),
        statement(
            "t.hajek",
            max(residual.values()),
            note="largest mean, given one observation, of what the sum of localizers leaves of "
            "T_m - theta, r = 2, 3",
        ),
        statement(
            "t.context_difference",
            max(difference.values()),
            note="largest distance of both sides in one batch, r = 2, 3",
        ),
        statement(
            "t.degenerate",
            vanishing,
            variance=variance,
            distance=abs(variance - expected),
            note=f"largest L of a kernel with h_1 = 0; its T_m still has the variance "
            f"{variance:.3g}, and 2 Var h / (m (m-1)) is {expected:.3g}",
        ),
    ]


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
