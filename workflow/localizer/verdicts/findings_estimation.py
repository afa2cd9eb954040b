"""Secs. algorithm-localization and direct-estimation, checked on finite samples."""

from __future__ import annotations

import math
from functools import partial
from itertools import product

import numpy as np

from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.estimators import batch_sums, batches, mmd, pair_forms, witness
from localizer.estimators.forced import (
    population,
)
from localizer.kernels.bank import GaussianBank, NormalBackground
from localizer.kernels.features import fourier_features
from localizer.models import toys
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory import functionals
from localizer.verdicts.board import Finding, statement


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
            pair_forms.KernelPairs(q),
            m=m,
            groups=batches_of,
            group_size=group,
            streams=partial(stream, seed, "theory", "group"),
            replacement=False,
        )
        errors.append(float(np.sqrt(np.mean((batch_sums.scores(sums).witness - target) ** 2))))
        kept.append(float(sums.count.mean()))
    by_exposure = math.log(errors[1] / errors[0]) / math.log(kept[1] / kept[0])
    return [
        statement(
            "t.sampling",
            exponent,
            range=ordering,
            note="exponent in N of the mean difference of the two conditional averages over "
            f"Delta G_m, {gaps[-1]:.2g} at m/N = {m / sizes[-1]:g}; it is nearly the same for all "
            f"events, and its range over events, there {orders[-1]:.1g}, falls as well",
        ),
        statement(
            "t.error_by_exposure",
            by_exposure,
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
    z_B = each.transform(toys.background(rng, 2000, model.d), dtype=np.float64).mean(axis=0)
    loo = witness.rff_loo(z, z.mean(axis=0), z_B, N=len(few))
    left_out = [z[i] @ (np.delete(z, i, axis=0).mean(axis=0) - z_B) for i in range(len(few))]
    rff = float(np.abs(loo - left_out).max())
    return [
        statement(
            "t.loo_unbiased",
            float(np.abs(bias).max()),
            note=f"largest distance of the mean LOO score from w_P in standard errors, {runs} "
            f"samples of {N} for each of {len(probes)} events",
        ),
        statement(
            "t.self_difference",
            float(np.abs(own - both).max()),
            least=float(own.min()),
            note=f"largest distance of both sides over {len(sample)} events; the "
            f"self-inclusive score is higher by {own.min() * len(sample):.2f}/N to "
            f"{own.max() * len(sample):.2f}/N",
        ),
        statement(
            "t.rff_trade_off",
            slope,
            error=slope_error,
            note="exponent in D of the RMS error of z(x).z(y); from "
            f"{errors[0]:.2g} at D = {widths[0]} to {errors[-1]:.2g} at D = {widths[-1]}, {draws} "
            "draws of features",
        ),
        statement(
            "t.rff_loo",
            rff,
            note=f"largest distance from the features' mean without the event, {len(few)} events, "
            f"D = {widths[-1]}",
        ),
    ]


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
