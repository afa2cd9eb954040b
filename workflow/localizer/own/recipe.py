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

CoordinateForm: TypeAlias = Literal["as_is", "standardized", "uniform", "normal"]

Source: TypeAlias = Literal["pooled", "reference"]

Method: TypeAlias = Literal["auto", "exact", "rff"]

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
    method
        ``exact`` visits all pairs of events. ``rff`` takes random Fourier features. ``auto``
        is ``exact`` where at most ``exact_limit`` kernels are needed: N (N + M) for the
        witness, (N + M)^2 for the global MMD^2.
    exact_limit
        See ``method``.
    n_per_bandwidth
        Features of each bandwidth, cosines and sines together.
    companions
        With ``rff``, the kernel's spread is estimated from this many events of either sample.
    pairs
        The median distance is that of this many random pairs, or of all if there are no more.
    """

    coordinates: CoordinateForm = "standardized"
    source: Source = "pooled"
    factors: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0)
    method: Method = "auto"
    exact_limit: int = 10**9
    n_per_bandwidth: int = 512
    companions: int = 512
    pairs: int = 500_000

    def __post_init__(self) -> None:
        named = {"coordinates": CoordinateForm, "source": Source, "method": Method}
        for name, kind in named.items():
            if (value := getattr(self, name)) not in get_args(kind):
                raise ValueError(
                    f"{name} must be one of {', '.join(get_args(kind))}, not {value!r}"
                )
        object.__setattr__(self, "factors", checks.bandwidths(self.factors, "factors"))
        checks.integer(self.exact_limit, "exact_limit", minimum=0)
        checks.integer(self.companions, "companions", minimum=10)
        checks.integer(self.pairs, "pairs", minimum=100)
        if checks.integer(self.n_per_bandwidth, "n_per_bandwidth", minimum=4) % 2:
            raise ValueError(f"n_per_bandwidth must be even, it is {self.n_per_bandwidth}")

    def used(self, kernels: int) -> Used:
        """Return the method for a task that needs so many kernels, if it is done exactly."""
        if self.method == "auto":
            return "exact" if kernels <= self.exact_limit else "rff"
        return self.method

    def decided(self, N: int, M: int) -> Recipe:
        """Return the recipe with one method for scores, p-value and band, by the costliest."""
        return replace(self, method=self.used((N + M) ** 2))


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
    """

    transform: Callable[[npt.ArrayLike], Array]
    d_med: float
    bank: GaussianBank


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
    return Choices(transform, d_med, GaussianBank(tuple(f * d_med for f in recipe.factors)))


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
