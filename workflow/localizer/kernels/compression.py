"""The moments of centred features, and their compression to a few directions.

A rotation onto the leading eigenvectors of the second moment of z~ = z - mean_B z keeps nearly
all of q_B(x, y) = z~(x).z~(y) in far fewer numbers an event. One direction more, that of their
mean, keeps the witness exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.metrics import correlation
from localizer.kernels.features import FourierFeatures
from localizer.kernels.sums import Precision

# A direction of which less than this part lies outside a span is in it, but for rounding.
_IN_SPAN = 1e-12


@dataclass(frozen=True, eq=False)
class FeatureMoments:
    """The mean and the second moment of centred features z~ over a sample."""

    size: int
    mean: Array
    second: Array

    @property
    def covariance(self) -> Array:
        """The covariance of z~ over the sample."""
        return np.asarray(self.second - np.outer(self.mean, self.mean))


def centred_moments(
    x: npt.ArrayLike,
    features: FourierFeatures,
    mean_background: npt.ArrayLike,
    *,
    dtype: Precision = np.float32,
) -> FeatureMoments:
    """Return the moments of z~ = z - mean_background over the events of x.

    Blocks are multiplied in ``dtype`` and added in float64.
    """
    events = checks.points(x, "x")
    first, second = np.zeros(features.D), np.zeros((features.D, features.D))
    for z in features.blocks(events, centre=mean_background, dtype=dtype):
        first += z.sum(axis=0, dtype=np.float64)
        second += z.T @ z
    return FeatureMoments(len(events), first / len(events), second / len(events))


@dataclass(frozen=True, eq=False)
class Compression:
    """A few directions of centred features, and what leaving out the rest costs.

    The projected features c(x) = z~(x) @ basis give q(x, y) = c(x).c(y) in place of
    q_B(x, y) = z~(x).z~(y). What is said of the loss holds for any orthonormal basis.

    Parameters
    ----------
    basis
        The directions kept, of shape (D, rank), orthonormal.
    moments
        What was compressed.
    target
        The mean of z~ over the events that batches are drawn from: the witness is z~_i.target.
    """

    basis: Array
    moments: FeatureMoments
    target: Array

    @property
    def rank(self) -> int:
        """The number of directions kept."""
        return int(self.basis.shape[1])

    @cached_property
    def noise_lost(self) -> float:
        """The fraction of mean_i Var_j[q_B(x_i, x_j)] that is lost.

        This is the variance of the resampling noise, and the numerator of the constant C of
        eq. q-rho-scaling.
        """
        kept = self.basis.T @ self.moments.second @ self.basis
        full = _pair_variance(self.moments.second, self.moments.mean)
        return 1 - _pair_variance(kept, self.basis.T @ self.moments.mean) / full

    @cached_property
    def trace_lost(self) -> float:
        """The fraction of E q_B(x, x) that is lost."""
        return float(np.trace(self._left_out) / np.trace(self.moments.second))

    @property
    def _left_out(self) -> Array:
        """The second moment of the residuals r = z~ - basis @ c."""
        one_side = self.moments.second - self.basis @ (self.basis.T @ self.moments.second)
        return np.asarray(one_side - (one_side @ self.basis) @ self.basis.T)

    def target_correlation(
        self,
        x: npt.ArrayLike,
        features: FourierFeatures,
        mean_background: npt.ArrayLike,
        *,
        N: int,
        replacement: bool,
    ) -> float:
        """Return the correlation of what the pair score converges to with its compressed form.

        With replacement this is z~_i.target. Without, an event is no companion of its own,
        and N z~_i.target - |z~_i|^2 counts: exact up to the |r_i|^2 of the residuals.

        Parameters
        ----------
        x
            The events over which the correlation is taken.
        N
            The number of events that batches are drawn from.
        replacement
            Whether a batch may hold an event twice.
        """
        own = 0.0 if replacement else 1.0
        projected = self.basis.T @ self.target
        full: list[Array] = []
        kept: list[Array] = []
        for z in features.blocks(x, centre=mean_background, dtype=np.float64):
            c = z @ self.basis
            full.append(N * (z @ self.target) - own * np.sum(z**2, axis=1))
            kept.append(N * (c @ projected) - own * np.sum(c**2, axis=1))
        return correlation(np.concatenate(full), np.concatenate(kept))


def compress(
    moments: FeatureMoments,
    *,
    rank: int | None = None,
    tolerance: float | None = None,
    step: int = 1,
    target: npt.ArrayLike | None = None,
) -> Compression:
    """Return the leading eigenvectors of the second moment of z~, the last one replaced.

    In its place stands what the others leave of the target, the mean of z~. The projection then
    leaves the target as it is, and with it the witness z~_i.target, at any rank: only the
    resampling noise becomes smaller. The largest entry of each direction is positive.

    Parameters
    ----------
    rank
        How many directions are kept; or
    tolerance
        the largest fraction of the noise that may be lost, :attr:`Compression.noise_lost` with
        the mean of the moments as target. Exactly one is given.
    step
        With a tolerance, the rank is a multiple of this, or all there are.
    target
        The mean of z~ where the moments are those of a part of the events.
    """
    if (rank is None) == (tolerance is None):
        raise ValueError("rank or tolerance must be given, and not both")
    mean = moments.mean if target is None else target
    mean = checks.vector(mean, "target", size=len(moments.mean))
    values, vectors = np.linalg.eigh(moments.second)
    # rounding leaves the null space with eigenvalues of either sign
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    if not values[0] > 0:
        raise ValueError("moments must not vanish: there is nothing to compress")
    if tolerance is not None:
        allowed = checks.fraction(tolerance, "tolerance")
        lost = _noise_lost(values, vectors.T @ mean)
        size = checks.integer(step, "step")
        ranks = [*range(size, values.size, size), values.size]
        keep = next(r for r in ranks if r == values.size or lost[r - 1] <= allowed)
    else:
        keep = checks.integer(rank, "rank", maximum=values.size)
    basis = vectors[:, :keep].copy()
    if keep < values.size:
        _keep_direction(basis, mean)
    largest = np.argmax(np.abs(basis), axis=0)
    signs = np.sign(basis[largest, np.arange(keep)])
    return Compression(basis * signs, moments, mean)


def _keep_direction(basis: Array, direction: Array) -> None:
    """Turn the last column of an orthonormal basis so that the span holds the direction."""
    others = basis[:, :-1]
    rest = direction - others @ (others.T @ direction)
    if np.linalg.norm(rest) > _IN_SPAN * np.linalg.norm(direction):
        # once more: of a small rest, much is the rounding of what was subtracted
        rest -= others @ (others.T @ rest)
        basis[:, -1] = rest / np.linalg.norm(rest)


def _noise_lost(values: Array, target: Array) -> Array:
    """Return :attr:`Compression.noise_lost` for every rank from 1, in the basis of eigenvectors.

    The second moment stays diagonal: the last direction u is orthogonal to the eigenvectors v_k
    before it, and so u^T M v_k = 0. Its own entry is the mean of the eigenvalues from there on,
    weighted with the squares of the target's components.
    """
    squares, weighted, weight = (
        _tails(part) for part in (values**2, values * target**2, target**2)
    )
    last = np.divide(weighted, weight, out=values.copy(), where=weight > 0)
    return np.asarray((squares - last**2) / (squares[0] - weighted[0]))


def _tails(values: Array) -> Array:
    """Return the sum of the values from each position on."""
    return np.cumsum(values[::-1])[::-1]


def _pair_variance(second: Array, mean: Array) -> float:
    """Return mean_i Var_j(z_i.z_j) = tr(M Cov) from the moments of z."""
    return float(np.sum(second**2) - mean @ second @ mean)
