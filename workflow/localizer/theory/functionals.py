r"""Beyond U-statistics: localization of smooth functionals (secs. ustat, influence).

The functional is MMD^2(P, B) with its plug-in estimator, or its root MMD(P, B). The
plug-in estimator replaces P by the empirical distribution of the batch; it is the biased
V-statistic

    V_m = m^-2 sum_ij q_B(X_i, X_j) = ((m-1)/m) T_m + m^-2 sum_i q_B(X_i, X_i),

a U-statistic and a diagonal. Its localization is exact; that of its root is expanded to
second order in 1/m and simulated. Both obey eq. localization-IF: m L -> IF, and the rest
m L - IF falls as 1/m.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.estimators import mmd
from localizer.estimators.context_moments import ContextMoments
from localizer.estimators.forced import Values, fresh, over_contexts, population
from localizer.kernels.bank import GaussianBank, NormalBackground, q_B
from localizer.kernels.matched_sums import KernelSums, MatchedSums
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory.variance import ContextVariance


def pair_kernel(x: npt.ArrayLike, y: npt.ArrayLike, *, h: float) -> Array:
    """Return q_B(x_i, y_j) for the background N(0, I), eq. mmd-U-kernel."""
    rows = checks.points(x, "x")
    bank = GaussianBank((checks.positive(h, "h"),))
    return q_B(rows, y, bank, NormalBackground(bank, rows.shape[1]))


def unbiased(batch: npt.ArrayLike, *, h: float) -> float:
    """Return the U-statistic T_m, the mean of q_B over distinct pairs, eq. mmd-u-pair."""
    events = checks.points(batch, "batch", minimum=2)
    return mmd.T(pair_kernel(events, events, h=h))


def plug_in(batch: npt.ArrayLike, *, h: float, root: bool = False) -> float:
    """Return the V-statistic V_m = MMD^2 of the empirical distribution, or its root."""
    value = max(float(np.mean(pair_kernel(batch, batch, h=h))), 0.0)
    return math.sqrt(value) if root else value


def mean_plug_in(model: GaussianBenchmark, m: int) -> float:
    """Return E V_m = theta + beta / m, with beta = E q_B(X, X) - theta."""
    return model.mmd2 + _bias(model) / checks.integer(m, "m")


def localization(model: GaussianBenchmark, x: npt.ArrayLike, m: int) -> Array:
    """Return L_{V,m}(x) exactly.

    The U-part has weight (m-1)/m and localization (2/m) h_1 (eq. ustat-main), the
    diagonal part localizes on the event itself: (2/m) h_1 + m^-2 [delta - 2 h_1], where
    delta(x) = q_B(x, x) - E q_B(X, X).
    """
    size = checks.integer(m, "m")
    return influence(model, x) / size + second_order(model, x) / size**2


def influence(model: GaussianBenchmark, x: npt.ArrayLike, *, root: bool = False) -> Array:
    """Return the influence function of MMD^2, 2 h_1(x), or of MMD, h_1(x) / MMD.

    The root has none at the null, where it is not differentiable.
    """
    h_1 = model.witness(x) - model.mean_witness
    return h_1 / _distance(model) if root else 2 * h_1


def second_order(model: GaussianBenchmark, x: npt.ArrayLike, *, root: bool = False) -> Array:
    r"""Return lim m (m L - IF), the coefficient of m^-2 in the localization.

    For V_m it is all there is. For the root, with s = MMD, expand
    sqrt(V) = s + (V - theta)/(2 s) - (V - theta)^2/(8 s^3) + (V - theta)^3/(16 s^5) - ...
    and keep what depends on x: E[V | x] from above; E[(V - theta)^2 | x] through
    [8 b + 4 h_1^2 + 4 beta h_1] / m^2, b as in :mod:`localizer.theory.variance`; and
    E[(V - theta)^3 | x] through 24 zeta_1 h_1 / m^2. Higher powers begin at m^-3.
    """
    h_1 = model.witness(x) - model.mean_witness
    # q_B(x, x) = 1 - 2 mu_B(x) + K_BB, of which only mu_B depends on x
    delta = -2 * (model.a_B(x) - _mean_a_B(model))
    of_square = delta - 2 * h_1
    if not root:
        return np.asarray(of_square)
    s = _distance(model)
    variance = ContextVariance(model)
    quadratic = 8 * variance.b(x) + 4 * (h_1**2 - variance.zeta_1) + 4 * _bias(model) * h_1
    cubic = 24 * variance.zeta_1 * h_1
    return np.asarray(of_square / (2 * s) - quadratic / (8 * s**3) + cubic / (16 * s**5))


def simulated_remainder(
    model: GaussianBenchmark,
    probes: npt.ArrayLike,
    *,
    m: int,
    R: int,
    rngs: Sequence[np.random.Generator],
    root: bool = False,
) -> ContextMoments:
    """Estimate m L_{T,m}(x) - IF(x) by replacement in R contexts of each probe.

    The influence of the replaced event Y has mean zero and is nearly all of the noise,
    so it is subtracted: m [T(x, C) - T(Y, C)] - [IF(x) - IF(Y)] has the wanted mean and
    the small variance of what is not linear. ``rngs`` as in
    :func:`localizer.estimators.forced.forced_scores`.
    """
    size = checks.integer(m, "m", minimum=3)

    def statistic(sums: KernelSums) -> Array:
        n = sums.size
        value = (2 * sums.pairs + n) / n**2 - 2 * sums.embedding / n + sums.K_BB
        return np.sqrt(np.maximum(value, 0.0)) if root else value

    def prepare(block: Array) -> Values:
        sums = MatchedSums.of(block, h=model.h)
        baseline = size * statistic(sums.replaced) - influence(model, block[:, -1], root=root)

        def values(x: Array) -> Array:
            forced = size * statistic(sums.forced(x)) - influence(model, x[None], root=root)
            return np.asarray(forced - baseline)[None]

        return values

    scores = over_contexts(
        prepare, ["remainder"], probes, m=size, R=R, contexts=fresh(population(model)), rngs=rngs
    )
    return scores["remainder"]


def _mean_a_B(model: GaussianBenchmark) -> float:
    return model.epsilon * model.K_SB + (1 - model.epsilon) * model.K_BB


def _bias(model: GaussianBenchmark) -> float:
    """Return beta = E q_B(X, X) - theta."""
    return 1 - 2 * _mean_a_B(model) + model.K_BB - model.mmd2


def _distance(model: GaussianBenchmark) -> float:
    if not model.mmd2 > 0:
        raise ValueError("model must differ from the background: the root has no influence at 0")
    return math.sqrt(model.mmd2)
