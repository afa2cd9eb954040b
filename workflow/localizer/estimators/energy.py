r"""The energy distance and its exact localizer: MMD with the kernel k(x, y) = -|x - y|.

With g(x) = E_B |x - Y| and G_BB = E_B |Y - Y'| the centred pair kernel of eq. mmd-U-kernel is

    q_B(x, y) = g(x) + g(y) - |x - y| - G_BB,

and its mean over pairs is unbiased for 2 E|X - Y| - E|X - X'| - E|Y - Y'|. Everything that
the paper derives for MMD holds: eq. mmd-localization gives the localizer from mean
distances, with no bandwidth to choose. Features should be on a common scale.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.threads import in_threads

# Rows of a block are summed by one thread; a tile of columns stays in the first cache and
# is summed before the tiles are added, which keeps the rounding error of long sums small.
_ROWS = 512
_TILE = 1024


def distance_sums(x: npt.ArrayLike, *, sample: npt.ArrayLike | None = None) -> Array:
    """Return sum_j |x_i - y_j| over the events y_j of a sample, for every row of x.

    One feature is sorted, in O(N log N); several visit every pair. The result does not
    depend on the number of threads.

    Parameters
    ----------
    sample
        The events y_j; left out, they are x itself (an event is at no distance from itself).

    Examples
    --------
    >>> distance_sums([[0.0], [1.0], [5.0]]).tolist()
    [6.0, 5.0, 9.0]
    """
    at = checks.points(x, "x")
    others = at if sample is None else checks.points(sample, "sample", d=at.shape[1])
    if at.shape[1] == 1:
        return _by_sorting(at[:, 0], others[:, 0])
    columns = np.ascontiguousarray(others.T)
    # each block contiguous: a layout of its own would be compiled anew in every job
    blocks = [np.ascontiguousarray(at[a : a + _ROWS].T) for a in range(0, len(at), _ROWS)]
    return np.concatenate(list(in_threads(lambda block: _row_sums(block, columns), blocks)))


@dataclass(frozen=True, eq=False)
class EnergyBackground:
    """A reference sample that stands for the background population, seen through distances.

    Expectations are means over its events, an event's distance 0 from itself included, so
    that q_B is centred exactly, as :class:`localizer.kernels.bank.EmpiricalBackground` is.
    """

    reference: Array
    _last: dict[Any, Array] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reference", checks.points(self.reference, "reference"))

    @cached_property
    def G_BB(self) -> float:
        """Mean of |Y - Y'| over all pairs of reference events; computed once."""
        return float(distance_sums(self.reference).mean()) / len(self.reference)

    def mean_distance(self, x: npt.ArrayLike) -> Array:
        """Return g(x), the mean of |x - Y| over the reference, at every row of x.

        The last answer is kept: a sample is asked for at each batch size.
        """
        asked = np.asarray(x)
        key = (asked.shape, asked.dtype.str, asked.tobytes())
        if key not in self._last:
            self._last.clear()
            self._last[key] = distance_sums(x, sample=self.reference) / len(self.reference)
        return self._last[key].copy()


def pair_target(x: npt.ArrayLike, background: EnergyBackground) -> Array:
    """Return the mean over j != i of q_B(x_i, x_j) for every event.

    Its mean over the sample is the energy distance, unbiased in the sample, and
    :func:`localizer.estimators.localize.pair_localization` makes the exact localizer of it.

    Examples
    --------
    >>> pair_target([[0.0], [2.0]], EnergyBackground([[0.0], [2.0]])).tolist()
    [-1.0, -1.0]
    """
    events = checks.points(x, "x", minimum=2)
    g = background.mean_distance(events)
    others = len(events) - 1
    return np.asarray(g + (g.sum() - g) / others - distance_sums(events) / others - background.G_BB)


def _by_sorting(x: Array, y: Array) -> Array:
    """Return sum_j |x_i - y_j| from prefix sums of the sorted y."""
    # a shift changes no distance, and small coordinates keep the prefix sums sharp
    middle = float(np.median(y))
    ordered = np.sort(y - middle)
    below = np.concatenate(([0.0], np.cumsum(ordered)))
    at = x - middle
    count = np.searchsorted(ordered, at)
    return np.asarray(at * (2 * count - y.size) + below[-1] - 2 * below[count])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _row_sums(x, y):  # type: ignore[no-untyped-def]
    """Return sum_j |x_i - y_j| for the columns of x over those of y."""
    d, n = x.shape
    sums = np.zeros(n)
    square = np.zeros(_TILE)
    last = d - 1
    for start in range(0, y.shape[1], _TILE):
        size = min(_TILE, y.shape[1] - start)
        for i in range(n):
            for c in range(last):
                at = x[c, i]
                for j in range(size):
                    gap = at - y[c, start + j]
                    square[j] = gap * gap + (square[j] if c else 0.0)
            at = x[last, i]
            total = 0.0
            for j in range(size):
                gap = at - y[last, start + j]
                total += np.sqrt(square[j] + gap * gap)
            sums[i] += total
    return sums


def compile_kernels() -> None:
    """Compile what numba compiles here, for a cache that many jobs read."""
    distance_sums(np.zeros((2, 2)))
