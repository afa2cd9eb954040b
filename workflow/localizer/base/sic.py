"""AUC and maximum SIC of many scores, and what to keep of a score so that SIC is judged later.

The background is sorted and every signal event finds its place in it, with no order of all events:
the numbers of :func:`localizer.base.metrics.ranking` in a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array, BoolArray, IntArray

#: The largest floor, in background events, at which a score that was not kept can be judged.
HEAD = 1000


@dataclass(frozen=True, eq=False)
class Standing:
    """Where the signal events of one score stand among its background events.

    Attributes
    ----------
    background
        The scores of the background events, rising.
    above
        For each signal event, from the highest score, the background events that score as high.
    auc
        The probability that a signal event outranks a background event.
    """

    background: npt.NDArray[np.floating[Any]]
    above: IntArray
    auc: float

    @classmethod
    def of(cls, score: npt.ArrayLike, labels: BoolArray) -> Standing:
        """Return the standing of the events that are labelled as signal."""
        values = checks.vector(score, "score")
        s, b = np.sort(values[labels]), np.sort(values[~labels])
        below, upto = np.searchsorted(b, s, side="left"), np.searchsorted(b, s, side="right")
        auc = int(np.sum(below + upto)) / (2 * s.size * b.size)
        return cls(b, (b.size - below)[::-1], auc)

    def sic(self, *, floor: int) -> tuple[float, int]:
        """Return the largest SIC of thresholds that keep ``floor`` background events or more.

        SIC rises only where a signal event enters, so its maximum is at a signal's score or at the
        floor itself. A sample with fewer background events than the floor (smoke sizes) keeps
        them all. The second number says how many are kept at the maximum.
        """
        least = min(checks.integer(floor, "sic_floor"), self.background.size)
        kept = np.append(self.above[self.above >= least], self._with(least))
        sic = self._sic(kept)
        return float(sic.max()), int(kept[sic == sic.max()].min())

    def head(self, most: int) -> tuple[IntArray, float]:
        """Return what :class:`Heads` holds of this score."""
        b = self.background
        K = min(most, b.size)
        found = np.searchsorted(self.above, np.arange(1, K + 1), side="right")
        top = b[::-1][: K + 1]
        between = np.append(top[1:] < top[:-1], [True] * (K + 1 - top.size))
        beyond = 0.0
        if K < b.size:
            kept = np.append(self.above[self.above > K], self._with(K + 1))
            beyond = float(self._sic(kept).max())
        return np.where(between, found, 0).astype(np.int32), beyond

    def _with(self, kept: int) -> int:
        """Return how many background events are kept together with the k-th highest."""
        b = self.background
        return int(b.size - np.searchsorted(b, b[-kept], side="left"))

    def _sic(self, kept: npt.NDArray[Any]) -> Array:
        """Return SIC at the lowest thresholds that keep so many background events."""
        found = np.searchsorted(self.above, kept, side="right")
        return np.asarray(found / self.above.size / np.sqrt(kept / self.background.size))


@dataclass(frozen=True, eq=False)
class Heads:
    """What the SIC of some scores needs at any floor up to ``HEAD``, without the scores.

    Attributes
    ----------
    found
        The signal events above the lowest threshold that keeps exactly 1, 2, ... background
        events, of shape (scores, HEAD); 0 where tied background events leave no such threshold.
    beyond
        The maximum SIC of each score over thresholds that keep more.
    about
        The signal events, the background events, and the fraction of a floor that counts here.
    """

    found: IntArray
    beyond: Array
    about: Array

    @classmethod
    def of(cls, standings: Sequence[Standing], *, fraction: float = 1.0) -> Heads:
        """Return the heads of scores of the same events."""
        most = max(HEAD, round(fraction * HEAD))
        found, beyond = zip(*(one.head(most) for one in standings), strict=True)
        first = standings[0]
        about = np.array([first.above.size, first.background.size, fraction])
        return cls(np.stack(found), np.array(beyond), about)

    @classmethod
    def joined(cls, parts: Sequence[Heads]) -> Heads:
        """Return the heads of all parts, in their order."""
        found = np.concatenate([part.found for part in parts])
        return cls(found, np.concatenate([part.beyond for part in parts]), parts[0].about)

    def sic(self, *, floor: int) -> Array:
        """Return the maximum SIC of each score, by the fraction of this floor."""
        signal, background, fraction = self.about
        asked = checks.integer(floor, "sic_floor", maximum=HEAD)
        least = min(max(1, round(fraction * asked)), int(background))
        kept = np.arange(least, self.found.shape[1] + 1)
        sic = self.found[:, least - 1 :] / signal / np.sqrt(kept / background)
        return np.asarray(np.maximum(sic.max(axis=1, initial=0.0), self.beyond))

    def arrays(self, name: str) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays by name, for a file."""
        return {f"{name}.{field}": getattr(self, field) for field in _FIELDS}


_FIELDS = ("found", "beyond", "about")


def heads_from_arrays(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, Heads]:
    """Return the heads in a file, by name."""
    names = dict.fromkeys(name.rpartition(".")[0] for name in arrays)
    return {name: Heads(*(arrays[f"{name}.{field}"] for field in _FIELDS)) for name in names}
