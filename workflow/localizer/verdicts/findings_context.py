"""Sec. information, checked by summation over every labelling of a few events."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.stats import multivariate_normal

from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.estimators.forced import (
    population,
)
from localizer.models import toys
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory import posterior
from localizer.verdicts.board import Finding, in_errors, statement
from localizer.verdicts.registry import finding
from localizer.verdicts.theory_checks import nodes

EPSILON = 0.2
"""The prior probability of a signal event, where their number is not fixed."""


class Few(NamedTuple):
    """A few events, the first ``signals`` of which share the location mu.

    In ``control`` every signal event has a location of its own. ``evidence`` has, by the size of
    larger samples, the log likelihood ratio of P against B in each of them.
    """

    x: Array
    mu: Array
    control: Array
    signals: int
    evidence: dict[int, Array]


def few(
    seed: int, model: GaussianBenchmark, *, N: int = 8, signals: int = 2, toys_of: int = 2000
) -> Few:
    """Return events, few enough to sum over every assignment of their labels."""
    rng = stream(seed, "theory", "context")
    sigma_s = model.sigma_s
    mu = toys.latent_location(rng, d=2, sigma_s=sigma_s)
    x = toys.background(rng, N, 2)
    x[:signals] = mu + sigma_s * x[:signals]
    control = toys.independent_latents(rng, N, d=2, sigma_s=sigma_s, epsilon=signals / N).x
    evidence = {
        size: np.array(
            [_log_evidence(model, population(model)(rng, size)).sum() for _ in range(toys_of)]
        )
        for size in (500, 5000)
    }
    return Few(x, mu, control, signals, evidence)


@finding("e2.known_theta")
def known_theta(few: Few, model: GaussianBenchmark) -> Finding:
    """Return how far the posteriors with and without context are apart, mu known."""
    told = replace(model, mean=tuple(few.mu))
    known = _label_posterior(
        few.x, lambda some: math.exp(float(told.log_likelihood_ratio(some).sum())), epsilon=EPSILON
    )
    alone = posterior.signal_posterior(told.log_likelihood_ratio(few.x), epsilon=EPSILON)
    N = len(few.x)
    return statement(
        float(np.abs(known - alone).max()),
        note=f"largest difference of the posterior given {N} events, all 2^{N} labellings "
        f"summed, and that of the event alone; mu known, epsilon = {EPSILON:g}",
    )


@finding("e2.no_shared_no_information")
def no_shared_no_information(few: Few, model: GaussianBenchmark) -> Finding:
    """Return how far the posterior is from the prior, every mu_i private."""
    nothing = _label_posterior(few.control, _private(model), epsilon=EPSILON)
    shared = _label_posterior(few.x, _shared(model), epsilon=EPSILON)
    return statement(
        float(np.abs(nothing - EPSILON).max()),
        note=f"largest distance of the posterior given {len(few.x)} events from epsilon = "
        f"{EPSILON:g}, every labelling summed and every private mu_i integrated; with a shared mu "
        f"it is {float(np.abs(shared - EPSILON).max()):.2g}",
    )


@finding("t.fixed_count")
def fixed_count(few: Few, model: GaussianBenchmark) -> Finding:
    """Return the same with a fixed number of signal events."""
    signals, N = few.signals, len(few.x)
    private = _label_posterior(few.control, _private(model), signals=signals)
    shared = _label_posterior(few.x, _shared(model), signals=signals)
    moved, by_shared = (float(np.abs(each - signals / N).max()) for each in (private, shared))
    return statement(
        moved,
        shared=by_shared,
        note=f"largest distance of P(Z_i = S | X) from N_S/N, {signals} signals fixed among "
        f"{N} events, every assignment summed and every private mu integrated; with a shared "
        f"mu it is {by_shared:.2g}",
    )


@finding("t.contextual_posterior")
def contextual_posterior(few: Few, model: GaussianBenchmark) -> Finding:
    """Return how far the posterior-predictive form is from the sum over labellings."""
    N = len(few.x)
    summed = _label_posterior(few.x, _shared(model), epsilon=EPSILON)
    predicted = posterior.contextual_posterior(few.x, epsilon=EPSILON, sigma_s=model.sigma_s)
    return statement(
        float(np.abs(summed - predicted).max()),
        note=f"largest distance of the posterior-predictive form from the sum over all 2^{N} "
        f"labellings, epsilon = {EPSILON:g}",
    )


@finding("t.evidence_grows")
def evidence_grows(few: Few, model: GaussianBenchmark) -> Finding:
    """Return how far the evidence is from N times that of one event, and how it grows."""
    per_event = 0.0
    for share, kind in ((1 - model.epsilon, 0.0), (model.epsilon, 1.0)):
        points, weights = nodes(replace(model, epsilon=kind), order=100)
        per_event += share * float(weights @ _log_evidence(model, points))
    off = [in_errors(totals - size * per_event) for size, totals in few.evidence.items()]
    (small, less), (large, more) = few.evidence.items()
    return statement(
        max(map(abs, off)),
        error=1.0,
        growth=float(more.mean() / less.mean()),
        note="largest distance of the mean log likelihood ratio of P against B from N times "
        f"{per_event:.3g}, by quadrature, in standard errors, {len(more)} samples; growth is "
        f"from N = {small} to {large}",
    )


# --- helpers -------------------------------------------------------------------------------


def _shared(model: GaussianBenchmark) -> Callable[[Array], float]:
    return partial(_shared_ratio, covariance=1 - model.sigma_s**2)


def _private(model: GaussianBenchmark) -> Callable[[Array], float]:
    spread = math.sqrt(1 - model.sigma_s**2)
    return partial(_private_ratio, sigma_s=model.sigma_s, spread=spread)


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
    mu, weights = nodes(GaussianBenchmark(centre, spread, 1.0, 1.0), order=100)
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
