"""The witness. A z-test fails by chance with |z| > 5, once in 1.7 million."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from localizer.base.randomness import stream
from localizer.estimators import mmd, witness
from localizer.kernels.bank import EmpiricalBackground, GaussianBank, NormalBackground, q_B
from localizer.models.gaussian import GaussianBenchmark

BANK = GaussianBank((0.5, 1.0, 2.0))
METHODS = ["auto", "pairwise", "pairwise32", "fourier"]


def draw(*key, n=30, d=2):
    return stream(8, "test_witness", *key).normal(size=(n, d))


def backgrounds(d=2):
    return {
        "normal": NormalBackground(BANK, d),
        "empirical": EmpiricalBackground(BANK, draw("reference", n=50, d=d)),
    }


def tolerance(method):
    return 1e-5 if method == "pairwise32" else 1e-11


@pytest.mark.parametrize("which", ["normal", "empirical"])
@pytest.mark.parametrize("method", METHODS)
def test_empirical_witness_at_any_point(method, which):
    background = backgrounds()[which]
    x, sample = draw("at", n=9), draw("sample")
    expected = [
        sum(BANK([a], [b]).item() for b in sample) / len(sample)
        - background.mean_embedding([a]).item()
        for a in x
    ]
    found = witness.empirical_witness(x, sample, BANK, background, method=method)
    np.testing.assert_allclose(found, expected, atol=tolerance(method))


@pytest.mark.parametrize("which", ["normal", "empirical"])
@pytest.mark.parametrize("method", METHODS)
def test_loo_witness_leaves_the_event_out(method, which):
    background = backgrounds()[which]
    x = draw("loo")
    expected = [
        witness.empirical_witness(x[i : i + 1], np.delete(x, i, axis=0), BANK, background).item()
        for i in range(len(x))
    ]
    found = witness.loo_witness(x, BANK, background, method=method)
    np.testing.assert_allclose(found, expected, atol=tolerance(method))


@settings(deadline=None, max_examples=20)
@given(n=st.integers(2, 30), d=st.sampled_from([1, 2, 4]), seed=st.integers(0, 2**31))
def test_what_an_event_adds_to_its_own_witness(n, d, seed):
    x = draw(seed, n=n, d=d)
    background = NormalBackground(BANK, d)
    inclusive = witness.empirical_witness(x, x, BANK, background)
    without = witness.loo_witness(x, BANK, background)
    np.testing.assert_allclose(
        witness.self_difference(x, BANK), inclusive - without, rtol=0, atol=1e-13
    )


@pytest.mark.parametrize("which", ["normal", "empirical"])
@pytest.mark.parametrize("method", METHODS)
def test_pair_target_is_the_mean_over_the_others(method, which):
    background = backgrounds()[which]
    x = draw("target")
    q = q_B(x, x, BANK, background)
    expected = [np.mean(np.delete(q[i], i)) for i in range(len(x))]
    found = witness.pair_target(x, BANK, background, method=method)
    np.testing.assert_allclose(found, expected, atol=tolerance(method))
    # the batch that holds the whole sample has only this to say
    np.testing.assert_allclose(
        found, len(x) / 2 * mmd.pair_contributions(q), atol=tolerance(method)
    )


def test_pair_target_is_the_loo_witness_and_a_shift():
    x, background = draw("shift"), NormalBackground(BANK, 2)
    N, mu = len(x), background.mean_embedding(x)
    shift = mu / (N - 1) + background.K_BB - N * mu.mean() / (N - 1)
    np.testing.assert_allclose(
        witness.pair_target(x, BANK, background),
        witness.loo_witness(x, BANK, background) + shift,
        atol=1e-14,
    )


def test_reference_scored_against_itself_has_no_witness():
    x = draw("itself")
    found = witness.empirical_witness(x, x, BANK, EmpiricalBackground(BANK, x))
    np.testing.assert_allclose(found, 0, atol=1e-14)


@pytest.mark.simulation
def test_loo_witness_is_unbiased_and_the_inclusive_one_is_not():
    # eq. loo-unbiased: a fixed event among fresh companions from the mixture
    model = GaussianBenchmark(mean=(1.5, 0.0), sigma_s=0.5, epsilon=0.5, h=1.0)
    bank = GaussianBank((model.h,))
    background = NormalBackground(bank, 2)
    rng = stream(8, "test_witness", "unbiased")
    fixed = np.array([[3.0, 0.5]])
    loo, inclusive = [], []
    for _ in range(2000):
        companions = rng.normal(size=(9, 2))
        signal = rng.uniform(size=9) < model.epsilon
        companions[signal] = companions[signal] * model.sigma_s + model.mean
        x = np.concatenate([fixed, companions])
        loo.append(witness.loo_witness(x, bank, background)[0])
        inclusive.append(witness.empirical_witness(fixed, x, bank, background)[0])
    error = np.std(loo) / np.sqrt(len(loo))
    truth = model.witness(fixed)[0]
    assert abs(np.mean(loo) - truth) < 5 * error
    assert np.mean(inclusive) - truth > 5 * error


def features(*key, n=30, D=12):
    return stream(8, "test_witness", "features", *key).normal(size=(n, D))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_feature_witness_is_that_of_the_linear_kernel(dtype):
    z, at, reference = features("z"), features("at", n=7).astype(dtype), features("b", n=40)
    expected = (at @ z.T).mean(axis=1) - (at @ reference.T).mean(axis=1)
    found = witness.rff_witness(at, z.mean(axis=0), reference.mean(axis=0))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_feature_loo_leaves_the_event_out():
    z, reference = features("z"), features("b", n=40)
    N = len(z)
    expected = [
        sum(z[i] @ z[j] for j in range(N) if j != i) / (N - 1) - np.mean(reference @ z[i])
        for i in range(N)
    ]
    mean, mean_background = z.mean(axis=0), reference.mean(axis=0)
    found = witness.rff_loo(z, mean, mean_background, N=N)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    halves = [witness.rff_loo(part, mean, mean_background, N=N) for part in (z[:11], z[11:])]
    np.testing.assert_allclose(np.concatenate(halves), found, rtol=1e-13)


def test_feature_loo_of_centred_features_is_the_pair_target():
    z, reference = features("z"), features("b", n=40)
    centred = z - reference.mean(axis=0)
    q = centred @ centred.T
    expected = len(z) / 2 * mmd.pair_contributions(q)
    found = witness.rff_loo(centred, centred.mean(axis=0), np.zeros(z.shape[1]), N=len(z))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_feature_witness_in_several_blocks(monkeypatch):
    z = features("blocks", n=50)
    mean, background = z.mean(axis=0), features("b").mean(axis=0)
    whole = witness.rff_witness(z, mean, background)
    monkeypatch.setattr(witness, "_ROWS", 7)
    np.testing.assert_allclose(witness.rff_witness(z, mean, background), whole, rtol=1e-12)


def test_bad_input_is_refused():
    x, background = draw("bad", n=3), NormalBackground(BANK, 2)
    with pytest.raises(ValueError, match="x must hold at least 2 events"):
        witness.loo_witness(x[:1], BANK, background)
    with pytest.raises(ValueError, match="x must hold at least 2 events"):
        witness.pair_target(x[:1], BANK, background)
    with pytest.raises(ValueError, match="x must hold at least 2 events"):
        witness.self_difference(x[:1], BANK)
    with pytest.raises(ValueError, match="sample must hold at least 1 events"):
        witness.empirical_witness(x, np.empty((0, 2)), BANK, background)
    other = NormalBackground(GaussianBank((1.0,)), 2)
    for score in (witness.loo_witness, witness.pair_target):
        with pytest.raises(ValueError, match="background must belong to the bandwidths"):
            score(x, BANK, other)
    with pytest.raises(ValueError, match="background must belong to the bandwidths"):
        witness.empirical_witness(x, x, BANK, other)
    z = features("bad", n=3)
    with pytest.raises(ValueError, match="N must be at least 2"):
        witness.rff_loo(z, z[0], z[1], N=1)
    with pytest.raises(ValueError, match="mean_background must have 12 entries"):
        witness.rff_witness(z, z[0], z[1, :5])
    with pytest.raises(ValueError, match="z must have 5 features"):
        witness.rff_witness(z, z[0, :5], z[1, :5])
    with pytest.raises(ValueError, match="z must be a table"):
        witness.rff_witness(z[0], z[0], z[1])
    with pytest.raises(ValueError, match="z must hold at least 1 events"):
        witness.rff_witness(z[:0], z[0], z[1])
