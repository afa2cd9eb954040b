"""The batch statistic. A z-test fails by chance with |z| > 5, once in 1.7 million."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from localizer.base.randomness import stream
from localizer.estimators import mmd
from localizer.kernels.bank import GaussianBank, NormalBackground, q_B
from localizer.models.gaussian import GaussianBenchmark


def symmetric(m, *key):
    a = stream(7, "test_mmd", *key).normal(size=(m, m))
    return a + a.T


def mean_over_pairs(q):
    return np.mean([q[i, j] for i, j in combinations(range(len(q)), 2)])


def without(q, i):
    return np.delete(np.delete(q, i, axis=0), i, axis=1)


@given(m=st.integers(2, 8), seed=st.integers(0, 2**31))
def test_statistic_is_the_mean_over_pairs(m, seed):
    q = symmetric(m, seed)
    assert mmd.T(q) == pytest.approx(mean_over_pairs(q), abs=1e-13)


@given(m=st.integers(3, 8), seed=st.integers(0, 2**31))
def test_removing_an_event_is_deleting_its_row_and_column(m, seed):
    q = symmetric(m, seed)
    expected = [mean_over_pairs(without(q, i)) for i in range(m)]
    np.testing.assert_allclose(mmd.T_without(q), expected, atol=1e-12)


@given(m=st.integers(2, 8), seed=st.integers(0, 2**31))
def test_pair_contribution_is_the_sum_over_companions(m, seed):
    q = symmetric(m, seed)
    expected = [2 / (m * (m - 1)) * sum(q[i, j] for j in range(m) if j != i) for i in range(m)]
    np.testing.assert_allclose(mmd.pair_contributions(q), expected, atol=1e-13)


@given(m=st.integers(3, 20), seed=st.integers(0, 2**31))
def test_marginal_and_pair_forms_carry_the_same_information(m, seed):
    q = symmetric(m, seed)
    left = mmd.T(q) - mmd.T_without(q)
    right = mmd.pair_contributions(q) - 2 / m * mmd.T_without(q)
    np.testing.assert_allclose(left, right, atol=1e-13)
    # every pair belongs to two events
    assert mmd.pair_contributions(q).sum() == pytest.approx(2 * mmd.T(q), abs=1e-12)
    assert mmd.T_without(q).mean() == pytest.approx(mmd.T(q), abs=1e-12)


def test_an_event_is_never_paired_with_itself():
    q = symmetric(6, "diagonal")
    other = q + np.diag(np.arange(6.0) * 100)
    assert mmd.T(q) == mmd.T(other)
    assert np.array_equal(mmd.T_without(q), mmd.T_without(other))
    assert np.array_equal(mmd.pair_contributions(q), mmd.pair_contributions(other))


def test_events_keep_their_scores_in_any_order():
    q = symmetric(9, "order")
    order = stream(7, "test_mmd", "permutation").permutation(9)
    shuffled = q[np.ix_(order, order)]
    assert mmd.T(shuffled) == pytest.approx(mmd.T(q), rel=1e-12)
    np.testing.assert_allclose(mmd.T_without(shuffled), mmd.T_without(q)[order], rtol=1e-12)
    np.testing.assert_allclose(
        mmd.pair_contributions(shuffled), mmd.pair_contributions(q)[order], rtol=1e-12
    )


@pytest.mark.parametrize("epsilon", [0.0, 0.6])
def test_statistic_is_unbiased(epsilon):
    model = GaussianBenchmark(mean=(1.5, 0.0), sigma_s=0.5, epsilon=epsilon, h=1.0)
    bank = GaussianBank((model.h,))
    background = NormalBackground(bank, model.d)
    rng = stream(7, "test_mmd", "unbiased")
    values = []
    for _ in range(1000):
        x = rng.normal(size=(5, 2))
        signal = rng.uniform(size=5) < epsilon
        x[signal] = x[signal] * model.sigma_s + model.mean
        values.append(mmd.T(q_B(x, x, bank, background)))
    z = (np.mean(values) - model.mmd2) / (np.std(values) / np.sqrt(len(values)))
    assert abs(z) < 5


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="q must hold at least 2 events"):
        mmd.T([[1.0]])
    with pytest.raises(ValueError, match="q must hold at least 2 events"):
        mmd.pair_contributions([[1.0]])
    with pytest.raises(ValueError, match="q must hold at least 3 events"):
        mmd.T_without(np.ones((2, 2)))
    with pytest.raises(ValueError, match="q must be square"):
        mmd.T(np.ones((2, 3)))
    with pytest.raises(ValueError, match="q must be symmetric"):
        mmd.T([[0.0, 1.0], [2.0, 0.0]])
    with pytest.raises(ValueError, match="q must be finite"):
        mmd.T([[0.0, np.nan], [np.nan, 0.0]])
