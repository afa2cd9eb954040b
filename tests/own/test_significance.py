"""P-values and null bands.

On null samples p-values are uniform on k / (n + 1), k = 1 ... n + 1, whatever n: a chi-squared test
that fails by chance once in a million. A z-test fails by chance with |z| > 5.
"""

from dataclasses import replace
from functools import cache, partial

import numba
import numpy as np
import oracles
import pytest
from localizer.base.randomness import stream
from localizer.kernels import feature_means
from localizer.own import score, significance, splits
from localizer.own.recipe import Recipe
from localizer.own.significance import NullDraws, band, joined, observe, p_value, permutations
from scipy.stats import binom, chi2

STREAMS = partial(stream, 4, "test_significance")
EXACT = Recipe("standardized", method="exact", factors=(0.5, 1.0))
RFF = Recipe("standardized", method="rff", factors=(0.5, 1.0), n_per_bandwidth=20)
DRAWS = 9
SAMPLES = 150


def null_data(*key, N=12, M=16):
    pooled = STREAMS("null", *key).gamma(2.0, size=(N + M, 2))
    return pooled[:N], pooled[N:]


def uniform(p_values, draws=DRAWS):
    """Return the probability of a chi-squared as large as that of the p-values' frequencies."""
    counts = np.bincount(np.rint(np.array(p_values) * (draws + 1)).astype(int), minlength=draws + 2)
    expected = len(p_values) / (draws + 1)
    return chi2.sf(np.sum((counts[1:] - expected) ** 2) / expected, draws)


@cache
def null_study(recipe):
    """Return the statistics of null samples and of permutations of each."""
    found = []
    for r in range(SAMPLES):
        x, y = null_data(recipe.coordinates, recipe.source, recipe.method, r)
        streams = partial(STREAMS, "study", r)
        null = permutations(x, y, recipe, streams, numbers=range(DRAWS), top=3)
        found.append((observe(x, y, recipe, streams, top=3), null))
    return found


RECIPES = {
    "pooled": EXACT,
    "pooled copula": replace(EXACT, coordinates="uniform"),
    "pooled rff": RFF,
    "reference": replace(EXACT, source="reference"),
    "reference copula": replace(EXACT, source="reference", coordinates="uniform"),
    "reference rff": replace(RFF, source="reference", coordinates="as_is"),
    "evidence": replace(EXACT, ranking="evidence"),
    "evidence rff": replace(RFF, ranking="evidence"),
    "evidence reference": replace(EXACT, ranking="evidence", source="reference"),
}


@pytest.mark.simulation
@pytest.mark.parametrize("name", RECIPES)
def test_p_values_are_uniform_on_null_samples(name):
    found = null_study(RECIPES[name])
    assert uniform([p_value(seen.mmd2[0], null.mmd2) for seen, null in found]) > 1e-6


@pytest.mark.simulation
@pytest.mark.parametrize("name", RECIPES)
def test_the_largest_scores_are_calibrated_on_null_samples(name):
    found = null_study(RECIPES[name])
    for rank in range(3):
        p = [p_value(seen.largest[0, rank], null.largest[:, rank]) for seen, null in found]
        assert uniform(p) > 1e-6
    assert uniform([p_value(-seen.lowest[0], -null.lowest) for seen, null in found]) > 1e-6


@pytest.mark.simulation
@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_the_null_band_covers(name, level):
    """With 9 draws a band at 0.1 k covers with probability 0.1 k exactly, if there are no ties."""
    inside = sum(
        seen.largest[0, 0] <= band(null.largest, level=level)[0]
        for seen, null in null_study(RECIPES[name])
    )
    low, high = binom.ppf([5e-7, 1 - 5e-7], SAMPLES, level)
    assert low <= inside <= high


@pytest.mark.simulation
def test_a_choice_that_is_not_repeated_spoils_the_p_value():
    """One of eight features is chosen, that with the largest MMD^2: in the data only, or always."""
    frozen, repeated = [], []
    for r in range(80):
        pooled = STREAMS("selection", r).normal(size=(24, 8))
        streams = partial(STREAMS, "selected", r)
        seen, null = [], []
        for feature in range(8):
            x, y = pooled[:10, [feature]], pooled[10:, [feature]]
            seen.append(observe(x, y, EXACT, streams, top=1).mmd2[0])
            # the same numbers give the same permutations
            null.append(permutations(x, y, EXACT, streams, numbers=range(DRAWS), top=1).mmd2)
        chosen = int(np.argmax(seen))
        frozen.append(p_value(seen[chosen], null[chosen]))
        repeated.append(p_value(max(seen), np.max(null, axis=0)))
    assert uniform(repeated) > 1e-6
    assert uniform(frozen) < 1e-6


def test_a_real_shift_is_seen():
    rng = STREAMS("power")
    x, y = rng.normal(size=(80, 2)), rng.normal(size=(120, 2))
    x[:25] += 2
    for recipe in (EXACT, replace(EXACT, source="reference"), replace(RFF, n_per_bandwidth=128)):
        null = permutations(x, y, recipe, STREAMS, numbers=range(60))
        seen = observe(x, y, recipe, STREAMS)
        assert p_value(seen.mmd2[0], null.mmd2) == 1 / 61
        assert p_value(seen.largest[0, 0], null.largest[:, 0]) < 0.1


# --- what a permutation is ----------------------------------------------------------------


@pytest.mark.parametrize("by", ["contribution", "evidence"])
@pytest.mark.parametrize("source", ["pooled", "reference"])
@pytest.mark.parametrize("recipe", [EXACT, RFF], ids=["exact", "rff"])
@pytest.mark.parametrize("coordinates", ["as_is", "standardized", "uniform", "normal"])
def test_a_permutation_is_the_whole_analysis_of_mixed_events(coordinates, recipe, source, by):
    recipe = replace(recipe, coordinates=coordinates, source=source, ranking=by)
    x, y = null_data("whole")
    found = permutations(x, y, recipe, STREAMS, numbers=range(3, 6), top=4)
    pooled = np.concatenate([x, y])
    for row, p in enumerate(range(3, 6)):
        mixed = pooled[np.argsort(STREAMS("permutation", p).random(len(pooled)))]
        a, b = mixed[:12], mixed[12:]
        value, _ = oracles.mmd2(a, b, recipe, STREAMS)
        scores = score.score_events(a, b, recipe, STREAMS).ranked(by)
        assert found.mmd2[row] == pytest.approx(value, abs=2e-6)
        atol = 2e-6 if by == "contribution" else 2e-4
        np.testing.assert_allclose(found.largest[row], np.sort(scores)[::-1][:4], atol=atol)
        assert found.lowest[row] == pytest.approx(scores.min(), abs=atol)
    assert found.numbers.tolist() == [3, 4, 5]


@pytest.mark.parametrize("recipe", [EXACT, RFF], ids=["exact", "rff"])
def test_the_data_are_seen_as_they_are_scored(recipe):
    x, y = null_data("data")
    seen = observe(x, y, recipe, STREAMS, top=99)
    assert seen.mmd2[0] == pytest.approx(oracles.mmd2(x, y, recipe, STREAMS)[0], abs=1e-12)
    loo = score.score_events(x, y, recipe, STREAMS).loo
    np.testing.assert_allclose(seen.largest[0], np.sort(loo)[::-1], atol=2e-6)
    assert seen.lowest[0] == pytest.approx(loo.min(), abs=2e-6)


@pytest.mark.parametrize("source", ["pooled", "reference"])
@pytest.mark.parametrize("recipe", [EXACT, RFF], ids=["exact", "rff"])
def test_jobs_and_threads_change_no_byte(recipe, source, monkeypatch):
    monkeypatch.setattr(feature_means, "CHUNK", 64)
    monkeypatch.setattr(splits, "ROWS", 16)
    recipe = replace(recipe, source=source)
    x, y = null_data("jobs", N=90, M=110)
    run = partial(permutations, x, y, recipe, STREAMS, top=5)
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    whole = run(numbers=range(45))
    numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    parts = [run(numbers=numbers) for numbers in (range(41, 45), range(17), range(17, 41))]
    numba.set_num_threads(before)
    cut = joined([NullDraws.from_dict(part.as_dict()) for part in parts])
    for name, values in whole.as_dict().items():
        assert values.tobytes() == getattr(cut, name).tobytes()


# --- pseudoexperiments --------------------------------------------------------------------


@pytest.mark.simulation
def test_pseudoexperiments_from_a_model_are_calibrated():
    p, largest = [], []
    for r in range(SAMPLES):
        x, y = null_data("model", r)
        streams = partial(STREAMS, "model", r)
        null = significance.pseudoexperiments(
            len(x),
            y,
            EXACT,
            streams,
            numbers=range(DRAWS),
            sampler=lambda rng, n: rng.gamma(2.0, size=(n, 2)),
            top=1,
        )
        seen = observe(x, y, EXACT, streams, top=1)
        p.append(p_value(seen.mmd2[0], null.mmd2))
        largest.append(p_value(seen.largest[0, 0], null.largest[:, 0]))
    assert uniform(p) > 1e-6
    assert uniform(largest) > 1e-6


def test_pseudoexperiments_from_the_reference_take_it_apart():
    _, y = null_data("apart", M=40)
    found = significance.pseudoexperiments(10, y, EXACT, STREAMS, numbers=range(2, 4), top=2)
    for row, p in enumerate((2, 3)):
        mixed = y[STREAMS("pseudoexperiment", p).permutation(40)]
        seen = observe(mixed[:10], mixed[10:], EXACT, STREAMS, top=2)
        assert found.mmd2[row] == seen.mmd2[0]
        assert np.array_equal(found.largest[row], seen.largest[0])


# --- the formulas -------------------------------------------------------------------------


def test_p_value_counts():
    null = STREAMS("count").normal(size=57)
    for value in (*null[:3] + 1e-3, -9.0, 9.0):
        assert p_value(value, null) == (1 + sum(t >= value for t in null)) / 58
    assert p_value(null[0] + 1e-9, null) == p_value(null[0], null)


def test_a_permutation_that_gives_the_data_again_counts():
    """Of the 20 ways to split six events, two are the data's (sample and reference swapped)."""
    x, y = np.array([[0.0], [0.1], [0.25]]), np.array([[9.0], [9.1], [9.3]])
    for recipe in (EXACT, RFF):
        null = permutations(x, y, recipe, STREAMS, numbers=range(400))
        p = p_value(observe(x, y, recipe, STREAMS).mmd2[0], null.mmd2)
        assert abs(p - 0.1) < 5 * np.sqrt(0.1 * 0.9 / 400)


def test_band_by_brute_force():
    table = STREAMS("band").normal(size=(39, 3))
    for level, place in ((0.95, 38), (0.5, 20), (0.975, 39)):
        assert np.array_equal(band(table, level=level), np.sort(table, axis=0)[place - 1])


def test_bad_input():
    x, y = null_data("bad")
    with pytest.raises(ValueError, match="numbers must be a range of consecutive"):
        permutations(x, y, EXACT, STREAMS, numbers=range(0))
    with pytest.raises(ValueError, match="numbers must be a range of consecutive"):
        permutations(x, y, EXACT, STREAMS, numbers=range(0, 9, 2))
    with pytest.raises(ValueError, match=r"level must be at most 0\.9 with 9 draws"):
        band(np.ones((9, 2)), level=0.95)
    with pytest.raises(ValueError, match="at least twice the 12 events"):
        significance.pseudoexperiments(12, y, EXACT, STREAMS, numbers=range(2))
    for events, message in ((np.ones((12, 3)), "must have 2 features"), (y[:5], "must return the")):
        with pytest.raises(ValueError, match=message):
            significance.pseudoexperiments(
                *(12, y, EXACT, STREAMS),
                numbers=range(2),
                sampler=lambda rng, n, events=events: events,  # noqa: ARG005
            )
    part = permutations(x, y, EXACT, STREAMS, numbers=range(2))
    with pytest.raises(ValueError, match="the same draw twice"):
        joined([part, part])
    with pytest.raises(ValueError, match="at least one job"):
        joined([])
