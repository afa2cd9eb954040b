r"""How well a finite number of batches recovers the witness (eqs. q-rho-definition, q-rho-scaling).

The laws rest on the Hoeffding decomposition of the pair kernel over the sample itself,
q_B(x_i, x_j) = theta + g_i + g_j + g_ij: the variance of the g_i is that of the witness,
Var(w), and s is that of the g_ij. With sums over the m - 1 companions j (and k) of event i
in a batch, the noise of one occurrence, in the normalisation of the witness, is

    pair      (m/2) J_i:                     sum_j (g_j + g_ij) / (m-1),
    marginal  (m/2) (T_m - T_{m-1}^{(-i)}):  sum_j (g_ij - g_j) / (m-1)
                                             - 2 sum_{j<k} g_jk / ((m-1) (m-2)),
    raw       (m/2) T_m:                     sum_j g_j + [sum_j g_ij + sum_{j<k} g_jk] / (m-1),

and since the terms are uncorrelated its variance is

    pair      [Var(w) + s] / (m-1),
    marginal  [Var(w) + s m / (m-2)] / (m-1),
    raw       (m-1) Var(w) + s m / (2 (m-1)).

An event occurs K = R m / N times on average, and the noise falls as 1/K. The first line is
the law q_rho = C / (R m^2) with C = N (Var(w) + s) / Var(w), up to m / (m-1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.vocabulary import BatchEstimator


def q_rho(score: npt.ArrayLike, target: npt.ArrayLike) -> float:
    """Return rho^-2 - 1 for the correlation rho of a score and its target, eq. q-rho-definition.

    Examples
    --------
    >>> round(q_rho([0.0, 1.0, 2.0, 4.0], [0.0, 1.0, 2.0, 3.0]), 4)
    0.0355
    """
    noise, signal = _parts(score, target)
    return noise / signal


def correlation(q: npt.ArrayLike) -> Array:
    """Return the correlation rho that belongs to q_rho, (1 + q)^(-1/2)."""
    return np.asarray(1 / np.sqrt(1 + np.asarray(q, dtype=np.float64)))


@dataclass(frozen=True)
class PairMoments:
    """What the scaling laws need to know about a sample.

    Attributes
    ----------
    N
        The number of events.
    replacement
        Whether batches are drawn with replacement, and an event counts among its own
        companions.
    witness
        Var_i(w_i), with w_i the mean of q_B(x_i, x_j) over the companions j.
    pair
        The mean over i of Var_j[q_B(x_i, x_j)].
    aligned
        Var_j[mean_i (w_i - mean w) q_B(x_i, x_j)] / Var_i(w_i): the part of the noise that
        follows the witness, and so changes the slope and not the correlation.
    """

    N: int
    replacement: bool
    witness: float
    pair: float
    aligned: float

    @property
    def C(self) -> float:
        """The constant of eq. q-rho-scaling, N mean_i Var_j[q_B(x_i, x_j)] / Var_i(w_i)."""
        return self.N * self.pair / self.witness

    @classmethod
    def from_constant(
        cls, C: float, *, N: int, replacement: bool, aligned: float = 0.0
    ) -> PairMoments:
        """Return moments (in units of Var(w)) with a given constant, such as a published one.

        ``aligned`` is in units of the pair moment, as of a sample like it.

        Examples
        --------
        What C = 6.80e9 implies for raw resampling at m = 1000 and R = 5e6:

        >>> published = PairMoments.from_constant(6.80e9, N=122124, replacement=True)
        >>> round(float(correlation(published.q("raw", m=1000, R=5_000_000))), 3)
        0.766
        >>> round(float(correlation(published.q("pair", m=1000, R=5_000_000))), 4)
        0.9993
        """
        size = checks.integer(N, "N", minimum=4)
        pair = checks.positive(C, "C") / size
        return cls(size, replacement, 1.0, pair, aligned * pair)

    def q(self, estimator: BatchEstimator, *, m: int, R: int) -> float:
        """Return the q_rho that R batches of size m should give.

        For the pair score and m << N this is C (m/(m-1)) (1 + N/(R m)) / (R m^2). Beyond it,
        in relative order m/N: noise that the events of a batch share, or that follows the
        witness, drops out of the correlation; twins (with replacement) repeat their noise;
        a batch that is not a small part of the sample fluctuates less (without). Left out are
        terms of relative order 1/N and (N/(R m))^2.
        """
        self._check(m, R)
        N = self.N
        w, s = self.witness, self.pair - self.witness
        # variances of sums over the m - 1 companions, over their pairs, over all of a batch
        # and over its pairs; f, f2, h, h2 are their finite-population factors
        if self.replacement:
            f = f2 = h = h2 = 1.0
            twins, spread = 1 + (m - 1) / N, 1.0
        else:
            f, h = (N - m) / (N - 2), (N - m) / (N - 1)
            f2 = h2 = (N - m) * (N - m - 1) / ((N - 2) * (N - 3))
            twins, spread = 1.0, 1 - m / N
        match estimator:
            case "pair":
                own = f * (w + s) / (m - 1)
                shared = (h * w + 2 * h2 * s / (m - 1) + f * self.aligned) / m
            case "marginal":
                own = (f * (w + s) + 2 * f2 * s / (m - 2)) / (m - 1)
                shared = (h * w + f * self.aligned) / m
            case "raw":
                own = (m - 1) * f * w + (f + f2 * (m - 2) / 2) * s / (m - 1)
                shared = (m - 1) ** 2 / m * h * w + h2 * s * m / (2 * (m - 1))
            case _:
                raise ValueError(f"estimator must be raw, marginal or pair, not {estimator!r}")
        # an event that is always in the batch leaves fewer such events to its companions
        slope = h if estimator == "raw" else 1.0
        exposure = R * m / N
        noise = own * twins * (1 + spread / exposure) / exposure - shared / R
        return noise / (slope**2 * w)

    def _check(self, m: int, R: int) -> None:
        checks.integer(m, "m", minimum=3, maximum=None if self.replacement else self.N)
        checks.integer(R, "R")
        checks.positive(self.witness, "witness")


def moments_of_features(z: npt.ArrayLike, *, replacement: bool) -> PairMoments:
    """Return the moments of q_B(x_i, x_j) = z_i . z_j, in O(N D^2).

    With replacement this is the trace formula mean_i Var_j = tr(M2 Cov), with M2 = z^T z / N and
    Cov = M2 - mean mean^T.
    """
    table = checks.points(z, "z", minimum=4)
    N = len(table)
    squares = _quadratic_forms(table, table.T @ table)
    own = np.einsum("ij,ij->i", table, table)
    # without replacement, an event is no companion of its own
    companions, weight = (N, 0.0) if replacement else (N - 1, 1.0)
    w = (table @ (np.ones(N) @ table) - weight * own) / companions
    centred = w - w.mean()
    variance = float(np.var(w))
    if variance == 0:
        raise ValueError("the witness must vary over the events, it is constant")
    along = (table @ (centred @ table) - weight * own * centred) / N
    return PairMoments(
        N=N,
        replacement=bool(replacement),
        witness=variance,
        pair=float(np.mean((squares - weight * own**2) / companions - w**2)),
        aligned=float(np.var(along)) / variance,
    )


def log_q_covariance(z: npt.ArrayLike, *, m: Sequence[int], R: Sequence[int]) -> Array:
    r"""Return the covariance of log q_rho of the pair score at points (m, R), on one sample.

    Points of one m are checkpoints of one run, the batches of the smaller R being among those
    of the larger; points of different m are independent. With slope and residual of the
    regression of the score on the witness, q_rho = Var(residual) / (slope^2 Var(w)).

    The residuals of event i have a variance in proportion to v_i = Var_j[q_B(x_i, x_j)].
    Two events share a part m/N of their batches, in which their noise has the covariance
    c_ij = Cov_k[q_B(x_i, x_k), q_B(x_j, x_k)]. For Gaussian noise the logarithm of the
    residual variance then has, for any R, the variance

        (2/N) [mean v_i^2 + (m^2/N) mean c_ij^2] / (mean v_i)^2,

    and the correlation R/R' between nested checkpoints R < R': the noise at R' is a mean in
    which that at R has the weight R/R'. The slope is linear in the noise; with u the mean of
    the features and w_i = z_i . u its variance is

        { mean[(w_i - mean w)^2 v_i] / (m-1) + u^T Cov^3 u } / (R m Var(w)^2),

    and its covariance between nested checkpoints is its variance at the larger R.

    Parameters
    ----------
    z
        The features of the sample, q_B(x_i, x_j) = z_i . z_j.
    m, R
        The batch size and the number of batches of each point.
    """
    table = checks.points(z, "z", minimum=4)
    numbers = checks.vector(R, "R", size=len(m))
    sizes = np.array([checks.integer(size, "each of m", minimum=3) for size in m])
    if numbers.min() <= 0:
        raise ValueError("R must be positive everywhere")
    N = len(table)
    u = table.mean(axis=0)
    second = table.T @ table / N
    spread = second - np.outer(u, u)
    v = _quadratic_forms(table, spread)
    product = spread @ second
    overlap = np.sum(product * product.T)
    w = table @ u
    w -= w.mean()
    shared = u @ spread @ spread @ spread @ u
    residual = 2 / N * (np.mean(v**2) + sizes**2 / N * overlap) / np.mean(v) ** 2
    slope = (np.mean(w**2 * v) / (sizes - 1) + shared) / (sizes * np.var(w) ** 2)
    larger = np.maximum.outer(numbers, numbers)
    smaller = np.minimum.outer(numbers, numbers)
    nested = residual * smaller / larger + 4 * slope / larger
    return np.asarray(np.where(np.equal.outer(sizes, sizes), nested, 0.0))


def _parts(score: npt.ArrayLike, target: npt.ArrayLike) -> tuple[float, float]:
    """Return Var(residual) and slope^2 Var(target) of the regression of the score on the target.

    The residual, unlike 1 - rho^2, keeps its digits when rho is close to 1.
    """
    x = checks.vector(score, "score", minimum=2)
    y = checks.vector(target, "target", size=x.size)
    x, y = x - x.mean(), y - y.mean()
    if not y.any():
        raise ValueError("target must not be constant, a constant has no correlation")
    slope = (x @ y) / (y @ y)
    if slope == 0:
        raise ValueError("score must be correlated with target, their correlation is 0")
    residual = x - slope * y
    return float(np.mean(residual**2)), float(slope**2 * np.mean(y**2))


def _quadratic_forms(table: Array, matrix: Array) -> Array:
    """Return z_i^T matrix z_i for each row, in blocks that do not copy the table."""
    values = np.empty(len(table))
    for first in range(0, len(table), 4096):
        rows = table[first : first + 4096]
        values[first : first + 4096] = np.einsum("ij,ij->i", rows @ matrix, rows)
    return values
