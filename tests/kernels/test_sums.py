"""The fast kernel sums against the plain matrix of the bank."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from localizer.base import threads as base_threads
from localizer.base.randomness import stream
from localizer.kernels import sums
from localizer.kernels.bank import GaussianBank, kernel_sums

LADDER = GaussianBank((0.25, 0.5, 1.0, 2.0, 4.0))
ODD = GaussianBank((0.7, 1.0, 0.35))
PRECISION = {"pairwise": 1e-13, "pairwise32": 1e-5}


def draw(*key, n=30, d=2):
    return stream(6, "test_sums", *key).normal(size=(n, d))


@given(st.lists(st.sampled_from([0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0]), min_size=1))
def test_ladders_hold_every_bandwidth_once(bandwidths):
    found = sums.ladders(bandwidths)
    rungs = [top / 2**rung for top, length in found for rung in range(length)]
    assert sorted(rungs) == sorted(bandwidths)
    assert max(length for _, length in found) <= 5


@pytest.mark.parametrize("bank", [LADDER, ODD])
@pytest.mark.parametrize("method", ["pairwise", "pairwise32"])
@settings(deadline=None, max_examples=15)
@given(
    n=st.integers(1, 40),
    m=st.integers(1, 40),
    d=st.sampled_from([1, 2, 4]),
    seed=st.integers(0, 2**31),
)
def test_pairwise_against_the_matrix(method, bank, n, m, d, seed):
    x, y = draw(seed, "x", n=n, d=d), draw(seed, "y", n=m, d=d)
    rtol = PRECISION[method]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sums, "_BLOCK", 7)
        within = kernel_sums(x, bank, method=method)
        between = kernel_sums(x, bank, sample=y, method=method)
    np.testing.assert_allclose(within, bank(x, x).sum(axis=1), rtol=rtol)
    # a far event has a sum that float32 cannot hold to 1e-5: compare with the largest kernel
    np.testing.assert_allclose(between, bank(x, y).sum(axis=1), rtol=rtol, atol=rtol * 1e-3)


@pytest.mark.parametrize("method", ["pairwise", "pairwise32"])
def test_pairwise_over_several_tiles_and_blocks(method):
    x, y = draw("tiles", "x", n=700, d=4), draw("tiles", "y", n=2500, d=4)
    rtol = PRECISION[method]
    np.testing.assert_allclose(
        kernel_sums(x, LADDER, sample=y, method=method), LADDER(x, y).sum(axis=1), rtol=rtol
    )
    np.testing.assert_allclose(
        kernel_sums(y, LADDER, method=method), LADDER(y, y).sum(axis=1), rtol=rtol
    )


@pytest.mark.parametrize("d", [1, 4])
@pytest.mark.parametrize("bank", [GaussianBank((1.0,)), GaussianBank((1.0, 2.0, 4.0, 8.0, 16.0))])
def test_single_precision_over_the_widest_range(bank, d):
    x, y = stream(6, "wide", d).uniform(0, 99, size=(2, 1000, d))
    for sample in (None, y):
        exact = kernel_sums(x, bank, sample=sample, method="pairwise")
        found = kernel_sums(x, bank, sample=sample, method="pairwise32")
        np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("method", ["pairwise", "pairwise32"])
def test_result_does_not_depend_on_the_number_of_threads(method, monkeypatch):
    x = draw("threads", n=900, d=4)
    monkeypatch.setattr(sums, "_BLOCK", 100)
    results = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(base_threads, "get_num_threads", lambda threads=threads: threads)
        results.append(kernel_sums(x, LADDER, method=method))
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_far_events_count_as_themselves_alone():
    # every exponent underflows, also on the way up a ladder
    x = np.array([[0.0, 0.0], [40.0, 0.0], [0.0, 3e4], [1e100, -1e100]])
    np.testing.assert_allclose(kernel_sums(x, LADDER), 1, rtol=1e-10)
    narrow = np.array([[0.0, 0.0], [20.0, 0.0]])
    np.testing.assert_allclose(
        kernel_sums(narrow, LADDER, method="pairwise32"), LADDER(narrow, narrow).sum(axis=1)
    )


@pytest.mark.parametrize("method", ["pairwise", "pairwise32", "fourier"])
def test_sums_do_not_change_with_the_origin_or_the_unit(method):
    x = draw("origin", n=200)
    plain = kernel_sums(x, ODD, method=method)
    unit = GaussianBank(tuple(1000 * h for h in ODD.bandwidths))
    moved = kernel_sums(1000 * x + 1e6, unit, method=method)
    np.testing.assert_allclose(moved, plain, rtol=1e-5 if method == "pairwise32" else 1e-9)


@pytest.mark.parametrize("method", ["pairwise", "pairwise32", "fourier"])
def test_sums_follow_the_order_of_events(method):
    x = draw("order", n=500)
    order = stream(6, "test_sums", "permutation").permutation(500)
    np.testing.assert_allclose(
        kernel_sums(x[order], ODD, method=method), kernel_sums(x, ODD, method=method)[order], 1e-6
    )


@settings(deadline=None, max_examples=60)
@given(
    d=st.integers(1, 2),
    n=st.integers(1, 20),
    m=st.integers(1, 20),
    scale=st.floats(0, 30),
    h=st.floats(0.3, 3),
    tolerance=st.sampled_from([1e-13, 1e-12, 1e-8, 1e-4, 1e-2]),
    seed=st.integers(0, 2**31),
)
def test_fourier_keeps_its_tolerance(d, n, m, scale, h, tolerance, seed):
    x = scale * stream(6, "fourier", "x", seed).uniform(size=(n, d))
    y = scale * stream(6, "fourier", "y", seed).uniform(size=(m, d))
    bank = GaussianBank((h, 2.2 * h))
    allowed = tolerance + 3e-15
    options = {"method": "fourier", "tolerance": tolerance}
    within = kernel_sums(x, bank, **options)
    between = kernel_sums(x, bank, sample=y, **options)
    assert np.max(np.abs(within - bank(x, x).sum(axis=1))) <= n * allowed
    assert np.max(np.abs(between - bank(x, y).sum(axis=1))) <= m * allowed


def test_fourier_bound_at_the_ends_of_the_range():
    # the images of the periodic series are nearest for events a whole range apart
    h, tolerance = 1.0, 1e-6
    bank = GaussianBank((h,))
    for extent in np.linspace(0, 12, 49):
        x = np.array([[0.0, 0.0], [extent, extent]])
        error = kernel_sums(x, bank, method="fourier", tolerance=tolerance) - bank(x, x).sum(axis=1)
        assert np.max(np.abs(error)) <= 2 * tolerance


def test_fourier_over_several_chunks(monkeypatch):
    x = draw("chunks", n=1000)
    plain = kernel_sums(x, ODD, method="pairwise")
    monkeypatch.setattr(sums, "_CHUNK", 96)
    np.testing.assert_allclose(kernel_sums(x, ODD, method="fourier"), plain, rtol=0, atol=1e-9)


def test_auto_takes_the_series_where_it_pays(monkeypatch):
    used = []
    for name in ("fourier", "pairwise"):
        original = getattr(sums, name)
        monkeypatch.setattr(
            sums, name, lambda *a, f=original, n=name, **k: (used.append(n), f(*a, **k))[1]
        )
    one = GaussianBank((1.0,))
    kernel_sums(draw("auto", n=5000), one)
    kernel_sums(draw("auto", n=200), one)
    kernel_sums(draw("auto", n=5000), one, sample=draw("auto", "few", n=10))
    kernel_sums(draw("auto", n=300, d=4), one)
    kernel_sums(np.array([[0.0], [1e9]]), one)
    assert used == ["fourier", "pairwise", "pairwise", "pairwise", "pairwise"]


def test_bad_input_is_refused():
    x = draw("bad", n=5, d=3)
    with pytest.raises(ValueError, match="x must have one or two features"):
        kernel_sums(x, ODD, method="fourier")
    with pytest.raises(ValueError, match="span at most some 512 of the smallest bandwidths"):
        kernel_sums([[0.0], [1e5]], ODD, method="fourier")
    with pytest.raises(ValueError, match="span at most 100 of the smallest bandwidths"):
        kernel_sums([[0.0], [1e5]], ODD, method="pairwise32")
    with pytest.raises(ValueError, match="span at most 1e\\+150 of the smallest bandwidths"):
        kernel_sums([[-1e308], [1e308]], ODD)
    with pytest.raises(ValueError, match="method must be one of"):
        kernel_sums(x, ODD, method="magic")
    with pytest.raises(ValueError, match="tolerance must lie between"):
        kernel_sums(x[:, :2], ODD, method="fourier", tolerance=1e-17)
    with pytest.raises(ValueError, match="sample must have 3 features"):
        kernel_sums(x, ODD, sample=x[:, :2])
    with pytest.raises(ValueError, match="x must be finite"):
        kernel_sums([[np.inf]], ODD)


RUN = """
import hashlib, sys
sys.path.insert(0, "workflow")
from localizer.kernels.bank import GaussianBank, kernel_sums
from localizer.base.randomness import stream
x = stream(6, "cached").normal(size=(3000, 4))
bank = GaussianBank((0.25, 0.5, 1.0, 2.0, 4.0))
for method in ("pairwise", "pairwise32"):
    print(hashlib.sha256(kernel_sums(x, bank, method=method).tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_compiled_and_cached_code_give_the_same_bytes(fresh_and_cached):
    fresh, cached = fresh_and_cached(RUN)
    assert fresh
    assert fresh == cached


MEMORY = """
from localizer.kernels.bank import GaussianBank, NormalBackground
from localizer.base.randomness import stream
from localizer.estimators.witness import loo_witness
x = stream(6, "memory").normal(size=(200_000, 4))
bank = GaussianBank((0.5, 1.0, 2.0, 4.0, 8.0))
loo_witness(x, bank, NormalBackground(bank, 4), method="pairwise32")
"""


@pytest.mark.slow
def test_memory_of_a_large_sample(peak_memory):
    # 218 MiB, of which the interpreter and its packages take 128
    assert peak_memory(MEMORY) < 400 * 1024**2
