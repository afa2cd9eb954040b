"""Secs. marginal-principle and influence, checked at finite size: conditional and marginal means.

A Monte Carlo mean is held against the exact localizer, in standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.integrate import quad
from scipy.stats import ncx2

from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.estimators.context_moments import ForcedScores
from localizer.estimators.forced import (
    forced_scores,
    fresh,
    mmd_scores,
    population,
)
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory import functionals
from localizer.verdicts.board import Finding, statement
from localizer.verdicts.registry import finding
from localizer.verdicts.theory_checks import listed, nodes, off, smallest_gap, streams

# --- replacement and addition against the exact localizer ----------------------------------


class Check(NamedTuple):
    """Scores of a statistic by forced inclusion, and its exact localizer.

    ``shift`` is E T_m - E T_(m-1), the constant by which addition differs.
    """

    found: ForcedScores
    L: Array
    shift: float


class Marginals(NamedTuple):
    """What is simulated of several statistics, by their names.

    ``unbiased`` has the scores and the localizer of the unbiased MMD.
    """

    checks: dict[str, Check]
    unbiased: tuple[ForcedScores, Array]
    m: int
    R: int


def marginals(seed: int, model: GaussianBenchmark, *, m: int = 8, R: int = 1000) -> Marginals:
    """Return replacement and addition against the exact localizer, for statistics of three kinds.

    Two are no U-statistics: the plug-in MMD^2, biased and smooth, and the largest distance
    from the origin, which is not even smooth. Both have an exact localizer. The third is
    the unbiased MMD.

    Parameters
    ----------
    seed
        The seed of the configuration.
    model
        The benchmark; the checks use a signal fraction of 1/2, where they are sharpest.
    m, R
        The size of a batch and the number of contexts of each probe.
    """
    model = replace(model, epsilon=0.5)
    # far enough out for the largest distance to notice them, and far apart in both localizers
    probes = np.array([[1.5, 0.0], [0.0, 2.0], [1.0, 2.5], [3.0, 1.0]])
    statistics: dict[str, tuple[Callable[[Array], float], Array, float]] = {
        "the plug-in MMD^2": (
            partial(functionals.plug_in, h=model.h),
            functionals.localization(model, probes, m),
            functionals.mean_plug_in(model, m) - functionals.mean_plug_in(model, m - 1),
        ),
        "the largest distance": (
            _largest_distance,
            np.array([_mean_largest(model, m, x) for x in probes]) - _mean_largest(model, m),
            _mean_largest(model, m) - _mean_largest(model, m - 1),
        ),
    }
    contexts = fresh(population(model))
    checks = {
        name: Check(
            forced_scores(
                statistic,
                probes,
                m=m,
                R=R,
                contexts=contexts,
                rngs=streams(seed, len(probes), "marginals", number),
            ),
            L,
            shift,
        )
        for number, (name, (statistic, L, shift)) in enumerate(statistics.items())
    }
    scores = mmd_scores(
        probes,
        m=m,
        R=50 * R,
        h=model.h,
        contexts=contexts,
        rngs=streams(seed, len(probes), "addition"),
    )
    L = 2 / m * (model.witness(probes) - model.mean_witness)
    return Marginals(checks, (scores, L), m, R)


@finding("t.replacement")
def replacement(marginals: Marginals) -> Finding:
    """Return how far replacement is from the localizer."""
    replaced = {
        name: off(found["replacement"], L) for name, (found, L, _) in marginals.checks.items()
    }
    probes = len(marginals.unbiased[1])
    return statement(
        max(replaced.values()),
        note=f"largest distance from the exact localizer in standard errors, {marginals.R} "
        f"contexts of m = {marginals.m} for each of {probes} probes: {listed(replaced)}",
    )


@finding("t.addition_constant")
def addition_constant(marginals: Marginals) -> Finding:
    """Return how far addition is from the localizer and a constant, and whether it ranks alike."""
    checks = marginals.checks.items()
    added = {name: off(found["addition"], L + shift) for name, (found, L, shift) in checks}
    gaps = {name: smallest_gap(found["addition"], L) for name, (found, L, _) in checks}
    shifts = {name: shift / float(np.ptp(L)) for name, (_, L, shift) in checks}
    ordered = [
        bool(np.all(np.argsort(found["addition"].mean) == np.argsort(L)))
        for _, (found, L, _) in checks
    ]
    return statement(
        max(added.values()),
        gap=min(gaps.values()),
        misordered=ordered.count(False),
        note=f"largest distance from L + E T_m - E T_(m-1) in standard errors: "
        f"{listed(added)}; the constant is {listed(shifts)} of the range of L; the "
        f"simulated means stand in the order of L for {sum(ordered)} of {len(ordered)}, the "
        f"nearest probes apart by {listed(gaps)} errors",
    )


@finding("t.addition_u_statistic")
def addition_u_statistic(marginals: Marginals) -> Finding:
    """Return how far both are from the localizer for a U-statistic."""
    found, L = marginals.unbiased
    unbiased = {name: off(found[name], L) for name in ("addition", "replacement")}
    return statement(
        max(unbiased.values()),
        note="unbiased MMD: largest distance of addition and replacement from (2/m) h_1 in "
        f"standard errors: {listed(unbiased)}",
    )


# --- the influence function ----------------------------------------------------------------

PROBES = np.array([[1.5, 0.0], [0.0, 0.0], [3.0, 1.0]])
"""Where the influence is looked at."""


@finding("t.influence")
def influence(
    model: GaussianBenchmark,
    seed: int,
    *,
    influence_sizes: tuple[int, int] = (20, 80),
    influence_contexts: int = 20000,
) -> Finding:
    """Return what is left of m L after the influence function, at two sizes.

    MMD, the root of MMD^2, is smooth away from the null and no U-statistic.
    """
    model = replace(model, epsilon=0.5)
    left = []
    for m in influence_sizes:
        found = functionals.simulated_remainder(
            model,
            PROBES,
            m=m,
            R=influence_contexts,
            rngs=streams(seed, len(PROBES), "influence", m),
            root=True,
        )
        left.append(float(np.sqrt(np.mean(found.mean**2))))
    # at the larger size alone, where the third order is below a standard error
    small, large = influence_sizes
    pull = off(found, functionals.second_order(model, PROBES, root=True) / large)
    linear = float(np.abs(functionals.influence(model, PROBES, root=True)).max())
    exponent = math.log(left[1] / left[0]) / math.log(large / small)
    return statement(
        left[1] / linear,
        exponent=exponent,
        errors=(pull, 1.0),
        note=f"RMS of m L - IF of MMD at m = {large} over {len(PROBES)} probes, over the "
        f"largest IF, {linear:.2g}; it falls as m^{exponent:.2f} from {left[0]:.2g} at m = "
        f"{small}, and is {pull:.1f} standard errors from the exact second order",
    )


@finding("t.influence_u_statistic")
def influence_u_statistic(model: GaussianBenchmark, seed: int) -> Finding:
    """Return how far the slope of MMD^2 along the contamination path is from 2 h_1."""
    sample = population(replace(model, epsilon=0.5))(stream(seed, "theory", "path"), 60)
    even = np.full(len(sample), 1 / len(sample))
    difference = _path_slope(sample, PROBES, model.h) - _influence(sample, even, PROBES, model.h)
    return statement(
        float(np.abs(difference).max()),
        note="largest distance of the slope of MMD^2 along the contamination path from 2 h_1, "
        f"P the empirical distribution of {len(sample)} events",
    )


@finding("t.influence_null")
def influence_null(model: GaussianBenchmark) -> Finding:
    """Return the influence on MMD^2 at the null, and the variance of its second projection."""
    z, of_B = nodes(replace(model, epsilon=0.0))
    # without a first projection the second is q_B itself
    second = float(of_B @ functionals.pair_kernel(z, z, h=model.h) ** 2 @ of_B)
    return statement(
        float(np.abs(_influence(z, of_B, PROBES, model.h)).max()),
        second=second,
        note=f"largest influence on MMD^2 at P = B, by quadrature over B; the second "
        f"projection has the variance {second:.3g}",
    )


# --- helpers -------------------------------------------------------------------------------


def _largest_distance(batch: Array) -> float:
    return float(np.sqrt(np.max(np.sum(batch**2, axis=1))))


def _mean_largest(model: GaussianBenchmark, m: int, x: Array | None = None) -> float:
    """Return E max |X_i| over m independent events of P, one of them fixed to ``x`` if given."""
    variance, d = model.sigma_s**2, model.d
    shift = float(np.sum(np.square(model.mean))) / variance

    def inside(r: float) -> float:
        of_signal = ncx2.cdf(r * r / variance, d, shift)
        return float((1 - model.epsilon) * ncx2.cdf(r * r, d, 0) + model.epsilon * of_signal)

    start = 0.0 if x is None else float(np.linalg.norm(x))
    others = m if x is None else m - 1
    return start + float(quad(lambda r: 1 - inside(r) ** others, start, 15, limit=200)[0])


def _path_slope(sample: Array, x: Array, h: float, *, eta: float = 1e-4) -> Array:
    """Return the slope of MMD^2((1 - eta) P + eta delta_x, B) at eta = 0, P empirical.

    MMD^2 is quadratic in eta, so that a central difference is exact; the path may be
    followed to negative eta.
    """
    weights = np.full(len(sample), 1 / len(sample))
    slopes = []
    for one in x:
        q = functionals.pair_kernel(*(2 * [np.vstack([sample, one])]), h=h)
        values = []
        for step in (eta, -eta):
            path = np.append((1 - step) * weights, step)
            values.append(float(path @ q @ path))
        slopes.append((values[0] - values[1]) / (2 * eta))
    return np.array(slopes)


def _influence(atoms: Array, weights: Array, x: Array, h: float) -> Array:
    """Return r h_1(x) of the pair kernel for the P with these weights on these atoms."""
    theta = float(weights @ functionals.pair_kernel(atoms, atoms, h=h) @ weights)
    return np.asarray(2 * (functionals.pair_kernel(x, atoms, h=h) @ weights - theta))
