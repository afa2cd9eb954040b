"""What several checks of the theory sections need: limits, quadrature, and distances in errors."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.estimators.context_moments import ContextMoments
from localizer.kernels.bank import GaussianBank, NormalBackground
from localizer.kernels.matched_sums import MatchedSums
from localizer.models.gaussian import GaussianBenchmark


def streams(seed: int, number: int, *key: str | int) -> list[np.random.Generator]:
    """Return a generator for each of ``number`` probes."""
    return [stream(seed, "theory", *key, i) for i in range(number)]


def off(found: ContextMoments, exact: npt.ArrayLike) -> float:
    """Return the largest distance from exact values in standard errors."""
    return float(np.max(np.abs(found.mean - np.asarray(exact)) / found.standard_error))


def smallest_gap(found: ContextMoments, exact: Array) -> float:
    """Return how far apart the nearest of the exact values are, in errors of the difference."""
    order = np.argsort(exact)
    squares = found.standard_error[order] ** 2
    return float(np.min(np.diff(exact[order]) / np.sqrt(squares[1:] + squares[:-1])))


def listed(numbers: dict[str, float] | dict[float, float]) -> str:
    """Return named numbers, or numbers by a parameter, as one line of text."""
    return ", ".join(
        f"{name} {value:.2f}" if isinstance(name, str) else f"{value:.3f} at {name:g}"
        for name, value in numbers.items()
    )


def nodes(model: GaussianBenchmark, order: int = 40) -> tuple[Array, Array]:
    """Return quadrature nodes and weights of B (epsilon 0) or S (epsilon 1)."""
    t, w = np.polynomial.hermite_e.hermegauss(order)
    axes = np.stack(np.meshgrid(*[t] * model.d), axis=-1).reshape(-1, model.d)
    weights = np.prod(np.stack(np.meshgrid(*[w / w.sum()] * model.d), axis=-1), axis=-1).ravel()
    _, mean, variance = model.components[int(model.epsilon)]
    return mean + math.sqrt(variance) * axes, weights


def kernel_and_mean(model: GaussianBenchmark) -> tuple[GaussianBank, NormalBackground]:
    """Return the kernel of the benchmark and its exact background mean."""
    bank = GaussianBank((model.h,))
    return bank, NormalBackground(bank, model.d)


def statistics(batches_of: Array, *, h: float) -> Array:
    """Return T_m of each batch of an array of shape (number, m, d)."""
    # the sums want one event more than a batch, as a replacement: any will do
    block = np.concatenate([batches_of, batches_of[:, :1]], axis=1)
    return MatchedSums.of(block, h=h).context.unbiased()
