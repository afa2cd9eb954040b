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
from numba import njit

from localizer.base import checks
from localizer.base.checks import Array
from localizer.kernels.bank import GaussianBank
from localizer.kernels.sums import Precision

Form: TypeAlias = Literal["offset", "paired"]
Rows: TypeAlias = npt.NDArray[np.floating[Any]]

# A block of rows is what one matrix product takes.
_BLOCK = 4096

# Features whose frequencies stay in the fastest cache while the events of a block pass.
_STRIPE = 512


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
        """Yield blocks of rows of z(x) - centre, in the order of x and in the same memory.

        Parameters
        ----------
        centre
            What is subtracted: the background's mean features for z~, nothing for z.
        dtype
            The precision of the features.
        """
        shift = np.zeros(self.D) if centre is None else checks.vector(centre, "centre", size=self.D)
        for _, z in feature_rows(self, x, rows=_BLOCK, dtype=dtype):
            z -= shift.astype(dtype)
            yield z

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


# --- rows ---------------------------------------------------------------------------------


def feature_rows(
    features: FourierFeatures, x: npt.ArrayLike, *, rows: int = 128, dtype: Precision = np.float32
) -> Iterator[tuple[slice, npt.NDArray[Any]]]:
    """Yield z(x) a few rows at a time, with the place of these rows in x.

    Parameters
    ----------
    rows
        Rows of a block. 128 of 2560 features are 1.3 MB, which stay in cache for products. A
        row is computed alone: it does not depend on this number.
    dtype
        The precision of the features.

    Notes
    -----
    All blocks are written to the same memory: copy what is to be kept.
    """
    turns = _four_or_more(features.frequencies / (2 * math.pi), dtype, axis=0)
    offsets = np.asarray(features.offsets / (2 * math.pi), dtype=dtype)
    amplitude = dtype(math.sqrt(2 / features.D))
    events = _four_or_more(checks.points(x, "x", d=len(features.frequencies)), dtype, axis=1)
    halves = dtype(0.5), dtype(0.25)
    z: Rows = np.empty((rows, features.D), dtype=dtype)
    for start in range(0, len(events), rows):
        place = slice(start, min(start + rows, len(events)))
        block = z[: place.stop - place.start]
        _cosines(events[place], turns, offsets, amplitude, halves, _SERIES[dtype], block)
        yield place, block


def _four_or_more(array: Array, dtype: Precision, *, axis: int) -> Rows:
    """Return the array with zeros at the end of an axis that is shorter than four."""
    widths = [(0, max(0, 4 - size) if k == axis else 0) for k, size in enumerate(array.shape)]
    return np.pad(array.astype(dtype), widths)


def _sine_series(dtype: Precision, terms: int) -> tuple[Any, ...]:
    """Return sin(2 pi t) as a Taylor series in t, from the highest power."""
    return tuple(
        dtype((-1) ** k * (2 * math.pi) ** (2 * k + 1) / math.factorial(2 * k + 1))
        for k in range(terms - 1, -1, -1)
    )


# right to 6e-8 and to 3e-16 for |t| <= 1/4
_SERIES: dict[Precision, tuple[Any, ...]] = {
    np.float32: _sine_series(np.float32, 6),
    np.float64: _sine_series(np.float64, 11),
}


@njit(cache=True, nogil=True, fastmath=True)
def _cosines(x, turns, offsets, amplitude, halves, series, out):  # type: ignore[no-untyped-def]
    """Write amplitude cos(2 pi (x.turns + offsets)), one row an event.

    x has four columns or more. The sweep that adds the last four terms to the phases makes
    cosines of them while they are in registers: with four columns, as in the paper, nothing
    else is written. All events see a stripe of the frequencies while it is in cache.
    """
    half, quarter = halves
    last = x.shape[1] - 4
    for first in range(0, offsets.size, _STRIPE):
        stop = min(first + _STRIPE, offsets.size)
        begin = offsets[first:stop]
        phases = begin.copy()
        w0, w1 = turns[last, first:stop], turns[last + 1, first:stop]
        w2, w3 = turns[last + 2, first:stop], turns[last + 3, first:stop]
        for i in range(x.shape[0]):
            if last > 0:
                for k in range(phases.size):
                    phases[k] = begin[k]
            for column in range(last):
                value, w = x[i, column], turns[column, first:stop]
                for k in range(phases.size):
                    phases[k] += value * w[k]
            x0, x1, x2, x3 = x[i, last], x[i, last + 1], x[i, last + 2], x[i, last + 3]
            row = out[i, first:stop]
            for k in range(row.size):
                t = phases[k] + x0 * w0[k] + x1 * w1[k] + x2 * w2[k] + x3 * w3[k]
                t -= np.floor(t + half)
                t = quarter - abs(t)
                s = t * t
                p = series[0]
                for c in series[1:]:
                    p = p * s + c
                row[k] = amplitude * t * p


def compile_kernels() -> None:
    """Compile what numba compiles here, for a cache that many jobs read."""
    features = FourierFeatures(np.ones((4, 3)), np.zeros(3))
    for dtype in _SERIES:
        list(feature_rows(features, np.zeros((2, 4)), dtype=dtype))
