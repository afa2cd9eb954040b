"""The Gaussian kernel bank, the background's mean embedding and the centred pair kernel.

Everything that the estimators need of a kernel k: its matrix, its sums over a sample,
mu_B(x) = E_B k(x, Y), K_BB = E_B k(Y, Y'), and q_B of eq. mmd-U-kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from localizer.base import checks
from localizer.base.checks import Array
from localizer.kernels import sums
from localizer.models.gaussian import smoothed_normal

SumMethod: TypeAlias = Literal["auto", "pairwise", "pairwise32", "fourier"]

# Entries of a kernel matrix that are worked on at a time: 32 MB.
_ENTRIES = 1 << 22


@dataclass(frozen=True)
class GaussianBank:
    """The mean over bandwidths h of k_h(x, y) = exp(-|x - y|^2 / (2 h^2)).

    Parameters
    ----------
    bandwidths
        One bandwidth, for a single kernel, or several.

    Examples
    --------
    >>> bank = GaussianBank((1.0, 2.0))
    >>> bank([[0.0], [1.0]], [[0.0]]).round(4).ravel().tolist()
    [1.0, 0.7445]
    """

    bandwidths: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidths", checks.bandwidths(self.bandwidths))

    def __call__(self, x: npt.ArrayLike, y: npt.ArrayLike) -> Array:
        """Return the matrix k(x_i, y_j), of shape (n, m).

        Rows are worked off in chunks: little memory is needed beyond the result.
        """
        a = checks.points(x, "x")
        b = checks.points(y, "y", d=a.shape[1])
        k = np.empty((len(a), len(b)))
        step = max(1, _ENTRIES // len(b))
        for start in range(0, len(a), step):
            k[start : start + step] = self.rows(a[start : start + step], b)
        return k

    def rows(self, x: Array, y: Array) -> Array:
        """Return the same for few rows of checked points, in one piece.

        One exponential serves bandwidths in ratio 2, see :func:`localizer.kernels.sums.ladders`.
        """
        square: Array = cdist(x, y, "sqeuclidean")
        total = np.zeros_like(square)
        for top, rungs in sums.ladders(self.bandwidths):
            k = np.exp(square / (-2 * top * top))
            total += k
            for _ in range(1, rungs):
                k *= k
                k *= k
                total += k
        total /= len(self.bandwidths)
        return total


def kernel_sums(
    x: npt.ArrayLike,
    bank: GaussianBank,
    *,
    sample: npt.ArrayLike | None = None,
    method: SumMethod = "auto",
    tolerance: float = 1e-12,
) -> Array:
    """Return sum_j k(x_i, y_j) over the events y_j of a sample, for every row of x.

    Parameters
    ----------
    sample
        The events y_j; left out, they are x itself, each event's k(x_i, x_i) = 1 included.
    method
        ``pairwise`` visits every pair in float64. ``pairwise32`` does so in float32: right
        to 1e-5 of the sum (or to 1e-8), for events within 100 of the smallest bandwidths.
        ``fourier`` is exact to ``tolerance`` and much faster for many events, for one or two
        features within some 500 bandwidths. Each refuses what it cannot do. ``auto`` is
        ``fourier`` where that costs less and ``pairwise`` otherwise.
    tolerance
        Of ``fourier``: the largest absolute error of one pair's kernel.

    Examples
    --------
    >>> kernel_sums([[0.0], [1.0], [1.0]], GaussianBank((1.0,))).round(4).tolist()
    [2.2131, 2.6065, 2.6065]
    """
    at = checks.points(x, "x")
    others = None if sample is None else checks.points(sample, "sample", d=at.shape[1])
    if method not in get_args(SumMethod):
        raise ValueError(f"method must be one of {get_args(SumMethod)}, not {method!r}")
    if not 1e-14 <= checks.positive(tolerance, "tolerance") <= 1e-2:
        raise ValueError(f"tolerance must lie between 1e-14 and 0.01, it is {tolerance:g}")
    h = bank.bandwidths
    if method == "auto":
        cost = sums.fourier_cost(at, others, h, tolerance=tolerance)
        method = "fourier" if cost < len(at if others is None else others) else "pairwise"
    if method == "fourier":
        return sums.fourier(at, others, h, tolerance=tolerance)
    return sums.pairwise(at, others, h, dtype=np.float32 if method == "pairwise32" else np.float64)


class Background(Protocol):
    """What the estimators need to know of the background B, seen through a kernel bank."""

    @property
    def bank(self) -> GaussianBank:
        """The kernel k of the expectations."""

    @property
    def K_BB(self) -> float:
        """E k(Y, Y') for two independent background events."""

    def mean_embedding(self, x: npt.ArrayLike) -> Array:
        """Return mu_B(x) = E_B k(x, Y) at every row of x."""


@dataclass(frozen=True)
class NormalBackground:
    """The standard normal background N(0, I) in d dimensions, in closed form.

    Examples
    --------
    >>> background = NormalBackground(GaussianBank((1.0,)), d=2)
    >>> round(background.K_BB, 6)
    0.333333
    >>> background.mean_embedding([[0.0, 0.0]]).tolist()
    [0.5]
    """

    bank: GaussianBank
    d: int

    def __post_init__(self) -> None:
        checks.integer(self.d, "d")

    @property
    def K_BB(self) -> float:
        """E k(Y, Y') for two independent background events."""
        # Y - Y' is N(0, 2 I): one more smoothing, seen from the origin
        return float(self._smoothed(np.zeros((1, self.d)), variance=2.0)[0])

    def mean_embedding(self, x: npt.ArrayLike) -> Array:
        """Return mu_B(x) = E_B k(x, Y) at every row of x."""
        return self._smoothed(checks.points(x, "x", d=self.d), variance=1.0)

    def _smoothed(self, x: Array, *, variance: float) -> Array:
        kernels = [
            smoothed_normal(x, mean=np.zeros(self.d), variance=variance, h=h)
            for h in self.bank.bandwidths
        ]
        return np.asarray(np.mean(kernels, axis=0))


@dataclass(frozen=True, eq=False)
class EmpiricalBackground:
    """A reference sample that stands for the background population.

    Expectations are means over its events, pairs of an event with itself included, so
    that q_B is centred exactly: its mean over y in the reference is 0 for every x.

    Parameters
    ----------
    reference
        The background events, of shape (n, d).
    method
        How kernel sums are done, see :func:`kernel_sums`.
    """

    bank: GaussianBank
    reference: Array
    method: SumMethod = "auto"

    def __post_init__(self) -> None:
        object.__setattr__(self, "reference", checks.points(self.reference, "reference"))

    @cached_property
    def K_BB(self) -> float:
        """Mean of k(Y, Y') over all pairs of reference events; computed once."""
        sums_within = kernel_sums(self.reference, self.bank, method=self.method)
        return float(sums_within.mean()) / len(self.reference)

    def mean_embedding(self, x: npt.ArrayLike) -> Array:
        """Return mu_B(x), the mean of k(x, Y) over the reference, at every row of x."""
        within = kernel_sums(x, self.bank, sample=self.reference, method=self.method)
        return within / len(self.reference)


def q_B(x: npt.ArrayLike, y: npt.ArrayLike, bank: GaussianBank, background: Background) -> Array:
    """Return the centred pair kernel q_B(x_i, y_j), of shape (n, m): eq. mmd-U-kernel.

    q_B(x, y) = k(x, y) - mu_B(x) - mu_B(y) + K_BB, symmetric to the last digit.
    """
    check_bank(bank, background)
    k = bank(x, y)
    mu_x, mu_y = background.mean_embedding(x), background.mean_embedding(y)
    constant = background.K_BB
    for row, mu in zip(k, mu_x, strict=True):
        row -= mu + mu_y
        row += constant
    return k


def check_bank(bank: GaussianBank, background: Background) -> None:
    """Refuse a background whose expectations are of another kernel than ``bank``."""
    if background.bank != bank:
        raise ValueError(
            f"background must belong to the bandwidths {bank.bandwidths}, "
            f"it belongs to {background.bank.bandwidths}"
        )
