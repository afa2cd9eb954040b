"""Sec. information, checked by summation over every labelling of a few events."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations

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
from localizer.verdicts.board import Finding, statement
from localizer.verdicts.theory_checks import nodes


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
        points, weights = nodes(replace(model, epsilon=kind), order=100)
        per_event += share * float(weights @ _log_evidence(model, points))
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
            float(np.abs(known - alone).max()),
            note=f"largest difference of the posterior given {N} events, all 2^{N} labellings "
            f"summed, and that of the event alone; mu known, epsilon = {epsilon:g}",
        ),
        statement(
            "e2.no_shared_no_information",
            float(np.abs(nothing - epsilon).max()),
            note=f"largest distance of the posterior given {N} events from epsilon = {epsilon:g}, "
            "every labelling summed and every private mu_i integrated; with a shared mu it is "
            f"{float(np.abs(summed - epsilon).max()):.2g}",
        ),
        statement(
            "t.fixed_count",
            moved["independent"],
            shared=moved["shared"],
            note=f"largest distance of P(Z_i = S | X) from N_S/N, {signals} signals fixed among "
            f"{N} events, every assignment summed and every private mu integrated; with a shared "
            f"mu it is {moved['shared']:.2g}",
        ),
        statement(
            "t.contextual_posterior",
            off,
            note=f"largest distance of the posterior-predictive form from the sum over all 2^{N} "
            f"labellings, epsilon = {epsilon:g}",
        ),
        statement(
            "t.evidence_grows",
            farthest,
            error=1.0,
            growth=growth,
            note="largest distance of the mean log likelihood ratio of P against B from N times "
            f"{per_event:.3g}, by quadrature, in standard errors, {toys_of} samples; growth is "
            f"from N = {sizes[0]} to {sizes[1]}",
        ),
    ]


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
