"""The kernel sums of matched contexts, fast (secs. marginal-contribution, practical-estimators).

What :mod:`localizer.estimators.forced` needs of a context with Gaussian kernel and known background
N(0, I): the sum of k over its pairs and of mu_B over its events, for the companions alone, with
the probe, and with the further event Y. Small contexts visit every pair; large ones in the
plane use the kernel's cosine series.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from localizer.base.checks import Array
from localizer.kernels.pair_means import exp_minus, pair_sum
from localizer.models.gaussian import smoothed_normal


@dataclass(frozen=True)
class KernelSums:
    """The two sums over a batch that any form of the known-background MMD needs.

    Parameters
    ----------
    pairs
        The sum of k over the distinct pairs of the batch, for each context.
    embedding
        The sum of mu_B over the batch, for each context.
    size
        The number of events of a batch.
    K_BB
        E k(Y, Y') for two background events.
    """

    pairs: Array
    embedding: Array
    size: int
    K_BB: float

    def unbiased(self) -> Array:
        """Return T_m of each context, eq. mmd-u-pair.

        Every event is in m - 1 pairs, so the mu_B of eq. mmd-U-kernel enter as a sum.
        """
        n = self.size
        return 2 * self.pairs / (n * (n - 1)) - 2 * self.embedding / n + self.K_BB


@dataclass(frozen=True)
class MatchedSums:
    """The kernel sums of the matched batches C, (Y, C) and, for any x, (x, C).

    Parameters
    ----------
    context
        The sums of the companions alone.
    replaced
        The sums of the companions with the further event Y.
    companions
        The companions, of shape (contexts, m - 1, d).
    h
        The kernel's bandwidth.
    """

    context: KernelSums
    replaced: KernelSums
    companions: Array
    h: float

    @classmethod
    def of(cls, block: Array, *, h: float) -> MatchedSums:
        """Return the sums of contexts of shape (contexts, m, d), Y in the last place."""
        _, m, d = block.shape
        K_BB = float(smoothed_normal(np.zeros((1, d)), mean=np.zeros(d), variance=2.0, h=h)[0])
        companions = np.ascontiguousarray(block[:, :-1])
        pairs, embedding = _context_sums(companions, h)
        context = KernelSums(pairs, embedding, m - 1, K_BB)
        other = np.ascontiguousarray(block[:, -1])
        return cls(context, _joined(context, companions, other, h), companions, h)

    def forced(self, x: Array) -> KernelSums:
        """Return the sums of the companions with the probe x."""
        everywhere = np.broadcast_to(x, (len(self.companions), x.size))
        return _joined(self.context, self.companions, np.ascontiguousarray(everywhere), self.h)


def _joined(context: KernelSums, companions: Array, events: Array, h: float) -> KernelSums:
    """Return the sums of each context with one event more."""
    embedding = smoothed_normal(events, mean=np.zeros(events.shape[1]), variance=1.0, h=h)
    return KernelSums(
        context.pairs + _sums_with(companions, events, h),
        context.embedding + embedding,
        context.size + 1,
        context.K_BB,
    )


# The cosine series of the kernel is cut where its weights fall below exp(-_CUT^2 / 2).
_CUT = 6.5
_MOST_HARMONICS = 48

# The helpers are inlined, so that one compiled function holds all the arithmetic: how the
# compiler joins separate functions, and with it the last digits, may depend on its cache.


@njit(inline="always")
def _spacing(z: Array, h: float) -> tuple[float, float, int]:
    """Return the centre of one coordinate, the step of its series and the harmonics needed.

    A period that exceeds the range of the data by _CUT bandwidths keeps the copies of the
    kernel that a Fourier series brings along below exp(-_CUT^2 / 2).
    """
    low = z.min()
    high = z.max()
    step = 2 * np.pi / (high - low + _CUT * h)
    return 0.5 * (low + high), step, int(min(_CUT / (h * step), 1e6)) + 1


@njit(inline="always")
def _harmonics(z: Array, centre: float, step: float, count: int, waves: Array) -> None:
    """Fill waves[0, k] with cos(k step (z - centre)) and waves[1, k] with the sine."""
    cosine, sine = waves[0], waves[1]
    for i in range(z.size):
        # |angle| < pi: series at a sixteenth of the angle, then four doublings
        t = step * (z[i] - centre) / 16
        q = t * t
        c = 1 - q / 2 * (1 - q / 12 * (1 - q / 30 * (1 - q / 56 * (1 - q / 90))))
        s = t * (1 - q / 6 * (1 - q / 20 * (1 - q / 42 * (1 - q / 72))))
        for _ in range(4):
            c, s = c * c - s * s, 2 * c * s
        cosine[0, i] = 1.0
        sine[0, i] = 0.0
        cosine[1, i] = c
        sine[1, i] = s
    for k in range(2, count):
        for i in range(z.size):
            cosine[k, i] = cosine[k - 1, i] * cosine[1, i] - sine[k - 1, i] * sine[1, i]
            sine[k, i] = cosine[k - 1, i] * sine[1, i] + sine[k - 1, i] * cosine[1, i]


@njit(inline="always")
def _series_sum(
    first: Array, second: Array, step_1: float, step_2: float, count_1: int, count_2: int, h: float
) -> float:
    """Return the sum of k over the pairs of n points in the plane, from their harmonics.

    k is a product of two cosine series, and the sum over all pairs of a product of
    cosines is a sum of squares: n K^2 operations in place of n^2 / 2 exponentials.
    """
    n = first.shape[2]
    total = 0.0
    for k in range(count_1):
        f = h * k * step_1
        weight_1 = math.exp(-0.5 * f * f) * (1.0 if k == 0 else 2.0)
        c_1, s_1 = first[0, k], first[1, k]
        for q in range(count_2):
            g = h * q * step_2
            if f * f + g * g > _CUT * _CUT:
                break
            weight_2 = math.exp(-0.5 * g * g) * (1.0 if q == 0 else 2.0)
            c_2, s_2 = second[0, q], second[1, q]
            cc = 0.0
            cs = 0.0
            sc = 0.0
            ss = 0.0
            for i in range(n):
                cc += c_1[i] * c_2[i]
                cs += c_1[i] * s_2[i]
                sc += s_1[i] * c_2[i]
                ss += s_1[i] * s_2[i]
            total += weight_1 * weight_2 * (cc * cc + cs * cs + sc * sc + ss * ss)
    total *= h * h * step_1 * step_2 / (2 * np.pi)
    return float(0.5 * (total - n))


@njit(cache=True, nogil=True, fastmath=True)
def _context_sums(companions: Array, h: float) -> tuple[Array, Array]:
    """Return, for each context, the sum of k over its pairs and of mu_B over its events.

    In the plane the series takes over from the pairs where it costs less.
    """
    contexts, n, d = companions.shape
    pairs = np.empty(contexts)
    embedding = np.empty(contexts)
    z = np.empty((d, n))
    square = np.empty(n)
    first = np.empty((2, _MOST_HARMONICS, n))
    second = np.empty((2, _MOST_HARMONICS, n))
    scales = np.array([0.5 / (h * h)])
    width = h * h + 1
    level = (h * h / width) ** (d / 2)
    for r in range(contexts):
        square[:] = 0.0
        for a in range(d):
            for j in range(n):
                z[a, j] = companions[r, j, a]
                square[j] += z[a, j] * z[a, j]
        total = 0.0
        for j in range(n):
            total += exp_minus(0.5 / width * square[j])
        embedding[r] = level * total

        by_series = False
        if d == 2:
            centre_1, step_1, count_1 = _spacing(z[0], h)
            centre_2, step_2, count_2 = _spacing(z[1], h)
            # the constants are measured costs: of a product of harmonics, and of making them
            by_series = max(count_1, count_2) <= _MOST_HARMONICS and (
                0.45 * count_1 * count_2 + 48 < n
            )
            if by_series:
                _harmonics(z[0], centre_1, step_1, count_1, first)
                _harmonics(z[1], centre_2, step_2, count_2, second)
                pairs[r] = _series_sum(first, second, step_1, step_2, count_1, count_2, h)
        if not by_series:
            pairs[r] = pair_sum(z, scales, square)
    return pairs, embedding


@njit(cache=True, nogil=True, fastmath=True)
def _sums_with(companions: Array, events: Array, h: float) -> Array:
    """Return, for each context, the sum of k between its companions and its event."""
    contexts, n, d = companions.shape
    sums = np.empty(contexts)
    square = np.empty(n)
    scale = 0.5 / (h * h)
    for r in range(contexts):
        square[:] = 0.0
        for a in range(d):
            for j in range(n):
                gap = companions[r, j, a] - events[r, a]
                square[j] += gap * gap
        total = 0.0
        for j in range(n):
            total += exp_minus(scale * square[j])
        sums[r] = total
    return sums


def compile_kernels() -> None:
    """Compile what numba compiles here, for a cache that many jobs read."""
    # a small and a large context: the kernel sum has a form for each
    for m in (5, 400):
        block = np.linspace(-1.0, 1.0, 2 * m * 2).reshape(2, m, 2)
        MatchedSums.of(block, h=1.0).forced(np.zeros(2))
