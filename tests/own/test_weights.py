"""Events with weights: scores, errors, p-values. A z-test fails by chance with |z| > 5."""

from functools import cache, partial

import localizer
import numba
import numpy as np
import pandas as pd
import pytest
from localizer.base.randomness import stream
from localizer.estimators.weights import Weights, worth
from localizer.kernels import feature_means
from localizer.own import analysis, bootstrap, problem, score, significance, splits
from localizer.own.recipe import Choices, Recipe, choose
from localizer.own.significance import NullDraws
from scipy.stats import binom, chi2, norm

STREAMS = partial(stream, 4, "test_weights")
EXACT = Recipe("standardized", method="exact", factors=(0.5, 1.0), ladder=(0.3, 1.0))
RFF = Recipe(
    "standardized", method="rff", factors=(0.5, 1.0), ladder=(0.3, 1.0), n_per_bandwidth=32
)
FORMS = pytest.mark.parametrize("recipe", [EXACT, RFF], ids=["exact", "rff"])


def data(*key, N=25, M=40):
    """Return a sample, a reference and weights, some of the reference's negative."""
    rng = STREAMS("data", *key)
    weights = Weights(rng.uniform(0.5, 2, size=N), rng.uniform(-0.3, 2, size=M))
    return rng.normal(0.3, 1, size=(N, 2)), rng.normal(size=(M, 2)), weights


def fixed(x, y, recipe):
    """Return choices in which an event that is there twice changes nothing."""
    chosen = choose(x, y, recipe, STREAMS)
    return Choices(chosen.transform, chosen.d_med, chosen.bank, chosen.ladder)


# --- scores -------------------------------------------------------------------------------


@FORMS
def test_a_weight_of_two_is_an_event_twice(recipe):
    x, y, _ = data("twice")
    run = partial(score.score_events, recipe=recipe, streams=STREAMS, choices=fixed(x, y, recipe))
    u, v = np.ones(25), np.ones(40)
    u[3] = v[5] = 2
    weighted = run(x, y, weights=Weights(u, v))
    twice = run(np.concatenate([x, x[3:4]]), np.concatenate([y, y[5:6]]))
    others = np.arange(25) != 3
    np.testing.assert_allclose(weighted.witness, twice.witness[:25], atol=2e-6)
    np.testing.assert_allclose(weighted.loo[others], twice.loo[:25][others], atol=2e-6)
    # left out is the event with its whole weight, so that its twin is no neighbour
    assert abs(weighted.loo[3] - twice.loo[3]) > 1e-3


@FORMS
def test_equal_weights_change_nothing(recipe):
    x, y, _ = data("equal")
    plain = score.score_events(x, y, recipe, STREAMS)
    same = score.score_events(
        x, y, recipe, STREAMS, weights=Weights(np.full(25, 3), np.full(40, 0.5))
    )
    for name in ("witness", "loo", "error_data", "error_features", "studentized"):
        np.testing.assert_allclose(
            getattr(same, name), getattr(plain, name), rtol=1e-4, atol=2e-6, err_msg=name
        )


def test_scores_and_errors_by_brute_force():
    x, y, w = data("brute")
    chosen = choose(x, y, EXACT, STREAMS)
    found = score.score_events(x, y, EXACT, STREAMS, weights=w)
    a, b = chosen.transform(x), chosen.transform(y)
    k, cross = chosen.bank(a, a), chosen.bank(a, b)

    def mean_and_variance(values, weights):
        mean = np.average(values, weights=weights)
        n = worth(weights)
        spread = np.sum((weights * (values - mean)) ** 2) / weights.sum() ** 2
        return mean, spread * n / (n - 1)

    for i in range(25):
        others = np.arange(25) != i
        mean, variance = mean_and_variance(k[i, others], w.sample[others])
        mu, of_reference = mean_and_variance(cross[i], w.reference)
        assert found.loo[i] == pytest.approx(mean - mu)
        assert found.witness[i] == pytest.approx(np.average(k[i], weights=w.sample) - mu)
        assert found.error_data[i] == pytest.approx(np.sqrt(variance + of_reference))


def test_many_features_come_close_to_the_exact_scores():
    x, y, w = data("close")
    exact, rff = (
        score.score_events(x, y, recipe, STREAMS, weights=w)
        for recipe in (EXACT, Recipe(**{**vars(RFF), "n_per_bandwidth": 8_000}))
    )
    assert np.abs(rff.loo - exact.loo).max() < 5 * rff.error_features.max() < 0.08
    np.testing.assert_allclose(rff.error_data, exact.error_data, rtol=1e-6)


@pytest.mark.simulation
def test_a_weighted_reference_stands_for_one_that_is_resampled():
    """Events of a wide generator, weighted to the law of the unweighted ones, some negative."""
    bank = choose(*data("law")[:2], EXACT, STREAMS).bank
    chosen = Choices(lambda x: np.asarray(x, dtype=float), 1.0, bank)
    probes = np.array([[0.0, 0.0], [1.0, -1.0], [2.0, 0.5]])
    difference, squares = [], []
    for r in range(200):
        rng = STREAMS("law", r)
        x = np.concatenate([probes, rng.normal(size=(20, 2))])
        plain, wide, weights = rng.normal(size=(80, 2)), *generated(rng, 80)
        scores = [
            score.score_events(x, y, EXACT, STREAMS, choices=chosen, weights=w)
            for y, w in ((plain, None), (wide, Weights(np.ones(23), weights)))
        ]
        difference.append(scores[0].loo[:3] - scores[1].loo[:3])
        # the two share the sample: what is left is the error of the references
        only = np.array([s.error_data[:3] ** 2 for s in scores]).sum(axis=0)
        k = bank(probes, x)
        inside = [np.delete(k[i], i).var(ddof=1) / 22 for i in range(3)]
        squares.append(only - 2 * np.array(inside))
    difference, squares = np.array(difference), np.array(squares)
    z = difference.mean(axis=0) / (difference.std(axis=0) / np.sqrt(200))
    assert np.abs(z).max() < 5
    spread = difference**2 - squares
    z = spread.mean(axis=0) / (spread.std(axis=0) / np.sqrt(200))
    assert np.abs(z).max() < 5


def generated(rng, n):
    """Return events of a generator that is too wide, with weights that make up for it."""
    y = 1.3 * rng.normal(size=(n, 2))
    weights = np.prod(norm.pdf(y) / norm.pdf(y, scale=1.3), axis=1)
    return y, weights * np.where(rng.random(n) < 0.15, -1.0, 1.0)


# --- p-values -----------------------------------------------------------------------------

DRAWS, SAMPLES = 9, 150


def cancelled(rng, n):
    """Return events with a part that is far too wide, of which half counts negatively."""
    part = rng.integers(3, size=3 * n)
    return rng.normal(size=(3 * n, 2)) * np.where(part == 0, 1, 5)[:, None], 1.0 - 2 * (part == 1)


def too_wide(rng, n):
    """Return events of a sample that is too wide, with weights that make up for it."""
    x = 1.5 * rng.normal(size=(n, 2))
    return x, np.prod(norm.pdf(x) / norm.pdf(x, scale=1.5), axis=1)


def unweighted(rng, n):
    """Return events that count once each."""
    return rng.normal(size=(n, 2)), np.ones(n)


#: where the sample and where the reference come from
LAWS = pytest.mark.parametrize(
    "laws",
    [(unweighted, generated), (unweighted, cancelled), (too_wide, unweighted)],
    ids=lambda laws: " and ".join(law.__name__ for law in laws),
)


@cache
def null_study(by, method, laws):
    """Return p-values of MMD^2, the largest and the lowest score of samples without a departure."""
    recipe = Recipe(
        "standardized", method=method, factors=(0.5, 1.0), ranking=by, n_per_bandwidth=20
    )
    found = []
    for r in range(SAMPLES):
        rng = STREAMS("null", r)
        (x, u), (y, v) = laws[0](rng, 40), laws[1](rng, 160)
        weights, streams = Weights(u, v), partial(STREAMS, "study", r)
        null = bootstrap.bootstrap(
            x, y, recipe, streams, numbers=range(DRAWS), top=1, weights=weights
        )
        seen = significance.observe(x, y, recipe, streams, top=1, weights=weights)
        found.append(
            (
                significance.p_value(seen.mmd2[0], null.mmd2),
                significance.p_value(seen.largest[0, 0], null.largest[:, 0]),
                significance.p_value(-seen.lowest[0], -null.lowest),
            )
        )
    return np.array(found).T


@pytest.mark.simulation
@LAWS
@pytest.mark.parametrize("method", ["exact", "rff"])
def test_p_values_of_the_whole_are_uniform(method, laws):
    """A chi-squared test that fails by chance once in a million."""
    p = null_study("contribution", method, laws)[0]
    counts = np.bincount(np.rint(p * (DRAWS + 1)).astype(int), minlength=DRAWS + 2)[1:]
    expected = SAMPLES / (DRAWS + 1)
    assert chi2.sf(np.sum((counts - expected) ** 2) / expected, DRAWS) > 1e-6


@pytest.mark.simulation
@LAWS
@pytest.mark.parametrize("method", ["exact", "rff"])
@pytest.mark.parametrize("by", ["contribution", "evidence"])
def test_extremes_give_no_more_false_alarms_than_stated(by, method, laws):
    """Fewer where a bandwidth holds few events. Fails by chance once in a million."""
    for p in null_study(by, method, laws)[1:]:
        for level in (0.1, 0.2, 0.5):
            assert np.count_nonzero(p < level + 1e-9) <= binom.ppf(1 - 1e-6, SAMPLES, level)


@FORMS
@pytest.mark.parametrize("by", ["contribution", "evidence"])
def test_a_real_excess_is_seen(recipe, by):
    rng = STREAMS("power")
    x, (y, v) = rng.normal(size=(80, 2)), generated(rng, 300)
    x[:25] = 1.5 + 0.2 * x[:25]
    weights = Weights(np.ones(80), v)
    recipe = Recipe(**{**vars(recipe), "ranking": by})
    null = bootstrap.bootstrap(x, y, recipe, STREAMS, numbers=range(60), weights=weights)
    seen = significance.observe(x, y, recipe, STREAMS, weights=weights)
    assert significance.p_value(seen.mmd2[0], null.mmd2) == 1 / 61
    assert significance.p_value(seen.largest[0, 0], null.largest[:, 0]) == 1 / 61


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_draw_by_loops(weighted, negative):
    """The statistics of one draw from its counts, in the words of the module."""
    x, y, w = data("draw", N=12, M=20)
    w = Weights(
        w.sample if weighted else np.ones(12), w.reference if negative else np.abs(w.reference)
    )
    found = bootstrap.bootstrap(x, y, EXACT, STREAMS, numbers=range(7, 8), top=3, weights=w)
    chosen = choose(x, y, EXACT, STREAMS)
    z = chosen.transform(np.concatenate([x, y]))
    k = chosen.bank(z, z)
    n, m = worth(w.sample), worth(w.reference)
    sign, size = np.empty(20), np.empty(20)
    for j in range(20):
        among, near = k[12 + j, 12:], k[12 + j, :12]
        sign[j] = max((w.reference @ among) / (np.abs(w.reference) @ among), 0)
        size[j] = (w.sample**2 @ near) / (w.sample @ near) / w.sample.sum()
    assert (sign.min() < 1) == negative
    assert (np.ptp(size) > 1e-3) == weighted
    drawn = np.abs(w.reference) * sign
    g = np.r_[w.sample / w.sample.sum(), size]
    expected = np.r_[np.full(12, n / (n + m)), m / (n + m) * drawn / drawn.sum() / size]
    counts = STREAMS("bootstrap", "sample", 7).poisson(expected)
    again = STREAMS("bootstrap", "reference", 7).poisson(np.r_[np.zeros(12), np.ones(20)])[12:]
    share = g * expected
    assert share.sum() == pytest.approx(1)
    b = w.reference / w.reference.sum()
    factor = 1 / np.sqrt(1 - 1 / m)
    c = g * counts - (g @ counts) * share
    c[12:] -= factor * (b * again - (b @ again) * b)
    square = c @ k @ c
    for variance, measure in (
        (g * share, share),
        (np.r_[np.zeros(12), (factor * b) ** 2], np.r_[np.zeros(12), b]),
    ):
        for j in range(32):
            square -= variance[j] * (1 - 2 * measure @ k[j] + measure @ k @ measure)
    assert found.mmd2[0] == pytest.approx(square, rel=1e-9)
    scores = []
    for j in np.flatnonzero(counts):
        others = np.arange(32) != j
        scores.append(c[others] @ k[j, others] + g[j] * counts[j] * (share @ k[j]))
    np.testing.assert_allclose(found.largest[0], np.sort(scores)[::-1][:3], rtol=1e-9)
    assert found.lowest[0] == pytest.approx(min(scores))


@FORMS
def test_the_noise_of_the_mean_is_taken_from_mmd2(recipe):
    """By loops: each mean loses the squares of what its own events may have moved it by."""
    x, y, w = data("noise")
    chosen = choose(x, y, EXACT, STREAMS)
    a, b = chosen.transform(x), chosen.transform(y)
    value = -2 * np.average(
        np.average(chosen.bank(a, b), weights=w.reference, axis=1), weights=w.sample
    )
    for events, weights in ((a, w.sample), (b, w.reference)):
        k, share = chosen.bank(events, events), weights / weights.sum()
        value += share @ k @ share
        for j in range(len(events)):
            away = 1 - 2 * share @ k[j] + share @ k @ share
            value -= share[j] ** 2 * away / (1 - share @ share)
    many = Recipe(**{**vars(recipe), "n_per_bandwidth": 4_000})
    found = significance.observe(x, y, many, STREAMS, weights=w).mmd2[0]
    assert found == pytest.approx(value, abs=1e-12 if recipe is EXACT else 5e-3)


@FORMS
@pytest.mark.parametrize("by", ["contribution", "evidence"])
def test_jobs_and_threads_change_no_byte(recipe, by, monkeypatch):
    monkeypatch.setattr(feature_means, "CHUNK", 64)
    monkeypatch.setattr(bootstrap, "ROWS", 16)
    monkeypatch.setattr(splits, "ROWS", 16)
    x, y, w = data("jobs", N=90, M=110)
    recipe = Recipe(**{**vars(recipe), "ranking": by})
    run = partial(bootstrap.bootstrap, x, y, recipe, STREAMS, top=5, weights=w)
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    whole = run(numbers=range(45))
    numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    parts = [run(numbers=numbers) for numbers in (range(41, 45), range(17), range(17, 41))]
    numba.set_num_threads(before)
    cut = significance.joined([NullDraws.from_dict(part.as_dict()) for part in parts])
    for name, values in whole.as_dict().items():
        assert values.tobytes() == getattr(cut, name).tobytes()


# --- a user's tables ------------------------------------------------------------------------


@pytest.fixture
def tables():
    x, y, w = data("tables", N=40, M=70)
    sample = pd.DataFrame(x, columns=["a", "b"]).assign(w=w.sample)
    return sample, pd.DataFrame(y, columns=["a", "b"]).assign(v=w.reference), w


def test_columns_of_weights_are_no_features(tables):
    sample, reference, w = tables
    found = localizer.score(
        sample,
        reference,
        sample_weight="w",
        reference_weight="v",
        calibration={"draws": 39},
        seed=2,
    )
    assert found.features == ("a", "b")
    expected = score.score_events(
        *(sample[["a", "b"]], reference[["a", "b"]], Recipe(), partial(stream, 2, "score")),
        weights=w,
    )
    assert found.scores["loo"].tolist() == expected.loo.tolist()
    assert found.scores["sample_weight"].tolist() == w.sample.tolist()
    assert found.found["draws_from"] == "bootstrap"
    assert found.found["worth"]["reference"] == pytest.approx(worth(w.reference))


def test_one_table_may_have_weights_alone(tables):
    sample, reference, w = tables
    alone = problem.select(sample.drop(columns="w"), reference, reference_weight="v").weights
    assert alone.sample.tolist() == [1.0] * 40
    assert alone.reference.tolist() == w.reference.tolist()
    kept = problem.select(
        *(sample.drop(columns="w"), reference),
        reference_weight="v",
        keep=lambda _, rows: np.arange(rows)[::2],
    )
    assert kept.weights.reference.tolist() == w.reference[::2].tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sample": {"w": -1.0}}, "score.sample_weight: w is negative for 40 of 40 events; only"),
        ({"sample": {"w": np.nan}}, "score.sample_weight: w has 40 missing or infinite values"),
        ({"sample": {"w": "x"}}, "score.sample_weight: w cannot be used: it holds text"),
        ({"reference": {"v": -1.0}}, "score.reference_weight: v makes the events worth fewer"),
        ({"reference": {"v": [1e9] + [1.0] * 69}}, "v makes the events worth fewer than 10"),
    ],
)
def test_weights_that_are_none(tables, change, message):
    sample, reference, _ = tables
    sample = sample.assign(**change.get("sample", {}))
    reference = reference.assign(**change.get("reference", {}))
    with pytest.raises(ValueError, match=message):
        problem.select(sample, reference, sample_weight="w", reference_weight="v")


def test_what_weights_are_not_made_for(tables):
    sample, reference, w = tables
    with pytest.raises(ValueError, match="the sample has no column u"):
        problem.select(sample, reference, sample_weight="u")
    for source in ("permutations", "pseudoexperiments"):
        with pytest.raises(ValueError, match=f"{source} are not valid for events with weights"):
            analysis.drawn_from(source, w)
    assert analysis.drawn_from("auto", w) == analysis.drawn_from("bootstrap", w) == "bootstrap"
    assert analysis.drawn_from("auto", None) == "permutations"
    x, y = sample[["a", "b"]].to_numpy(), reference[["a", "b"]].to_numpy()
    with pytest.raises(ValueError, match="folds takes no account of weights"):
        analysis.event_table(x, y, EXACT, STREAMS, weights=w, folds=2)
