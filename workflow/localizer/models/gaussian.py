"""Closed forms of the Gaussian benchmark (sec. mmd; eq. analytic-G-gaussian).

Background N(0, I), signal N(mu, sigma_s^2 I), mixture P = (1 - epsilon) B + epsilon S,
Gaussian kernel of bandwidth h. Everything here is exact; the Monte Carlo of
Experiments I and II is drawn on these curves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array


def smoothed_normal(x: Array, *, mean: npt.ArrayLike, variance: float, h: float) -> Array:
    r"""Return E k_h(x, Y) for Y ~ N(mean, variance I).

    The Gaussian kernel is an unnormalised normal density, and two normals convolve
    into one: (h^2 / (h^2 + v))^(d/2) exp(-|x - mean|^2 / (2 (h^2 + v))).
    """
    d = x.shape[1]
    total = h * h + variance
    square = np.sum((x - np.asarray(mean)) ** 2, axis=1)
    return np.asarray((h * h / total) ** (d / 2) * np.exp(-square / (2 * total)))


@dataclass(frozen=True)
class GaussianBenchmark:
    """The contaminated Gaussian model of Experiments I and II.

    Parameters
    ----------
    mean
        The signal's location mu; its length is the dimension d.
    sigma_s
        The signal's standard deviation in each direction.
    epsilon
        The signal fraction of the mixture P.
    h
        The kernel's bandwidth.

    Examples
    --------
    The benchmark of Experiment I:

    >>> model = GaussianBenchmark(mean=(1.5, 0.0), sigma_s=0.5, epsilon=0.02, h=1.0)
    >>> round(model.D_SB, 5)
    0.46086
    >>> f"{model.class_separation(20):.4e}"
    '9.2172e-04'
    """

    mean: Sequence[float]
    sigma_s: float
    epsilon: float
    h: float

    def __post_init__(self) -> None:
        location = checks.vector(self.mean, "mean")
        object.__setattr__(self, "mean", tuple(float(value) for value in location))
        checks.positive(self.sigma_s, "sigma_s")
        checks.fraction(self.epsilon, "epsilon", closed=True)
        checks.positive(self.h, "h")

    @property
    def d(self) -> int:
        """The number of features."""
        return len(self.mean)

    @property
    def components(self) -> tuple[tuple[float, Array, float], ...]:
        """The mixture P as (weight, mean, variance) of its normal components, B first."""
        return (
            (1 - self.epsilon, np.zeros(self.d), 1.0),
            (self.epsilon, np.asarray(self.mean), self.sigma_s**2),
        )

    def a_B(self, x: npt.ArrayLike) -> Array:
        """Return E_B k(x, Y), the background's mean embedding mu_B."""
        at = checks.points(x, "x", d=self.d)
        return smoothed_normal(at, mean=np.zeros(self.d), variance=1.0, h=self.h)

    def a_S(self, x: npt.ArrayLike) -> Array:
        """Return E_S k(x, Y), the signal's mean embedding."""
        at = checks.points(x, "x", d=self.d)
        return smoothed_normal(at, mean=self.mean, variance=self.sigma_s**2, h=self.h)

    @property
    def K_BB(self) -> float:
        """E k(Y, Y') for two background events."""
        return self._mean_kernel(np.zeros(self.d), 2.0)

    @property
    def K_SS(self) -> float:
        """E k(X, X') for two signal events."""
        return self._mean_kernel(np.zeros(self.d), 2 * self.sigma_s**2)

    @property
    def K_SB(self) -> float:
        """E k(X, Y) for a signal and a background event."""
        return self._mean_kernel(np.asarray(self.mean), 1 + self.sigma_s**2)

    @property
    def D_SB(self) -> float:
        """MMD^2(S, B) = K_SS + K_BB - 2 K_SB."""
        return self.K_SS + self.K_BB - 2 * self.K_SB

    @property
    def mmd2(self) -> float:
        """MMD^2(P, B) = epsilon^2 MMD^2(S, B), eq. mmd-mixture-summary."""
        return self.epsilon**2 * self.D_SB

    def witness(self, x: npt.ArrayLike) -> Array:
        """Return the population witness w_P(x) = epsilon [a_S(x) - a_B(x)]."""
        return self.epsilon * (self.a_S(x) - self.a_B(x))

    @property
    def mean_witness(self) -> float:
        """E_P w_P(X), the constant that centres the localizer."""
        of_signal = self.K_SS - self.K_SB
        of_background = self.K_SB - self.K_BB
        return self.epsilon * (self.epsilon * of_signal + (1 - self.epsilon) * of_background)

    def G(self, x: npt.ArrayLike, m: int) -> Array:
        """Return the exact resampling score G_m(x), eq. analytic-G-gaussian."""
        size = checks.integer(m, "m", minimum=2)
        return self.mmd2 + 2 / size * (self.witness(x) - self.mean_witness)

    def class_separation(self, m: int) -> float:
        """Return E_S G_m - E_B G_m = 2 epsilon D_SB / m, eq. mmd-localization-class-separation."""
        size = checks.integer(m, "m", minimum=2)
        return 2 * self.epsilon * self.D_SB / size

    def log_likelihood_ratio(self, x: npt.ArrayLike) -> Array:
        """Return log s(x)/b(x), the Bayes-optimal event score."""
        at = checks.points(x, "x", d=self.d)
        variance = self.sigma_s**2
        of_signal = np.sum((at - np.asarray(self.mean)) ** 2, axis=1) / variance
        of_background = np.sum(at**2, axis=1)
        return np.asarray(0.5 * (of_background - of_signal - self.d * np.log(variance)))

    def _mean_kernel(self, mean: Array, variance: float) -> float:
        at_origin = np.zeros((1, self.d))
        return float(smoothed_normal(at_origin, mean=mean, variance=variance, h=self.h)[0])
