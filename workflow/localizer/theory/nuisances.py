r"""Profiling on the Gaussian benchmark, in closed form (sec. mmd, with a wrong reference).

Sample, reference and variations are mixtures of normal distributions; a shifted or rescaled
background is one more of them. Kernel expectations between normals are normal densities, so that
the profiled discrepancy, its localizer, the angle between a signal and the nuisances and the
remainder of a shift beyond first order are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.estimators.profiled import combinations, squared_distance
from localizer.estimators.templates import as_differences
from localizer.models.gaussian import smoothed_normal

Normals = Sequence[tuple[float, npt.ArrayLike, float]]
"""A mixture of normals N(mean, variance I), as (weight, mean, variance) of each."""

_NODES = 40

_ROUNDING = 1e-14


def normal(mean: npt.ArrayLike, scale: float = 1.0) -> Normals:
    """Return N(mean, scale^2 I): the standard background, shifted and rescaled."""
    return [(1.0, checks.vector(mean, "mean"), checks.positive(scale, "scale") ** 2)]


def mean_embedding(normals: Normals, x: npt.ArrayLike, *, h: float) -> Array:
    """Return E k_h(x, Y) at every row of x."""
    at = checks.points(x, "x")
    parts = [w * smoothed_normal(at, mean=mean, variance=v, h=h) for w, mean, v in normals]
    return np.asarray(sum(parts))


def inner_product(one: Normals, other: Normals, *, h: float) -> float:
    """Return E k_h(X, Y) of two independent mixtures.

    Examples
    --------
    >>> round(inner_product(normal([0.0, 0.0]), normal([0.0, 0.0]), h=1.0), 6)
    0.333333
    """
    total = 0.0
    for (w, mean, v), (u, centre, s) in product(one, other):
        between = (np.asarray(mean) - np.asarray(centre))[None]
        at = smoothed_normal(between, mean=np.zeros(between.shape[1]), variance=v + s, h=h)
        total += w * u * float(at[0])
    return total


@dataclass(frozen=True, eq=False)
class ProfiledPopulation:
    """The profiled discrepancy of a sample from a reference with variations, all known.

    Parameters
    ----------
    sample, reference, variations
        P, B_0 and B_1 .. B_K.
    h
        The bandwidth of the kernel.

    Examples
    --------
    A mixture of the templates is explained, with its own theta:

    >>> wrong, shifted = normal([0.3, 0.0]), normal([-0.3, 0.0])
    >>> mixed = [(0.25, [0.3, 0.0], 1.0), (0.75, [-0.3, 0.0], 1.0)]
    >>> found = ProfiledPopulation(mixed, wrong, (shifted,), h=1.0)
    >>> found.theta.round(6).tolist(), abs(round(found.discrepancy, 12))
    ([0.75], 0.0)
    """

    sample: Normals
    reference: Normals
    variations: tuple[Normals, ...]
    h: float

    @cached_property
    def gram(self) -> Array:
        """The inner products of p, b_0 .. b_K."""
        every = (self.sample, self.reference, *self.variations)
        return np.array([[inner_product(a, b, h=self.h) for b in every] for a in every])

    @cached_property
    def products(self) -> Array:
        """The inner products of delta, d_1 .. d_K."""
        return as_differences(self.gram)

    @cached_property
    def inverse(self) -> Array:
        """The inverse of D'D."""
        basis = combinations(self.products[1:, 1:])
        return np.asarray(basis @ basis.T)

    @property
    def theta(self) -> Array:
        """The theta of the nearest B_theta."""
        return np.asarray(self.inverse @ self.products[1:, 0])

    @property
    def discrepancy(self) -> float:
        """Min over theta of |delta - D theta|^2."""
        return float(squared_distance(self.products))

    @property
    def share(self) -> float:
        """The squared cosine of the angle between delta and the nuisances.

        For a sample of signal alone it is the part of the signal's squared length, and of its
        witness, that profiling takes.
        """
        return 1 - self.discrepancy / float(self.products[0, 0])

    def differences(self, x: npt.ArrayLike) -> Array:
        """Return delta, d_1 .. d_K at every row of x, as columns."""
        every = (self.sample, *self.variations)
        b_0 = mean_embedding(self.reference, x, h=self.h)
        return np.stack([mean_embedding(n, x, h=self.h) - b_0 for n in every], axis=1)

    def witness(self, x: npt.ArrayLike) -> Array:
        """Return the localizer: the witness of P against the nearest B_theta."""
        values = self.differences(x)
        return np.asarray(values[:, 0] - values[:, 1:] @ self.theta)

    def centred(self, x: npt.ArrayLike) -> Array:
        """Return <d_k, phi(x) - b_0>, one column a variation."""
        return np.asarray(self.differences(x)[:, 1:] - (self.gram[2:, 1] - self.gram[1, 1]))

    def own_pair(self, x: npt.ArrayLike) -> Array:
        """Return q(x, x), with q the centred pair kernel (eq. mmd-U-kernel) projected off D."""
        d = self.centred(x)
        b_0 = mean_embedding(self.reference, x, h=self.h)
        return np.asarray(
            1 - 2 * b_0 + self.gram[1, 1] - np.einsum("ik,kl,il->i", d, self.inverse, d)
        )

    def plug_in_localizer(self, x: npt.ArrayLike, *, m: int) -> Array:
        """Return L_{T,m}(x) of the plug-in profiled statistic, up to a constant.

        With T_m the squared distance of the empirical mean embedding from all B_theta, and so
        the mean of q over all m^2 pairs,

            m L(x) = 2 (1 - 1/m) w(x) + q(x, x) / m + constant:

        it approaches eq. localization-IF, 2 w(x) + constant, as 1/m.
        """
        size = checks.integer(m, "m", minimum=2)
        return (2 * (1 - 1 / size) * self.witness(x) + self.own_pair(x) / size) / size

    def null_spread(self) -> float:
        """Return sqrt(2 tr Cov^2), Cov of the features of B_0 = N(mean, v I) projected off D.

        Under P = B_theta and for n events each of sample and reference, the profiled
        discrepancy scatters by (2/n) times this.
        """
        ((_, mean, variance),) = self.reference
        points, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        d = len(np.asarray(mean))
        grid = np.stack(np.meshgrid(*[points] * d, indexing="ij"), axis=-1).reshape(-1, d)
        weight = np.prod(np.meshgrid(*[weights] * d, indexing="ij"), axis=0).ravel()
        weight /= weight.sum()
        x = np.asarray(mean) + np.sqrt(variance) * grid
        square = np.sum((x[:, None] - x[None]) ** 2, axis=2)
        b_0 = mean_embedding(self.reference, x, h=self.h)
        q = np.exp(-square / (2 * self.h**2)) - b_0[:, None] - b_0 + self.gram[1, 1]
        along = self.centred(x)
        # covariances of d(Y): their mean over B_0 is zero
        q -= along @ self.inverse @ along.T
        return float(np.sqrt(2 * weight @ q**2 @ weight))

    def breaking_size(self) -> float:
        """Return the size of sample and reference at which the remainder shows.

        The sample holds no signal: what profiling leaves is the remainder of the nuisance
        beyond first order. At this size it adds one standard deviation of the null
        distribution to the profiled discrepancy.
        """
        left = self.discrepancy
        # a remainder that is zero to rounding never shows
        return 2 * self.null_spread() / left if left > _ROUNDING else np.inf
