"""How well a score ranks signal above background: AUC, ROC and SIC from one sort."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array, IntArray


@dataclass(frozen=True)
class Ranking:
    """What is above each threshold, from the strictest threshold to the loosest.

    Events of equal score enter together, so ties need no further care: an area under
    these steps counts a tied pair one half, as average ranks do.

    Attributes
    ----------
    thresholds
        The distinct scores in falling order.
    signal, background
        How many events of each class have at least that score.
    """

    thresholds: Array
    signal: IntArray
    background: IntArray

    @property
    def signal_efficiency(self) -> Array:
        """eps_S at each threshold."""
        return np.asarray(self.signal / self.signal[-1])

    @property
    def background_efficiency(self) -> Array:
        """eps_B at each threshold."""
        return np.asarray(self.background / self.background[-1])

    @property
    def auc(self) -> float:
        """The probability that a signal event outranks a background event."""
        doubled = np.diff(self.background, prepend=0) * (
            self.signal + np.concatenate(([0], self.signal[:-1]))
        )
        pairs = int(self.signal[-1]) * int(self.background[-1])
        return int(doubled.sum()) / (2 * pairs)

    def roc(self) -> tuple[Array, Array]:
        """Return eps_B and eps_S along the ROC curve, from (0, 0) to (1, 1)."""
        return (
            np.concatenate(([0.0], self.background_efficiency)),
            np.concatenate(([0.0], self.signal_efficiency)),
        )

    def sic(self, *, floor: int) -> tuple[float, float]:
        """Return the largest SIC = eps_S / sqrt(eps_B) and the threshold where it is reached.

        SIC is unbounded as eps_B goes to zero, so only thresholds that keep at least
        ``floor`` background events count.
        """
        least = checks.integer(floor, "floor", maximum=int(self.background[-1]))
        allowed = self.background >= least
        values = self.signal_efficiency[allowed] / np.sqrt(self.background_efficiency[allowed])
        best = int(np.argmax(values))
        return float(values[best]), float(self.thresholds[allowed][best])


def ranking(scores: npt.ArrayLike, labels: npt.ArrayLike) -> Ranking:
    """Rank events by ``scores`` (high is signal-like); ``labels`` are True for signal.

    Constant scores are refused: they rank nothing.
    """
    values = checks.vector(scores, "scores", minimum=2)
    is_signal = checks.labels(labels, size=values.size)
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    last_of_its_score = np.append(ordered[1:] != ordered[:-1], True)
    if np.count_nonzero(last_of_its_score) == 1:
        raise ValueError("scores must not all be the same: they rank nothing")
    signal = np.cumsum(is_signal[order])
    background = np.arange(1, values.size + 1) - signal
    return Ranking(
        ordered[last_of_its_score], signal[last_of_its_score], background[last_of_its_score]
    )


def auc(scores: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Return the area under the ROC curve; tied pairs count one half.

    Examples
    --------
    >>> auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    0.75
    """
    return ranking(scores, labels).auc


def max_sic(scores: npt.ArrayLike, labels: npt.ArrayLike, *, floor: int) -> float:
    """Return the largest SIC over thresholds that keep at least ``floor`` background events."""
    return ranking(scores, labels).sic(floor=floor)[0]


def average_ranks(values: npt.ArrayLike) -> Array:
    """Return ranks from 1, ties sharing the average of the ranks they cover."""
    array = checks.vector(values, "values")
    _, inverse, counts = np.unique(array, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse])


def correlation(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Return Pearson's rho; a constant score has none and is refused."""
    first = checks.vector(one, "one", minimum=2)
    second = checks.vector(other, "other", size=first.size)
    for name, values in (("one", first), ("other", second)):
        if np.ptp(values) == 0:
            raise ValueError(f"{name} must not be constant: it has no correlation")
    a, b = first - first.mean(), second - second.mean()
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1))
