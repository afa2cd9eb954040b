"""How much of an event's class the rest of its sample tells, in nats (sec. information).

Everything is for the shared-latent model of eq. latent-gaussian-model in the plane, where an
event alone tells nothing: P(Z = S | X_i) = epsilon, eq. single-event-MI-zero. What one
companion or the location mu itself adds is a quadrature; what N - 1 companions add is a mean
over pseudoexperiments, of which :func:`information_row` measures one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import kl_div, xlog1py

from localizer.base import checks
from localizer.base.checks import Array
from localizer.theory.posterior import (
    LocationGrid,
    contextual_log_ratio,
    leave_one_out_log_ratio,
    signal_posterior,
)

# Beyond this radius a standard normal of the plane keeps 2e-22 of its mass.
_RADIUS = 10.0


def companion_information(*, epsilon: float, covariance: float) -> float:
    """Return I(Z_i; X_j | X_i), what one unlabelled companion adds, in nats.

    Parameters
    ----------
    epsilon
        The signal fraction.
    covariance
        That of two signal events in each feature, eq. signal-cross-covariance: gamma = 1 -
        sigma_s^2 for a shared location. It is 0 if each signal event has a location of its
        own; the densities of eqs. companion-given-background and companion-given-signal are
        then one, their ratio is 1 everywhere, and the information is 0 exactly.

    Examples
    --------
    >>> f"{companion_information(epsilon=0.02, covariance=0.75):.4e}"
    '1.1854e-05'
    >>> companion_information(epsilon=0.02, covariance=0.0)
    0.0
    """
    fraction = checks.fraction(epsilon, "epsilon")
    if covariance != 0:
        covariance = checks.fraction(covariance, "covariance")
    return _information(fraction, share=fraction, correlation=covariance)


def oracle_information(*, epsilon: float, sigma_s: float) -> float:
    """Return I(Z_i; mu | X_i), what the location itself would add, in nats.

    Scaled to unit variance, mu is a companion that is signal for certain: its covariance with
    a signal event is sqrt(gamma), with a background event 0.

    Examples
    --------
    >>> f"{oracle_information(epsilon=0.02, sigma_s=0.5):.4e}"
    '2.6382e-02'
    """
    spread = checks.fraction(sigma_s, "sigma_s")
    fraction = checks.fraction(epsilon, "epsilon")
    return _information(fraction, share=1.0, correlation=math.sqrt(1 - spread**2))


def information_row(
    x: npt.ArrayLike,
    mu: npt.ArrayLike,
    *,
    epsilon: float,
    sigma_s: float,
    learned: npt.ArrayLike | None = None,
) -> dict[str, float]:
    """Return what one pseudoexperiment says of the terms of eq. oracle-gap-identity.

    Given mu and the sample, an event is signal with probability p_i = P(Z_i = S | X_i, mu).
    Each gain in log-loss is therefore averaged over the label instead of drawing it, and over
    the events; means over pseudoexperiments estimate the informations without bias.

    Parameters
    ----------
    x
        The events, of shape (N, 2), from :func:`localizer.models.toys.mixture`, whose labels are
        independent as sec. information has it. With a fixed number of signal events p_i is no
        longer exact given the other events, but right to order 1/N.
    mu
        The location that was drawn for this sample.
    epsilon, sigma_s
        The signal's fraction and its standard deviation.
    learned
        What :func:`localizer.theory.posterior.contextual_log_ratio` says of the same events, where
        it is known.

    Returns
    -------
    dict
        In nats for an event: ``oracle``, for I(Z_i; mu | X_i); ``contextual``, for
        I(Z_i; X_{-i} | X_i), negative where the sample misleads; ``gap``, for
        I(Z_i; mu | X_i, X_{-i}), a mean of Kullback-Leibler divergences and so never negative.
        In every row oracle = contextual + gap. ``expected`` is the mean of ``contextual`` over
        mu given the sample: it estimates the same, and scatters less. With many companions
        the sharpest estimate is :func:`oracle_information` less the mean of ``gap``.
    """
    told = leave_one_out_log_ratio(x, LocationGrid.at(mu), epsilon=epsilon, sigma_s=sigma_s)
    if learned is None:
        learned = contextual_log_ratio(x, epsilon=epsilon, sigma_s=sigma_s)
    found = checks.vector(learned, "learned", size=told.size)
    p, q = (signal_posterior(ratio, epsilon=epsilon) for ratio in (told, found))
    not_p, not_q = (signal_posterior(-ratio, epsilon=1 - epsilon) for ratio in (told, found))
    gap = kl_div(p, q) + kl_div(not_p, not_q)
    return {
        "oracle": float(np.mean(_gain(told, p, epsilon))),
        "contextual": float(np.mean(_gain(found, p, epsilon))),
        "gap": float(np.mean(gap)),
        "expected": float(np.mean(_gain(found, q, epsilon))),
    }


def recovered_fraction(contextual: npt.ArrayLike, oracle: npt.ArrayLike) -> tuple[float, float]:
    """Return I(Z_i; X_{-i} | X_i) / I(Z_i; mu | X_i) and its standard error.

    Parameters
    ----------
    contextual, oracle
        One value a pseudoexperiment, paired. The ratio is that of the means; the error
        follows to first order from the scatter of contextual - ratio * oracle.

    Examples
    --------
    >>> recovered_fraction([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    (0.5, 0.0)
    """
    above = checks.vector(contextual, "contextual", minimum=2)
    below = checks.vector(oracle, "oracle", size=above.size)
    if not below.mean() > 0:
        raise ValueError(f"oracle must have a positive mean, it is {below.mean():g}")
    ratio = above.mean() / below.mean()
    scatter = np.std(above - ratio * below, ddof=1) / math.sqrt(above.size)
    return float(ratio), float(scatter / below.mean())


def _gain(log_ratio: Array, p: Array, epsilon: float) -> Array:
    """Return the gain in log-loss over P(Z = S) = epsilon, averaged over Z ~ Bernoulli(p)."""
    return np.asarray(p * log_ratio - np.log1p(epsilon * np.expm1(log_ratio)))


def _information(epsilon: float, *, share: float, correlation: float) -> float:
    """Return I(Z; Y | X), Y a standard normal that follows X with probability ``share`` if Z = S.

    The density of (X, Y) given Z = S is u = 1 + share (t - 1) times that given Z = B, t as in
    :func:`_mean_over_pairs`. With g(u) = u log u - u + 1 the information is the mean over two
    independent normals of epsilon g(u) - g(1 - epsilon + epsilon u), nowhere negative.
    """

    def density(ratio: Array) -> Array:
        excess = share * (ratio - 1)
        return epsilon * _excess(excess) - _excess(epsilon * excess)

    return _mean_over_pairs(density, correlation)


def _excess(a: Array) -> Array:
    """Return u log u - u + 1 at u = 1 + a, without loss of digits near its zero at u = 1."""
    return np.asarray(np.maximum(xlog1py(1 + a, a) - a, 0.0))


def _mean_over_pairs(function: Callable[[Array], Array], correlation: float) -> float:
    """Return E function(t(X, Y)) for two independent standard normals of the plane.

    t is the density of a pair with ``correlation`` in each feature over that of an independent
    pair. It depends on two radii (Gauss-Legendre) and the angle between them (midpoints, which
    converge exponentially for a periodic function); the ridge along X = Y sets their number.
    """
    rest = 1 - correlation**2
    number = math.ceil(40 / math.sqrt(rest))
    nodes, weights = np.polynomial.legendre.leggauss(number)
    radii = _RADIUS / 2 * (1 + nodes)
    masses = _RADIUS / 2 * weights * radii * np.exp(-(radii**2) / 2)
    cosines = np.cos(np.pi * (np.arange(number) + 0.5) / number)
    total = 0.0
    for r, mass in zip(radii, masses, strict=True):
        s = radii[:, None]
        exponent = correlation * (2 * r * s * cosines - correlation * (r**2 + s**2)) / (2 * rest)
        total += mass * (masses @ function(np.exp(exponent) / rest).mean(axis=1))
    return float(total)
