"""Secs. mmd and marginal-contribution, checked at finite size: closed forms and variances."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.estimators import mmd
from localizer.estimators.forced import (
    fresh,
    population,
)
from localizer.kernels.bank import GaussianBank
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory import functionals, scaling
from localizer.theory.variance import ContextVariance
from localizer.verdicts.board import Finding, in_errors, statement
from localizer.verdicts.registry import finding
from localizer.verdicts.theory_checks import listed, nodes, statistics

M = 20
"""The size of a batch."""

# --- closed forms, by quadrature -----------------------------------------------------------


class Quadrature:
    """Means over S and B by quadrature, from the pair kernel itself."""

    x = np.array([[1.5, 0.0], [0.0, 0.0], [-1.0, 1.0], [3.0, 1.0], [5.0, 0.0]])

    def __init__(self, model: GaussianBenchmark) -> None:
        self.model = model
        self.y, self.of_S = nodes(replace(model, epsilon=1.0))
        self.z, self.of_B = nodes(replace(model, epsilon=0.0))

    @cached_property
    def rows(self) -> dict[str, tuple[Array, Array]]:
        """E q_B(x, X) over S and over B, and so over any mixture of them, at three places."""
        return {
            at: (
                functionals.pair_kernel(points, self.y, h=self.model.h) @ self.of_S,
                functionals.pair_kernel(points, self.z, h=self.model.h) @ self.of_B,
            )
            for at, points in (("x", self.x), ("S", self.y), ("B", self.z))
        }

    def over_P(self, at: str, epsilon: float) -> Array:
        """Return E q_B over P."""
        return np.asarray(epsilon * self.rows[at][0] + (1 - epsilon) * self.rows[at][1])

    def theta(self, epsilon: float) -> float:
        """Return MMD^2(P, B)."""
        of_signal = self.of_S @ self.over_P("S", epsilon)
        return float(epsilon * of_signal + (1 - epsilon) * (self.of_B @ self.over_P("B", epsilon)))

    def separation(self, epsilon: float) -> float:
        """Return the class separation of the localizer."""
        apart = self.of_S @ self.over_P("S", epsilon) - self.of_B @ self.over_P("B", epsilon)
        return float(2 / M * apart)


@finding("t.gaussian_forms")
def gaussian_forms(model: GaussianBenchmark) -> Finding:
    """Return how far the closed forms are from quadrature."""
    means = Quadrature(model)
    x, y, of_S, z, of_B = means.x, means.y, means.of_S, means.z, means.of_B
    kernel = GaussianBank((model.h,))
    forms = [
        np.abs(kernel(x, z) @ of_B - model.a_B(x)).max(),
        np.abs(kernel(x, y) @ of_S - model.a_S(x)).max(),
        abs(of_B @ kernel(z, z) @ of_B - model.K_BB),
        abs(of_S @ kernel(y, y) @ of_S - model.K_SS),
        abs(of_S @ kernel(y, z) @ of_B - model.K_SB),
    ]
    return statement(
        float(max(forms)),
        note="largest distance of a_B, a_S, K_BB, K_SS, K_SB from Gauss-Hermite quadrature",
    )


@finding("t.mmd_projection")
def mmd_projection(model: GaussianBenchmark) -> Finding:
    """Return how far the first projection is from the centred witness."""
    means, mixed = Quadrature(model), replace(model, epsilon=0.5)
    witness = mixed.witness(means.x) - mixed.mean_witness
    return statement(
        float(np.abs(means.over_P("x", 0.5) - means.theta(0.5) - witness).max()),
        note="largest distance of the first projection of q_B, by quadrature, from the centred "
        "witness",
    )


@finding("t.global_epsilon")
def global_epsilon(model: GaussianBenchmark) -> Finding:
    """Return the exponent of MMD^2 in epsilon."""
    theta = Quadrature(model).theta
    return statement(
        math.log(theta(0.2) / theta(0.02)) / math.log(10),
        note="exponent of MMD^2(P, B) in epsilon from 0.02 to 0.2, by quadrature",
    )


@finding("t.local_epsilon")
def local_epsilon(model: GaussianBenchmark) -> Finding:
    """Return the exponent of the class separation in epsilon, and how far it is from exact."""
    separation = Quadrature(model).separation
    apart = abs(separation(0.02) / replace(model, epsilon=0.02).class_separation(M) - 1)
    return statement(
        math.log(separation(0.2) / separation(0.02)) / math.log(10),
        distance=apart,
        note=f"exponent of the class separation, by quadrature; it is 2 epsilon MMD^2(S, B) "
        f"/ m to {apart:.0e}",
    )


# --- the unbiased statistic ----------------------------------------------------------------


@finding("t.mmd_unbiased")
def mmd_unbiased(model: GaussianBenchmark, seed: int, *, mmd_batches: int = 20000) -> Finding:
    """Return how far the mean statistic is from MMD^2."""
    mixed = replace(model, epsilon=0.5)
    T = _statistics(mixed, seed, "mixed", mmd_batches)
    return statement(
        abs(in_errors(T - mixed.mmd2)),
        note=f"mean of T_m over {mmd_batches} batches of m = {M}, epsilon = 1/2, less MMD^2(P, B), "
        "in standard errors",
    )


@finding("t.null_second_order")
def null_second_order(model: GaussianBenchmark, seed: int, *, mmd_batches: int = 20000) -> Finding:
    """Return how far the variance at the null is from that of the second order."""
    null = replace(model, epsilon=0.0)
    T = _statistics(null, seed, "null", mmd_batches)
    variance = ContextVariance(null)
    return statement(
        in_errors(T**2 - 2 * variance.zeta_2 / (M * (M - 1))),
        first=variance.zeta_1,
        note=f"variance of T_m over {mmd_batches} null batches of m = {M}, less that of the second "
        "order alone, in standard errors",
    )


# --- what an event adds --------------------------------------------------------------------

PROBES = np.array([[1.5, 0.0], [0.0, 0.0], [3.0, 1.0]])
"""The events whose pair term is looked at."""


class Draws(NamedTuple):
    """What is drawn for the checks below, in this order, from one stream."""

    events: Array
    companions: list[Array]
    w: Array
    noise: Array
    contributions: Array


def draws(seed: int, model: GaussianBenchmark, *, R: int = 20000) -> Draws:
    """Return a batch of 100 events, R contexts for each probe, and numbers without a meaning."""
    rng = stream(seed, "theory", "pairs")
    events = population(replace(model, epsilon=0.2))(rng, 100)
    companions = [population(model)(rng, R * (M - 1)) for _ in PROBES]
    w, noise = rng.standard_normal(2000), rng.standard_normal(2000)
    return Draws(events, companions, w, noise, rng.standard_normal(M))


@finding("t.pair_removal")
def pair_removal(draws: Draws, model: GaussianBenchmark) -> Finding:
    """Return how far removing events is from J_i less 2/m of what remains."""
    q = functionals.pair_kernel(draws.events, draws.events, h=model.h)
    n = len(q)
    without = mmd.T_without(q)
    removal = mmd.T(q) - without - (mmd.pair_contributions(q) - 2 / n * without)
    return statement(
        float(np.abs(removal).max()),
        note=f"largest distance of both sides over the events of a batch of {n}",
    )


@finding("t.pair_variance")
def pair_variance(draws: Draws, model: GaussianBenchmark) -> Finding:
    """Return how far the simulated variance of J_i is from the exact one."""
    exact = ContextVariance(model).v(PROBES) * 4 / (M**2 * (M - 1))
    off = []
    for x, variance, companions in zip(PROBES, exact, draws.companions, strict=True):
        d = functionals.pair_kernel(x[None], companions, h=model.h).reshape(-1, M - 1)
        J = 2 / (M * (M - 1)) * (d.sum(axis=1) - (M - 1) * _mean_q(model, x))
        off.append(in_errors(J**2 - variance))
    return statement(
        float(np.abs(off).max()),
        note=f"simulated less 4 Var q / (m^2 (m-1)) in standard errors, {len(d)} "
        f"contexts of m = {M} for each of {len(PROBES)} probes",
    )


@finding("t.raw_order")
def raw_order(model: GaussianBenchmark) -> Finding:
    """Return the exponent in m of the variance of raw."""
    raw = _orders(model, "raw")
    return statement(
        _farthest(raw, -1.0),
        note=f"exact exponent of Var raw at m = 10^6 by epsilon: {listed(raw)}",
    )


@finding("t.matched_order")
def matched_order(model: GaussianBenchmark) -> Finding:
    """Return the exponents in m of the variances of addition and pair."""
    addition, pair = (_orders(model, name) for name in ("addition", "pair"))
    return statement(
        max((_farthest(each, -3.0) for each in (addition, pair)), key=lambda x: abs(x + 3)),
        note=f"exact exponents at m = 10^6 by epsilon: addition {listed(addition)}; pair "
        f"{listed(pair)}",
    )


@finding("t.matched_order_replacement")
def matched_order_replacement(model: GaussianBenchmark) -> Finding:
    """Return the exponent in m of the variance of replacement."""
    replaced = _orders(model, "replacement")
    return statement(
        _farthest(replaced, -3.0),
        note=f"exact exponents at m = 10^6 by epsilon: {listed(replaced)}; the event that "
        "is replaced keeps a fluctuation of its own, 4 zeta_1/m^2, which no matching removes",
    )


@finding("t.context_factor")
def context_factor(draws: Draws) -> Finding:
    """Return how far a companion's weight in the matched difference is from -1/(m (m-1))."""
    return statement(
        _linear_factor(draws.contributions),
        note="largest distance of what a companion adds to the matched difference of a linear "
        f"statistic from -1/(m (m-1)) times its own contribution, batches of m = {M}",
    )


@finding("t.q_rho")
def q_rho(draws: Draws) -> Finding:
    """Return how far rho^-2 - 1 is from the ratio of variances."""
    w = draws.w - draws.w.mean()
    noise = draws.noise - (draws.noise.mean() + w * (draws.noise @ w) / (w @ w))
    ratio = float(np.var(0.3 * noise) / np.var(w))
    return statement(
        abs(scaling.q_rho(w + 0.3 * noise, w) / ratio - 1),
        note="relative distance of rho^-2 - 1 from Var(xi)/Var(w) with noise orthogonal to w",
    )


# --- helpers -------------------------------------------------------------------------------


def _statistics(model: GaussianBenchmark, seed: int, name: str, number: int) -> Array:
    """Return the statistic of many batches."""
    rng = stream(seed, "theory", "mmd", name)
    return statistics(fresh(population(model))(rng, number, M), h=model.h)


def _orders(model: GaussianBenchmark, name: str) -> dict[float, float]:
    """Return the exponent in m of a variance at m = 10^6, by epsilon."""
    far = (10**6, 2 * 10**6)
    return {
        e: _exponent(ContextVariance(replace(model, epsilon=e)), name, far, model)
        for e in (model.epsilon, 0.2, 1.0)
    }


def _farthest(exponents: dict[float, float], claimed: float) -> float:
    return max(exponents.values(), key=lambda value: abs(value - claimed))


def _linear_factor(batch: Array) -> float:
    """Return how far a companion's weight in the matched difference is from -1/(m (m-1)).

    The statistic is the mean of the contributions; a companion's weight is what moving it by
    one unit does.
    """
    m = len(batch)
    moved = batch + np.eye(m)[1:]
    difference = moved.mean(axis=1) - moved[:, 1:].mean(axis=1)
    before = batch.mean() - batch[1:].mean()
    return float(np.abs(difference - before + 1 / (m * (m - 1))).max())


def _mean_q(model: GaussianBenchmark, x: Array) -> float:
    """Return E q_B(x, X) = theta + h_1(x)."""
    return model.mmd2 + float(model.witness(x[None])[0]) - model.mean_witness


def _exponent(
    variance: ContextVariance, name: str, sizes: tuple[int, int], model: GaussianBenchmark
) -> float:
    """Return the local exponent in m of a variance, half of the probes signal."""
    probes = replace(model, epsilon=0.5).components
    values = [variance.of(name, m=m).mean(probes) for m in sizes]
    return math.log(values[1] / values[0]) / math.log(sizes[1] / sizes[0])
