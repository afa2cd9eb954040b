"""Secs. global-local and problem, checked at finite size: what a score means, and what not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.estimators import witness
from localizer.estimators.forced import (
    fresh,
    population,
)
from localizer.kernels.bank import GaussianBank, NormalBackground
from localizer.models import toys
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory import functionals
from localizer.theory.variance import ContextVariance
from localizer.verdicts.board import Finding, pulled, statement
from localizer.verdicts.theory_checks import statistics


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
    small, large = 0.25, 4.0
    by_width = {s: _power(model, s, small) / _power(model, s, large) for s in (0.1, 1.0)}
    return [
        statement(
            "t.ordinary_event",
            ordinary,
            tail=little,
            note=f"background probability beyond the point of largest witness, |x| = "
            f"{np.linalg.norm(best):.2f}; at (0, 5), with {tail:.0e} beyond it, the witness is "
            f"{little:.0e} of the largest",
        ),
        pulled(
            "t.selection",
            selected,
            centred=centred,
            note=f"mean largest LOO score of {N} null events, {largest.mean():.2f} RMS scores, "
            "over its error; centred is the same of the mean over all events",
        ),
        statement(
            "t.background_mismatch",
            excess / spread,
            coherent=coherent,
            chance=((chance[0] - 0.5) / chance[1], 1.0),
            note=f"mean T_N of {samples} samples of {size} events of a background shifted by 0.2, "
            f"no signal, in null spreads of one; "
            f"{100 * coherent:.0f} % of the LOO scores have the sign of their side of the middle, "
            f"{100 * chance[0]:.0f} +- {100 * chance[1]:.0f} % if the background is right",
        ),
        statement(
            "t.bandwidth_scale",
            by_width[0.1],
            broad=by_width[1.0],
            note=f"MMD^2(S, B) over its null fluctuation at h = {small:g}, over the same at "
            f"h = {large:g}: for a signal of width 0.1, and, broad, for one of width 1",
        ),
    ]


def of_choices(
    seed: int, model: GaussianBenchmark, *, N: int = 60, runs: int = 2000
) -> list[Finding]:
    """Return what choices do that look at the data: a scan, a centring, another statistic."""
    scan = (0.25, 0.5, 1.0, 2.0, 4.0)
    rng = stream(seed, "theory", "scan")
    samples = fresh(population(replace(model, epsilon=0.0)))(rng, 2 * runs, N)
    null = np.stack([statistics(samples, h=h) for h in scan], axis=1)
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
    events = population(model)(rng, 20_000)
    top = round(0.02 * len(events))
    neighbours = (0.5, 1.0)
    best_of = [
        set(np.argsort(replace(model, h=h).witness(events))[-top:].tolist()) for h in neighbours
    ]
    common = len(best_of[0] & best_of[1]) / top
    return [
        pulled(
            "t.scan_calibration",
            (rates["single"] - 0.05) / error,
            repeated=(rates["repeated"] - 0.05) / error,
            note="false alarms beyond a nominal 5 % in errors of "
            f"{error:.3f}: {rates['single']:.3f} "
            f"if the best of {len(scan)} bandwidths is held against its own null; repeated, "
            f"{rates['repeated']:.3f}, if pseudoexperiments repeat the scan, {N} events",
        ),
        pulled(
            "t.cross_fitting",
            abs(shift),
            note=f"change of the LOO score of (2, 0) among {N} null events if it has a part in "
            f"their centring, {np.mean(moved):.1e}, over its error",
        ),
        statement(
            "t.different_rankings",
            common,
            error=math.sqrt(common * (1 - common) / top),
            note=f"share of the top {top} of {len(events)} events from P that the witnesses with "
            f"h = {neighbours[0]:g} and {neighbours[1]:g} have in common; the same ranking has 1",
        ),
    ]


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
