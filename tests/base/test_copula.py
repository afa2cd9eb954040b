"""The background-CDF transform against brute force, closed forms and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from localizer.base.copula import BackgroundCDF, median_distance
from localizer.base.randomness import stream
from scipy.spatial.distance import pdist
from scipy.stats import norm

# Few distinct values, so that ties are the rule.
tables = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12),
    elements=st.integers(-3, 3).map(float),
)


@given(tables, st.integers(0, 2**32 - 1))
def test_brute_force_ranks(background, seed):
    n, d = background.shape
    x = stream(seed, "copula").integers(-4, 5, size=(7, d)).astype(float)
    got = BackgroundCDF.of(background).transform(x)
    for i in range(7):
        for k in range(d):
            below = sum(b < x[i, k] for b in background[:, k])
            equal = sum(b == x[i, k] for b in background[:, k])
            expected = min(max((below + equal / 2) / n, 0.5 / n), 1 - 0.5 / n)
            assert got[i, k] == pytest.approx(expected, abs=1e-15)


def test_events_keep_their_places_whatever_their_order():
    """Ranks are looked up in rising order: compare with each event on its own, bit by bit."""
    rng = stream(5, "copula")
    background = np.round(rng.standard_normal((300, 3)), 1)
    x = np.round(rng.standard_normal((400, 3)), 1)
    cdf = BackgroundCDF.of(background)
    together = cdf.transform(x)
    assert np.concatenate([cdf.transform(one[None]) for one in x]).tobytes() == together.tobytes()
    order = rng.permutation(len(x))
    assert cdf.transform(x[order]).tobytes() == together[order].tobytes()


@given(tables)
def test_the_background_itself_averages_to_one_half(background):
    # Mid-ranks of a sample among itself average to n/2 whatever the ties.
    u = BackgroundCDF.of(background).transform(background)
    np.testing.assert_allclose(u.mean(axis=0), 0.5, atol=1e-14)


def test_without_ties_the_background_falls_on_a_regular_grid():
    background = stream(2, "copula").standard_normal((500, 3))
    u = BackgroundCDF.of(background).transform(background)
    grid = (np.arange(500) + 0.5) / 500
    np.testing.assert_allclose(np.sort(u, axis=0), np.column_stack([grid] * 3), atol=1e-15)


def test_an_independent_background_becomes_uniform():
    rng = stream(3, "copula")
    reference = rng.exponential(size=(40_000, 2)) ** 3
    fresh = rng.exponential(size=(10_000, 2)) ** 3
    u = BackgroundCDF.of(reference).transform(fresh)
    # Two-sample error of an empirical CDF; 2 x 9 levels, |z| < 5: false alarm below 2e-5.
    for level in np.arange(0.1, 0.95, 0.1):
        error = np.sqrt(level * (1 - level) * (1 / 40_000 + 1 / 10_000))
        assert np.abs((u < level).mean(axis=0) - level).max() < 5 * error


def test_invariance_under_increasing_maps():
    rng = stream(4, "copula")
    # A tenth of the values repeat and some are tiny and negative, as jet masses are.
    background = np.round(rng.standard_normal((2000, 2)), 2)
    background[:20, 0] = -2e-8
    x = np.round(2 * rng.standard_normal((500, 2)), 2)
    plain = BackgroundCDF.of(background).transform(x)
    for change in (np.exp, lambda t: t**3, lambda t: 3 * t + 5):
        mapped = BackgroundCDF.of(change(background)).transform(change(x))
        np.testing.assert_array_equal(mapped, plain)


def test_the_order_of_the_background_does_not_matter():
    rng = stream(5, "copula")
    background = rng.standard_normal((300, 4))
    x = rng.standard_normal((50, 4))
    np.testing.assert_array_equal(
        BackgroundCDF.of(rng.permutation(background)).transform(x),
        BackgroundCDF.of(background).transform(x),
    )


def test_values_outside_the_range_are_held_inside():
    cdf = BackgroundCDF.of(np.arange(10.0)[:, None])
    x = np.array([[-1e300], [-0.1], [0.0], [9.0], [9.1], [1e300]])
    np.testing.assert_array_equal(cdf.transform(x).ravel(), [0.05, 0.05, 0.05, 0.95, 0.95, 0.95])
    assert np.isfinite(cdf.transform(x, scores="normal")).all()


def test_normal_scores_are_normal_quantiles():
    rng = stream(6, "copula")
    cdf = BackgroundCDF.of(rng.standard_normal((1000, 2)))
    x = 2 * rng.standard_normal((200, 2))
    np.testing.assert_allclose(
        norm.cdf(cdf.transform(x, scores="normal")), cdf.transform(x), atol=1e-14
    )


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: BackgroundCDF.of([[np.nan]]), "background must be finite"),
        (lambda: BackgroundCDF.of([1.0, 2.0]), "background must be a table"),
        (lambda: BackgroundCDF.of(np.empty((0, 2))), "at least 1 events"),
        (lambda: BackgroundCDF.of([[1.0]]).transform([[np.inf]]), "x must be finite"),
        (lambda: BackgroundCDF.of([[1.0]]).transform([[1.0, 2.0]]), "x must have 1 features"),
        (
            lambda: BackgroundCDF.of([[1.0]]).transform([[1.0]], scores="gauss"),
            "scores must be one of uniform, normal",
        ),
        (lambda: median_distance([[1.0]], stream(0)), "x must hold at least 2 events"),
        (lambda: median_distance([[1.0], [2.0]], stream(0), pairs=10), "pairs must be at least"),
    ],
)
def test_bad_input(call, why):
    with pytest.raises(ValueError, match=why):
        call()


def test_median_distance_is_that_of_all_pairs():
    x = stream(7, "copula").random((400, 4))
    found = median_distance(x, stream(8, "copula"), pairs=200_000)
    assert abs(found.value - np.median(pdist(x))) < 5 * found.standard_error


def test_median_distance_of_uniform_points_on_a_line():
    # |X - Y| has CDF 1 - (1 - t)^2, so its median is 1 - 1/sqrt(2) and its density there
    # is sqrt(2): the standard error is 1 / (2 sqrt(2) sqrt(pairs)). On a fine regular grid
    # the events themselves carry no error.
    n = 100_000
    x = ((np.arange(n) + 0.5) / n)[:, None]
    pairs = 400_000
    found = median_distance(x, stream(9, "copula"), pairs=pairs)
    assert abs(found.value - (1 - np.sqrt(0.5))) < 5 * found.standard_error
    # The half-width of two order statistics fluctuates by a few per cent at this size.
    assert found.standard_error == pytest.approx(1 / np.sqrt(8 * pairs), rel=0.3)
    assert found.pairs == pairs


def test_the_standard_error_of_the_median_distance_covers():
    x = stream(10, "copula").standard_normal((200, 2))
    truth = np.median(pdist(x))
    found = [median_distance(x, stream(11, "copula", k), pairs=2000) for k in range(200)]
    z = np.array([(f.value - truth) / f.standard_error for f in found])
    # Mean square 1 within 5 sigma of chi-squared with 200 degrees of freedom, and a margin
    # for the scatter of the error itself.
    assert 0.5 < np.mean(z**2) < 1.7


def test_an_event_is_never_its_own_partner():
    found = median_distance([[0.0], [1.0]], stream(12, "copula"), pairs=101)
    assert found.value == 1.0
    assert found.standard_error == 0.0


def test_median_distance_scales_and_does_not_mind_shifts():
    x = stream(13, "copula").standard_normal((300, 3))
    plain = median_distance(x, stream(14, "copula"), pairs=1000)
    moved = median_distance(3 * x + 7, stream(14, "copula"), pairs=1000)
    assert moved.value == pytest.approx(3 * plain.value, rel=1e-12)
