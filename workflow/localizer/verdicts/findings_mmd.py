"""Secs. mmd and marginal-contribution, checked at finite size: closed forms and variances."""

from __future__ import annotations

import math
from dataclasses import replace

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
from localizer.verdicts.board import Finding, statement
from localizer.verdicts.theory_checks import listed, nodes, statistics


def of_mmd(
    seed: int, model: GaussianBenchmark, *, m: int = 20, number: int = 20000
) -> list[Finding]:
    """Return the closed forms of MMD by quadrature, and its null fluctuations by simulation."""
    mixed = replace(model, epsilon=0.5)
    y, of_S = nodes(replace(model, epsilon=1.0))
    z, of_B = nodes(replace(model, epsilon=0.0))
    x = np.array([[1.5, 0.0], [0.0, 0.0], [-1.0, 1.0], [3.0, 1.0], [5.0, 0.0]])
    kernel = GaussianBank((model.h,))
    forms = [
        np.abs(kernel(x, z) @ of_B - model.a_B(x)).max(),
        np.abs(kernel(x, y) @ of_S - model.a_S(x)).max(),
        abs(of_B @ kernel(z, z) @ of_B - model.K_BB),
        abs(of_S @ kernel(y, y) @ of_S - model.K_SS),
        abs(of_S @ kernel(y, z) @ of_B - model.K_SB),
    ]
    # E q_B(x, X) over S and over B, and so over any mixture of them, from the pair kernel itself
    rows = {
        at: (
            functionals.pair_kernel(points, y, h=model.h) @ of_S,
            functionals.pair_kernel(points, z, h=model.h) @ of_B,
        )
        for at, points in (("x", x), ("S", y), ("B", z))
    }

    def over_P(at: str, epsilon: float) -> Array:
        return np.asarray(epsilon * rows[at][0] + (1 - epsilon) * rows[at][1])

    def theta(epsilon: float) -> float:
        of_signal, of_background = of_S @ over_P("S", epsilon), of_B @ over_P("B", epsilon)
        return float(epsilon * of_signal + (1 - epsilon) * of_background)

    def separation(epsilon: float) -> float:
        return float(2 / m * (of_S @ over_P("S", epsilon) - of_B @ over_P("B", epsilon)))

    projection = over_P("x", 0.5) - theta(0.5) - (mixed.witness(x) - mixed.mean_witness)
    exponents = {
        name: math.log(function(0.2) / function(0.02)) / math.log(10)
        for name, function in (("global", theta), ("local", separation))
    }
    apart = abs(separation(0.02) / replace(model, epsilon=0.02).class_separation(m) - 1)
    T = {
        name: statistics(
            fresh(population(each))(stream(seed, "theory", "mmd", name), number, m), h=model.h
        )
        for name, each in (("mixed", mixed), ("null", replace(model, epsilon=0.0)))
    }
    biased = abs(T["mixed"].mean() - mixed.mmd2) / (T["mixed"].std(ddof=1) / math.sqrt(number))
    null = ContextVariance(replace(model, epsilon=0.0))
    fluctuation = T["null"] ** 2
    spread = (fluctuation.mean() - 2 * null.zeta_2 / (m * (m - 1))) / (
        fluctuation.std(ddof=1) / math.sqrt(number)
    )
    return [
        statement(
            "t.gaussian_forms",
            float(max(forms)),
            note="largest distance of a_B, a_S, K_BB, K_SS, K_SB from Gauss-Hermite quadrature",
        ),
        statement(
            "t.mmd_unbiased",
            float(biased),
            note=f"mean of T_m over {number} batches of m = {m}, epsilon = 1/2, less MMD^2(P, B), "
            "in standard errors",
        ),
        statement(
            "t.mmd_projection",
            float(np.abs(projection).max()),
            note="largest distance of the first projection of q_B, by quadrature, from the centred "
            "witness",
        ),
        statement(
            "t.global_epsilon",
            exponents["global"],
            note="exponent of MMD^2(P, B) in epsilon from 0.02 to 0.2, by quadrature",
        ),
        statement(
            "t.local_epsilon",
            exponents["local"],
            distance=apart,
            note=f"exponent of the class separation, by quadrature; it is 2 epsilon MMD^2(S, B) "
            f"/ m to {apart:.0e}",
        ),
        statement(
            "t.null_second_order",
            float(spread),
            first=null.zeta_1,
            note=f"variance of T_m over {number} null batches of m = {m}, less that of the second "
            "order alone, in standard errors",
        ),
    ]


def of_variances(
    seed: int, model: GaussianBenchmark, *, m: int = 20, R: int = 20000
) -> list[Finding]:
    """Return the orders of the variances in the generic regime, and that of the pair term."""
    rng = stream(seed, "theory", "pairs")
    events = population(replace(model, epsilon=0.2))(rng, 100)
    q = functionals.pair_kernel(events, events, h=model.h)
    n = len(events)
    without = mmd.T_without(q)
    removal = mmd.T(q) - without - (mmd.pair_contributions(q) - 2 / n * without)
    probes = np.array([[1.5, 0.0], [0.0, 0.0], [3.0, 1.0]])
    exact = ContextVariance(model).v(probes) * 4 / (m**2 * (m - 1))
    off = []
    for x, variance in zip(probes, exact, strict=True):
        companions = population(model)(rng, R * (m - 1))
        d = functionals.pair_kernel(x[None], companions, h=model.h).reshape(R, m - 1)
        squares = (2 / (m * (m - 1)) * (d.sum(axis=1) - (m - 1) * _mean_q(model, x))) ** 2
        off.append((squares.mean() - variance) / (squares.std(ddof=1) / math.sqrt(R)))
    far = (10**6, 2 * 10**6)
    orders = {
        name: {
            e: _exponent(ContextVariance(replace(model, epsilon=e)), name, far, model)
            for e in (model.epsilon, 0.2, 1.0)
        }
        for name in ("raw", "addition", "replacement", "pair")
    }
    w = rng.standard_normal(2000)
    w -= w.mean()
    noise = rng.standard_normal(2000)
    noise -= noise.mean() + w * (noise @ w) / (w @ w)
    ratio = float(np.var(0.3 * noise) / np.var(w))
    definition = abs(scaling.q_rho(w + 0.3 * noise, w) / ratio - 1)
    rule = {name: listed(by) for name, by in orders.items()}

    def farthest(name: str, claimed: float) -> float:
        return max(orders[name].values(), key=lambda value: abs(value - claimed))

    return [
        statement(
            "t.pair_removal",
            float(np.abs(removal).max()),
            note=f"largest distance of both sides over the events of a batch of {n}",
        ),
        statement(
            "t.pair_variance",
            float(np.abs(off).max()),
            note=f"simulated less 4 Var q / (m^2 (m-1)) in standard errors, {R} contexts of m = "
            f"{m} for each of {len(probes)} probes",
        ),
        statement(
            "t.raw_order",
            farthest("raw", -1.0),
            note=f"exact exponent of Var raw at m = 10^6 by epsilon: {rule['raw']}",
        ),
        statement(
            "t.matched_order",
            max((farthest(name, -3.0) for name in ("addition", "pair")), key=lambda x: abs(x + 3)),
            note=f"exact exponents at m = 10^6 by epsilon: addition {rule['addition']}; pair "
            f"{rule['pair']}",
        ),
        statement(
            "t.matched_order_replacement",
            farthest("replacement", -3.0),
            note=f"exact exponents at m = 10^6 by epsilon: {rule['replacement']}; the event that "
            "is replaced keeps a fluctuation of its own, 4 zeta_1/m^2, which no matching removes",
        ),
        statement(
            "t.context_factor",
            _linear_factor(rng, m),
            note="largest distance of what a companion adds to the matched difference of a linear "
            f"statistic from -1/(m (m-1)) times its own contribution, batches of m = {m}",
        ),
        statement(
            "t.q_rho",
            definition,
            note="relative distance of rho^-2 - 1 from Var(xi)/Var(w) with noise orthogonal to w",
        ),
    ]


def _linear_factor(rng: np.random.Generator, m: int) -> float:
    """Return how far a companion's weight in the matched difference is from -1/(m (m-1)).

    The statistic is the mean of the contributions; a companion's weight is what moving it by
    one unit does.
    """
    batch = rng.standard_normal(m)
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
