"""How events are seen and compared: a recipe before any data, and what it comes to on data.

A :class:`Recipe` says how coordinates and bandwidths are to be chosen, and :func:`choose`
chooses them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import pdist

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.copula import BackgroundCDF, median_distance
from localizer.kernels.bank import GaussianBank
from localizer.own.defaults import (
    CALIBRATION,
    DEFAULTS,
    CoordinateForm,
    Method,
    RankedBy,
    Source,
)

Used: TypeAlias = Literal["exact", "rff"]

Streams: TypeAlias = Callable[..., np.random.Generator]
"""The generator that belongs to a key, for example ``partial(stream, seed, "score")``."""


@dataclass(frozen=True)
class Recipe:
    """How events are seen and compared, before any data are looked at.

    Parameters
    ----------
    coordinates
        ``as_is``; ``standardized``: each feature less its mean, over its standard deviation;
        ``uniform`` or ``normal``: copula coordinates, see :mod:`localizer.base.copula`.
    source
        Whose events fix coordinates and d_med: ``pooled``, those of sample and reference
        together, whose choices do not change when the two are mixed up; or ``reference``.
    factors
        The bandwidths in units of d_med, the median distance between two events.
    ladder
        The bandwidths of the evidence, in the same units.
    ranking
        What events are ranked and calibrated by: their ``contribution``, the leave-one-out
        witness, or the ``evidence``, the studentized one.
    method
        ``exact`` visits all pairs of events. ``rff`` takes random Fourier features. ``auto``
        is ``exact`` where few enough kernels are needed: for the scores N (N + M), and
        ``exact_limit`` the limit; for their calibration (N + M)^2, and ``calibration_limit``.
    exact_limit, calibration_limit
        See ``method``.
    n_per_bandwidth
        Features of each bandwidth, cosines and sines together.
    companions
        With ``rff``, the kernel's spread is estimated from this many events of either sample.
    pairs
        The median distance is that of this many random pairs, or of all if there are no more.
    """

    coordinates: CoordinateForm = DEFAULTS.coordinates
    source: Source = DEFAULTS.source
    factors: tuple[float, ...] = DEFAULTS.bandwidths
    ladder: tuple[float, ...] = DEFAULTS.ladder
    ranking: RankedBy = DEFAULTS.ranking
    method: Method = DEFAULTS.method
    exact_limit: int = DEFAULTS.exact_limit
    calibration_limit: int = CALIBRATION.exact_limit
    n_per_bandwidth: int = DEFAULTS.features_per_bandwidth
    companions: int = DEFAULTS.companions
    pairs: int = DEFAULTS.pairs

    def __post_init__(self) -> None:
        named = {
            **{"coordinates": CoordinateForm, "source": Source},
            **{"ranking": RankedBy, "method": Method},
        }
        for name, kind in named.items():
            checks.one_of(getattr(self, name), name, get_args(kind))
        object.__setattr__(self, "factors", checks.bandwidths(self.factors, "factors"))
        object.__setattr__(self, "ladder", checks.bandwidths(self.ladder, "ladder"))
        checks.integer(self.exact_limit, "exact_limit", minimum=0)
        checks.integer(self.calibration_limit, "calibration_limit", minimum=0)
        checks.integer(self.companions, "companions", minimum=10)
        checks.integer(self.pairs, "pairs", minimum=100)
        if checks.integer(self.n_per_bandwidth, "n_per_bandwidth", minimum=4) % 2:
            raise ValueError(f"n_per_bandwidth must be even, it is {self.n_per_bandwidth}")

    def for_scores(self, N: int, M: int) -> Recipe:
        """Return the recipe with the method for the scores of N events against M."""
        return self._decided(N * (N + M), self.exact_limit)

    def for_calibration(self, N: int, M: int) -> Recipe:
        """Return the recipe with the method for what is compared with the null draws."""
        return self._decided((N + M) ** 2, self.calibration_limit)

    def _decided(self, kernels: int, limit: int) -> Recipe:
        if self.method != "auto":
            return self
        return replace(self, method="exact" if kernels <= limit else "rff")


@dataclass(frozen=True, eq=False)
class Choices:
    """What a recipe comes to on data.

    Parameters
    ----------
    transform
        Takes events into the coordinates in which the kernel compares them.
    d_med
        The median distance between two events in these coordinates.
    bank
        The kernel.
    ladder
        The bandwidths of the evidence; none, and there is no evidence.
    """

    transform: Callable[[npt.ArrayLike], Array]
    d_med: float
    bank: GaussianBank
    ladder: tuple[float, ...] = ()


def choose(
    sample: npt.ArrayLike, reference: npt.ArrayLike, recipe: Recipe, streams: Streams
) -> Choices:
    """Return coordinates and kernel for a sample and a reference.

    With ``source="pooled"`` they depend on the two together only, not on which event belongs
    to which.

    Parameters
    ----------
    streams
        For the random pairs of d_med, under the key ``pairs``.

    Examples
    --------
    >>> from functools import partial
    >>> from localizer.base.randomness import stream
    >>> sample, reference = [[0.0], [1.0], [2.0]], [[3.0], [4.0], [5.0]]
    >>> recipe = Recipe("as_is", factors=(0.5, 1.0))
    >>> choose(sample, reference, recipe, partial(stream, 1)).bank.bandwidths
    (1.0, 2.0)
    """
    x, y = both(sample, reference)
    events = y if recipe.source == "reference" else np.concatenate([x, y])
    transform = _coordinates(recipe.coordinates, events)
    d_med = _median(transform(events), recipe.pairs, streams)
    bank = GaussianBank(tuple(f * d_med for f in recipe.factors))
    return Choices(transform, d_med, bank, tuple(f * d_med for f in recipe.ladder))


def _coordinates(kind: CoordinateForm, events: Array) -> Callable[[npt.ArrayLike], Array]:
    if kind == "uniform" or kind == "normal":
        return partial(BackgroundCDF.of(events).transform, scores=kind)
    # the kernel knows differences only, and single precision wants small numbers
    shift = events.mean(axis=0)
    scale = np.ones_like(shift)
    if kind == "standardized":
        # what is constant among these events (a permutation's reference, a fold) stays as it is;
        # the mean of equal numbers can miss them in the last digit, so that std tells nothing
        scale = events.std(axis=0)
        scale[np.ptp(events, axis=0) == 0] = 1.0
    return partial(_affine, shift=shift, scale=scale)


def _affine(x: npt.ArrayLike, *, shift: Array, scale: Array) -> Array:
    return (checks.points(x, "x", d=shift.size) - shift) / scale


def _median(x: Array, pairs: int, streams: Streams) -> float:
    if len(x) * (len(x) - 1) // 2 <= pairs:
        value = float(np.median(pdist(x)))
    else:
        value = median_distance(x, streams("pairs"), pairs=pairs).value
    if not value > 0:
        raise ValueError(
            "d_med must be positive: more than half of the pairs of events are equal, so "
            "there is no length scale for the bandwidths"
        )
    return value


def both(sample: npt.ArrayLike, reference: npt.ArrayLike) -> tuple[Array, Array]:
    """Return sample and reference as tables of the same features, with events enough."""
    x = checks.points(sample, "sample", minimum=3)
    return x, checks.points(reference, "reference", d=x.shape[1], minimum=3)
