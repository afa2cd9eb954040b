"""Secs. algorithm-localization and direct-estimation, checked on finite samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.estimators import batch_sums, batches, mmd, pair_forms, witness
from localizer.estimators.forced import (
    population,
)
from localizer.kernels.features import fourier_features
from localizer.models import toys
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory import functionals
from localizer.verdicts.board import Finding, in_errors, statement
from localizer.verdicts.registry import finding
from localizer.verdicts.theory_checks import kernel_and_mean

M = 20
"""The size of a batch."""

# --- global batches ------------------------------------------------------------------------


@finding("t.sampling")
def sampling(model: GaussianBenchmark, seed: int) -> Finding:
    """Return how contexts with and without replacement differ, by the size of the sample."""
    sizes = (250, 500, 1000, 2000)
    gaps, orders = [], []
    for N in sizes:
        x = toys.fixed_alternative(stream(seed, "theory", "replacement", N), N, model).x
        q = functionals.pair_kernel(x, x, h=model.h)
        with_twins, distinct = (_contexts_mean(q, M, twins=twins) for twins in (True, False))
        gap = (with_twins - distinct) / model.class_separation(M)
        gaps.append(float(np.abs(gap).mean()))
        orders.append(float(np.ptp(gap)))
    exponent, ordering = (
        float(np.polyfit(np.log(sizes), np.log(values), 1)[0]) for values in (gaps, orders)
    )
    return statement(
        exponent,
        range=ordering,
        note="exponent in N of the mean difference of the two conditional averages over "
        f"Delta G_m, {gaps[-1]:.2g} at m/N = {M / sizes[-1]:g}; it is nearly the same for all "
        f"events, and its range over events, there {orders[-1]:.1g}, falls as well",
    )


@finding("t.error_by_exposure")
def error_by_exposure(model: GaussianBenchmark, seed: int) -> Finding:
    """Return how the error of the pair score falls with the number of batches."""
    N = 400
    x = toys.fixed_alternative(stream(seed, "theory", "global"), N, model).x
    q = functionals.pair_kernel(x, x, h=model.h)
    target = mmd.pair_contributions(q) * N / 2
    errors, kept = [], []
    for groups in (range(4), range(4, 68)):
        sums = batches.run(
            pair_forms.KernelPairs(q),
            m=M,
            groups=groups,
            group_size=500,
            streams=partial(stream, seed, "theory", "group"),
            replacement=False,
        )
        errors.append(float(np.sqrt(np.mean((batch_sums.scores(sums).witness - target) ** 2))))
        kept.append(float(sums.count.mean()))
    return statement(
        math.log(errors[1] / errors[0]) / math.log(kept[1] / kept[0]),
        note=f"exponent of the RMS error of the pair score about its exact target between K = "
        f"{kept[0]:.0f} and {kept[1]:.0f} batches an event, independent runs on one sample "
        f"of {N}",
    )


# --- the direct witness --------------------------------------------------------------------


PROBES = np.array([[1.5, 0.0], [0.0, 0.0], [5.0, 0.0]])
"""The events whose LOO scores are averaged over samples."""

WIDTHS, MAPS = (64, 256, 1024), 40
"""Numbers of features, and how many maps are drawn of each."""


class Samples(NamedTuple):
    """Companions of each probe in many samples, one larger sample, and background."""

    companions: list[list[Array]]
    x: Array
    background: Array


def samples(seed: int, model: GaussianBenchmark, *, N: int = 200, runs: int = 300) -> Samples:
    """Return samples of N events less one for each probe, and two of 2000."""
    rng, P = stream(seed, "theory", "loo"), population(model)
    companions = [[P(rng, N - 1) for _ in PROBES] for _ in range(runs)]
    return Samples(companions, P(rng, 2000), toys.background(rng, 2000, model.d))


@finding("t.loo_unbiased")
def loo_unbiased(samples: Samples, model: GaussianBenchmark) -> Finding:
    """Return how far the mean LOO score is from the population witness."""
    bank, background = kernel_and_mean(model)
    scores = np.array(
        [
            [
                witness.loo_witness(np.vstack([x, others]), bank, background)[0]
                for x, others in zip(PROBES, sample, strict=True)
            ]
            for sample in samples.companions
        ]
    )
    bias = [
        in_errors(values - exact)
        for values, exact in zip(scores.T, model.witness(PROBES), strict=True)
    ]
    return statement(
        float(np.abs(bias).max()),
        note=f"largest distance of the mean LOO score from w_P in standard errors, {len(scores)} "
        f"samples of {len(samples.companions[0][0]) + 1} for each of {len(PROBES)} events",
    )


@finding("t.self_difference")
def self_difference(samples: Samples, model: GaussianBenchmark) -> Finding:
    """Return how far the difference of the two witnesses is from eq. self-difference."""
    bank, background = kernel_and_mean(model)
    x = samples.x
    own = witness.self_difference(x, bank)
    both = witness.empirical_witness(x, x, bank, background) - witness.loo_witness(
        x, bank, background
    )
    return statement(
        float(np.abs(own - both).max()),
        least=float(own.min()),
        note=f"largest distance of both sides over {len(x)} events; the "
        f"self-inclusive score is higher by {own.min() * len(x):.2f}/N to "
        f"{own.max() * len(x):.2f}/N",
    )


@finding("t.rff_trade_off")
def rff_trade_off(samples: Samples, model: GaussianBenchmark, seed: int) -> Finding:
    """Return how the error of the features' products falls with their number."""
    few = samples.x[:200]
    k = kernel_and_mean(model)[0](few, few)
    squares = np.empty((len(WIDTHS), MAPS))
    # the errors of one draw of features are alike for all pairs: many draws make a mean
    for (row, D), draw in product(enumerate(WIDTHS), range(MAPS)):
        z = _features(model, seed, D, draw)(few)
        squares[row, draw] = np.mean((z @ z.T - k) ** 2)
    mean_square = squares.mean(axis=1)
    errors = np.sqrt(mean_square)
    relative = squares.std(axis=1, ddof=1) / math.sqrt(MAPS) / mean_square
    return statement(
        float(np.polyfit(np.log(WIDTHS), np.log(errors), 1)[0]),
        # the slope of three points in equal steps is that of the two outer ones
        error=math.hypot(relative[0], relative[-1]) / 2 / math.log(WIDTHS[-1] / WIDTHS[0]),
        note="exponent in D of the RMS error of z(x).z(y); from "
        f"{errors[0]:.2g} at D = {WIDTHS[0]} to {errors[-1]:.2g} at D = {WIDTHS[-1]}, {MAPS} "
        "draws of features",
    )


@finding("t.rff_loo")
def rff_loo(samples: Samples, model: GaussianBenchmark, seed: int) -> Finding:
    """Return how far eq. rff-loo is from the mean feature without the event."""
    features = _features(model, seed, WIDTHS[-1], MAPS - 1)
    z, z_B = features(samples.x[:200]), features(samples.background).mean(axis=0)
    loo = witness.rff_loo(z, z.mean(axis=0), z_B, N=len(z))
    left_out = [z[i] @ (np.delete(z, i, axis=0).mean(axis=0) - z_B) for i in range(len(z))]
    return statement(
        float(np.abs(loo - left_out).max()),
        note=f"largest distance from the features' mean without the event, {len(z)} events, "
        f"D = {WIDTHS[-1]}",
    )


# --- helpers -------------------------------------------------------------------------------


def _features(model: GaussianBenchmark, seed: int, D: int, draw: int) -> Callable[[Array], Array]:
    """Return one draw of D random features."""
    rng = stream(seed, "theory", "features", D, draw)
    drawn = fourier_features(kernel_and_mean(model)[0], model.d, rng, n_per_bandwidth=D)
    return lambda x: np.asarray(drawn.transform(x, dtype=np.float64))


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
