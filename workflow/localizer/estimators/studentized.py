r"""The studentized multiscale witness: how significant the excess or deficit at an event is.

The witness (eq. loo-witness) says how much an event contributes to the discrepancy; dense regions
dominate it. Here every bandwidth h of a ladder is divided by its own standard error,

    z_h(x_i) = w_{-i,h}(x_i) / se_h(x_i),  evidence(x_i) = mean over h of z_h(x_i).

The error is that under the null hypothesis, where sample and reference are one population: with
the pooled variance of k_h(x_i, .) over the events of both, x_i itself among them,

    se_h^2 = (E_pooled[k_h^2] - E_pooled[k_h]^2) (1/(N-1) + 1/M).

- It does not depend on which pooled event belongs to which sample: permutations leave it as it is.
- x_i itself is in it with k_h = 1, so it never vanishes: an event that has no neighbour at a
  bandwidth has z_h = 0, without a rule of its own, and one far neighbour changes little.
- Equal events are neighbours at distance 0 and have equal evidence. Where all kernel values are
  equal (to rounding), there is none: z_h = 0.

The sign tells an excess (positive) from a deficit of the sample. Under the null hypothesis every
z_h has mean 0 and a variance of about 1; their mean has a smaller one.

With weights, N and M are the numbers of events that the weights are worth, (sum w)^2 / sum w^2,
and the pooled moments are those of the two samples, averaged with these numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from localizer.base import checks
from localizer.base.checks import Array, IntArray
from localizer.base.threads import in_threads
from localizer.estimators.weights import Weights
from localizer.kernels import feature_products
from localizer.kernels.feature_means import chunks, feature_mean
from localizer.kernels.features import FourierFeatures, feature_rows
from localizer.kernels.moments import KernelMoments, kernel_moments
from localizer.kernels.sums import Precision, ladders

LADDER = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
"""The bandwidths in units of the median distance."""

Own: TypeAlias = slice | IntArray
"""Which events of the sample."""

# A compiled kernel value is at least some 1e-37, however far the events are apart.
_NOTHING = 1e-30


# --- from all pairs of events --------------------------------------------------------------


def studentized_witness(
    sample: npt.ArrayLike,
    reference: npt.ArrayLike,
    bandwidths: Sequence[float],
    *,
    dtype: Precision = np.float64,
) -> Array:
    """Return the evidence at every event of the sample, from all pairs of events.

    Parameters
    ----------
    sample, reference
        Of shapes (N, d) and (M, d), in the kernel's coordinates.
    bandwidths
        The ladder, for example :data:`LADDER` times the median distance.
    dtype
        The precision of a pair, see :func:`localizer.kernels.moments.precision`.

    Examples
    --------
    Two neighbours, and an event that has none:

    >>> studentized_witness([[0.0], [0.1], [900.0]], [[20.0], [30.0]], (1.0, 2.0)).round(2).tolist()
    [1.02, 1.02, 0.0]
    """
    x, y = checks.points(sample, "sample", minimum=2), checks.points(reference, "reference")
    h = checks.bandwidths(bandwidths)
    inside, outside = (kernel_moments(x, t, h[:1], each=h, dtype=dtype) for t in (x, y))
    return studentized(inside, outside, Weights.none(len(x), len(y)))


def studentized(
    inside: KernelMoments, outside: KernelMoments, weights: Weights, own: Own = slice(None)
) -> Array:
    """Return the evidence from sums over the sample (each event itself included) and reference.

    Parameters
    ----------
    own
        Which events of the sample the sums belong to.
    """
    w = weights.sample[own]
    loo = (inside.each_first - w) / (weights.sample.sum() - w)
    loo -= outside.each_first / weights.reference.sum()
    loo[np.abs(loo) < _NOTHING] = 0.0
    per_error = inverse_errors(
        *pooled_moments(inside, outside, weights),
        *(weights.own_share[own], weights.scale[own]),
        dtype=inside.dtype,
    )
    return np.asarray((loo * per_error).mean(axis=0))


def pooled_moments(
    inside: KernelMoments, outside: KernelMoments, weights: Weights
) -> tuple[Array, Array]:
    """Return the pooled means of k_h and of k_h^2 from the same sums."""
    a, U, V = weights.share_of_sample, weights.sample.sum(), weights.reference.sum()
    first = a * inside.each_first / U + (1 - a) * outside.each_first / V
    second = a * inside.each_second / U + (1 - a) * outside.each_second / V
    return first, second


def inverse_errors(
    first: Array,
    second: Array,
    share: Array | float,
    scale: Array | float,
    *,
    dtype: Precision = np.float64,
) -> Array:
    """Return 1 / se_h for pooled means of k_h and k_h^2, and 0 where there is no evidence.

    Parameters
    ----------
    share
        The part of the event itself in these means: 1 / (N + M) without weights.
    scale
        1 / (N - 1) + 1 / M without weights.
    """
    # the event's own part is a lower bound, which only negative weights can miss
    variance = np.maximum(second - first**2, share * (1 - first) ** 2)
    known = variance > 16 * np.finfo(dtype).eps * np.abs(second)
    return np.where(known, 1 / np.sqrt(np.where(known, variance, 1.0) * scale), 0.0)


def kernel_rows(x: Array, y: Array, bandwidths: Sequence[float], per_error: Array) -> Array:
    """Return the mean over h of k_h(x_i, y_j) / se_h(x_i), for few rows: the evidence's kernel.

    The evidence is then what the witness is of k, with k_h(x, x) = 1 in the place of k(x, x).
    """
    square: Array = cdist(x, y, "sqeuclidean")
    total = np.zeros_like(square)
    for top, rungs in ladders(bandwidths):
        k = np.exp(square / (-2 * top * top))
        for rung in range(rungs):
            if rung:
                k **= 4
            which = int(np.argmin(np.abs(np.asarray(bandwidths) - top / 2**rung)))
            total += k * (per_error[which] / len(bandwidths))[:, None]
    return total


# --- from random features ------------------------------------------------------------------

# Rows of features that are multiplied at a time.
_ROWS = 256


@dataclass(frozen=True, eq=False)
class StudentizedFeatures:
    """Random features of a ladder, and the pooled variance of each bandwidth's kernel.

    The kernel of the features, k_h(x, y) = z_h(x).z_h(y), stands for k_h everywhere, also in the
    variance z_h(x).C_h z_h(x), with C_h the pooled covariance of z_h.

    Parameters
    ----------
    z
        The features of the bandwidths side by side, cosines and sines: z(x).z(x) = 1.
    mean
        The pooled mean of z.
    roots
        R_h with R_h R_h^T = C_h, of shape (bandwidths, n, n).
    """

    z: FourierFeatures
    mean: Array
    roots: feature_products.Single

    @classmethod
    def of(
        cls, z: FourierFeatures, pooled: Array, *, bandwidths: int, weights: Array | None = None
    ) -> StudentizedFeatures:
        """Return the features with the covariances of some pooled events.

        Parameters
        ----------
        weights
            The part of each pooled event in mean and covariance, up to a factor.
        """
        w = np.ones(len(pooled)) if weights is None else weights
        n = z.D // bandwidths

        def products(rows: slice) -> Array:
            total = np.zeros((bandwidths, n, n))
            of_rows = w[rows].astype(np.float32)[:, None]
            for place, block in feature_rows(z, pooled[rows], rows=_ROWS):
                for h in range(bandwidths):
                    part = block[:, h * n : (h + 1) * n]
                    total[h] += part.T @ (of_rows[place] * part)
            return total

        total = np.zeros((bandwidths, n, n))
        for part in in_threads(products, chunks(pooled)):
            total += part
        mean = feature_mean(z, pooled, w)
        each = mean.reshape(bandwidths, n)
        # in units of a single bandwidth's kernel, of which the bank has the mean
        covariance = (total / w.sum() - each[:, :, None] * each[:, None, :]) * bandwidths**2
        values, vectors = np.linalg.eigh(covariance)
        roots = vectors * np.sqrt(np.maximum(values, 0))[:, None, :]
        return cls(z, mean, roots.astype(np.float32))

    def rows(
        self, x: Array, share: Array, scale: Array
    ) -> Iterator[tuple[slice, feature_products.Single, Array]]:
        """Yield rows of z, a few at a time, each bandwidth's over its error; and mean 1 / se_h.

        The product of such a row with a difference of mean features is the evidence, up to the
        event's own part, which is the mean of 1 / se_h. All blocks are written to the same memory.
        ``share`` and ``scale`` are as in :func:`inverse_errors`, one number for each x.
        """
        bandwidths, n = len(self.roots), self.z.D // len(self.roots)
        for place, block in feature_rows(self.z, x, rows=_ROWS):
            parts = block.reshape(len(block), bandwidths, n)
            first, variance = np.empty((2, bandwidths, len(block)))
            for h, root in enumerate(self.roots):
                part = block[:, h * n : (h + 1) * n]
                first[h] = bandwidths * (part @ self.mean[h * n : (h + 1) * n].astype(np.float32))
                variance[h] = np.square(part @ root).sum(axis=1, dtype=np.float64)
            per_error = inverse_errors(
                first, variance + first**2, share[place], scale[place], dtype=np.float32
            )
            parts *= per_error.T[:, :, None].astype(np.float32)
            yield place, block, per_error.mean(axis=0)


def rff_studentized(
    features: StudentizedFeatures,
    x: Array,
    mean: Array,
    mean_reference: Array,
    weights: Weights,
    own: IntArray | None = None,
) -> Array:
    """Return the evidence at events of the sample, from random features.

    Parameters
    ----------
    x
        The sample, or some events of it.
    mean, mean_reference
        The mean features of sample and reference.
    own
        Which events of the sample these are; left out, all.
    """
    directions = np.stack([mean - mean_reference, mean], axis=1).astype(np.float32)

    which = slice(None) if own is None else own
    share, scale, left = (
        of_sample[which] for of_sample in (weights.own_share, weights.scale, weights.left_out)
    )

    def work(rows: slice) -> Array:
        found = np.empty(rows.stop - rows.start)
        for place, block, own in features.rows(x[rows], share[rows], scale[rows]):
            difference, of_sample = (block @ directions).T.astype(np.float64)
            found[place] = difference + left[rows][place] * (of_sample - own)
        return found

    return np.concatenate(list(in_threads(work, chunks(x))))
