"""The sum of the kernel over the pairs of each of many contexts, in single precision.

What Experiment I computes most often. Small contexts visit every pair, many contexts side by side;
large ones in the plane use the kernel's cosine series, in which the sum over pairs is a sum of
squares. Both are right to 3e-7 of a kernel value in the mean over a context's pairs, where the
mean itself scatters by 1/m; :func:`localizer.kernels.pair_means.kernel_pairs` is the exact form.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from localizer.base.checks import Array
from localizer.kernels.pair_means import kernel_pairs
from localizer.kernels.sums import EXPONENTIAL, FASTMATH, LARGEST_RANGE, two_to_minus

# So many contexts are worked on side by side: long vectors, whatever the size of a context.
_LANES = 256

# The cosine series of the kernel is cut where its weights fall below exp(-_CUT^2 / 2). A period
# that exceeds the range of the data by _CUT bandwidths keeps the copies of the kernel that a
# Fourier series brings along below that as well.
_CUT = 5.9
_MOST_HARMONICS = 40


def pair_sums(companions: Array, h: float) -> Array:
    """Return the sum of k over the pairs of each context, of shape (contexts,).

    Parameters
    ----------
    companions
        The events of the contexts, of shape (contexts, n, d).
    h
        The kernel's bandwidth.
    """
    _, n, d = companions.shape
    low, high = _range(companions)
    extent = (high - low) / h
    if extent.max() > LARGEST_RANGE[np.float32]:
        # coordinates in single precision would move the events
        return np.asarray(kernel_pairs(companions, (h,)) * (n * (n - 1) / 2))
    harmonics = _CUT * (extent + _CUT) / (2 * math.pi) + 1
    # the constants are measured costs, in pairs: of making harmonics, and of their products
    if d == 2 and harmonics.max() <= _MOST_HARMONICS and n > 50 + 0.4 * harmonics.prod():
        return np.asarray(_by_series(companions, h))
    scale = math.sqrt(math.log2(math.e) / 2) / h
    return np.asarray(_by_pairs(companions, (low + high) / 2, scale, *EXPONENTIAL[np.float32]))


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def _range(companions):  # type: ignore[no-untyped-def]
    """Return the smallest and the largest coordinate of all events in each feature."""
    d = companions.shape[2]
    events = companions.reshape(-1, d)
    low, high = np.empty(d), np.empty(d)
    for c in range(d):
        smallest, largest = events[0, c], events[0, c]
        for i in range(events.shape[0]):
            smallest = min(smallest, events[i, c])
            largest = max(largest, events[i, c])
        low[c], high[c] = smallest, largest
    return low, high


# The helpers are inlined, so that one compiled function holds all the arithmetic: how the
# compiler joins separate functions, and with it the last digits, may depend on its cache.


@njit(cache=True, nogil=True, fastmath=FASTMATH)
def _by_pairs(companions, centre, scale, series, limits):  # type: ignore[no-untyped-def]
    """Return the sums pair by pair: the same pair of all contexts of a block, then the next."""
    contexts, n, d = companions.shape
    half, largest, _ = limits
    z = np.zeros((n, d, _LANES), np.float32)
    square, row = np.empty(_LANES, np.float32), np.empty(_LANES, np.float32)
    sums = np.zeros(contexts)
    for first in range(0, contexts, _LANES):
        size = min(_LANES, contexts - first)
        for lane in range(size):
            for j in range(n):
                for c in range(d):
                    z[j, c, lane] = (companions[first + lane, j, c] - centre[c]) * scale
        for i in range(1, n):
            row[:] = half - half
            for j in range(i):
                at, other = z[i, 0], z[j, 0]
                for lane in range(_LANES):
                    gap = at[lane] - other[lane]
                    square[lane] = gap * gap
                for c in range(1, d):
                    at, other = z[i, c], z[j, c]
                    for lane in range(_LANES):
                        gap = at[lane] - other[lane]
                        square[lane] += gap * gap
                for lane in range(_LANES):
                    r = min(square[lane], largest)
                    whole = np.floor(r + half)
                    k = series[0]
                    for c in range(1, len(series)):
                        k = k * (whole - r) + series[c]
                    row[lane] += k * two_to_minus(whole)
            for lane in range(size):
                sums[first + lane] += row[lane]
    return sums


@njit(inline="always")
def _fill_waves(z, h, waves):  # type: ignore[no-untyped-def]
    """Fill rows 2k - 1 and 2k with cos(k step (z - centre)) and the sine; return step and count.

    Row 0 is for k = 0 and stays as it is.
    """
    low, high = z.min(), z.max()
    step = 2 * np.pi / (high - low + _CUT * h)
    count = int(_CUT / (h * step)) + 1
    middle = 0.5 * (low + high)
    cosine, sine = waves[1], waves[2]
    for i in range(z.size):
        # |angle| < pi: series at a sixteenth of the angle, then four doublings
        t = step * (z[i] - middle) / 16
        q = t * t
        c = 1 - q / 2 * (1 - q / 12 * (1 - q / 30 * (1 - q / 56 * (1 - q / 90))))
        s = t * (1 - q / 6 * (1 - q / 20 * (1 - q / 42 * (1 - q / 72))))
        for _ in range(4):
            c, s = c * c - s * s, 2 * c * s
        cosine[i] = c
        sine[i] = s
    for k in range(2, count):
        # from two halves: rounding errors grow with the logarithm of k
        a, b = k // 2, k - k // 2
        cos_a, sin_a, cos_b, sin_b = waves[2 * a - 1], waves[2 * a], waves[2 * b - 1], waves[2 * b]
        cosine, sine = waves[2 * k - 1], waves[2 * k]
        for i in range(z.size):
            cosine[i] = cos_a[i] * cos_b[i] - sin_a[i] * sin_b[i]
            sine[i] = cos_a[i] * sin_b[i] + sin_a[i] * cos_b[i]
    return step, count


@njit(inline="always")
def _weigh(step, count, h, weights):  # type: ignore[no-untyped-def]
    """Fill the weights of the rows of waves: exp(-(h k step)^2 / 2), doubled for k > 0."""
    for row in range(2 * count - 1):
        f = h * step * ((row + 1) // 2)
        weights[row] = math.exp(-0.5 * f * f) * (2.0 if row else 1.0)


@njit(cache=True, nogil=True, fastmath=FASTMATH, error_model="numpy")
def _by_series(companions, h):  # type: ignore[no-untyped-def]
    """Return the sums from the harmonics of each context.

    k is a product of two cosine series, and the sum over all pairs of a product of cosines is a
    sum of squares of sums over the events, which are made four rows by four at a time.
    """
    contexts, n, _ = companions.shape
    most = 2 * _MOST_HARMONICS + 8
    # whole vectors: what is added at the end stays zero
    room = (n + 15) // 16 * 16
    first, second = np.zeros((2, most, room), np.float32)
    first[0, :n], second[0, :n] = 1, 1
    x, y = np.empty((2, n))
    of_first, of_second = np.empty((2, most))
    zero = np.float32(0)
    sums = np.empty(contexts)
    for r in range(contexts):
        for i in range(n):
            x[i] = companions[r, i, 0]
            y[i] = companions[r, i, 1]
        step_1, count_1 = _fill_waves(x, h, first)
        step_2, count_2 = _fill_waves(y, h, second)
        _weigh(step_1, count_1, h, of_first)
        _weigh(step_2, count_2, h, of_second)
        total = 0.0
        for p in range(0, 2 * count_1 - 1, 4):
            a0, a1, a2, a3 = first[p], first[p + 1], first[p + 2], first[p + 3]
            f = h * step_1 * ((p + 1) // 2)
            for q in range(0, 2 * count_2 - 1, 4):
                g = h * step_2 * ((q + 1) // 2)
                if f * f + g * g > _CUT * _CUT:
                    break
                b0, b1, b2, b3 = second[q], second[q + 1], second[q + 2], second[q + 3]
                m00 = m01 = m02 = m03 = m10 = m11 = m12 = m13 = zero
                m20 = m21 = m22 = m23 = m30 = m31 = m32 = m33 = zero
                for i in range(room):
                    u0, u1, u2, u3 = a0[i], a1[i], a2[i], a3[i]
                    v0, v1, v2, v3 = b0[i], b1[i], b2[i], b3[i]
                    m00, m01, m02, m03 = m00 + u0 * v0, m01 + u0 * v1, m02 + u0 * v2, m03 + u0 * v3
                    m10, m11, m12, m13 = m10 + u1 * v0, m11 + u1 * v1, m12 + u1 * v2, m13 + u1 * v3
                    m20, m21, m22, m23 = m20 + u2 * v0, m21 + u2 * v1, m22 + u2 * v2, m23 + u2 * v3
                    m30, m31, m32, m33 = m30 + u3 * v0, m31 + u3 * v1, m32 + u3 * v2, m33 + u3 * v3
                products = (
                    (m00, m01, m02, m03),
                    (m10, m11, m12, m13),
                    (m20, m21, m22, m23),
                    (m30, m31, m32, m33),
                )
                for a in range(min(4, 2 * count_1 - 1 - p)):
                    for b in range(min(4, 2 * count_2 - 1 - q)):
                        moment = np.float64(products[a][b])
                        total += of_first[p + a] * of_second[q + b] * moment * moment
        total *= h * h * step_1 * step_2 / (2 * np.pi)
        sums[r] = 0.5 * (total - n)
    return sums


def compile_kernels() -> None:
    """Compile what numba compiles here, for a cache that many jobs read."""
    # a small and a large context: the sum has a form for each
    for n in (4, 400):
        pair_sums(np.linspace(-1.0, 1.0, 2 * n * 2).reshape(2, n, 2), 1.0)
