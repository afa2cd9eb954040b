"""The unbiased known-background MMD statistic and its parts, from a matrix of pair kernels.

Each function takes the matrix q of q_B(x_i, x_j) for a batch of m events (see
:func:`localizer.kernels.bank.q_B`), or of any other symmetric pair kernel. The diagonal, an
event paired with itself, never counts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array


def T(q: npt.ArrayLike) -> float:
    """Return T_m, the mean of q over the pairs i < j: eq. mmd-u-pair.

    Examples
    --------
    >>> T([[9.0, 1.0, 2.0], [1.0, 9.0, 3.0], [2.0, 3.0, 9.0]])
    2.0
    """
    shared = _sums_over_others(q, minimum=2)
    m = len(shared)
    return float(shared.sum()) / (m * (m - 1))


def T_without(q: npt.ArrayLike) -> Array:
    """Return T_{m-1}^{(-i)}, the statistic after removing x_i, for every event of the batch.

    Examples
    --------
    >>> T_without([[9.0, 1.0, 2.0], [1.0, 9.0, 3.0], [2.0, 3.0, 9.0]]).tolist()
    [3.0, 2.0, 1.0]
    """
    shared = _sums_over_others(q, minimum=3)
    m = len(shared)
    return np.asarray((shared.sum() - 2 * shared) / ((m - 1) * (m - 2)))


def pair_contributions(q: npt.ArrayLike) -> Array:
    """Return J_i = 2 / (m (m-1)) sum_{j != i} q_ij: eq. event-pair-contribution.

    T_m - T_{m-1}^{(-i)} = J_i - (2/m) T_{m-1}^{(-i)}: the pair form of the marginal one.

    Examples
    --------
    >>> pair_contributions([[9.0, 1.0, 2.0], [1.0, 9.0, 3.0], [2.0, 3.0, 9.0]]).round(4).tolist()
    [1.0, 1.3333, 1.6667]
    """
    shared = _sums_over_others(q, minimum=2)
    m = len(shared)
    return np.asarray(2 * shared / (m * (m - 1)))


def _sums_over_others(q: npt.ArrayLike, *, minimum: int) -> Array:
    """Return sum_{j != i} q_ij for every i, after checking that q is a pair kernel's matrix."""
    matrix = checks.points(q, "q", minimum=minimum)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"q must be square, one row and one column an event, not {matrix.shape}")
    # features in float32 make matrices that are symmetric to their own precision only
    if np.max(np.abs(matrix - matrix.T)) > 1e-5 * np.max(np.abs(matrix)):
        raise ValueError("q must be symmetric, q(x, y) = q(y, x)")
    without_self = matrix.copy()
    np.fill_diagonal(without_self, 0.0)
    return np.asarray(without_self.sum(axis=1))
