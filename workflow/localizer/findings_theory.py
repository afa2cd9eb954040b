"""What the theory sections claim, checked at finite size: one finding for each published row.

Where a claim is an identity, both sides are computed on different roads: by enumeration
of every batch of a finite population, by quadrature, or by Monte Carlo against a closed
form. The value is then the largest distance of the two, in units of rounding (an absolute
number) or of standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, product

import numpy as np
import numpy.typing as npt
from scipy.integrate import quad
from scipy.stats import multivariate_normal, ncx2, spearmanr

from localizer import batches, functionals, mmd, posterior, scaling, toys, witness
from localizer.checks import Array
from localizer.contexts import MatchedSums
from localizer.features import fourier_features
from localizer.forced import Moments, Statistic, forced_scores, fresh, mmd_scores, population
from localizer.gaussian import GaussianBenchmark
from localizer.kernels import GaussianBank, NormalBackground
from localizer.randomness import stream
from localizer.scoreboard import Finding, statement
from localizer.variance import ContextVariance

Kernel = Callable[[Sequence[int]], float]
"""A symmetric kernel of the numbers of some atoms of a finite population."""

ROUNDING = 1e-12
"""What counts as equal for two roads in double precision."""

SIGMAS = 5.0
"""A Monte Carlo mean is off if it is this many standard errors away (1 in 1.7 million)."""


# --- secs. marginal-principle, ustat: conditional, marginal, projection --------------


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
    statistics: dict[str, tuple[Statistic, Array, float]] = {
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
            rngs=_streams(seed, len(probes), "marginals", number),
        )
        replaced[name] = _off(found["replacement"], L)
        added[name] = _off(found["addition"], L + shift)
        shifts[name] = shift / float(np.ptp(L))
        gaps[name] = _smallest_gap(found["addition"], L)
        ordered.append(bool(np.all(np.argsort(found["addition"].mean) == np.argsort(L))))
    scores = mmd_scores(
        probes,
        m=m,
        R=50 * R,
        h=model.h,
        contexts=fresh(population(model)),
        rngs=_streams(seed, len(probes), "addition"),
    )
    L = 2 / m * (model.witness(probes) - model.mean_witness)
    unbiased = {name: _off(scores[name], L) for name in ("addition", "replacement")}
    return [
        statement(
            "t.replacement",
            max(replaced.values()) < SIGMAS,
            value=max(replaced.values()),
            note=f"largest distance from the exact localizer in standard errors, {R} contexts of "
            f"m = {m} for each of {len(probes)} probes: {_listed(replaced)}",
        ),
        statement(
            "t.addition_constant",
            max(added.values()) < SIGMAS < min(gaps.values()) and all(ordered),
            value=max(added.values()),
            note=f"largest distance from L + E T_m - E T_(m-1) in standard errors: "
            f"{_listed(added)}; the constant is {_listed(shifts)} of the range of L; the "
            f"simulated means stand in the order of L for {sum(ordered)} of {len(ordered)}, the "
            f"nearest probes apart by {_listed(gaps)} errors",
        ),
        statement(
            "t.addition_u_statistic",
            max(unbiased.values()) < SIGMAS,
            value=max(unbiased.values()),
            note="unbiased MMD: largest distance of addition and replacement from (2/m) h_1 in "
            f"standard errors: {_listed(unbiased)}",
        ),
    ]


def of_projections(seed: int, *, atoms: int = 5, m: int = 5) -> list[Finding]:
    """Return the Hoeffding projection, by enumeration of every batch of a finite population.

    Kernels of order 2 and 3 on ``atoms`` equally likely values, drawn at random; batches
    of ``m`` independent draws, all atoms^m of them.
    """
    rng = stream(seed, "theory", "projections")
    kernels: dict[int, Kernel] = {r: _symmetric(rng, atoms, r) for r in (2, 3)}
    identity, residual, difference = {}, {}, {}
    for r, kernel in kernels.items():
        theta = _mean_of(kernel, atoms, r)
        h_1 = np.array([_mean_of(kernel, atoms, r, first=x) for x in range(atoms)]) - theta
        values = {
            batch: _u_statistic(kernel, batch, r) for batch in product(range(atoms), repeat=m)
        }
        L = _localized(values, atoms)
        identity[r] = float(np.abs(L - r / m * h_1).max())
        for smaller in range(3, m):
            batches_of = product(range(atoms), repeat=smaller)
            some = {batch: _u_statistic(kernel, batch, r) for batch in batches_of}
            off = np.abs(_localized(some, atoms) - r / smaller * h_1).max()
            identity[r] = max(identity[r], float(off))
        # the projection leaves a rest without any function of a single observation
        rest = {batch: value - theta - L[list(batch)].sum() for batch, value in values.items()}
        residual[r] = max(abs(_given(rest, x)) for x in range(atoms))
        difference[r] = _context_difference(kernel, rng.integers(atoms, size=m + 2).tolist(), r)
    g = rng.standard_normal(atoms)
    g -= g.mean()
    flat = {
        batch: _u_statistic(lambda pair: float(g[pair[0]] * g[pair[1]]), batch, 2)
        for batch in product(range(atoms), repeat=m)
    }
    vanishing = max(abs(_given(flat, x)) for x in range(atoms))
    variance = float(np.var(list(flat.values())))
    expected = 2 * float(np.mean(g**2)) ** 2 / (m * (m - 1))
    return [
        statement(
            "t.hoeffding",
            max(identity.values()) < ROUNDING,
            value=max(identity.values()),
            note=f"largest distance of L from (r/m) h_1 for r = 2, 3 and m = 3 to {m}, every one "
            f"of {atoms}^m batches",
        ),
        statement(
            "t.hajek",
            max(residual.values()) < ROUNDING,
            value=max(residual.values()),
            note="largest mean, given one observation, of what the sum of localizers leaves of "
            "T_m - theta, r = 2, 3",
        ),
        statement(
            "t.context_difference",
            max(difference.values()) < ROUNDING,
            value=max(difference.values()),
            note="largest distance of both sides in one batch, r = 2, 3",
        ),
        statement(
            "t.degenerate",
            vanishing < ROUNDING < variance and abs(variance - expected) < ROUNDING,
            value=vanishing,
            note=f"largest L of a kernel with h_1 = 0; its T_m still has the variance "
            f"{variance:.3g}, and 2 Var h / (m (m-1)) is {expected:.3g}",
        ),
    ]


# --- sec. influence -----------------------------------------------------------------


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
            model, probes, m=m, R=R, rngs=_streams(seed, len(probes), "influence", m), root=True
        )
        left.append(float(np.sqrt(np.mean(found.mean**2))))
    # at the larger size alone, where the third order is below a standard error
    pull = _off(found, functionals.second_order(model, probes, root=True) / sizes[1])
    linear = float(np.abs(functionals.influence(model, probes, root=True)).max())
    exponent = math.log(left[1] / left[0]) / math.log(sizes[1] / sizes[0])
    sample = population(model)(stream(seed, "theory", "path"), 60)
    even = np.full(len(sample), 1 / len(sample))
    slope = float(
        np.abs(
            _path_slope(sample, probes, model.h) - _influence(sample, even, probes, model.h)
        ).max()
    )
    z, of_B = _nodes(replace(model, epsilon=0.0))
    at_null = float(np.abs(_influence(z, of_B, probes, model.h)).max())
    # without a first projection the second is q_B itself
    second = float(of_B @ functionals.pair_kernel(z, z, h=model.h) ** 2 @ of_B)
    return [
        statement(
            "t.influence",
            exponent < -0.5 and left[1] < 0.1 * linear and pull < SIGMAS,
            value=left[1],
            note=f"RMS of m L - IF of MMD at m = {sizes[1]} over {len(probes)} probes, where IF is "
            f"up to {linear:.2g}; it falls as m^{exponent:.2f} from {left[0]:.2g} at m = "
            f"{sizes[0]}, and is {pull:.1f} standard errors from the exact second order",
        ),
        statement(
            "t.influence_u_statistic",
            slope < 1e-9,
            value=slope,
            note="largest distance of the slope of MMD^2 along the contamination path from 2 h_1, "
            "P the empirical distribution of 60 events",
        ),
        statement(
            "t.influence_null",
            at_null < 1e-9 < second,
            value=at_null,
            note=f"largest influence on MMD^2 at P = B, by quadrature over B; the second "
            f"projection has the variance {second:.3g}",
        ),
    ]


# --- sec. mmd -----------------------------------------------------------------------


def of_mmd(
    seed: int, model: GaussianBenchmark, *, m: int = 20, number: int = 20000
) -> list[Finding]:
    """Return the closed forms of MMD by quadrature, and its null fluctuations by simulation."""
    mixed = replace(model, epsilon=0.5)
    y, of_S = _nodes(replace(model, epsilon=1.0))
    z, of_B = _nodes(replace(model, epsilon=0.0))
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
        name: _statistics(
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
            max(forms) < 1e-9,
            value=float(max(forms)),
            note="largest distance of a_B, a_S, K_BB, K_SS, K_SB from Gauss-Hermite quadrature",
        ),
        statement(
            "t.mmd_unbiased",
            biased < SIGMAS,
            value=float(biased),
            note=f"mean of T_m over {number} batches of m = {m}, epsilon = 1/2, less MMD^2(P, B), "
            "in standard errors",
        ),
        statement(
            "t.mmd_projection",
            float(np.abs(projection).max()) < 1e-9,
            value=float(np.abs(projection).max()),
            note="largest distance of the first projection of q_B, by quadrature, from the centred "
            "witness",
        ),
        statement(
            "t.global_epsilon",
            abs(exponents["global"] - 2) < 1e-6,
            value=exponents["global"],
            note="exponent of MMD^2(P, B) in epsilon from 0.02 to 0.2, by quadrature",
        ),
        statement(
            "t.local_epsilon",
            abs(exponents["local"] - 1) < 1e-6 and apart < 1e-6,
            value=exponents["local"],
            note=f"exponent of the class separation, by quadrature; it is 2 epsilon MMD^2(S, B) "
            f"/ m to {apart:.0e}",
        ),
        statement(
            "t.null_second_order",
            null.zeta_1 < ROUNDING and abs(spread) < SIGMAS,
            value=float(spread),
            note=f"variance of T_m over {number} null batches of m = {m}, less that of the second "
            "order alone, in standard errors",
        ),
    ]


# --- sec. marginal-contribution: variances ------------------------------------------


def of_variances(
    seed: int, model: GaussianBenchmark, *, m: int = 20, R: int = 20000, about: float
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
    rule = {name: _listed(by) for name, by in orders.items()}

    def near(name: str, claimed: float) -> bool:
        return all(abs(value - claimed) < about for value in orders[name].values())

    return [
        statement(
            "t.pair_removal",
            float(np.abs(removal).max()) < ROUNDING,
            value=float(np.abs(removal).max()),
            note=f"largest distance of both sides over the events of a batch of {n}",
        ),
        statement(
            "t.pair_variance",
            float(np.abs(off).max()) < SIGMAS,
            value=float(np.abs(off).max()),
            note=f"simulated less 4 Var q / (m^2 (m-1)) in standard errors, {R} contexts of m = "
            f"{m} for each of {len(probes)} probes",
        ),
        statement(
            "t.raw_order",
            near("raw", -1.0),
            value=orders["raw"][1.0],
            note=f"exact exponent of Var raw at m = 10^6 by epsilon: {rule['raw']}",
        ),
        statement(
            "t.matched_order",
            near("addition", -3.0) and near("pair", -3.0),
            value=orders["addition"][1.0],
            note=f"exact exponents at m = 10^6 by epsilon: addition {rule['addition']}; pair "
            f"{rule['pair']}; but replacement {rule['replacement']}: the event that is replaced "
            "keeps a fluctuation of its own",
        ),
        statement(
            "t.q_rho",
            definition < 1e-9,
            value=definition,
            note="relative distance of rho^-2 - 1 from Var(xi)/Var(w) with noise orthogonal to w",
        ),
    ]


# --- secs. algorithm-localization, direct-estimation ---------------------------------


def of_sampling(seed: int, model: GaussianBenchmark, *, m: int = 20) -> list[Finding]:
    """Return global batches and contexts with and without replacement on finite samples."""
    sizes = (250, 500, 1000, 2000)
    gaps, orders = [], []
    for N in sizes:
        x = toys.fixed_alternative(stream(seed, "theory", "replacement", N), N, model).x
        q = functionals.pair_kernel(x, x, h=model.h)
        with_twins, distinct = (_contexts_mean(q, m, twins=twins) for twins in (True, False))
        gap = (with_twins - distinct) / model.class_separation(m)
        gaps.append(float(np.abs(gap).mean()))
        orders.append(float(np.ptp(gap)))
    exponent = float(np.polyfit(np.log(sizes), np.log(gaps), 1)[0])
    ordering = float(np.polyfit(np.log(sizes), np.log(orders), 1)[0])
    N, group = 400, 500
    x = toys.fixed_alternative(stream(seed, "theory", "global"), N, model).x
    q = functionals.pair_kernel(x, x, h=model.h)
    target = mmd.pair_contributions(q) * N / 2
    errors, kept = [], []
    for batches_of in (range(4), range(4, 68)):
        sums = batches.run(
            batches.KernelPairs(q),
            m=m,
            groups=batches_of,
            group_size=group,
            streams=partial(stream, seed, "theory", "group"),
            replacement=False,
        )
        errors.append(float(np.sqrt(np.mean((batches.scores(sums).witness - target) ** 2))))
        kept.append(float(sums.count.mean()))
    by_exposure = math.log(errors[1] / errors[0]) / math.log(kept[1] / kept[0])
    return [
        statement(
            "t.sampling",
            exponent < -0.9 and ordering < -0.9,
            value=gaps[-1],
            note=f"mean difference of the two conditional averages over Delta G_m at m/N = "
            f"{m / sizes[-1]:g}; it is nearly the same for all events (range {orders[-1]:.1g}), "
            f"and falls as N^{exponent:.2f}, the range as N^{ordering:.2f}",
        ),
        statement(
            "t.error_by_exposure",
            abs(by_exposure + 0.5) < 0.1,
            value=by_exposure,
            note=f"exponent of the RMS error of the pair score about its exact target between K = "
            f"{kept[0]:.0f} and {kept[1]:.0f} batches an event, independent runs on one sample "
            f"of {N}",
        ),
    ]


def of_witness(
    seed: int, model: GaussianBenchmark, *, N: int = 200, runs: int = 300
) -> list[Finding]:
    """Return leave-one-out and random features against their definitions."""
    bank = GaussianBank((model.h,))
    background = NormalBackground(bank, model.d)
    probes = np.array([[1.5, 0.0], [0.0, 0.0], [5.0, 0.0]])
    rng = stream(seed, "theory", "loo")
    P = population(model)
    values = np.array(
        [
            [
                witness.loo_witness(np.vstack([x, P(rng, N - 1)]), bank, background)[0]
                for x in probes
            ]
            for _ in range(runs)
        ]
    )
    bias = (values.mean(axis=0) - model.witness(probes)) / (values.std(axis=0, ddof=1) / runs**0.5)
    sample = P(rng, 2000)
    own = witness.self_difference(sample, bank)
    both = witness.empirical_witness(sample, sample, bank, background) - witness.loo_witness(
        sample, bank, background
    )
    few = sample[:200]
    k = bank(few, few)
    widths, draws = (64, 256, 1024), 40
    squares = np.empty((len(widths), draws))
    # the errors of one draw of features are alike for all pairs: many draws make a mean
    for (row, D), draw in product(enumerate(widths), range(draws)):
        each = fourier_features(
            bank, model.d, stream(seed, "theory", "features", D, draw), n_per_bandwidth=D
        )
        z = each.transform(few, dtype=np.float64)
        squares[row, draw] = np.mean((z @ z.T - k) ** 2)
    mean_square = squares.mean(axis=1)
    errors = np.sqrt(mean_square)
    slope = float(np.polyfit(np.log(widths), np.log(errors), 1)[0])
    relative = squares.std(axis=1, ddof=1) / math.sqrt(draws) / mean_square
    # the slope of three points in equal steps is that of the two outer ones
    slope_error = math.hypot(relative[0], relative[-1]) / 2 / math.log(widths[-1] / widths[0])
    z_B = each.mean(toys.background(rng, 2000, model.d), dtype=np.float64)
    loo = witness.rff_loo(z, z.mean(axis=0), z_B, N=len(few))
    left_out = [z[i] @ (np.delete(z, i, axis=0).mean(axis=0) - z_B) for i in range(len(few))]
    rff = float(np.abs(loo - left_out).max())
    return [
        statement(
            "t.loo_unbiased",
            float(np.abs(bias).max()) < SIGMAS,
            value=float(np.abs(bias).max()),
            note=f"largest distance of the mean LOO score from w_P in standard errors, {runs} "
            f"samples of {N} for each of {len(probes)} events",
        ),
        statement(
            "t.self_difference",
            float(np.abs(own - both).max()) < ROUNDING and 0 < float(own.min()),
            value=float(np.abs(own - both).max()),
            note=f"largest distance of both sides over {len(sample)} events; the "
            f"self-inclusive score is higher by {own.min() * len(sample):.2f}/N to "
            f"{own.max() * len(sample):.2f}/N",
        ),
        statement(
            "t.rff_trade_off",
            abs(slope + 0.5) < 0.1,
            value=slope,
            note=f"exponent in D of the RMS error of z(x).z(y), +- {slope_error:.2g}; from "
            f"{errors[0]:.2g} at D = {widths[0]} to {errors[-1]:.2g} at D = {widths[-1]}, {draws} "
            "draws of features",
        ),
        statement(
            "t.rff_loo",
            rff < ROUNDING,
            value=rff,
            note=f"largest distance from the features' mean without the event, {len(few)} events, "
            f"D = {widths[-1]}",
        ),
    ]


# --- secs. information, global-local, problem ---------------------------------------


def of_context(
    seed: int, model: GaussianBenchmark, *, N: int = 8, signals: int = 2, toys_of: int = 2000
) -> list[Finding]:
    """Return what context says of a label, by summation over every assignment of the labels."""
    rng = stream(seed, "theory", "context")
    sigma_s, gamma = model.sigma_s, 1 - model.sigma_s**2
    mu = toys.latent_location(rng, d=2, sigma_s=sigma_s)
    x = toys.background(rng, N, 2)
    x[:signals] = mu + sigma_s * x[:signals]
    control = toys.independent_latents(rng, N, d=2, sigma_s=sigma_s, epsilon=signals / N).x
    shared = partial(_shared_ratio, covariance=gamma)
    private = partial(_private_ratio, sigma_s=sigma_s, spread=math.sqrt(gamma))
    fixed = {
        "shared": _label_posterior(x, shared, signals=signals),
        "independent": _label_posterior(control, private, signals=signals),
    }
    moved = {name: float(np.abs(p - signals / N).max()) for name, p in fixed.items()}
    epsilon = 0.2
    summed = _label_posterior(x, shared, epsilon=epsilon)
    predicted = posterior.contextual_posterior(x, epsilon=epsilon, sigma_s=sigma_s)
    off = float(np.abs(summed - predicted).max())
    told = replace(model, mean=tuple(mu))
    known = _label_posterior(
        x, lambda some: math.exp(float(told.log_likelihood_ratio(some).sum())), epsilon=epsilon
    )
    alone = posterior.signal_posterior(told.log_likelihood_ratio(x), epsilon=epsilon)
    nothing = _label_posterior(control, private, epsilon=epsilon)
    sizes = (500, 5000)
    evidence, off_evidence = {}, {}
    per_event = 0.0
    for share, kind in ((1 - model.epsilon, 0.0), (model.epsilon, 1.0)):
        nodes, weights = _nodes(replace(model, epsilon=kind), order=100)
        per_event += share * float(weights @ _log_evidence(model, nodes))
    for size in sizes:
        totals = np.array(
            [_log_evidence(model, population(model)(rng, size)).sum() for _ in range(toys_of)]
        )
        evidence[size] = totals.mean()
        off_evidence[size] = float(
            (totals.mean() - size * per_event) / (totals.std(ddof=1) / math.sqrt(toys_of))
        )
    growth = float(evidence[sizes[1]] / evidence[sizes[0]])
    farthest = max(map(abs, off_evidence.values()))
    return [
        statement(
            "e2.known_theta",
            float(np.abs(known - alone).max()) < 1e-9,
            value=float(np.abs(known - alone).max()),
            note=f"largest difference of the posterior given {N} events, all 2^{N} labellings "
            f"summed, and that of the event alone; mu known, epsilon = {epsilon:g}",
        ),
        statement(
            "e2.no_shared_no_information",
            float(np.abs(nothing - epsilon).max()) < 1e-9,
            value=float(np.abs(nothing - epsilon).max()),
            note=f"largest distance of the posterior given {N} events from epsilon = {epsilon:g}, "
            "every labelling summed and every private mu_i integrated; with a shared mu it is "
            f"{float(np.abs(summed - epsilon).max()):.2g}",
        ),
        statement(
            "t.fixed_count",
            moved["independent"] < 1e-9 < 0.01 < moved["shared"],
            value=moved["independent"],
            note=f"largest distance of P(Z_i = S | X) from N_S/N, {signals} signals fixed among "
            f"{N} events, every assignment summed and every private mu integrated; with a shared "
            f"mu it is {moved['shared']:.2g}",
        ),
        statement(
            "t.contextual_posterior",
            off < 1e-7,
            value=off,
            note=f"largest distance of the posterior-predictive form from the sum over all 2^{N} "
            f"labellings, epsilon = {epsilon:g}",
        ),
        statement(
            "t.evidence_grows",
            farthest < SIGMAS and per_event > 0,
            value=growth,
            note=f"mean log likelihood ratio of P against B at N = {sizes[1]} over that at "
            f"{sizes[0]}, {toys_of} samples; both are within {farthest:.1f} standard errors of N "
            f"times {per_event:.3g}, by quadrature",
        ),
    ]


def of_interpretation(
    seed: int, model: GaussianBenchmark, *, N: int = 500, runs: int = 200
) -> list[Finding]:
    """Return what a score means: not an outlier's, not yet a discovery, not safe from a bad B."""
    grid = np.stack(np.meshgrid(np.linspace(-6, 6, 241), [0.0]), axis=-1).reshape(-1, 2)
    score = model.witness(grid)
    best = grid[int(np.argmax(score))]
    ordinary = math.exp(-float(best @ best) / 2)
    extreme = np.array([[0.0, 5.0]])
    tail = math.exp(-float(extreme[0] @ extreme[0]) / 2)
    little = float(model.witness(extreme)[0] / score.max())
    bank = GaussianBank((model.h,))
    background = NormalBackground(bank, model.d)
    rng = stream(seed, "theory", "selection")
    null = [
        witness.loo_witness(toys.background(rng, N, model.d), bank, background) for _ in range(runs)
    ]
    means = np.array([scores.mean() for scores in null])
    largest = np.array([scores.max() for scores in null]) / np.std(null)
    centred = float(means.mean() / (means.std(ddof=1) / math.sqrt(runs)))
    selected = float(largest.mean() / (largest.std(ddof=1) / math.sqrt(runs)))
    sides, T = {}, {}
    size, samples = 1000, 30
    for shift in (0.2, 0.0):
        sides[shift], T[shift] = _mismatch(
            stream(seed, "theory", "mismatch", f"{shift:g}"), model, shift, N=size, runs=samples
        )
    spread = float(np.std(T[0.0], ddof=1))
    excess = float(np.mean(T[0.2]))
    chance = float(np.mean(sides[0.0])), float(np.std(sides[0.0], ddof=1)) / math.sqrt(samples)
    coherent = float(np.mean(sides[0.2]))
    widths = (0.05, 0.1, 0.5, 1.0)
    scan = np.geomspace(0.05, 20, 121)
    best_h = [float(scan[int(np.argmax([_power(model, s, h) for h in scan]))]) for s in widths]
    return [
        statement(
            "t.ordinary_event",
            ordinary > 0.1 and abs(little) < 0.1,
            value=ordinary,
            note=f"background probability beyond the point of largest witness, |x| = "
            f"{np.linalg.norm(best):.2f}; at (0, 5), with {tail:.0e} beyond it, the witness is "
            f"{little:.0e} of the largest",
        ),
        statement(
            "t.selection",
            abs(centred) < SIGMAS < selected,
            value=float(largest.mean()),
            note=f"mean largest LOO score of {N} null events in RMS scores, {selected:.0f} "
            f"standard errors from zero; the mean over all is {centred:.1f} errors away",
        ),
        statement(
            "t.background_mismatch",
            coherent > 0.75
            and abs(chance[0] - 0.5) < SIGMAS * chance[1]
            and excess > SIGMAS * spread,
            value=excess,
            note=f"mean T_N of {samples} samples of {size} events of a background shifted by 0.2, "
            f"no signal: {excess / spread:.0f} times the null spread of one; "
            f"{100 * coherent:.0f} % of the LOO scores have the sign of their side of the middle, "
            f"{100 * chance[0]:.0f} +- {100 * chance[1]:.0f} % if the background is right",
        ),
        statement(
            "t.bandwidth_scale",
            bool(np.all(np.diff(best_h) > 0)),
            value=best_h[0],
            note="bandwidth of the largest MMD^2(S, B) over its null fluctuation, by the signal's "
            "width: "
            + ", ".join(f"{h:.2g} at {s:g}" for s, h in zip(widths, best_h, strict=True))
            + f" (scan from {scan[0]:g} to {scan[-1]:g})",
        ),
    ]


def of_choices(
    seed: int, model: GaussianBenchmark, *, N: int = 60, runs: int = 2000
) -> list[Finding]:
    """Return what choices do that look at the data: a scan, a centring, another statistic."""
    scan = (0.25, 0.5, 1.0, 2.0, 4.0)
    rng = stream(seed, "theory", "scan")
    samples = fresh(population(replace(model, epsilon=0.0)))(rng, 2 * runs, N)
    null = np.stack([_statistics(samples, h=h) for h in scan], axis=1)
    # half of the samples sets the thresholds, the other half is judged by them
    known, judged = null[:runs], null[runs:]
    best = {
        name: np.mean(known[None] < values[:, None], axis=1).max(axis=1)
        for name, values in (("known", known), ("judged", judged))
    }
    rates = {
        "single": float(np.mean(best["judged"] > 0.95)),
        "repeated": float(np.mean(best["judged"] > np.quantile(best["known"], 0.95))),
    }
    # of a rate of 5 %, with a threshold from as many samples
    error = math.sqrt(2 * 0.05 * 0.95 / runs)
    x = np.array([[2.0, 0.0]])
    bank = GaussianBank((model.h,))
    background = NormalBackground(bank, model.d)
    moved = []
    for _ in range(200):
        others = toys.background(rng, N - 1, model.d)
        sample = np.vstack([x, others])
        moved.append(
            witness.loo_witness(sample - sample.mean(axis=0), bank, background)[0]
            - witness.loo_witness(sample - others.mean(axis=0), bank, background)[0]
        )
    shift = float(np.mean(moved) / (np.std(moved, ddof=1) / math.sqrt(len(moved))))
    events = population(model)(rng, 2000)
    local, broad = (replace(model, h=h).witness(events) for h in (scan[0], scan[-1]))
    alike = float(spearmanr(local, broad).statistic)
    return [
        statement(
            "t.scan_calibration",
            rates["single"] - 0.05 > SIGMAS * error > abs(rates["repeated"] - 0.05),
            value=rates["single"],
            note=f"false alarms at a nominal 5 % if the best of {len(scan)} bandwidths is held "
            f"against its own null; {rates['repeated']:.3f} if pseudoexperiments repeat the scan, "
            f"+- {error:.3f}, {N} events",
        ),
        statement(
            "t.cross_fitting",
            abs(shift) > SIGMAS,
            value=float(np.mean(moved)),
            note=f"change of the LOO score of (2, 0) among {N} null events if it has a part in "
            f"their centring, {abs(shift):.0f} standard errors from zero",
        ),
        statement(
            "t.different_rankings",
            alike < 0.9,
            value=alike,
            note=f"rank correlation over events from P of the witnesses with h = {scan[0]:g} and "
            f"{scan[-1]:g}",
        ),
    ]


# --- helpers ------------------------------------------------------------------------


def _streams(seed: int, number: int, *key: str | int) -> list[np.random.Generator]:
    return [stream(seed, "theory", *key, i) for i in range(number)]


def _off(found: Moments, exact: npt.ArrayLike) -> float:
    """Return the largest distance from exact values in standard errors."""
    return float(np.max(np.abs(found.mean - np.asarray(exact)) / found.standard_error))


def _smallest_gap(found: Moments, exact: Array) -> float:
    """Return how far apart the nearest of the exact values are, in errors of the difference."""
    order = np.argsort(exact)
    squares = found.standard_error[order] ** 2
    return float(np.min(np.diff(exact[order]) / np.sqrt(squares[1:] + squares[:-1])))


def _listed(numbers: dict[str, float] | dict[float, float]) -> str:
    return ", ".join(
        f"{name} {value:.2f}" if isinstance(name, str) else f"{value:.3f} at {name:g}"
        for name, value in numbers.items()
    )


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


def _symmetric(rng: np.random.Generator, atoms: int, r: int) -> Kernel:
    """Return a random symmetric kernel of order r on numbered atoms."""
    table = rng.standard_normal((atoms,) * r)
    return lambda members: float(table[tuple(sorted(members))])


def _u_statistic(kernel: Kernel, batch: Sequence[int], r: int) -> float:
    """Return the mean of the kernel over the subsets of a batch, eq. ustat-definition."""
    return float(np.mean([kernel(members) for members in combinations(batch, r)]))


def _mean_of(kernel: Kernel, atoms: int, r: int, *, first: int | None = None) -> float:
    """Return E h(X_1, ..., X_r), the first observation fixed if given."""
    free = r if first is None else r - 1
    head = () if first is None else (first,)
    return float(np.mean([kernel((*head, *rest)) for rest in product(range(atoms), repeat=free)]))


def _localized(values: dict[tuple[int, ...], float], atoms: int) -> Array:
    """Return the mean given each atom less the mean of all."""
    mean = float(np.mean(list(values.values())))
    return np.array([_given(values, x) for x in range(atoms)]) - mean


def _given(values: dict[tuple[int, ...], float], x: int) -> float:
    """Return the mean over the batches whose first observation is x."""
    return float(np.mean([value for batch, value in values.items() if batch[0] == x]))


def _context_difference(kernel: Kernel, batch: Sequence[int], r: int) -> float:
    """Return the distance of the two sides of eq. U-context-difference in one batch."""
    x, context, m = batch[0], batch[1:], len(batch)
    with_x = float(np.mean([kernel((x, *rest)) for rest in combinations(context, r - 1)]))
    without = _u_statistic(kernel, context, r)
    return abs(_u_statistic(kernel, batch, r) - without - r / m * (with_x - without))


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


def _nodes(model: GaussianBenchmark, order: int = 40) -> tuple[Array, Array]:
    """Return quadrature nodes and weights of B (epsilon 0) or S (epsilon 1)."""
    t, w = np.polynomial.hermite_e.hermegauss(order)
    axes = np.stack(np.meshgrid(*[t] * model.d), axis=-1).reshape(-1, model.d)
    weights = np.prod(np.stack(np.meshgrid(*[w / w.sum()] * model.d), axis=-1), axis=-1).ravel()
    _, mean, variance = model.components[int(model.epsilon)]
    return mean + math.sqrt(variance) * axes, weights


def _statistics(batches_of: Array, *, h: float) -> Array:
    """Return T_m of each batch of an array of shape (number, m, d)."""
    # the sums want one event more than a batch, as a replacement: any will do
    block = np.concatenate([batches_of, batches_of[:, :1]], axis=1)
    return MatchedSums.of(block, h=h).context.unbiased()


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


def _contexts_mean(q: Array, m: int, *, twins: bool) -> Array:
    """Return E T_m(x_i, C) over contexts from the sample without x_i, for every event.

    The event's own pairs are the same in both forms; of the context's pairs, draws with
    replacement hold an event and its twin with probability 1/(N-1).
    """
    n = len(q) - 1
    own = np.diagonal(q)
    row = q.sum(axis=1) - own
    off_diagonal = row.sum() - 2 * row
    diagonal = own.sum() - own
    context = (off_diagonal + diagonal) / n**2 if twins else off_diagonal / (n * (n - 1))
    return np.asarray(2 / m * row / n + (m - 2) / m * context)


def _shared_ratio(x: Array, *, covariance: float) -> float:
    """Return the density of signal events with one mu, over that of as many background events.

    All have the marginal N(0, I); two signal events have the covariance in each feature.
    """
    of_all = np.full((len(x), len(x)), covariance) + (1 - covariance) * np.eye(len(x))
    joint = multivariate_normal(np.zeros(len(x)), of_all).logpdf(x.T)
    alone = multivariate_normal(np.zeros(len(x)), np.eye(len(x))).logpdf(x.T)
    return math.exp(float(np.sum(joint - alone)))


def _private_ratio(x: Array, *, sigma_s: float, spread: float) -> float:
    """Return the same for signal events N(mu_i, sigma_s^2 I), each mu_i ~ N(0, spread^2 I).

    The locations are integrated numerically: that nothing is left of them is the claim.
    """
    centre = (0.0,) * x.shape[1]
    mu, weights = _nodes(GaussianBenchmark(centre, spread, 1.0, 1.0), order=100)
    distance = np.sum((x[:, None] - mu) ** 2, axis=-1) / sigma_s**2
    log_ratio = (np.sum(x**2, axis=1)[:, None] - distance) / 2
    return float(np.prod(np.exp(log_ratio) @ weights / sigma_s ** x.shape[1]))


def _label_posterior(
    x: Array,
    ratio: Callable[[Array], float],
    *,
    signals: int | None = None,
    epsilon: float | None = None,
) -> Array:
    """Return P(Z_i = S | X) by summation over labellings.

    Parameters
    ----------
    x
        The events.
    ratio
        The density of some events if all are signal, over that if all are background.
    signals, epsilon
        A fixed number of signal events, or the probability of each.
    """
    N = len(x)
    counts = range(N + 1) if signals is None else [signals]
    total, with_signal = 0.0, np.zeros(N)
    for count in counts:
        prior = 1.0 if epsilon is None else epsilon**count * (1 - epsilon) ** (N - count)
        for chosen in combinations(range(N), count):
            members = list(chosen)
            weight = prior * (ratio(x[members]) if members else 1.0)
            total += weight
            with_signal[members] += weight
    return np.asarray(with_signal / total)


def _log_evidence(model: GaussianBenchmark, x: Array) -> Array:
    """Return the log likelihood ratio of P against B of each event."""
    return np.log1p(model.epsilon * np.expm1(model.log_likelihood_ratio(x)))


def _mismatch(
    rng: np.random.Generator, model: GaussianBenchmark, shift: float, *, N: int, runs: int
) -> tuple[Array, Array]:
    """Return what samples of a background shifted along one axis look like to B, no signal.

    For each sample, the share of events whose LOO score is positive on the side of the
    shift and negative on the other, and T_N.
    """
    bank = GaussianBank((model.h,))
    background = NormalBackground(bank, model.d)
    shares, T = np.empty(runs), np.empty(runs)
    for run in range(runs):
        x = toys.background(rng, N, model.d)
        x[:, 0] += shift
        scores = witness.loo_witness(x, bank, background)
        shares[run] = np.mean((scores > 0) == (x[:, 0] > shift / 2))
        T[run] = functionals.unbiased(x, h=model.h)
    return shares, T


def _power(model: GaussianBenchmark, sigma_s: float, h: float) -> float:
    """Return MMD^2(S, B) over the null fluctuation of the statistic, up to a factor of m."""
    each = replace(model, sigma_s=sigma_s, h=h)
    return each.D_SB / math.sqrt(ContextVariance(replace(each, epsilon=0.0)).zeta_2)
