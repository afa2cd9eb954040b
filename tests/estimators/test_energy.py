"""The energy distance against plain pairs, SciPy, and what must not change it."""

from __future__ import annotations

import numba
import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from localizer.base.randomness import stream
from localizer.estimators import energy, mmd
from localizer.estimators.energy import EnergyBackground
from scipy import stats
from scipy.spatial.distance import cdist

coordinates = st.floats(-100, 100).map(lambda value: round(value, 3))


def tables(d: int) -> st.SearchStrategy[np.ndarray]:
    return arrays(np.float64, st.tuples(st.integers(2, 30), st.just(d)), elements=coordinates)


def pair_kernel(x: np.ndarray, y: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """q_B of the kernel -|x - y|, as it is written."""
    to = cdist(x, reference).mean(axis=1)[:, None] + cdist(y, reference).mean(axis=1)
    return to - cdist(x, y) - cdist(reference, reference).mean()


@pytest.fixture
def sample() -> np.ndarray:
    return stream(1, "energy sample").standard_normal((60, 3)) + 0.3


@pytest.fixture
def reference() -> np.ndarray:
    return stream(1, "energy reference").standard_normal((80, 3))


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 4).flatmap(lambda d: st.tuples(tables(d), tables(d))))
def test_distance_sums_are_sums_over_pairs(two):
    x, y = two
    scale = 1e-12 * (1 + 200 * max(len(x), len(y)))
    np.testing.assert_allclose(energy.distance_sums(x), cdist(x, x).sum(axis=1), atol=scale)
    np.testing.assert_allclose(
        energy.distance_sums(x, sample=y), cdist(x, y).sum(axis=1), atol=scale
    )


def test_distance_sums_of_one_feature_far_from_zero_keep_their_digits():
    """A prefix sum of large coordinates would lose the small distances."""
    x = 1e8 + np.array([[0.0], [0.5], [2.0]])
    np.testing.assert_allclose(energy.distance_sums(x), [2.5, 2.0, 3.5], rtol=1e-12)


def test_distance_sums_do_not_depend_on_threads():
    x = stream(1, "threads").standard_normal((1500, 2))
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = energy.distance_sums(x)
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(energy.distance_sums(x), alone)


def test_the_pair_target_is_the_mean_of_the_pair_kernel(sample, reference):
    q = pair_kernel(sample, sample, reference)
    others = (q.sum(axis=1) - np.diag(q)) / (len(sample) - 1)
    background = EnergyBackground(reference)
    np.testing.assert_allclose(energy.pair_target(sample, background), others, atol=1e-13)
    assert energy.pair_target(sample, background).mean() == pytest.approx(mmd.T(q), abs=1e-13)


def test_the_pair_kernel_is_centred_on_the_reference(sample, reference):
    q = pair_kernel(sample, reference, reference)
    np.testing.assert_allclose(q.mean(axis=1), 0, atol=1e-13)
    background = EnergyBackground(reference)
    np.testing.assert_allclose(oracles.energy_witness(sample, reference, background), 0, atol=1e-13)


def test_the_energy_distance_is_scipys_at_one_feature():
    """SciPy's is the root of the plug-in form, whose pairs hold the event with itself."""
    rng = stream(1, "scipy")
    x, y = rng.standard_normal((40, 1)) + 0.5, rng.standard_normal((70, 1))
    background = EnergyBackground(y)
    within = cdist(x, x).sum() / (len(x) * (len(x) - 1))
    plug_in = energy.pair_target(x, background).mean() + within / len(x)
    assert plug_in == pytest.approx(stats.energy_distance(x[:, 0], y[:, 0]) ** 2, rel=1e-11)


def test_witnesses_at_an_event_differ_by_its_own_place(sample, reference):
    """w_N(x_i) - w_{-i}(x_i) is the mean distance to the others over N: eq. self-difference."""
    background = EnergyBackground(reference)
    inclusive = oracles.energy_witness(sample, sample, background)
    expected = cdist(sample, sample).sum(axis=1) / (len(sample) * (len(sample) - 1))
    np.testing.assert_allclose(
        inclusive - oracles.energy_loo_witness(sample, background), expected, atol=1e-13
    )


def test_rotations_and_shifts_change_nothing_and_units_scale(sample, reference):
    rotation = stats.special_ortho_group.rvs(3, random_state=stream(1, "rotation"))
    plain = energy.pair_target(sample, EnergyBackground(reference))
    moved = energy.pair_target(
        sample @ rotation + [1.0, 2.0, 3.0],
        EnergyBackground(reference @ rotation + [1.0, 2.0, 3.0]),
    )
    np.testing.assert_allclose(moved, plain, atol=1e-12)
    larger = energy.pair_target(7 * sample, EnergyBackground(7 * reference))
    np.testing.assert_allclose(larger, 7 * plain, atol=1e-11)


def test_the_estimate_is_unbiased_in_the_sample(reference):
    """Over samples drawn from the reference itself the mean is 0 (|z| < 5: 6e-7)."""
    rng = stream(1, "null")
    background = EnergyBackground(reference)
    values = [
        energy.pair_target(reference[rng.integers(80, size=20)], background).mean()
        for _ in range(2000)
    ]
    assert abs(np.mean(values)) < 5 * np.std(values, ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: energy.distance_sums([1.0, 2.0]), "x must be a table"),
        (lambda: energy.distance_sums([[np.nan]]), "x must be finite"),
        (lambda: energy.distance_sums([[1.0]], sample=[[1.0, 2.0]]), "sample must have 1 features"),
        (lambda: EnergyBackground(np.zeros((0, 2))), "reference must hold at least 1"),
        (
            lambda: energy.pair_target([[1.0]], EnergyBackground(np.ones((2, 1)))),
            "x must hold at least 2 events",
        ),
    ],
)
def test_bad_input_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
