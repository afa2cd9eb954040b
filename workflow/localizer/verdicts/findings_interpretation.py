"""Secs. global-local and problem, checked at finite size: what a score means, and what not."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.estimators import witness
from localizer.estimators.forced import (
    fresh,
    population,
)
from localizer.models import toys
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory import functionals
from localizer.theory.variance import ContextVariance
from localizer.verdicts.board import Finding, in_errors, pulled, statement
from localizer.verdicts.registry import finding
from localizer.verdicts.theory_checks import kernel_and_mean, statistics

# --- not an outlier's, not yet a discovery, not safe from a bad B --------------------------


@finding("t.ordinary_event")
def ordinary_event(model: GaussianBenchmark) -> Finding:
    """Return how ordinary the place of the largest witness is, and the witness far out."""
    grid = np.stack(np.meshgrid(np.linspace(-6, 6, 241), [0.0]), axis=-1).reshape(-1, 2)
    score = model.witness(grid)
    best = grid[int(np.argmax(score))]
    extreme = np.array([[0.0, 5.0]])
    tail = math.exp(-float(extreme[0] @ extreme[0]) / 2)
    little = float(model.witness(extreme)[0] / score.max())
    return statement(
        math.exp(-float(best @ best) / 2),
        tail=little,
        note=f"background probability beyond the point of largest witness, |x| = "
        f"{np.linalg.norm(best):.2f}; at (0, 5), with {tail:.0e} beyond it, the witness is "
        f"{little:.0e} of the largest",
    )


@finding("t.selection")
def selection(
    model: GaussianBenchmark, seed: int, *, null_events: int = 500, null_samples: int = 200
) -> Finding:
    """Return how far the largest LOO score of null events is from zero, and the mean of all."""
    bank, background = kernel_and_mean(model)
    rng = stream(seed, "theory", "selection")
    null = [
        witness.loo_witness(toys.background(rng, null_events, model.d), bank, background)
        for _ in range(null_samples)
    ]
    largest = np.array([scores.max() for scores in null]) / np.std(null)
    return pulled(
        in_errors(largest),
        centred=in_errors(scores.mean() for scores in null),
        note=f"mean largest LOO score of {null_events} null events, {largest.mean():.2f} RMS "
        "scores, over its error; centred is the same of the mean over all events",
    )


@finding("t.background_mismatch")
def background_mismatch(model: GaussianBenchmark, seed: int) -> Finding:
    """Return what a shifted background looks like."""
    N, runs = 1000, 30
    (shifted, T), (right, null) = (
        _mismatch(stream(seed, "theory", "mismatch", f"{shift:g}"), model, shift, N=N, runs=runs)
        for shift in (0.2, 0.0)
    )
    chance = float(np.mean(right)), float(np.std(right, ddof=1)) / math.sqrt(runs)
    coherent = float(np.mean(shifted))
    return statement(
        float(np.mean(T)) / float(np.std(null, ddof=1)),
        coherent=coherent,
        chance=((chance[0] - 0.5) / chance[1], 1.0),
        note=f"mean T_N of {runs} samples of {N} events of a background shifted by 0.2, "
        f"no signal, in null spreads of one; "
        f"{100 * coherent:.0f} % of the LOO scores have the sign of their side of the middle, "
        f"{100 * chance[0]:.0f} +- {100 * chance[1]:.0f} % if the background is right",
    )


@finding("t.bandwidth_scale")
def bandwidth_scale(model: GaussianBenchmark) -> Finding:
    """Return how a small bandwidth responds to narrow and to broad signals."""
    small, large = 0.25, 4.0
    narrow, broad = (_power(model, s, small) / _power(model, s, large) for s in (0.1, 1.0))
    return statement(
        narrow,
        broad=broad,
        note=f"MMD^2(S, B) over its null fluctuation at h = {small:g}, over the same at "
        f"h = {large:g}: for a signal of width 0.1, and, broad, for one of width 1",
    )


# --- choices that look at the data: a scan, a centring, another statistic ------------------


class Choices(NamedTuple):
    """T of null samples by bandwidth, what centring does, and events from P.

    ``moved`` is how the LOO score of (2, 0) changes if it has a part in its companions' centring.
    """

    scan: dict[float, Array]
    moved: Array
    events: Array
    N: int


def choices(seed: int, model: GaussianBenchmark, *, N: int = 60, runs: int = 2000) -> Choices:
    """Return what is drawn for the checks below, from one stream: twice as many samples as runs."""
    rng = stream(seed, "theory", "scan")
    null = fresh(population(replace(model, epsilon=0.0)))(rng, 2 * runs, N)
    scan = {h: statistics(null, h=h) for h in (0.25, 0.5, 1.0, 2.0, 4.0)}
    x = np.array([[2.0, 0.0]])
    bank, background = kernel_and_mean(model)
    moved = []
    for _ in range(200):
        others = toys.background(rng, N - 1, model.d)
        sample = np.vstack([x, others])
        moved.append(
            witness.loo_witness(sample - sample.mean(axis=0), bank, background)[0]
            - witness.loo_witness(sample - others.mean(axis=0), bank, background)[0]
        )
    return Choices(scan, np.array(moved), population(model)(rng, 20_000), N)


@finding("t.scan_calibration")
def scan_calibration(choices: Choices) -> Finding:
    """Return the false alarms of a scan, judged by its best bandwidth's null and by its own."""
    null = np.stack(list(choices.scan.values()), axis=1)
    runs = len(null) // 2
    # half of the samples sets the thresholds, the other half is judged by them
    known, judged = (
        np.mean(null[None, :runs] < values[:, None], axis=1).max(axis=1)
        for values in (null[:runs], null[runs:])
    )
    single, repeated = (
        float(np.mean(judged > threshold)) for threshold in (0.95, np.quantile(known, 0.95))
    )
    # of a rate of 5 %, with a threshold from as many samples
    error = math.sqrt(2 * 0.05 * 0.95 / runs)
    return pulled(
        (single - 0.05) / error,
        repeated=(repeated - 0.05) / error,
        note="false alarms beyond a nominal 5 % in errors of "
        f"{error:.3f}: {single:.3f} "
        f"if the best of {len(choices.scan)} bandwidths is held against its own null; repeated, "
        f"{repeated:.3f}, if pseudoexperiments repeat the scan, {choices.N} events",
    )


@finding("t.cross_fitting")
def cross_fitting(choices: Choices) -> Finding:
    """Return how far a score moves if its event shaped the rule."""
    return pulled(
        abs(in_errors(choices.moved)),
        note=f"change of the LOO score of (2, 0) among {choices.N} null events if it has a part "
        f"in their centring, {np.mean(choices.moved):.1e}, over its error",
    )


@finding("t.different_rankings")
def different_rankings(choices: Choices, model: GaussianBenchmark) -> Finding:
    """Return the share of the top events that two bandwidths have in common."""
    events, neighbours = choices.events, (0.5, 1.0)
    top = round(0.02 * len(events))
    one, other = (
        set(np.argsort(replace(model, h=h).witness(events))[-top:].tolist()) for h in neighbours
    )
    common = len(one & other) / top
    return statement(
        common,
        error=math.sqrt(common * (1 - common) / top),
        note=f"share of the top {top} of {len(events)} events from P that the witnesses with "
        f"h = {neighbours[0]:g} and {neighbours[1]:g} have in common; the same ranking has 1",
    )


# --- helpers -------------------------------------------------------------------------------


def _mismatch(
    rng: np.random.Generator, model: GaussianBenchmark, shift: float, *, N: int, runs: int
) -> tuple[Array, Array]:
    """Return what samples of a background shifted along one axis look like to B, no signal.

    For each sample, the share of events whose LOO score is positive on the side of the
    shift and negative on the other, and T_N.
    """
    bank, background = kernel_and_mean(model)
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
