"""What the other events say about one event's class: the contextual posterior (sec. information).

The shared-latent model of eq. latent-gaussian-model in the plane: background N(0, I), signal
N(mu, sigma_s^2 I) with one unknown mu ~ N(0, (1 - sigma_s^2) I) for the whole sample, and
independent labels. No score that must learn mu from the sample puts more pairs of a signal and
a background event in order on average, or has a smaller mean log-loss, than the posterior
here: it bounds the witness of Experiment II, and is itself bounded by the score that is told mu.

One posterior of mu serves all events: each event's own factor is divided out again. The
integrals over mu are sums over a square lattice. Their integrands are entire functions of mu
that vanish at infinity, and for those a lattice converges exponentially: at a step of one
posterior width the relative error is some 1e-8.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.special import expit, logit

from localizer.base import checks
from localizer.base.checks import Array, BoolArray, IntArray

# Posterior mass that may be left out for any event.
_TOLERANCE = 1e-12

# A lattice holds four of twice its step. If these agree on the evidence to this much, its own
# error is about the fourth power.
_RESOLVED = 1e-4

# Density ratios grow as exp(|x|^2 / 2): at this distance they are still far from overflow, and
# no event of the model comes close.
_FARTHEST = 20.0

# Products of factors are kept within exp(+-500) before their logarithm is taken.
_LARGEST_LOG = 500.0

# The tables of so many events fit into the second cache.
_EVENTS = 256

# NaN and infinity cannot occur; only the order of operations is free.
_FASTMATH = {"reassoc", "contract", "nsz", "arcp", "nnan", "ninf"}


@dataclass(frozen=True)
class LocationGrid:
    """A distribution of the signal's location mu on a rectangular grid.

    Attributes
    ----------
    first, second
        The grid's coordinates along each feature.
    weights
        The probability of each point, of shape (first.size, second.size).
    """

    first: Array
    second: Array
    weights: Array

    @classmethod
    def at(cls, mu: npt.ArrayLike) -> LocationGrid:
        """Return the point mass at ``mu``: the fully specified model."""
        location = checks.vector(mu, "mu", size=2)
        return cls(location[:1], location[1:], np.ones((1, 1)))


def signal_posterior(log_ratio: npt.ArrayLike, *, epsilon: float) -> Array:
    """Return P(Z = S) from log s(x)/b(x): eq. single-event-posterior.

    With log s~_{-i}(x_i)/b(x_i) it is eq. contextual-event-posterior.

    Examples
    --------
    >>> signal_posterior([0.0, 5.0], epsilon=0.02).round(4).tolist()
    [0.02, 0.7518]
    """
    fraction = checks.fraction(epsilon, "epsilon")
    return np.asarray(expit(checks.vector(log_ratio, "log_ratio") + logit(fraction)))


def contextual_log_ratio(x: npt.ArrayLike, *, epsilon: float, sigma_s: float) -> Array:
    """Return log s~_{-i}(x_i)/b(x_i) for every event of a sample: eq. posterior-predictive-signal.

    Parameters
    ----------
    x
        The events, of shape (N, 2).
    epsilon, sigma_s
        The signal's fraction and its standard deviation, both known.

    Notes
    -----
    The ratio is right to some 1e-9 beside 1, and so is P(Z_i = S | X): what is far below keeps
    fewer digits. :func:`contextual_error` measures it.

    Examples
    --------
    A lone event says nothing of its class, two that agree say a little:

    >>> abs(contextual_log_ratio([[1.5, 1.0]], epsilon=0.02, sigma_s=0.5)).round(9).tolist()
    [0.0]
    >>> pair = [[1.5, 1.0], [1.4, 1.1]]
    >>> contextual_log_ratio(pair, epsilon=0.02, sigma_s=0.5).round(4).tolist()
    [0.1466, 0.1466]
    """
    posterior = location_posterior(x, epsilon=epsilon, sigma_s=sigma_s)
    return leave_one_out_log_ratio(x, posterior, epsilon=epsilon, sigma_s=sigma_s)


def contextual_posterior(x: npt.ArrayLike, *, epsilon: float, sigma_s: float) -> Array:
    """Return P(Z_i = S | X) for every event of a sample: eq. contextual-event-posterior."""
    log_ratio = contextual_log_ratio(x, epsilon=epsilon, sigma_s=sigma_s)
    return signal_posterior(log_ratio, epsilon=epsilon)


def contextual_error(x: npt.ArrayLike, *, epsilon: float, sigma_s: float) -> float:
    """Return the lattice's error: how far half its step moves P(Z_i = S | X) for any event."""
    posteriors = []
    for halvings in (0, 1):
        grid = location_posterior(x, epsilon=epsilon, sigma_s=sigma_s, halvings=halvings)
        log_ratio = leave_one_out_log_ratio(x, grid, epsilon=epsilon, sigma_s=sigma_s)
        posteriors.append(signal_posterior(log_ratio, epsilon=epsilon))
    return float(np.max(np.abs(posteriors[1] - posteriors[0])))


def location_posterior(
    x: npt.ArrayLike, *, epsilon: float, sigma_s: float, halvings: int = 0
) -> LocationGrid:
    """Return p(mu | X): eq. theta-loo-explicit with no event left out.

    It is proportional to pi(mu) prod_j [(1 - epsilon) b(x_j) + epsilon s(x_j | mu)] and may have
    several modes.

    Parameters
    ----------
    x, epsilon, sigma_s
        As in :func:`contextual_log_ratio`.
    halvings
        How often to halve the lattice's step beyond what is needed.

    Notes
    -----
    The logarithm of the posterior varies on the scale of sigma_s however large N is, so a
    lattice of step sigma_s / 2 over the plane shows where the mass can be. The step is then
    halved there, and so on until the lattice resolves the posterior.
    """
    events, fraction, spread = _checked(x, epsilon, sigma_s)
    left = checks.integer(halvings, "halvings", minimum=0)
    largest = np.log1p(fraction * np.expm1(np.sum(events**2, axis=1) / 2 - 2 * math.log(spread)))
    # An event's own factor is divided out, which raises what is far from it by up to `largest`.
    depth = float(largest.max()) - math.log(_TOLERANCE)
    limits = np.maximum(largest, -math.log1p(-fraction))
    lattice = _plane(events, spread, depth)
    while True:
        log_density = _log_density(lattice, events, limits, fraction, spread)
        density = np.exp(log_density - log_density.max())
        if _resolved(density):
            if left == 0:
                break
            left -= 1
        lattice = lattice.halved(_reach(log_density) >= log_density.max() - depth)
    density[density < math.exp(-depth)] = 0.0
    rows, columns = (slice(*_range(np.any(density > 0, axis=axis))) for axis in (1, 0))
    weights = density[rows, columns] / density.sum()
    return LocationGrid(lattice.first[rows], lattice.second[columns], weights)


def leave_one_out_log_ratio(
    x: npt.ArrayLike, posterior: LocationGrid, *, epsilon: float, sigma_s: float
) -> Array:
    r"""Return log s~_{-i}(x_i)/b(x_i) from one posterior of mu that has seen every event.

    With r_i = s(x_i | mu)/b(x_i) and f_i = 1 - epsilon + epsilon r_i, the posterior without
    event i is proportional to p(mu | X) / f_i, and so eq. posterior-predictive-signal is
    E[r_i / f_i | X] / E[1 / f_i | X] times b(x_i).

    Parameters
    ----------
    x, epsilon, sigma_s
        As in :func:`contextual_log_ratio`.
    posterior
        From :func:`location_posterior` of the same events; at a point mass the result is
        log s(x_i)/b(x_i) of the fully specified model, eq. no-ensemble-gain.
    """
    events, fraction, spread = _checked(x, epsilon, sigma_s)
    ranges = _row_ranges(posterior.weights > 0)
    parts = []
    for chunk in _chunks(events):
        first, second, offset = _ratio_tables(chunk, posterior.first, posterior.second, spread)
        scale = fraction * np.exp(offset)
        above, below = _divided_sums(
            first, np.ascontiguousarray(second.T), scale, posterior.weights, *ranges, 1 - fraction
        )
        # an event so far from all of mu's mass that its sum underflows keeps the smallest ratio
        parts.append(offset + np.log(np.maximum(above, np.finfo(np.float64).tiny) / below))
    return np.concatenate(parts)


@dataclass(frozen=True)
class _Lattice:
    """Points step * (origin + (a, b)), of which ``mask`` says which are wanted."""

    step: float
    origin: tuple[int, int]
    mask: BoolArray

    @property
    def first(self) -> Array:
        return np.asarray(self.step * (self.origin[0] + np.arange(self.mask.shape[0])))

    @property
    def second(self) -> Array:
        return np.asarray(self.step * (self.origin[1] + np.arange(self.mask.shape[1])))

    def halved(self, kept: BoolArray) -> _Lattice:
        """Return the lattice of half the step that covers the cells of the kept points."""
        rows, columns = (_range(np.any(kept, axis=axis)) for axis in (1, 0))
        kept = kept[slice(*rows), slice(*columns)]
        mask = np.zeros((2 * kept.shape[0] + 1, 2 * kept.shape[1] + 1), dtype=np.bool_)
        for a in range(3):
            for b in range(3):
                mask[a : mask.shape[0] - 2 + a : 2, b : mask.shape[1] - 2 + b : 2] |= kept
        origin = (2 * (self.origin[0] + rows[0]) - 1, 2 * (self.origin[1] + columns[0]) - 1)
        return _Lattice(self.step / 2, origin, mask)


def _plane(events: Array, sigma_s: float, depth: float) -> _Lattice:
    """Return the first lattice, which no mass above exp(-depth) leaves.

    The posterior is a sum of normals, one for each set of events that may be signal: the
    prior itself, or one at most sigma_s times as wide whose mean lies between 0 and events.
    """
    step = sigma_s / 2
    reach = math.sqrt(2 * depth * (1 - sigma_s**2))
    low = np.minimum(-reach, np.minimum(events.min(axis=0), 0) - sigma_s * reach)
    high = np.maximum(reach, np.maximum(events.max(axis=0), 0) + sigma_s * reach)
    start = np.floor(low / step).astype(int)
    shape = np.ceil(high / step).astype(int) - start + 1
    return _Lattice(step, (int(start[0]), int(start[1])), np.ones(shape, dtype=np.bool_))


def _log_density(
    lattice: _Lattice, events: Array, limits: Array, epsilon: float, sigma_s: float
) -> Array:
    """Return log pi(mu) + sum_j log f_j(mu) up to a constant; -inf outside the lattice's rows."""
    lows, highs = _row_ranges(lattice.mask)
    total = -(np.add.outer(lattice.first**2, lattice.second**2)) / (2 * (1 - sigma_s**2))
    for chunk, limit in zip(_chunks(events), _chunks(limits), strict=True):
        first, second, offset = _ratio_tables(chunk, lattice.first, lattice.second, sigma_s)
        _add_log_factors(
            total, first * (epsilon * np.exp(offset)), second, limit, lows, highs, 1 - epsilon
        )
    columns = np.arange(total.shape[1])
    outside = (columns < lows[:, None]) | (columns >= highs[:, None])
    total[outside] = -np.inf
    return total


def _resolved(density: Array) -> bool:
    """Say whether the four lattices of twice the step give the same integral."""
    sums = [float(density[a::2, b::2].sum()) for a in range(2) for b in range(2)]
    return max(sums) <= (1 + _RESOLVED) * min(sums)


def _reach(log_density: Array) -> Array:
    """Return what the logarithm of the density may rise to within each point's cell.

    A parabola whose maximum lies within half a step rises above the nearest point by at most
    1/8 of the larger of that point's differences to its two neighbours. Twice that is allowed,
    in each direction.
    """
    inside = np.isfinite(log_density)
    known = np.where(inside, log_density, 0.0)
    reach = np.where(inside, log_density, -np.inf)
    for axis in range(2):
        steps = np.abs(np.diff(known, axis=axis))
        both = np.logical_and(*(np.delete(inside, end, axis=axis) for end in (0, -1)))
        steps = np.where(both, steps, 0.0)
        sides = [(0, 0), (0, 0)]
        sides[axis] = (1, 1)
        around = np.pad(steps, sides)
        reach += np.maximum(*(np.delete(around, end, axis=axis) for end in (0, -1))) / 4
    return reach


def _ratio_tables(
    chunk: Array, first: Array, second: Array, sigma_s: float
) -> tuple[Array, Array, Array]:
    """Return s(x | mu)/b(x) as the product of two tables, one a feature, and exp(offset).

    The tables have shapes (first.size, n) and (n, second.size) and entries of at most 1.
    """
    tables, offset = [], np.zeros(len(chunk))
    for column, axis in zip(chunk.T, (first, second), strict=True):
        exponent = -((column - axis[:, None]) ** 2) / (2 * sigma_s**2)
        top = exponent.max(axis=0)
        tables.append(np.exp(exponent - top))
        offset += top + column**2 / 2 - math.log(sigma_s)
    return tables[0], np.ascontiguousarray(tables[1].T), offset


def _row_ranges(mask: BoolArray) -> tuple[IntArray, IntArray]:
    """Return where the wanted points of each row begin and end (0, 0 for none)."""
    ranges = np.array([_range(row) for row in mask], dtype=np.int64).reshape(-1, 2)
    return np.ascontiguousarray(ranges[:, 0]), np.ascontiguousarray(ranges[:, 1])


def _range(wanted: BoolArray) -> tuple[int, int]:
    where = np.flatnonzero(wanted)
    return (int(where[0]), int(where[-1]) + 1) if where.size else (0, 0)


def _chunks(x: Array) -> Iterator[Array]:
    return (x[start : start + _EVENTS] for start in range(0, len(x), _EVENTS))


def _checked(x: npt.ArrayLike, epsilon: float, sigma_s: float) -> tuple[Array, float, float]:
    events = checks.points(x, "x", d=2)
    distance = float(np.sqrt(np.max(np.sum(events**2, axis=1))))
    if distance > _FARTHEST:
        raise ValueError(
            f"x must lie within {_FARTHEST:g} of the background's mean, where density ratios can "
            f"be computed; one event is {distance:.4g} away"
        )
    return events, checks.fraction(epsilon, "epsilon"), checks.fraction(sigma_s, "sigma_s")


@njit(cache=True, nogil=True, fastmath=_FASTMATH)
def _add_log_factors(total, first, second, limits, lows, highs, background):  # type: ignore[no-untyped-def]
    """Add sum_j log(background + first[a, j] second[j, b]) to total[a, b] within each row's range.

    Factors are multiplied until their ``limits`` add up to what a float holds: one logarithm
    then serves hundreds of events.
    """
    for a in range(total.shape[0]):
        low, high = lows[a], highs[a]
        logs = total[a, low:high]
        product = np.ones(high - low)
        held = 0.0
        for j in range(limits.size):
            held += limits[j]
            if held > _LARGEST_LOG:
                for b in range(product.size):
                    logs[b] += np.log(product[b])
                    product[b] = 1.0
                held = limits[j]
            along = second[j, low:high]
            for b in range(product.size):
                product[b] *= background + first[a, j] * along[b]
        for b in range(product.size):
            logs[b] += np.log(product[b])


# numba's other error model looks for a zero before each division, one after the other
@njit(cache=True, nogil=True, fastmath=_FASTMATH, error_model="numpy")
def _divided_sums(first, second, scale, weights, lows, highs, background):  # type: ignore[no-untyped-def]
    """Return E[t / f] and E[1 / f] for every event: t the tables' product, f with its scale.

    The innermost loop is over events: there are many, and as many at each point.
    """
    above, below = np.zeros(scale.size), np.zeros(scale.size)
    factor, of_signal = np.empty(scale.size), np.empty(scale.size)
    for a in range(weights.shape[0]):
        for j in range(scale.size):
            factor[j] = scale[j] * first[a, j]
            of_signal[j] = 0.0
        for b in range(lows[a], highs[a]):
            weight = weights[a, b]
            for j in range(scale.size):
                share = weight / (background + factor[j] * second[b, j])
                below[j] += share
                of_signal[j] += share * second[b, j]
        for j in range(scale.size):
            above[j] += first[a, j] * of_signal[j]
    return above, below


def compile_kernels() -> None:
    """Compile what numba compiles here, for a cache that many jobs read."""
    contextual_log_ratio([[0.0, 0.0], [1.0, 1.0]], epsilon=0.1, sigma_s=0.5)
