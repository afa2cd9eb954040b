"""Slow or special computations that only the tests need, to hold the package against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add

import numpy as np
import numpy.typing as npt
from localizer.base import checks
from localizer.base.checks import Array
from localizer.estimators import energy
from localizer.estimators.batch_sums import BatchSums, scores
from localizer.kernels.bank import kernel_sums
from localizer.kernels.feature_means import feature_mean
from localizer.models.gaussian import GaussianBenchmark
from localizer.own.exact import mmd2_of_sums
from localizer.own.random_features import draw_features, mmd2_of_means
from localizer.own.recipe import Choices, Recipe, Streams, Used, both, choose
from localizer.theory.scaling import PairMoments


def population_auc(
    model: GaussianBenchmark,
    score: Callable[[Array], Array],
    *,
    half_width: float = 7.0,
    cells: int = 1400,
) -> float:
    """Return the AUC of ``score`` between S and B themselves, in two dimensions.

    Midpoint cells of the plane, weighted by both densities and sorted by score; a toy's
    expected AUC is this number, whatever its size. With the default cells the error is
    below 1e-5 in the benchmark of Experiment I.
    """
    if model.d != 2:
        raise ValueError(f"model must have 2 features for the plane's quadrature, not {model.d}")
    step = 2 * half_width / cells
    axis = -half_width + step * (np.arange(cells) + 0.5)
    plane = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    background = np.exp(-0.5 * np.sum(plane**2, axis=1))
    signal = background * np.exp(model.log_likelihood_ratio(plane))
    order = np.argsort(-score(plane), kind="stable")
    s, b = signal[order] / signal.sum(), background[order] / background.sum()
    return float(np.sum(b * (np.cumsum(s) - 0.5 * s)))


def energy_witness(
    x: npt.ArrayLike, sample: npt.ArrayLike, background: energy.EnergyBackground
) -> Array:
    """Return g(x) - (1/N) sum_j |x - x_j| at any points: eq. empirical-witness for -|x - y|.

    High where the sample is denser than the reference.
    """
    events = checks.points(sample, "sample")
    return background.mean_distance(x) - energy.distance_sums(x, sample=events) / len(events)


def energy_loo_witness(x: npt.ArrayLike, background: energy.EnergyBackground) -> Array:
    """Return g(x_i) - (1/(N-1)) sum_{j != i} |x_i - x_j| for every event: eq. loo-witness."""
    events = checks.points(x, "x", minimum=2)
    return background.mean_distance(events) - energy.distance_sums(events) / (len(events) - 1)


def jackknife_log_q(
    blocks: Sequence[BatchSums],
    target: npt.ArrayLike,
    *,
    checkpoints: Sequence[int],
    score: Callable[[BatchSums], Array] = lambda sums: scores(sums).pair,
) -> tuple[Array, Array]:
    """Return log q_rho at nested checkpoints, and its covariance from the batches themselves.

    One block after the other is left out of every checkpoint that contains it. With slope and
    residual of the regression of the score on the target, log q_rho is log(R Var(residual))
    - log(slope^2) up to constants (the R makes up for the missing block). The slope is a
    mean over batches, for which the jackknife holds. The residual variance is quadratic in a
    noise of mean zero, for which the jackknife finds twice the variance (each pair of blocks
    is counted from both ends): its part is halved here.

    Parameters
    ----------
    blocks
        The sums of consecutive ranges of batches.
    target
        What the score converges to.
    checkpoints
        How many of the leading blocks each checkpoint holds; at least 5, better 20.
    score
        The score to judge.
    """
    ends = list(checkpoints)
    value = np.empty(len(ends))
    influence = np.zeros((len(blocks), 2, len(ends)))
    for k, end in enumerate(ends):
        whole = reduce(add, blocks[:end])
        share = np.array([block.batches / whole.batches for block in blocks[:end]])
        parts = np.log(regression_parts(score(whole), target))
        without = np.log([regression_parts(score(whole - block), target) for block in blocks[:end]])
        change = without - parts
        change[:, 0] += np.log1p(-share)
        centred = change - np.outer(share, change.sum(axis=0))
        influence[:end, :, k] = np.sqrt(1 - share)[:, None] * centred
        value[k] = parts[0] - parts[1]
    residual, slope = influence[:, 0], influence[:, 1]
    return value, residual.T @ residual / 2 + slope.T @ slope


def regression_parts(score: npt.ArrayLike, target: npt.ArrayLike) -> tuple[float, float]:
    """Return Var(residual) and slope^2 Var(target) of the regression of the score on the target."""
    slope, level = np.polyfit(target, score, 1)
    residual = score - slope * np.asarray(target) - level
    return float(np.var(residual)), float(slope**2 * np.var(target))


def mmd2(
    sample: npt.ArrayLike,
    reference: npt.ArrayLike,
    recipe: Recipe,
    streams: Streams,
    *,
    choices: Choices | None = None,
) -> tuple[float, Used]:
    """Return the unbiased MMD^2 of sample and reference, and how it was found.

    The mean of k over pairs of different events of the sample, plus that of the reference, less
    twice that over pairs of one of each: eq. mmd-u-pair with the reference's own U-statistic in
    place of K_BB, so that its mean is 0 under the null although the reference is finite.
    """
    x, y = both(sample, reference)
    chosen = choices or choose(x, y, recipe, streams)
    x, y = chosen.transform(x), chosen.transform(y)
    N, M = len(x), len(y)
    method = recipe.for_calibration(N, M).method
    if method == "exact":
        inside = kernel_sums(x, chosen.bank).sum()
        outside = kernel_sums(y, chosen.bank).sum()
        across = kernel_sums(x, chosen.bank, sample=y).sum()
        return float(mmd2_of_sums(inside, outside, across, N=N, M=M)), method
    z = draw_features(chosen.bank, x.shape[1], recipe, streams)
    return float(mmd2_of_means(feature_mean(z, x), feature_mean(z, y), N=N, M=M)), method


def moments_of_kernel(q: Array) -> PairMoments:
    """Return the moments of a pair kernel given as a matrix, an event no companion of its own."""
    N = len(q)
    rows = [np.delete(q[i], i) for i in range(N)]
    w = np.array([row.mean() for row in rows])
    along = (q - np.diag(np.diag(q))) @ (w - w.mean()) / N
    return PairMoments(
        N=N,
        replacement=False,
        witness=float(w.var()),
        pair=float(np.mean([row.var() for row in rows])),
        aligned=float(along.var() / w.var()),
    )


def fourier_rows(features, x):
    """Return sqrt(2/D) cos(w.x + b), one row an event."""
    phases = np.asarray(x) @ features.frequencies + features.offsets
    return np.sqrt(2 / features.D) * np.cos(phases)
