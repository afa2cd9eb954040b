"""Random Fourier features of a kernel bank, their moments and their compression.

Features z(x) approximate the kernel by a product, k(x, y) = z(x).z(y) (eq. rff-kernel).
Centred on the background, z~ = z - mean_B z, they approximate the centred pair kernel,
q_B(x, y) = z~(x).z~(y), and a rotation onto the leading eigenvectors of their second
moment keeps nearly all of it in far fewer numbers an event.

Rows are always taken in blocks of a fixed size: memory is bounded, and no result depends
on a size of chunks that a caller chose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from localizer import checks
from localizer.checks import Array
from localizer.kernels import GaussianBank

Form: TypeAlias = Literal["offset", "paired"]
Precision: TypeAlias = type[np.float32] | type[np.float64]
Rows: TypeAlias = npt.NDArray[np.floating[Any]]

# A block of rows is what one matrix product takes; a stripe of it stays in the cache while
# its phases are added up.
_BLOCK = 4096
_STRIPE = 64


@dataclass(frozen=True, eq=False)
class FourierFeatures:
    """A drawn feature map z(x) = sqrt(2/D) cos(w.x + b); see :func:`fourier_features`.

    Parameters
    ----------
    frequencies
        The w, of shape (d, D).
    offsets
        The b, of shape (D,).
    """

    frequencies: Array
    offsets: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "frequencies", checks.points(self.frequencies, "frequencies"))
        size = self.frequencies.shape[1]
        object.__setattr__(self, "offsets", checks.vector(self.offsets, "offsets", size=size))

    @property
    def D(self) -> int:
        """The number of features."""
        return self.offsets.size

    def blocks(
        self,
        x: npt.ArrayLike,
        *,
        centre: npt.ArrayLike | None = None,
        dtype: Precision = np.float32,
    ) -> Iterator[Rows]:
        """Return an iterator over blocks of rows of z(x) - centre, in the order of x.

        Parameters
        ----------
        centre
            What is subtracted: the background's mean features for z~, nothing for z.
        dtype
            The precision of the features.
        """
        events = checks.points(x, "x", d=self.frequencies.shape[0])
        shift = np.zeros(self.D) if centre is None else checks.vector(centre, "centre", size=self.D)
        return (
            self._rows(events[start : start + _BLOCK], shift, dtype)
            for start in range(0, len(events), _BLOCK)
        )

    def transform(
        self,
        x: npt.ArrayLike,
        *,
        centre: npt.ArrayLike | None = None,
        basis: npt.ArrayLike | None = None,
        dtype: Precision = np.float32,
    ) -> Rows:
        """Return z(x), or z(x) - centre, or (z(x) - centre) @ basis, one row an event.

        Parameters
        ----------
        centre, dtype
            As in :meth:`blocks`.
        basis
            Columns to project on, of shape (D, rank), see :class:`Compression`.
        """
        rotation: Rows | None = None
        if basis is not None:
            rotation = checks.points(basis, "basis").astype(dtype)
            if len(rotation) != self.D:
                raise ValueError(f"basis must have {self.D} rows, it has {len(rotation)}")
        events = checks.points(x, "x", d=self.frequencies.shape[0])
        width = self.D if rotation is None else rotation.shape[1]
        out: Rows = np.empty((len(events), width), dtype)
        start = 0
        for z in self.blocks(events, centre=centre, dtype=dtype):
            out[start : start + len(z)] = z if rotation is None else z @ rotation
            start += len(z)
        return out

    def mean(self, x: npt.ArrayLike, *, dtype: Precision = np.float32) -> Array:
        """Return the mean of z over a sample, added in float64."""
        events = checks.points(x, "x")
        total = np.zeros(self.D)
        for z in self.blocks(events, dtype=dtype):
            total += z.sum(axis=0, dtype=np.float64)
        return total / len(events)

    def _rows(self, x: Array, centre: Array, dtype: Precision) -> Rows:
        """Return z(x) - centre; each row is computed alone, to the last digit."""
        amplitude = dtype(math.sqrt(2 / self.D))
        arrays: list[Rows] = [self.frequencies, self.offsets, centre, x]
        w, b, shift, points = (array.astype(dtype) for array in arrays)
        z: Rows = np.empty((len(x), self.D), dtype)
        term = np.empty((_STRIPE, self.D), dtype)
        for start in range(0, len(x), _STRIPE):
            stripe = z[start : start + _STRIPE]
            stripe[:] = b
            for k, frequency in enumerate(w):
                part = term[: len(stripe)]
                np.multiply(points[start : start + _STRIPE, k, None], frequency, out=part)
                stripe += part
            np.cos(stripe, out=stripe)
            stripe *= amplitude
            np.subtract(stripe, shift, out=stripe)
        return z


def fourier_features(
    bank: GaussianBank,
    d: int,
    rng: np.random.Generator,
    *,
    n_per_bandwidth: int = 512,
    form: Form = "offset",
) -> FourierFeatures:
    """Draw random Fourier features of a bank, the maps of its bandwidths side by side.

    Each bandwidth h has ``n_per_bandwidth`` features with frequencies from N(0, I / h^2);
    the common factor sqrt(2/D) makes z(x).z(y) the mean over bandwidths, as in the bank.

    Parameters
    ----------
    d
        The number of features of an event.
    form
        ``offset``: cos(w.x + b), every w with a uniform b. ``paired``: cos(w.x) and
        sin(w.x) for half as many w, so that z(x).z(x) = 1 exactly.

    Examples
    --------
    >>> from localizer.randomness import stream
    >>> features = fourier_features(GaussianBank((0.5, 1.0)), 4, stream(1, "example"))
    >>> features.D
    1024
    """
    size = checks.integer(d, "d")
    n = checks.integer(n_per_bandwidth, "n_per_bandwidth")
    if form not in get_args(Form):
        raise ValueError(f"form must be one of {get_args(Form)}, not {form!r}")
    if form == "paired" and n % 2:
        raise ValueError(f"n_per_bandwidth must be even for form 'paired', it is {n}")
    frequencies, offsets = [], []
    for h in bank.bandwidths:
        if form == "offset":
            frequencies.append(rng.standard_normal((size, n)) / h)
            offsets.append(rng.uniform(0, 2 * math.pi, n))
        else:
            half = rng.standard_normal((size, n // 2)) / h
            frequencies += [half, half]
            # the cosine a quarter turn later is the sine
            offsets += [np.zeros(n // 2), np.full(n // 2, -math.pi / 2)]
    return FourierFeatures(np.concatenate(frequencies, axis=1), np.concatenate(offsets))


@dataclass(frozen=True, eq=False)
class Moments:
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
) -> Moments:
    """Return the moments of z~ = z - mean_background over the events of x.

    Blocks are multiplied in ``dtype`` and added in float64.
    """
    events = checks.points(x, "x")
    first, second = np.zeros(features.D), np.zeros((features.D, features.D))
    for z in features.blocks(events, centre=mean_background, dtype=dtype):
        first += z.sum(axis=0, dtype=np.float64)
        second += z.T @ z
    return Moments(len(events), first / len(events), second / len(events))


@dataclass(frozen=True, eq=False)
class Compression:
    """The leading eigenvectors of a second moment, and what leaving out the rest costs.

    The projected features c(x) = z~(x) @ basis give q(x, y) = c(x).c(y) in place of
    q_B(x, y) = z~(x).z~(y).

    Parameters
    ----------
    basis
        The eigenvectors kept, of shape (D, rank); the largest entry of each is positive.
    eigenvalues
        All D eigenvalues, largest first.
    moments
        What was compressed.
    """

    basis: Array
    eigenvalues: Array
    moments: Moments

    @property
    def rank(self) -> int:
        """The number of eigenvectors kept."""
        return int(self.basis.shape[1])

    @property
    def trace_lost(self) -> float:
        """The fraction of E q_B(x, x) that is lost."""
        return float(self.eigenvalues[self.rank :].sum() / self.eigenvalues.sum())

    @property
    def rms_error(self) -> float:
        """The root mean square of q - q_B over all pairs of the sample.

        The mean of (r_i.r_j)^2 over all pairs of residuals is the trace of the square of
        their second moment.
        """
        return math.sqrt(float(np.sum(self.eigenvalues[self.rank :] ** 2)))

    @property
    def rms_pair_kernel(self) -> float:
        """The root mean square of q_B itself over the same pairs."""
        return math.sqrt(float(np.sum(self.eigenvalues**2)))

    @cached_property
    def target_correlation(self) -> float:
        """The correlation over events of z~_i.mean(z~) with its compressed form.

        This is the limit of the pair estimator (batches with replacement) before and
        after compression.
        """
        full = self.moments.mean
        kept = self.basis @ (self.basis.T @ full)
        covariance = self.moments.covariance
        scale = float((full @ covariance @ full) * (kept @ covariance @ kept))
        if not scale > 0:
            raise ValueError("moments must belong to a target that varies among the events")
        return float(full @ covariance @ kept) / math.sqrt(scale)

    def largest_error(
        self, x: npt.ArrayLike, features: FourierFeatures, mean_background: npt.ArrayLike
    ) -> float:
        """Return the largest |q - q_B| over all pairs of events of x, in float64.

        The error of a pair is r(x).r(y) with the residuals r of the projection: the worst
        pair is an event with itself, and |r|^2 = |z~|^2 - |c|^2.
        """
        worst = 0.0
        for z in features.blocks(x, centre=mean_background, dtype=np.float64):
            lost = np.sum(z**2, axis=1) - np.sum((z @ self.basis) ** 2, axis=1)
            worst = max(worst, float(lost.max()))
        return worst


def compress(
    moments: Moments, *, rank: int | None = None, tolerance: float | None = None
) -> Compression:
    """Return the leading eigenvectors of the second moment of z~.

    Parameters
    ----------
    rank
        How many eigenvectors are kept; or
    tolerance
        the largest fraction of the trace that may be lost. Exactly one is given.
    """
    if (rank is None) == (tolerance is None):
        raise ValueError("rank or tolerance must be given, and not both")
    values, vectors = np.linalg.eigh(moments.second)
    # rounding leaves the null space with eigenvalues of either sign
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    if not values[0] > 0:
        raise ValueError("moments must not vanish: there is nothing to compress")
    if tolerance is not None:
        allowed = checks.fraction(tolerance, "tolerance") * values.sum()
        lost = values.sum() - np.cumsum(values)
        keep = int(np.argmax(lost <= allowed)) + 1
    else:
        keep = checks.integer(rank, "rank", maximum=values.size)
    basis = vectors[:, :keep]
    largest = np.argmax(np.abs(basis), axis=0)
    signs = np.sign(basis[largest, np.arange(keep)])
    return Compression(basis * signs, values, moments)
