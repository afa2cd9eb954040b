"""Weights of the events of a sample and of its reference, and how many events they are worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localizer.base.checks import Array


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights of a sample and of a reference, and how many events they are worth.

    Parameters
    ----------
    sample, reference
        One number an event. The sum of each is positive.
    """

    sample: Array
    reference: Array

    @classmethod
    def none(cls, N: int, M: int) -> Weights:
        """Return the weights of N and M events that count once each."""
        return cls(np.ones(N), np.ones(M))

    @property
    def are_equal(self) -> bool:
        """Whether they might as well not be there."""
        return bool(np.ptp(self.sample) == 0 == np.ptp(self.reference))

    @property
    def left_out(self) -> Array:
        """w_i over the sum of the other weights: 1 / (N - 1) without weights."""
        return np.asarray(self.sample / (self.sample.sum() - self.sample))

    @property
    def share_of_sample(self) -> float:
        """The part of the sample among the pooled events: N / (N + M) without weights."""
        n, m = worth(self.sample), worth(self.reference)
        return n / (n + m)

    @property
    def own_share(self) -> Array:
        """The part of each event of the sample in a mean over the pooled events: 1 / (N + M)."""
        return np.asarray(self.share_of_sample * self.sample / self.sample.sum())

    @property
    def pooled(self) -> Array:
        """The part of each event in a mean over the pooled events, sample first."""
        a = self.share_of_sample
        parts = (a, self.sample), (1 - a, self.reference)
        return np.concatenate([share * w / w.sum() for share, w in parts])

    @property
    def scale(self) -> Array:
        """1 / (N - 1) + 1 / M without weights, one number an event of the sample."""
        w = self.sample
        others = (w.sum() - w) ** 2 / (w @ w - w**2)
        return np.asarray(1 / others + 1 / worth(self.reference))


def worth(weights: Array) -> float:
    """Return how many events the weights are worth: (sum w)^2 / sum w^2.

    >>> worth(np.array([2.0, 2.0])), worth(np.array([1.0, 1.0, 0.0]))
    (2.0, 2.0)
    """
    return float(weights.sum() ** 2 / (weights @ weights))


def own_noise(at: Array, weights: Array) -> float:
    """Return what is expected of the square of a mean embedding beyond that of its population.

    Parameters
    ----------
    at
        The mean embedding at its own events, of which k(x, x) = 1.

    Notes
    -----
    sum_j w_j^2 |k(., x_j) - mean|^2 over the square of the sum of the weights, times n/(n-1) for a
    worth of n events. Without weights, to take it away leaves out the pairs of an event with
    itself; with weights that alone would be biased if heavy events lie elsewhere than light ones.

    >>> k = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> at = k.mean(axis=0)
    >>> float(at.mean() - own_noise(at, np.ones(2)))
    0.5
    """
    share = weights / weights.sum()
    return float(share**2 @ (1 - 2 * at + share @ at) / (1 - share @ share))
