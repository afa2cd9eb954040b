"""The kernel sums of matched contexts, fast (secs. marginal-contribution, practical-estimators).

What :mod:`localizer.estimators.forced` needs of a context with Gaussian kernel and known background
N(0, I): the sum of k over its pairs and of mu_B over its events, for the companions alone, with
the probe, and with the further event Y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from localizer.base.checks import Array
from localizer.kernels.context_pairs import pair_sums
from localizer.kernels.pair_means import exp_minus
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
        pairs = pair_sums(companions, h)
        # mu_B is a kernel too, wider and lower, about the background's mean
        width = math.sqrt(h * h + 1)
        level = (h / width) ** d
        embedding = level * _sums_with(companions, np.zeros((len(block), d)), width)
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
    block = np.linspace(-1.0, 1.0, 2 * 5 * 2).reshape(2, 5, 2)
    MatchedSums.of(block, h=1.0).forced(np.zeros(2))
