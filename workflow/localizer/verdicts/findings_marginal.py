"""Secs. marginal-principle and influence, checked at finite size: conditional and marginal means.

A Monte Carlo mean is held against the exact localizer, in standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.integrate import quad
from scipy.stats import ncx2

from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.estimators.forced import (
    forced_scores,
    fresh,
    mmd_scores,
    population,
)
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory import functionals
from localizer.verdicts.board import Finding, statement
from localizer.verdicts.theory_checks import listed, nodes, off, smallest_gap, streams


def of_marginals(
    seed: int, model: GaussianBenchmark, *, m: int = 8, R: int = 1000
) -> list[Finding]:
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
    replaced, added, shifts, gaps, ordered = {}, {}, {}, {}, []
    for number, (name, (statistic, L, shift)) in enumerate(statistics.items()):
        found = forced_scores(
            statistic,
            probes,
            m=m,
            R=R,
            contexts=fresh(population(model)),
            rngs=streams(seed, len(probes), "marginals", number),
        )
        replaced[name] = off(found["replacement"], L)
        added[name] = off(found["addition"], L + shift)
        shifts[name] = shift / float(np.ptp(L))
        gaps[name] = smallest_gap(found["addition"], L)
        ordered.append(bool(np.all(np.argsort(found["addition"].mean) == np.argsort(L))))
    scores = mmd_scores(
        probes,
        m=m,
        R=50 * R,
        h=model.h,
        contexts=fresh(population(model)),
        rngs=streams(seed, len(probes), "addition"),
    )
    L = 2 / m * (model.witness(probes) - model.mean_witness)
    unbiased = {name: off(scores[name], L) for name in ("addition", "replacement")}
    return [
        statement(
            "t.replacement",
            max(replaced.values()),
            note=f"largest distance from the exact localizer in standard errors, {R} contexts of "
            f"m = {m} for each of {len(probes)} probes: {listed(replaced)}",
        ),
        statement(
            "t.addition_constant",
            max(added.values()),
            gap=min(gaps.values()),
            misordered=ordered.count(False),
            note=f"largest distance from L + E T_m - E T_(m-1) in standard errors: "
            f"{listed(added)}; the constant is {listed(shifts)} of the range of L; the "
            f"simulated means stand in the order of L for {sum(ordered)} of {len(ordered)}, the "
            f"nearest probes apart by {listed(gaps)} errors",
        ),
        statement(
            "t.addition_u_statistic",
            max(unbiased.values()),
            note="unbiased MMD: largest distance of addition and replacement from (2/m) h_1 in "
            f"standard errors: {listed(unbiased)}",
        ),
    ]


def of_influence(
    seed: int, model: GaussianBenchmark, *, sizes: tuple[int, int] = (20, 80), R: int = 20000
) -> list[Finding]:
    """Return the influence function as the leading order of the localizer.

    MMD, the root of MMD^2, is smooth away from the null and no U-statistic: what is left
    of m L after its influence is simulated at two sizes. For MMD^2 the influence is the
    slope along the contamination path, by differences, and is compared with 2 h_1.
    """
    model = replace(model, epsilon=0.5)
    probes = np.array([[1.5, 0.0], [0.0, 0.0], [3.0, 1.0]])
    left = []
    for m in sizes:
        found = functionals.simulated_remainder(
            model, probes, m=m, R=R, rngs=streams(seed, len(probes), "influence", m), root=True
        )
        left.append(float(np.sqrt(np.mean(found.mean**2))))
    # at the larger size alone, where the third order is below a standard error
    pull = off(found, functionals.second_order(model, probes, root=True) / sizes[1])
    linear = float(np.abs(functionals.influence(model, probes, root=True)).max())
    exponent = math.log(left[1] / left[0]) / math.log(sizes[1] / sizes[0])
    sample = population(model)(stream(seed, "theory", "path"), 60)
    even = np.full(len(sample), 1 / len(sample))
    slope = float(
        np.abs(
            _path_slope(sample, probes, model.h) - _influence(sample, even, probes, model.h)
        ).max()
    )
    z, of_B = nodes(replace(model, epsilon=0.0))
    at_null = float(np.abs(_influence(z, of_B, probes, model.h)).max())
    # without a first projection the second is q_B itself
    second = float(of_B @ functionals.pair_kernel(z, z, h=model.h) ** 2 @ of_B)
    return [
        statement(
            "t.influence",
            left[1] / linear,
            exponent=exponent,
            errors=(pull, 1.0),
            note=f"RMS of m L - IF of MMD at m = {sizes[1]} over {len(probes)} probes, over the "
            f"largest IF, {linear:.2g}; it falls as m^{exponent:.2f} from {left[0]:.2g} at m = "
            f"{sizes[0]}, and is {pull:.1f} standard errors from the exact second order",
        ),
        statement(
            "t.influence_u_statistic",
            slope,
            note="largest distance of the slope of MMD^2 along the contamination path from 2 h_1, "
            "P the empirical distribution of 60 events",
        ),
        statement(
            "t.influence_null",
            at_null,
            second=second,
            note=f"largest influence on MMD^2 at P = B, by quadrature over B; the second "
            f"projection has the variance {second:.3g}",
        ),
    ]


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
