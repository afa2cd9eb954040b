"""The scores of probes over contexts: mean and scatter of each estimator, merged exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from localizer.base.checks import Array


@dataclass(frozen=True)
class ContextMoments:
    """Mean and scatter of one estimator over contexts, for each probe.

    Parameters
    ----------
    contexts
        R, the number of contexts of each probe.
    mean
        The estimate for each probe.
    scatter
        The sum over contexts of the squared deviations from the mean.
    """

    contexts: int
    mean: Array
    scatter: Array

    @classmethod
    def of(cls, values: Array) -> ContextMoments:
        """Return the moments of ``values`` of shape (probes, contexts)."""
        mean = values.mean(axis=1)
        return cls(values.shape[1], mean, np.sum((values - mean[:, None]) ** 2, axis=1))

    @property
    def variance(self) -> Array:
        """The variance of a single context, for each probe."""
        if self.contexts < 2:
            raise ValueError("contexts must be at least 2 for a variance, it is 1")
        return self.scatter / (self.contexts - 1)

    @property
    def standard_error(self) -> Array:
        """The standard error of the mean, for each probe."""
        return np.sqrt(self.variance / self.contexts)

    def merge(self, other: ContextMoments) -> ContextMoments:
        """Return the moments of the same probes over the contexts of both."""
        if self.mean.shape != other.mean.shape:
            raise ValueError("other must hold the same probes")
        total = self.contexts + other.contexts
        shift = other.mean - self.mean
        return ContextMoments(
            total,
            self.mean + shift * (other.contexts / total),
            self.scatter + other.scatter + shift**2 * (self.contexts * other.contexts / total),
        )


@dataclass(frozen=True)
class ForcedScores:
    """The moments of every estimator: ``scores["pair"].mean`` and so on.

    Parameters
    ----------
    m
        The size of a batch, the probe included.
    moments
        The moments of each estimator, by its name.
    """

    m: int
    moments: Mapping[str, ContextMoments]

    def __getitem__(self, estimator: str) -> ContextMoments:
        if estimator not in self.moments:
            raise ValueError(f"estimator must be one of {list(self.moments)}, not {estimator!r}")
        return self.moments[estimator]

    def merge(self, other: ForcedScores) -> ForcedScores:
        """Return the scores of the same probes over the contexts of both."""
        self._match(other)
        return ForcedScores(self.m, {name: self[name].merge(other[name]) for name in self.moments})

    @staticmethod
    def stack(parts: Sequence[ForcedScores]) -> ForcedScores:
        """Return the scores of the probes of all ``parts``, in their order."""
        if not parts:
            raise ValueError("parts must hold at least one set of scores")
        first = parts[0]
        for part in parts:
            first._match(part)
        moments = {}
        for name in first.moments:
            several = [part[name] for part in parts]
            if len({each.contexts for each in several}) > 1:
                raise ValueError("parts must have the same number of contexts")
            moments[name] = ContextMoments(
                several[0].contexts,
                np.concatenate([each.mean for each in several]),
                np.concatenate([each.scatter for each in several]),
            )
        return ForcedScores(first.m, moments)

    def _match(self, other: ForcedScores) -> None:
        if self.m != other.m or list(self.moments) != list(other.moments):
            raise ValueError("only scores of the same m and the same estimators go together")
