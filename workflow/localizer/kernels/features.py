"""Random Fourier features of a kernel bank.

Features z(x) approximate the kernel by a product, k(x, y) = z(x).z(y) (eq. rff-kernel).
Centred on the background, z~ = z - mean_B z, they approximate the centred pair kernel,
q_B(x, y) = z~(x).z~(y); :mod:`localizer.kernels.compression` takes them from there.

Rows are always taken in blocks of a fixed size: memory is bounded, and no result depends
on a size of chunks that a caller chose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.kernels.bank import GaussianBank
from localizer.kernels.sums import Precision

Form: TypeAlias = Literal["offset", "paired"]
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
            Columns to project on, of shape (D, rank), see :mod:`localizer.kernels.compression`.
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
    >>> from localizer.base.randomness import stream
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
