r"""Mean features of many references at once: a pool of events with random weights (sec. exp-lhco).

Another reference of n events moves the mean of the features by a Gaussian of covariance Cov/n (the
central limit theorem), which weights drawn for the events of a pool realise without any matrix:
sum_j g_j (z_j - mean) / P has the covariance Cov/P for standard normal g. A pool of P > n events
and a further Gaussian of covariance Cov (1/n - 1/P) make references that each have exactly the
right spread.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.kernels.feature_products import Single, sums_of_groups
from localizer.kernels.features import FourierFeatures

# Into so many groups, at least, a pool is divided whose events share the weights of a reference.
# A reference is then drawn with the covariance of the groups' sums instead of the events' own, a
# Wishart matrix about it of as many degrees of freedom: sqrt(2/32768) = 0.8 % on a variance and
# 0.4 % on a spread, where 400 references know a spread to 3.5 %. Of the paper's background 16 to
# 18 events share a weight, and the products with 400 references cost as much as the features.
GROUPS = 32_768


@dataclass(frozen=True, eq=False)
class WeightedPool:
    """Sums over a pool whose events have standard normal weights, one for each draw.

    Where the pool has twice as many events as there are groups, or more, the events of a group
    share their weights. All groups have the same size, but for a smaller one at the end. The pool
    is shuffled first, so that an order of its events makes no difference. The sum of k events
    chosen among P has covariance k Cov (P - k)/(P - 1) about k means, so the weights of all groups
    are scaled by sqrt(P (P - 1) / (P^2 - sum k^2)): over the shuffles the covariance is exactly
    that of the events, whatever the last group is, and in one shuffle it fluctuates about it like
    the sample covariance of as many normal events as there are groups.

    Attributes
    ----------
    sizes, group_of
        The events of each group, and the group of each event.
    weights
        The weight of each group in each draw, of shape (groups, draws).
    mean
        The mean features of the pool.
    moved
        For each draw the weighted sum of the features about that mean, of shape (draws, D).
    """

    sizes: Array
    group_of: npt.NDArray[np.int64]
    weights: Single
    mean: Array
    moved: Array

    @classmethod
    def of(
        cls,
        features: FourierFeatures,
        pool: npt.ArrayLike,
        rng: np.random.Generator,
        *,
        draws: int,
        groups: int = GROUPS,
    ) -> WeightedPool:
        """Return the sums over a pool."""
        events = checks.points(pool, "pool", minimum=2)
        P, count = len(events), checks.integer(draws, "draws")
        size = max(1, P // checks.integer(groups, "groups", minimum=2))
        sizes = np.diff(np.arange(0, P, size), append=P).astype(float)
        order = rng.permutation(P)
        sums = np.zeros((1 + count, features.D))
        drawn = []
        for some in sums_of_groups(features, events[order], group=size):
            weights = np.ones((len(some), 1 + count), dtype=np.float32)
            weights[:, 1:] = rng.standard_normal((len(some), count), dtype=np.float32)
            sums += weights.T @ some
            drawn.append(weights[:, 1:])
        group_of = np.empty(P, dtype=np.int64)
        group_of[order] = np.arange(P) // size
        table, mean = np.concatenate(drawn), sums[0] / P
        return cls(sizes, group_of, table, mean, sums[1:] - np.outer(sizes @ table, mean))

    def spread(self, variance: Callable[[float], float]) -> float:
        """Return what a weighted sum over P is multiplied by to have a part of Cov as covariance.

        Parameters
        ----------
        variance
            This part times P, for a pool of P events.
        """
        P = float(self.group_of.size)
        return math.sqrt(variance(P) * P * (P - 1) / (P**2 - float(np.sum(self.sizes**2))))

    def means(self, variance: Callable[[float], float]) -> Array:
        """Return mean features of the draws, of shape (draws, D), see :meth:`spread`."""
        return np.asarray(self.mean + self.spread(variance) / self.group_of.size * self.moved)


def reference_means(
    features: FourierFeatures,
    pool: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    n: int,
    draws: int,
    groups: int = GROUPS,
) -> Array:
    """Return mean features of ``draws`` references of n events, of shape (draws, D).

    Each is the pool's mean plus a Gaussian of covariance Cov (1/n - 1/P): its own spread
    about the population is Cov/n. A pool of n events gives its mean again and again.

    Parameters
    ----------
    pool
        The events, in any order.
    n
        Events of a reference, at most those of the pool.
    groups
        The least number of groups. If it is more than half the pool's size, every event has
        weights of its own.
    """
    weighted = WeightedPool.of(features, pool, rng, draws=draws, groups=groups)
    events = checks.integer(n, "n", maximum=weighted.group_of.size)
    return weighted.means(lambda P: P / events - 1)
