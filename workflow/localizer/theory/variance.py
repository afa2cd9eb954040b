r"""Exact variances of the forced-inclusion estimators in the Gaussian benchmark.

Companions are independent draws from P, the probe x is fixed, and everything is for a
*single* context: divide by R for a mean over R contexts.

The pair kernel q = q_B splits into its Hoeffding components (sec. ustat),

    q(x, y) = theta + h_1(x) + h_1(y) + h_2(x, y),   E h_1(X) = 0,   E h_2(x, X) = 0,

with theta = MMD^2(P, B) and h_1 = w_P - E w_P. Four numbers and functions suffice:

    zeta_1 = Var h_1(X),              zeta_2 = E h_2(X, X')^2,
    e(x)   = E h_2(x, X)^2,           b(x)   = E h_1(X) h_2(x, X).

So zeta_2 is the variance of the fully centred kernel, Var T_m = 4 zeta_1 / m +
2 zeta_2 / (m (m - 1)), and over probes from P the mean of e is zeta_2 and that of b is 0.
The mean of q(x, .) over the m - 1 companions, A, and U = T_{m-1}(C) have

    A - E A = mean_j [h_1(X_j) + h_2(x, X_j)],
    U - theta = 2 mean_j h_1(X_j) + (mean of h_2 over the pairs of C),

and the last term is uncorrelated with the others. The estimators are linear in the two:

    raw          (2/m) A + ((m-2)/m) U,
    addition     (2/m) (A - U),
    pair         (2/m) A,
    replacement  (2/m) (A - A_Y),  A_Y the mean of q(Y, .) over the same companions,

A - A_Y = h_1(x) - h_1(Y) + mean_j [h_2(x, X_j) - h_2(Y, X_j)]. Hence

    Var raw         = 4 (m-1) zeta_1 / m^2 + 8 b / m^2 + [2 (m-2) zeta_2 + 4 e] / (m^2 (m-1)),
    Var addition    = 4 [zeta_1 - 2 b + e + 2 zeta_2 / (m-2)] / (m^2 (m-1)),
    Var pair        = 4 [zeta_1 + 2 b + e] / (m^2 (m-1)),
    Var replacement = 4 [zeta_1 + (e + zeta_2) / (m-1)] / m^2.

The bracket of the pair is v(x) = Var q(x, X), as in sec. marginal-contribution. Replacement keeps
the fluctuation of h_1(Y), which no matching removes, and falls only as m^-2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.vocabulary import FORCED_ESTIMATORS
from localizer.models.gaussian import GaussianBenchmark

Components: TypeAlias = Sequence[tuple[float, Array, float]]
"""A mixture of normals: (weight, mean, variance) of each."""


@dataclass(frozen=True)
class GaussianSum:
    """A function of x: the sum of c_i exp(-t_i |x - a_i|^2 / 2).

    Sums, products, means over normal mixtures and kernel smoothings of such functions are
    again of this form, so that every integral of this module is exact. A constant is a
    term of precision t = 0.

    Parameters
    ----------
    c
        The weight of each term.
    a
        The centre of each term, of shape (terms, d).
    t
        The precision (inverse variance) of each term.
    """

    c: Array
    a: Array
    t: Array

    @classmethod
    def constant(cls, value: float, d: int) -> GaussianSum:
        """Return the function that is ``value`` everywhere in d dimensions."""
        return cls(np.array([value]), np.zeros((1, d)), np.zeros(1))

    @property
    def d(self) -> int:
        """The number of features of x."""
        return int(self.a.shape[1])

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return the function's value at each of the points ``x``."""
        at = checks.points(x, "x", d=self.d)
        square = np.sum((at[:, None] - self.a) ** 2, axis=2)
        return np.asarray(np.exp(-self.t * square / 2) @ self.c)

    def __add__(self, other: GaussianSum | float) -> GaussianSum:
        if not isinstance(other, GaussianSum):
            other = GaussianSum.constant(other, self.d)
        return GaussianSum(
            np.concatenate([self.c, other.c]),
            np.concatenate([self.a, other.a]),
            np.concatenate([self.t, other.t]),
        )

    def __sub__(self, other: GaussianSum | float) -> GaussianSum:
        return self + -1.0 * other

    def __mul__(self, other: GaussianSum | float) -> GaussianSum:
        if not isinstance(other, GaussianSum):
            return GaussianSum(self.c * other, self.a, self.t)
        i, j = (index.ravel() for index in np.indices((self.c.size, other.c.size)))
        t = self.t[i] + other.t[j]
        share = np.divide(self.t[i], t, out=np.zeros_like(t), where=t > 0)
        gap = self.a[i] - other.a[j]
        damping = np.exp(-share * other.t[j] * np.sum(gap**2, axis=1) / 2)
        return GaussianSum(self.c[i] * other.c[j] * damping, other.a[j] + share[:, None] * gap, t)

    __rmul__ = __mul__

    def mean(self, components: Components) -> float:
        """Return E f(X) for X from a mixture of normals."""
        return sum(
            weight * float(np.sum(self._weighted(mean, variance)))
            for weight, mean, variance in components
        )

    def smoothed(self, components: Components, h: float) -> GaussianSum:
        """Return x -> E[k_h(x, X) f(X)] for X from a mixture of normals.

        A term times a normal density is a normal density again, and the kernel widens it.
        """
        parts = []
        for weight, mean, variance in components:
            narrowed = 1 + self.t * variance
            centre = (mean + (self.t * variance)[:, None] * self.a) / narrowed[:, None]
            total = h * h + variance / narrowed
            height = (h * h / total) ** (self.d / 2)
            parts.append(
                GaussianSum(weight * self._weighted(mean, variance) * height, centre, 1 / total)
            )
        return sum(parts[1:], parts[0])

    def _weighted(self, mean: Array, variance: float) -> Array:
        """Return the mean of each term over one normal."""
        narrowed = 1 + self.t * variance
        square = np.sum((self.a - mean) ** 2, axis=1)
        damping = np.exp(-self.t / narrowed * square / 2)
        return np.asarray(self.c * narrowed ** (-self.d / 2) * damping)


@dataclass(frozen=True)
class ContextVariance:
    """The variance over contexts of each estimator, companions from the P of ``model``.

    Parameters
    ----------
    model
        The benchmark. With epsilon 0 the companions are background (the null case).

    Examples
    --------
    The raw estimator in Experiment I, half of the probes signal:

    >>> model = GaussianBenchmark(mean=(1.5, 0.0), sigma_s=0.5, epsilon=0.02, h=1.0)
    >>> variance = ContextVariance(model)
    >>> [round(variance.relative_rms("raw", m=m, R=3000), 3) for m in (5, 80, 640)]
    [0.4, 0.365, 0.423]

    The null test at x* = (5, 0), with its published error of 0.173e-3:

    >>> null = ContextVariance(replace(model, epsilon=0.0))
    >>> f"{math.sqrt(null.of('raw', m=20)([[5.0, 0.0]])[0] / 1e4):.3e}"
    '1.724e-04'
    """

    model: GaussianBenchmark

    @cached_property
    def zeta_1(self) -> float:
        """Var h_1(X), the first Hoeffding component; 0 at the null."""
        return max((self._h_1 * self._h_1).mean(self.model.components), 0.0)

    @cached_property
    def zeta_2(self) -> float:
        """E h_2(X, X')^2, the second Hoeffding component."""
        return self.e.mean(self.model.components)

    @cached_property
    def e(self) -> GaussianSum:
        """e(x) = E h_2(x, X)^2 = v(x) - zeta_1 - 2 b(x)."""
        return self.v - self.zeta_1 - 2 * self.b

    @cached_property
    def b(self) -> GaussianSum:
        """b(x) = E h_1(X) h_2(x, X) = Cov(q(x, X), h_1(X)) - zeta_1."""
        P, h = self.model.components, self.model.h
        covariance = self._h_1.smoothed(P, h) - (self._a_B * self._h_1).mean(P)
        return covariance - self.zeta_1

    @cached_property
    def v(self) -> GaussianSum:
        """v(x) = Var q(x, X); only k(x, X) - mu_B(X) varies with X."""
        P, h, a_B = self.model.components, self.model.h, self._a_B
        one = GaussianSum.constant(1.0, self.model.d)
        # k_h^2 is the kernel of bandwidth h / sqrt(2)
        square = one.smoothed(P, h / math.sqrt(2)) - 2 * a_B.smoothed(P, h) + (a_B * a_B).mean(P)
        mean = one.smoothed(P, h) - a_B.mean(P)
        return square - mean * mean

    @property
    def crossover(self) -> float:
        """m* = zeta_2 / (2 zeta_1), where the two orders of Var T_m are equal (large m).

        Infinite at the null, where there is no first order.
        """
        return self.zeta_2 / (2 * self.zeta_1) if self.zeta_1 > 0 else math.inf

    def best_size(self, *, signal_share: float = 0.5) -> float:
        """Return the m at which the relative error of raw is smallest.

        m^2 Var raw = 4 (m-1) zeta_1 + (4 e - 2 zeta_2) / (m-1) + const: for probes from P
        the minimum lies at 1 + sqrt(m*), far below the crossover m* itself. The error
        falls with m for ever at the null, and rises at once if e < zeta_2 / 2.
        """
        excess = 2 * self.e.mean(self._probes(signal_share)) - self.zeta_2
        if excess <= 0:
            return 3.0
        return 1 + math.sqrt(excess / (2 * self.zeta_1)) if self.zeta_1 > 0 else math.inf

    def statistic(self, m: int) -> float:
        """Return Var T_m of a whole batch from P; at the null 2 zeta_2 / (m (m - 1))."""
        n = checks.integer(m, "m", minimum=2)
        return 4 * self.zeta_1 / n + 2 * self.zeta_2 / (n * (n - 1))

    def of(self, estimator: str, *, m: int) -> GaussianSum:
        """Return the variance of an estimator as a function of the probe x.

        Call it at probes, or take its mean over a population of probes.
        """
        n = checks.integer(m, "m", minimum=3)
        scale = 4 / (n**2 * (n - 1))
        if estimator == "raw":
            parts = self.raw_parts(m=n)
            return parts["first"] + parts["second"] + parts["cross"]
        if estimator == "addition":
            return scale * (self.e - 2 * self.b + self.zeta_1 + 2 * self.zeta_2 / (n - 2))
        if estimator == "replacement":
            return scale * (self.e + self.zeta_2 + (n - 1) * self.zeta_1)
        if estimator == "pair":
            return scale * self.v
        raise ValueError(f"estimator must be one of {list(FORCED_ESTIMATORS)}, not {estimator!r}")

    def raw_parts(self, *, m: int) -> dict[str, GaussianSum]:
        """Return the variance of raw by the component of the statistic that it comes from.

        ``first`` is of h_1 alone (it rules beyond the crossover), ``second`` of h_2 alone
        (the near-degenerate regime), ``cross`` their covariance, zero over probes from P.
        """
        n = checks.integer(m, "m", minimum=3)
        second = (4 * self.e + 2 * (n - 2) * self.zeta_2) * (1 / (n**2 * (n - 1)))
        return {
            "first": GaussianSum.constant(4 * (n - 1) * self.zeta_1 / n**2, self.model.d),
            "second": second,
            "cross": 8 / n**2 * self.b,
        }

    def ratio_constants(self, estimator: str, *, signal_share: float = 0.5) -> tuple[float, float]:
        """Return the constants of Var addition (or pair) over Var raw in the two regimes.

        The first is the limit of m times the ratio in the near-degenerate regime
        (1 << m << m*), the second the limit of m^2 times the ratio at m >> m*; there
        eq. variance-reduction-factor, for a linear statistic, has 1. At the null the
        second is infinite. The variances are averaged over probes.
        """
        if estimator not in ("addition", "pair"):
            raise ValueError(f"estimator must be 'addition' or 'pair', not {estimator!r}")
        probes = self._probes(signal_share)
        sign = 1 if estimator == "pair" else -1
        bracket = self.zeta_1 + 2 * sign * self.b.mean(probes) + self.e.mean(probes)
        near = 2 * bracket / self.zeta_2
        return near, bracket / self.zeta_1 if self.zeta_1 > 0 else math.inf

    def relative_rms(self, estimator: str, *, m: int, R: int, signal_share: float = 0.5) -> float:
        """Return the root of the mean squared error over Delta G_m, exact over probes too.

        A share ``signal_share`` of the probes is signal, the rest background; the mean
        of the variance over probes, not of the error, is taken (fig. exp1-mscan).
        """
        average = self.of(estimator, m=m).mean(self._probes(signal_share))
        return math.sqrt(average / checks.integer(R, "R")) / self._separation(m)

    def relative_rms_at(self, estimator: str, probes: npt.ArrayLike, *, m: int, R: int) -> float:
        """Return the same for given probes."""
        average = float(np.mean(self.of(estimator, m=m)(probes)))
        return math.sqrt(average / checks.integer(R, "R")) / self._separation(m)

    def relative_rms_resolution(
        self,
        estimator: str,
        *,
        m: int,
        R: int,
        probes: int,
        signal_share: float = 0.5,
        degrees: int | None = None,
        excess_kurtosis: float = 0.0,
        given_probes: bool = False,
    ) -> float:
        """Return the standard error of a measured relative RMS.

        The mean over n probes of their estimated variances s_i^2 fluctuates because the
        probes do (exactly: the variance of Var(x) within each class, for fixed numbers
        of signal and background probes) and because each s_i^2 does; then the error of
        the root follows to first order.

        Parameters
        ----------
        estimator, m, R, signal_share
            As for :meth:`relative_rms`.
        probes
            n, the number of probes.
        degrees
            The degrees of freedom of each s_i^2, whose variance is taken as
            Var(x)^2 (2 / degrees + excess_kurtosis / R): R - 1 (default) for the sample
            variance over contexts, 1 for the squared distance of a probe's mean from
            its exact expectation.
        excess_kurtosis
            Of the estimator over contexts; 0 for a normal one. It has no closed form
            here; in the benchmark raw has about 3 (its second order is a weighted sum
            of few chi-squares), addition and pair less than 0.2 from m = 80.
        given_probes
            Whether the probes are the same in all that is compared, so that their draw does not
            count.
        """
        number = checks.integer(probes, "probes")
        freedom = checks.integer(R - 1 if degrees is None else degrees, "degrees")
        variance = self.of(estimator, m=m)
        square = variance * variance
        average = variance.mean(self._probes(signal_share))
        average_square = square.mean(self._probes(signal_share))
        within = average_square - sum(
            weight * variance.mean(((1.0, mean, width),)) ** 2
            for weight, mean, width in self._probes(signal_share)
        )
        of_contexts = average_square * (2 / freedom + excess_kurtosis / R)
        of_probes = 0.0 if given_probes else max(within, 0.0)
        error = math.sqrt((of_probes + of_contexts) / number)
        value = self.relative_rms(estimator, m=m, R=R, signal_share=signal_share)
        return value * error / (2 * average)

    @cached_property
    def _a_B(self) -> GaussianSum:
        background = replace(self.model, epsilon=0.0).components
        return GaussianSum.constant(1.0, self.model.d).smoothed(background, self.model.h)

    @cached_property
    def _h_1(self) -> GaussianSum:
        signal = replace(self.model, epsilon=1.0).components
        a_S = GaussianSum.constant(1.0, self.model.d).smoothed(signal, self.model.h)
        witness = self.model.epsilon * (a_S - self._a_B)
        return witness - self.model.mean_witness

    def _probes(self, signal_share: float) -> Components:
        return replace(self.model, epsilon=signal_share).components

    def _separation(self, m: int) -> float:
        separation = self.model.class_separation(m)
        if not separation > 0:
            raise ValueError("model must have a class separation: epsilon or D_SB is zero")
        return separation
