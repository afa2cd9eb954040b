"""The empirical MMD witness of every event: exact, leave-one-out, and from random features.

The exact forms rest on :func:`localizer.kernels.bank.kernel_sums`, which visits every pair or,
for one or two features, sums a cosine series; ``method`` is passed on to it. The forms in
random Fourier features take rows of a feature matrix, whole or in blocks.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.kernels.bank import Background, GaussianBank, SumMethod, check_bank, kernel_sums

_ROWS = 1024


def empirical_witness(
    x: npt.ArrayLike,
    sample: npt.ArrayLike,
    bank: GaussianBank,
    background: Background,
    *,
    method: SumMethod = "auto",
) -> Array:
    """Return w_N(x) = (1/N) sum_j k(x, x_j) - mu_B(x) at any points: eq. empirical-witness.

    At an event of the sample itself the sum holds k(x_i, x_i): see :func:`loo_witness`.

    Parameters
    ----------
    x
        Where the witness is wanted, of shape (n, d).
    sample
        The N observed events x_j.
    """
    check_bank(bank, background)
    events = checks.points(sample, "sample")
    sums = kernel_sums(x, bank, sample=events, method=method)
    return sums / len(events) - background.mean_embedding(x)


def loo_witness(
    x: npt.ArrayLike, bank: GaussianBank, background: Background, *, method: SumMethod = "auto"
) -> Array:
    """Return (1/(N-1)) sum_{j != i} k(x_i, x_j) - mu_B(x_i) for every event: eq. loo-witness.

    Examples
    --------
    >>> from localizer.kernels.bank import NormalBackground
    >>> bank = GaussianBank((1.0,))
    >>> loo_witness([[0.0], [0.0], [3.0]], bank, NormalBackground(bank, d=1)).round(4).tolist()
    [-0.2016, -0.2016, -0.0634]
    """
    check_bank(bank, background)
    return _means_over_others(x, bank, method) - background.mean_embedding(x)


def self_difference(x: npt.ArrayLike, bank: GaussianBank, *, method: SumMethod = "auto") -> Array:
    """Return w_N(x_i) - w_{-i}(x_i), what an event adds to its own witness: eq. self-difference."""
    others = _means_over_others(x, bank, method)
    return (1 - others) / len(others)


def pair_target(
    x: npt.ArrayLike, bank: GaussianBank, background: Background, *, method: SumMethod = "auto"
) -> Array:
    """Return the mean over j != i of q_B(x_i, x_j) for every event.

    This is what the pair estimator converges to when batches are drawn without
    replacement. Written out, with mu_B's mean over the sample,

        LOO witness + mu_B(x_i) / (N-1) + K_BB - N mean(mu_B) / (N-1),

    so that its order of events differs from the LOO witness's by O(1/N) alone.
    """
    check_bank(bank, background)
    others = _means_over_others(x, bank, method)
    mu = background.mean_embedding(x)
    of_others = (mu.sum() - mu) / (len(mu) - 1)
    return np.asarray(others - mu - of_others + background.K_BB)


def rff_witness(z: npt.ArrayLike, mean: npt.ArrayLike, mean_background: npt.ArrayLike) -> Array:
    """Return z(x).(z_mean - z_B) at the rows of z: eq. rff-witness.

    Parameters
    ----------
    z
        The features of any points: a matrix, or a block of its rows.
    mean, mean_background
        The means of the features over the sample and over the background.
    """
    of_sample = checks.vector(mean, "mean")
    of_background = checks.vector(mean_background, "mean_background", size=of_sample.size)
    return _products(z, of_sample - of_background, own=0.0)


def rff_loo(
    z: npt.ArrayLike, mean: npt.ArrayLike, mean_background: npt.ArrayLike, *, N: int
) -> Array:
    """Return z_i.[(N z_mean - z_i)/(N-1) - z_B] for events of the sample: eq. rff-loo.

    With features centred on the background, and so ``mean_background`` 0, this is the
    pair target of :func:`pair_target`, because z_i.z_j is then q_B(x_i, x_j).

    Parameters
    ----------
    z
        The features of events of the sample: of all, or a block of rows.
    mean, mean_background
        The means of the features over the whole sample and over the background.
    N
        The size of the whole sample.
    """
    size = checks.integer(N, "N", minimum=2)
    of_sample = checks.vector(mean, "mean")
    of_background = checks.vector(mean_background, "mean_background", size=of_sample.size)
    return _products(z, size / (size - 1) * of_sample - of_background, own=1 / (size - 1))


def _means_over_others(x: npt.ArrayLike, bank: GaussianBank, method: SumMethod) -> Array:
    """Return (1/(N-1)) sum_{j != i} k(x_i, x_j), for k(x, x) = 1."""
    events = checks.points(x, "x", minimum=2)
    return (kernel_sums(events, bank, method=method) - 1) / (len(events) - 1)


def _products(z: npt.ArrayLike, direction: Array, *, own: float) -> Array:
    """Return z_i.direction - own |z_i|^2, a few rows at a time in float64."""
    matrix = np.atleast_1d(np.asarray(z))
    parts = []
    for start in range(0, max(1, len(matrix)), _ROWS):
        rows = checks.points(matrix[start : start + _ROWS], "z", d=direction.size)
        products = rows @ direction
        parts.append(products - own * np.einsum("ij,ij->i", rows, rows) if own else products)
    return np.concatenate(parts)
