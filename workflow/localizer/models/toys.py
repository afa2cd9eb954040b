"""The pseudoexperiments of Experiments I and II (secs. exp-known-signal, zero-info).

The class counts are fixed, as in the paper: round(epsilon N) of the N events are signal.
Background events come first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array, BoolArray
from localizer.models.gaussian import GaussianBenchmark


@dataclass(frozen=True)
class Sample:
    """Events and their classes.

    Attributes
    ----------
    x
        The events, shape (N, d).
    labels
        True for signal.
    """

    x: Array
    labels: BoolArray


def signal_count(N: int, epsilon: float) -> int:
    """Return round(epsilon N); a sample that lacks one of the classes is refused."""
    size = checks.integer(N, "N", minimum=2)
    count = round(checks.fraction(epsilon, "epsilon", closed=True) * size)
    if not 1 <= count <= size - 1:
        raise ValueError(f"N = {size} with epsilon = {epsilon:g} leaves one class empty")
    return count


def background(rng: np.random.Generator, n: int, d: int) -> Array:
    """Draw ``n`` events of B = N(0, I_d)."""
    return rng.standard_normal((n, d))


def signal(rng: np.random.Generator, n: int, model: GaussianBenchmark) -> Array:
    """Draw ``n`` events of S = N(mean, sigma_s^2 I)."""
    return np.asarray(model.mean) + model.sigma_s * rng.standard_normal((n, model.d))


def fixed_alternative(rng: np.random.Generator, N: int, model: GaussianBenchmark) -> Sample:
    """Draw a pseudoexperiment of Experiment I; given mu, of the shared-latent model too."""
    n_signal = signal_count(N, model.epsilon)
    x = np.concatenate([background(rng, N - n_signal, model.d), signal(rng, n_signal, model)])
    return Sample(x, _last(n_signal, N))


def latent_location(rng: np.random.Generator, *, d: int, sigma_s: float) -> Array:
    """Draw mu ~ N(0, (1 - sigma_s^2) I_d), eq. latent-gaussian-model."""
    spread = checks.fraction(sigma_s, "sigma_s")
    return np.asarray(np.sqrt(1 - spread**2) * rng.standard_normal(checks.integer(d, "d")))


def latent_location_of_norm(rng: np.random.Generator, norm: float, *, d: int) -> Array:
    """Draw the direction of a mu whose norm is given."""
    direction = rng.standard_normal(checks.integer(d, "d"))
    return np.asarray(checks.positive(norm, "norm") * direction / np.linalg.norm(direction))


def independent_latents(
    rng: np.random.Generator, N: int, *, d: int, sigma_s: float, epsilon: float
) -> Sample:
    """Draw the control of Experiment II: every signal event has a mu of its own."""
    n_signal = signal_count(N, epsilon)
    locations = np.sqrt(1 - checks.fraction(sigma_s, "sigma_s") ** 2) * rng.standard_normal(
        (n_signal, checks.integer(d, "d"))
    )
    of_signal = locations + sigma_s * rng.standard_normal((n_signal, d))
    x = np.concatenate([background(rng, N - n_signal, d), of_signal])
    return Sample(x, _last(n_signal, N))


def mixture(rng: np.random.Generator, n: int, model: GaussianBenchmark) -> Array:
    """Draw ``n`` independent events of P = (1 - epsilon) B + epsilon S."""
    x = background(rng, n, model.d)
    is_signal = rng.random(n) < model.epsilon
    x[is_signal] = np.asarray(model.mean) + model.sigma_s * x[is_signal]
    return x


def _last(n_signal: int, N: int) -> npt.NDArray[np.bool_]:
    return np.arange(N) >= N - n_signal
