"""The fused sums of k and k^2 against whole matrices of kernels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from localizer.base import threads as base_threads
from localizer.base.randomness import stream
from localizer.kernels import moments
from localizer.kernels.moments import kernel_moments
from scipy.spatial.distance import cdist

LADDER = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
BANK = LADDER[2:]
ODD = (0.7, 1.0, 0.35, 1.0)
PRECISION = {np.float64: 1e-12, np.float32: 3e-5}


def draw(*key, n=30, d=2):
    # in a unit that keeps them within 100 of the smallest bandwidths
    return stream(6, "test_moments", *key).normal(size=(n, d)) / 2


def by_matrix(x, y, bandwidths, weights=None):
    """Return the sums of k and k^2, k the mean over the bandwidths, from cdist and exp."""
    square = cdist(x, y, "sqeuclidean")
    k = np.mean([np.exp(-square / (2 * h * h)) for h in bandwidths], axis=0)
    w = np.ones(len(y)) if weights is None else weights
    return k @ w, (k * k) @ w


def compare(found, x, y, bank, each, weights, rtol):
    sizes = np.ones(len(y)) if weights is None else np.abs(weights)
    sums = [(bank, found.first, found.second)]
    sums += zip(((h,) for h in each), found.each_first, found.each_second, strict=True)
    for h, *got in sums:
        parts = by_matrix(x, y, h, weights), by_matrix(x, y, h, sizes)
        for one, other, absolute in zip(got, *parts, strict=True):
            assert (np.abs(one - other) <= rtol * absolute + 1e-3 * rtol * sizes.sum()).all()


@pytest.mark.parametrize("dtype", PRECISION)
@settings(deadline=None, max_examples=25)
@given(
    bank=st.sampled_from([BANK, ODD, (1.0,), LADDER]),
    each=st.sampled_from([(), LADDER, ODD[:3], (2.0, 0.3), LADDER[::-1]]),
    n=st.integers(1, 40),
    m=st.integers(1, 40),
    d=st.sampled_from([1, 2, 3, 4]),
    weighted=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_sums_against_the_matrix(dtype, bank, each, n, m, d, weighted, seed):
    x, y = draw(seed, "x", n=n, d=d), draw(seed, "y", n=m, d=d)
    weights = draw(seed, "w", n=m, d=1)[:, 0] if weighted else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moments, "_ROWS", 7)
        found = kernel_moments(x, y, bank, each=each, weights=weights, dtype=dtype)
    compare(found, x, y, bank, each, weights, PRECISION[dtype])


@pytest.mark.parametrize("dtype", PRECISION)
def test_sums_over_several_blocks_of_columns(dtype):
    x, y = draw("blocks", "x", n=50, d=4), draw("blocks", "y", n=2500, d=4)
    weights = draw("blocks", "w", n=2500, d=1)[:, 0] ** 2
    for w in (None, weights):
        found = kernel_moments(x, y, BANK, each=LADDER, weights=w, dtype=dtype)
        rtol = {np.float64: 1e-12, np.float32: 2e-5}[dtype]
        for first, second, h in zip(found.each_first, found.each_second, LADDER, strict=True):
            expected = by_matrix(x, y, (h,), w)
            # at a 16th of the length scale some events have no neighbour: 1e-8 of all weights
            atol = 1e-8 * (2500 if w is None else w.sum())
            np.testing.assert_allclose(first, expected[0], rtol=rtol, atol=atol)
            np.testing.assert_allclose(second, expected[1], rtol=rtol, atol=atol)
        expected = by_matrix(x, y, BANK, w)
        np.testing.assert_allclose(found.first, expected[0], rtol=rtol)
        np.testing.assert_allclose(found.second, expected[1], rtol=rtol)


def test_single_precision_over_the_widest_range_of_the_long_ladder():
    x, y = stream(6, "wide moments").uniform(size=(2, 1000, 2))
    ladder = tuple(0.0101 * 2.0**rung for rung in range(7))
    found = kernel_moments(x, y, ladder[2:], each=ladder, dtype=np.float32)
    for first, second, h in zip(found.each_first, found.each_second, ladder, strict=True):
        for one, other in zip((first, second), by_matrix(x, y, (h,)), strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-5)
    with pytest.raises(ValueError, match="must span at most 100 of the smallest bandwidths"):
        kernel_moments(x, y, (0.0099,), dtype=np.float32)


@pytest.mark.parametrize("dtype", PRECISION)
def test_neither_threads_nor_other_rows_change_a_byte(dtype, monkeypatch):
    monkeypatch.setattr(moments, "_ROWS", 16)
    x, y = draw("bytes", n=100, d=3), draw("bytes y", n=1500, d=3)
    results = []
    for threads, rows in ((1, [100]), (2, [100]), (5, [17, 83]), (2, [1, 31, 32, 36])):
        monkeypatch.setattr(base_threads, "get_num_threads", lambda threads=threads: threads)
        parts = [
            kernel_moments(part, y, BANK, each=LADDER, dtype=dtype)
            for part in np.split(x, np.cumsum(rows)[:-1])
        ]
        results.append(
            b"".join(
                np.concatenate([getattr(part, name) for part in parts], axis=-1).tobytes()
                for name in ("first", "second", "each_first", "each_second")
            )
        )
    assert len(set(results)) == 1


def test_far_events_count_as_themselves_alone():
    x = np.array([[0.0, 0.0], [40.0, 0.0], [0.0, 3e4], [1e100, -1e100]])
    found = kernel_moments(x, x, BANK, each=LADDER)
    for sums in (found.first, found.second, *found.each_first, *found.each_second):
        np.testing.assert_allclose(sums, 1, rtol=1e-10)


def test_many_pairs_in_a_narrow_range_are_float32():
    x = np.linspace(0, 1, 40_000)[:, None]
    assert moments.precision(x, x[:100], (0.1,)) is np.float32
    assert moments.precision(x, x[:100], (0.001,)) is np.float64
    assert moments.precision(x[:100], x, (0.1,)) is np.float64


def test_bad_input():
    x = np.zeros((3, 2))
    with pytest.raises(ValueError, match="y must have 2 features, it has 1"):
        kernel_moments(x, np.zeros((3, 1)), BANK)
    with pytest.raises(ValueError, match="weights must have 3 entries, it has 2"):
        kernel_moments(x, x, BANK, weights=np.ones(2))
    with pytest.raises(ValueError, match="positive"):
        kernel_moments(x, x, BANK, each=(0.0,))
