"""The background-CDF transform to copula coordinates, and its length scale (sec. exp-lhco).

Each feature is mapped by the background's empirical CDF. Then the marginals of the background
are uniform, whatever their units and shapes were, and only its copula remains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from localizer.base import checks
from localizer.base.checks import Array

CopulaScores: TypeAlias = Literal["uniform", "normal"]


@dataclass(frozen=True, eq=False)
class BackgroundCDF:
    """The empirical CDF of each feature of a background sample.

    Use :meth:`of` to make one.

    Parameters
    ----------
    ordered
        The background, each feature sorted on its own; shape (events, features).

    Examples
    --------
    Equal values share the middle of their ranks:

    >>> cdf = BackgroundCDF.of([[1.0], [2.0], [2.0], [5.0]])
    >>> cdf.transform([[1.0], [2.0], [3.0], [5.0]]).ravel().tolist()
    [0.125, 0.5, 0.75, 0.875]
    """

    ordered: Array

    @classmethod
    def of(cls, background: npt.ArrayLike) -> BackgroundCDF:
        """Return the CDFs of ``background``, of shape (events, features)."""
        return cls(np.sort(checks.points(background, "background"), axis=0))

    def transform(self, x: npt.ArrayLike, *, scores: CopulaScores = "uniform") -> Array:
        """Return ``x`` in copula coordinates.

        The mid-rank CDF is F(t) = (#{b < t} + #{b <= t}) / (2n): a value of the background
        gets the middle of its step, and ties share one value. Beyond the background's range
        F would be 0 or 1; there it is held at 1/(2n) and 1 - 1/(2n), the values of the
        outermost background events, so that normal scores stay finite.

        Parameters
        ----------
        x
            Events of shape (n, features).
        scores
            ``"uniform"`` for F itself, ``"normal"`` for its normal quantile.
        """
        if scores not in get_args(CopulaScores):
            raise ValueError(
                f"scores must be one of {', '.join(get_args(CopulaScores))}, not {scores!r}"
            )
        count, features = self.ordered.shape
        events = checks.points(x, "x", d=features)
        ranks = np.empty_like(events)
        for k in range(features):
            column = self.ordered[:, k]
            # searched for in rising order, neighbours walk the same, cached part of the column
            rising = np.argsort(events[:, k])
            values = events[rising, k]
            below = np.searchsorted(column, values, side="left")
            ranks[rising, k] = below + np.searchsorted(column, values, side="right")
        edge = 1 / (2 * count)
        uniform = np.clip(ranks / (2 * count), edge, 1 - edge)
        return uniform if scores == "uniform" else np.asarray(ndtri(uniform))


@dataclass(frozen=True)
class MedianDistance:
    """A median pairwise distance, estimated from random pairs.

    Parameters
    ----------
    value
        The sample median.
    standard_error
        Its error from drawing pairs instead of taking all, the background being given.
    pairs
        How many pairs were drawn.
    """

    value: float
    standard_error: float
    pairs: int


def median_distance(
    x: npt.ArrayLike, rng: np.random.Generator, *, pairs: int = 2_000_000
) -> MedianDistance:
    r"""Return the median distance d_med between two different events of ``x``.

    Pairs (i, j), i != j, are drawn independently and uniformly, so that the sample median
    has the textbook error: the number of distances below the true median is binomial with
    standard deviation sqrt(pairs)/2, and the standard error is half the distance between the
    order statistics that far below and above the middle. No density has to be estimated.

    Parameters
    ----------
    x
        Events of shape (n, features), in the coordinates in which distances are meant.
    rng
        The source of the pairs.
    pairs
        How many pairs to draw.
    """
    events = checks.points(x, "x", minimum=2)
    count = checks.integer(pairs, "pairs", minimum=100)
    first = rng.integers(len(events), size=count)
    second = rng.integers(len(events) - 1, size=count)
    second += second >= first
    square = np.zeros(count)
    for column in events.T:
        square += (column[first] - column[second]) ** 2
    middle, spread = count // 2, int(np.ceil(np.sqrt(count) / 2))
    at = [middle - spread, (count - 1) // 2, middle, middle + spread]
    low, left, right, high = np.sqrt(np.partition(square, at)[at])
    return MedianDistance(float((left + right) / 2), float((high - low) / 2), count)
