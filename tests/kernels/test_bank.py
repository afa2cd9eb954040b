"""The kernel bank, the backgrounds and the centred pair kernel."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from localizer.base.randomness import stream
from localizer.kernels import bank
from localizer.kernels.bank import EmpiricalBackground, GaussianBank, NormalBackground, q_B
from localizer.models.gaussian import GaussianBenchmark

BANK = GaussianBank((0.5, 1.0, 3.0))


def draw(*key, n=30, d=2):
    return stream(5, "test_kernels", *key).normal(size=(n, d))


def textbook(x, y, bandwidths):
    return [
        [
            sum(math.exp(-(math.dist(a, b) ** 2) / (2 * h**2)) for h in bandwidths)
            / len(bandwidths)
            for b in y
        ]
        for a in x
    ]


@given(
    n=st.integers(1, 6),
    m=st.integers(1, 6),
    d=st.integers(1, 4),
    bandwidths=st.lists(st.floats(0.1, 10), min_size=1, max_size=4),
    seed=st.integers(0, 2**31),
)
def test_bank_is_the_mean_over_its_bandwidths(n, m, d, bandwidths, seed):
    x, y = draw(seed, "x", n=n, d=d), draw(seed, "y", n=m, d=d)
    k = GaussianBank(tuple(bandwidths))(x, y)
    np.testing.assert_allclose(k, textbook(x, y, bandwidths), rtol=1e-10, atol=1e-300)


def test_bank_is_symmetric_and_one_on_the_diagonal():
    x = draw("symmetric")
    k = BANK(x, x)
    assert np.array_equal(k, k.T)
    assert np.array_equal(np.diag(k), np.ones(len(x)))


def test_matrix_does_not_depend_on_the_chunks(monkeypatch):
    x, y = draw("chunks"), draw("chunks", "y", n=17)
    whole_k, whole_q = BANK(x, y), q_B(x, y, BANK, NormalBackground(BANK, 2))
    monkeypatch.setattr(bank, "_ENTRIES", 50)
    assert np.array_equal(BANK(x, y), whole_k)
    assert np.array_equal(q_B(x, y, BANK, NormalBackground(BANK, 2)), whole_q)


def test_one_bandwidth_may_be_a_bare_number():
    assert GaussianBank(2.0).bandwidths == (2.0,)


def normal_nodes(d, n=60):
    """Nodes and weights that integrate over N(0, I)."""
    t, w = np.polynomial.hermite_e.hermegauss(n)
    nodes = np.stack([a.ravel() for a in np.meshgrid(*[t] * d, indexing="ij")], axis=1)
    weights = np.prod(np.meshgrid(*[w / w.sum()] * d, indexing="ij"), axis=0).ravel()
    return nodes, weights


@pytest.mark.parametrize("d", [1, 2])
def test_normal_background_against_quadrature(d):
    background = NormalBackground(BANK, d)
    nodes, weights = normal_nodes(d)
    x = draw("quadrature", n=8, d=d)
    np.testing.assert_allclose(background.mean_embedding(x), BANK(x, nodes) @ weights, atol=1e-6)
    assert weights @ background.mean_embedding(nodes) == pytest.approx(background.K_BB, abs=1e-9)
    # q_B is centred: its background mean vanishes whatever the other event is
    np.testing.assert_allclose(q_B(x, nodes, BANK, background) @ weights, 0, atol=1e-6)


def test_normal_background_is_that_of_the_benchmark():
    model = GaussianBenchmark(mean=(1.5, 0.0), sigma_s=0.5, epsilon=0.02, h=0.7)
    background = NormalBackground(GaussianBank((0.7,)), 2)
    x = draw("benchmark")
    np.testing.assert_allclose(background.mean_embedding(x), model.a_B(x), rtol=1e-14)
    np.testing.assert_allclose(background.K_BB, model.K_BB, rtol=1e-14)


def test_empirical_background_is_the_mean_over_the_reference():
    reference, x = draw("reference", n=40), draw("at", n=7)
    background = EmpiricalBackground(BANK, reference)
    np.testing.assert_allclose(
        background.mean_embedding(x), BANK(x, reference).mean(axis=1), rtol=1e-13
    )
    np.testing.assert_allclose(background.K_BB, BANK(reference, reference).mean(), rtol=1e-13)


def test_pair_kernel_is_centred_on_an_empirical_background():
    reference, x = draw("centre", n=40), draw("centred", n=7)
    q = q_B(x, reference, BANK, EmpiricalBackground(BANK, reference))
    np.testing.assert_allclose(q.mean(axis=1), 0, atol=1e-14)


def test_pair_kernel_entry_by_entry():
    x, y = draw("entry", n=5), draw("entry", "y", n=4)
    background = NormalBackground(BANK, 2)
    q = q_B(x, y, BANK, background)
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            expected = (
                BANK([a], [b]).item()
                - background.mean_embedding([a]).item()
                - background.mean_embedding([b]).item()
                + background.K_BB
            )
            assert q[i, j] == pytest.approx(expected, abs=1e-15)


def test_pair_kernel_is_symmetric_to_the_last_digit():
    x = draw("exact")
    q = q_B(x, x, BANK, NormalBackground(BANK, 2))
    assert np.array_equal(q, q.T)


@settings(max_examples=20)
@given(seed=st.integers(0, 2**31))
def test_pair_kernel_is_positive_semidefinite(seed):
    # a centred kernel is an inner product of centred embeddings
    x = draw(seed, "psd", n=12)
    values = np.linalg.eigvalsh(q_B(x, x, BANK, NormalBackground(BANK, 2)))
    assert values.min() > -1e-12


def test_bad_input_is_refused():
    x = draw("bad", n=4)
    with pytest.raises(ValueError, match="bandwidths"):
        GaussianBank(())
    with pytest.raises(ValueError, match="each of bandwidths must be positive"):
        GaussianBank((1.0, -1.0))
    with pytest.raises(ValueError, match="y must have 2 features"):
        BANK(x, draw("bad", "y", d=3))
    with pytest.raises(ValueError, match="x must be finite"):
        BANK([[np.nan, 0.0]], x)
    with pytest.raises(ValueError, match="d must be at least 1"):
        NormalBackground(BANK, 0)
    with pytest.raises(ValueError, match="x must have 3 features"):
        NormalBackground(BANK, 3).mean_embedding(x)
    with pytest.raises(ValueError, match="reference must hold at least 1"):
        EmpiricalBackground(BANK, np.empty((0, 2)))
    with pytest.raises(ValueError, match="background must belong to the bandwidths"):
        q_B(x, x, BANK, NormalBackground(GaussianBank((1.0,)), 2))
