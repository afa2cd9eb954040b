"""Scores of any sample. A z-test fails by chance with |z| > 5, once in 1.7 million."""

from dataclasses import replace
from functools import partial

import numba
import numpy as np
import oracles
import pytest
from localizer.base import metrics
from localizer.base.copula import BackgroundCDF, median_distance
from localizer.base.randomness import stream
from localizer.estimators import witness
from localizer.estimators.weights import Weights
from localizer.kernels import feature_means
from localizer.kernels.bank import EmpiricalBackground, GaussianBank, NormalBackground
from localizer.own import batch_estimates, random_features, score
from localizer.own.recipe import Choices, Recipe, choose
from scipy.spatial.distance import cdist, pdist

STREAMS = partial(stream, 9, "test_score")
EXACT = Recipe("standardized", method="exact", factors=(0.5, 1.0))
RFF = Recipe("standardized", method="rff", factors=(0.5, 1.0), n_per_bandwidth=64)
COORDINATES = ["as_is", "standardized", "uniform", "normal"]
SOURCES = ["pooled", "reference"]


def data(*key, N=30, M=45, d=2):
    """Return a sample and a reference with features of different sizes and shapes."""
    rng = STREAMS("data", *key)
    x, y = rng.normal(0.3, 1, size=(N, d)), rng.normal(size=(M, d))
    units = 10.0 ** np.arange(d)
    return np.exp(x / 2) * units, np.exp(y / 2) * units


def brute_force(x, y, bank):
    """Return witness, LOO witness and its error by loops over the definition."""
    k, cross = bank(x, x), bank(x, y)
    found = []
    for i in range(len(x)):
        others = np.delete(k[i], i)
        error = others.var(ddof=1) / others.size + cross[i].var(ddof=1) / cross[i].size
        mu = cross[i].mean()
        found.append((k[i].mean() - mu, others.mean() - mu, np.sqrt(error)))
    return np.array(found).T


def z_of_mean(values):
    return np.mean(values, axis=0) / (np.std(values, axis=0, ddof=1) / np.sqrt(len(values)))


def z_of_variance(values, squares):
    """Compare the variance over repetitions with the mean of the squared errors."""
    centred = (values - values.mean(axis=0)) ** 2
    difference = centred * len(values) / (len(values) - 1) - squares
    return z_of_mean(difference)


# --- choices ------------------------------------------------------------------------------


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_choices_are_what_the_recipe_says(coordinates, source):
    x, y = data("choices")
    recipe = Recipe(coordinates, source, factors=(0.5, 3.0))
    chosen = choose(x, y, recipe, STREAMS)
    events = y if source == "reference" else np.concatenate([x, y])
    expected = {
        "as_is": lambda t: t - events.mean(axis=0),
        "standardized": lambda t: (t - events.mean(axis=0)) / events.std(axis=0),
        "uniform": BackgroundCDF.of(events).transform,
        "normal": partial(BackgroundCDF.of(events).transform, scores="normal"),
    }[coordinates]
    np.testing.assert_allclose(chosen.transform(x), expected(x), atol=1e-12)
    d_med = np.median(pdist(expected(events)))
    assert chosen.d_med == pytest.approx(d_med)
    assert chosen.bank.bandwidths == pytest.approx((0.5 * d_med, 3 * d_med))


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_pooled_choices_do_not_know_the_sample(coordinates):
    x, y = data("mixed")
    pooled = np.concatenate([x, y])[STREAMS("order").permutation(75)]
    one, other = (
        choose(*parts, Recipe(coordinates), STREAMS)
        for parts in ((x, y), (pooled[:30], pooled[30:]))
    )
    assert one.d_med == pytest.approx(other.d_med, rel=1e-12)
    np.testing.assert_allclose(one.transform(x), other.transform(x), atol=1e-12)


def test_the_median_distance_of_many_events_is_that_of_random_pairs():
    x, y = data("pairs", N=300, M=300)
    exact = choose(x, y, Recipe(), STREAMS).d_med
    chosen = choose(x, y, Recipe(pairs=20_000), STREAMS)
    assert chosen.d_med != exact
    events = chosen.transform(np.concatenate([x, y]))
    assert chosen.d_med == median_distance(events, STREAMS("pairs"), pairs=20_000).value
    # half of all pairs are nearer, but for five standard deviations of the 20,000 random ones
    assert abs(np.mean(pdist(events) < chosen.d_med) - 0.5) < 5 * 0.5 / np.sqrt(20_000)


# --- exact scores -------------------------------------------------------------------------


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_exact_scores_by_brute_force(coordinates, source):
    x, y = data("brute")
    recipe = replace(EXACT, coordinates=coordinates, source=source)
    chosen = choose(x, y, recipe, STREAMS)
    found = score.score_events(x, y, recipe, STREAMS)
    expected = brute_force(chosen.transform(x), chosen.transform(y), chosen.bank)
    got = [found.witness, found.loo, found.standard_error]
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)
    assert found.method == "exact"
    assert not found.error_features.any()


def test_scores_are_those_of_the_witness_module():
    x, y = data("witness")
    chosen = choose(x, y, EXACT, STREAMS)
    found = score.score_events(x, y, EXACT, STREAMS, choices=chosen)
    a, b = chosen.transform(x), chosen.transform(y)
    background = EmpiricalBackground(chosen.bank, b)
    np.testing.assert_allclose(
        found.loo, witness.loo_witness(a, chosen.bank, background), atol=1e-12
    )
    inclusive = witness.empirical_witness(a, a, chosen.bank, background)
    np.testing.assert_allclose(found.witness, inclusive, atol=1e-12)
    gain = witness.self_difference(a, chosen.bank)
    np.testing.assert_allclose(found.witness - found.loo, gain, atol=1e-12)


def test_rank_one_is_the_largest_score():
    x, y = data("rank")
    found = score.score_events(x, y, EXACT, STREAMS)
    assert np.array_equal(np.argsort(found.rank), np.argsort(-found.loo))
    twins = score.score_events(np.concatenate([x, x]), y, EXACT, STREAMS).rank
    assert np.array_equal(twins[:30], twins[30:])
    assert sorted(twins)[:2] == [1.5, 1.5]


def test_auto_is_exact_up_to_its_limits():
    x, y = data("auto")
    for limit, method in ((30 * 75, "exact"), (30 * 75 - 1, "rff")):
        recipe = Recipe(factors=(1.0,), exact_limit=limit, calibration_limit=1)
        assert score.score_events(x, y, recipe, STREAMS).method == method
    for limit, method in ((75**2, "exact"), (75**2 - 1, "rff")):
        recipe = Recipe(factors=(1.0,), calibration_limit=limit, exact_limit=1)
        assert oracles.mmd2(x, y, recipe, STREAMS)[1] == method


def unchanged(bank):
    return Choices(lambda x: np.asarray(x, dtype=float), 1.0, bank)


@pytest.mark.simulation
@pytest.mark.parametrize(
    "recipe", [EXACT, replace(RFF, companions=10, n_per_bandwidth=8)], ids=["exact", "rff"]
)
def test_standard_errors_are_the_spread_over_repetitions(recipe):
    """The score of fixed events, everything else drawn again: unbiased, with the error stated."""
    bank = GaussianBank((0.7, 1.4))
    probes = np.array([[0.0, 0.0], [1.0, 0.5], [2.5, 0.0]])
    shift = np.array([0.5, 0.0])
    known = NormalBackground(bank, 2)
    truth = known.mean_embedding(probes - shift) - known.mean_embedding(probes)
    values, squares, own = [], [], []
    for r in range(300):
        rng = STREAMS("repetition", recipe.method, r)
        x = np.concatenate([probes, rng.normal(size=(30, 2)) + shift])
        y = rng.normal(size=(40, 2))
        loo, error = [], []
        for i in range(3):
            # a probe among others would be an event that is not drawn from the sample's law
            one = x[np.r_[i, 3:33]]
            found = score.score_events(
                one, y, recipe, partial(STREAMS, "draws", r, i), choices=unchanged(bank)
            )
            loo.append(found.loo[0])
            error.append(found.standard_error[0])
            own.append(found.error_features[0])
        values.append(loo)
        squares.append(np.square(error))
    assert np.abs(z_of_mean(np.array(values) - truth)).max() < 5
    assert np.abs(z_of_variance(np.array(values), np.array(squares))).max() < 5
    # the error of the features must be a part that the test can see
    assert np.mean(np.square(own)) > 0.2 * np.mean(squares) or recipe.method == "exact"


# --- random features ----------------------------------------------------------------------


def test_rff_scores_are_those_of_the_witness_module():
    x, y = data("features")
    chosen = choose(x, y, RFF, STREAMS)
    found = score.score_events(x, y, RFF, STREAMS)
    z = random_features.draw_features(chosen.bank, 2, RFF, STREAMS)
    a, b = (z.transform(chosen.transform(t), dtype=np.float64) for t in (x, y))
    loo = witness.rff_loo(a, a.mean(axis=0), b.mean(axis=0), N=30)
    inclusive = witness.rff_witness(a, a.mean(axis=0), b.mean(axis=0))
    np.testing.assert_allclose(found.loo, loo, atol=2e-6)
    np.testing.assert_allclose(found.witness, inclusive, atol=2e-6)
    value, method = oracles.mmd2(x, y, RFF, STREAMS)
    assert method == "rff"
    assert value == pytest.approx(loo.mean() - np.mean(b @ (a.mean(0) - b.mean(0))) + own(b))


def test_the_error_of_the_features_by_hand():
    """Each of n frequencies is an estimate; the error of their mean, bandwidth by bandwidth."""
    x, y = data("feature error", N=6, M=8)
    recipe = replace(RFF, n_per_bandwidth=8)
    chosen = score.choose(x, y, recipe, STREAMS)
    z = score.draw_features(chosen.bank, 2, recipe, STREAMS)
    a, b = chosen.transform(x), chosen.transform(y)
    found = score.score_events(x, y, recipe, STREAMS)
    squares = np.zeros(6)
    mean = np.full(6, 0.0)
    # four frequencies for each of the two bandwidths, first for cosines, then for sines
    for w in z.frequencies.T.reshape(2, 2, 4, 2)[:, 0]:
        k, across = (np.cos((a[:, None] - t) @ w.T) for t in (a, b))
        loo = (k.sum(axis=1) - 1) / 5 - across.mean(axis=1)
        mean += loo.mean(axis=1) / 2
        squares += loo.var(axis=1, ddof=1) / 4 / 2**2
    np.testing.assert_allclose(found.loo, mean, atol=2e-6)
    np.testing.assert_allclose(found.error_features, np.sqrt(squares), rtol=1e-4)


def own(b):
    """Return what an unbiased mean over pairs of the reference has less than a plain one."""
    mean = b.mean(axis=0)
    return (mean @ mean - 1) / (len(b) - 1)


def test_rff_scatters_about_the_exact_scores_with_the_error_stated():
    x, y = data("scatter")
    exact = score.score_events(x, y, EXACT, STREAMS)
    chosen = choose(x, y, EXACT, STREAMS)
    value, _ = oracles.mmd2(x, y, EXACT, STREAMS)
    loo, squares, inclusive, global_ = [], [], [], []
    for r in range(200):
        streams = partial(STREAMS, "draw", r)
        found = score.score_events(x, y, RFF, streams, choices=chosen)
        loo.append(found.loo - exact.loo)
        inclusive.append(found.witness - exact.witness)
        squares.append(found.error_features**2)
        global_.append(oracles.mmd2(x, y, RFF, streams, choices=chosen)[0] - value)
        # all events are companions here
        np.testing.assert_allclose(found.error_data, exact.error_data, rtol=1e-9)
    # 30 events, three tests of each: false alarm below 1e-4 for |z| < 5
    assert np.abs(z_of_mean(np.array(loo))).max() < 5
    assert np.abs(z_of_mean(np.array(inclusive))).max() < 5
    assert np.abs(z_of_variance(np.array(loo), np.array(squares))).max() < 5
    assert abs(z_of_mean(np.array(global_))) < 5


def test_more_features_come_closer():
    x, y = data("closer")
    exact = score.score_events(x, y, EXACT, STREAMS).loo
    many = score.score_events(x, y, replace(RFF, n_per_bandwidth=40_000), STREAMS)
    assert many.error_features.max() < 0.003
    assert np.abs(many.loo - exact).max() < 5 * many.error_features.max()


def test_few_companions_give_the_variance_without_bias():
    x, y = data("companions", N=60, M=80)
    exact = score.score_events(x, y, EXACT, STREAMS).error_data ** 2
    chosen = choose(x, y, EXACT, STREAMS)
    recipe = replace(RFF, companions=15, n_per_bandwidth=4)
    found = [
        score.score_events(x, y, recipe, partial(STREAMS, "few", r), choices=chosen).error_data ** 2
        for r in range(150)
    ]
    assert np.abs(z_of_mean(np.array(found) - exact)).max() < 5


@pytest.mark.parametrize("recipe", [EXACT, RFF], ids=["exact", "rff"])
def test_threads_change_nothing(recipe, monkeypatch):
    monkeypatch.setattr(feature_means, "CHUNK", 16)
    x, y = data("threads", N=70, M=50)
    before = numba.get_num_threads()
    found = []
    for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
        numba.set_num_threads(threads)
        scores = score.score_events(x, y, recipe, STREAMS)
        found.append((scores.loo.tobytes(), scores.standard_error.tobytes()))
    numba.set_num_threads(before)
    assert found[0] == found[1]


def test_chunks_change_digits_only(monkeypatch):
    x, y = data("chunks", N=70, M=50)
    whole = score.score_events(x, y, RFF, STREAMS)
    monkeypatch.setattr(feature_means, "CHUNK", 16)
    cut = score.score_events(x, y, RFF, STREAMS)
    np.testing.assert_allclose(whole.loo, cut.loo, atol=1e-6)
    np.testing.assert_allclose(whole.standard_error, cut.standard_error, rtol=1e-4)


def in_parts(x, y, recipe, parts, weights=None):
    """Return the scores as so many jobs find them, and their sums of features."""
    sums = score.joined_sums(
        [
            score.feature_sums(x, y, recipe, STREAMS, weights=weights, part=k, parts=parts)
            for k in range(parts)
        ]
    )
    scored = [
        score.score_events(
            *(x, y, recipe, STREAMS),
            weights=weights,
            rows=score.rows_of(len(x), k, parts),
            sums=sums,
        )
        for k in range(parts)
    ]
    return score.EventScores.joined(scored), sums


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weights"])
@pytest.mark.parametrize("recipe", [EXACT, RFF], ids=["exact", "rff"])
def test_jobs_that_share_the_events_find_the_same_bytes(recipe, weighted, monkeypatch):
    monkeypatch.setattr(feature_means, "CHUNK", 32)
    recipe = replace(recipe, ladder=(0.25, 1.0), companions=20)
    x, y = data("parts", N=150, M=110)
    rng = STREAMS("weights of parts")
    weights = Weights(rng.uniform(0.5, 2, 150), rng.normal(1, 1, 110)) if weighted else None
    whole = score.score_events(x, y, recipe, STREAMS, weights=weights)
    # one chunk a job, two, and more jobs than there are chunks of the reference
    for parts in (5, 2, 3, 7):
        cut, sums = in_parts(x, y, recipe, parts, weights)
        assert (sums is None) == (recipe is EXACT or recipe.method == "exact")
        assert cut.method == whole.method
        for name in ("witness", "loo", "error_data", "error_features", "studentized"):
            assert getattr(cut, name).tobytes() == getattr(whole, name).tobytes(), (name, parts)


def test_every_event_belongs_to_one_job(monkeypatch):
    monkeypatch.setattr(feature_means, "CHUNK", 10)
    for events in (1, 9, 10, 11, 95, 100):
        for parts in (1, 2, 3, 12):
            rows = [score.rows_of(events, part, parts) for part in range(parts)]
            assert [k for one in rows for k in range(events)[one]] == list(range(events))
            assert all(one.start % 10 == 0 or one.start == events for one in rows)
            sizes = [-(-(one.stop - one.start) // 10) for one in rows]
            assert max(sizes) - min(sizes) <= 1


# --- invariances --------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", [EXACT, RFF], ids=["exact", "rff"])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_the_order_of_events_does_not_matter(coordinates, recipe):
    x, y = data("order")
    recipe = replace(recipe, coordinates=coordinates)
    order, other = (STREAMS("shuffle", n).permutation(n) for n in (30, 45))
    one = score.score_events(x, y, recipe, STREAMS)
    two = score.score_events(x[order], y[other], recipe, STREAMS)
    np.testing.assert_allclose(two.loo, one.loo[order], atol=3e-6)
    np.testing.assert_allclose(two.standard_error, one.standard_error[order], rtol=1e-4)


@pytest.mark.parametrize(
    ("coordinates", "change"),
    [
        ("as_is", lambda x: x + np.array([500.0, -70.0])),
        ("standardized", lambda x: x * [1e6, -1e-3] + [3.0, 7.0]),
        ("uniform", lambda x: np.log(x) ** 3),
        ("normal", lambda x: -1 / x),
    ],
)
@pytest.mark.parametrize("source", SOURCES)
def test_coordinates_forget_units(coordinates, change, source):
    x, y = data("units")
    recipe = replace(EXACT, coordinates=coordinates, source=source)
    one = score.score_events(x, y, recipe, STREAMS)
    two = score.score_events(change(x), change(y), recipe, STREAMS)
    np.testing.assert_allclose(two.loo, one.loo, atol=1e-9)
    np.testing.assert_allclose(two.standard_error, one.standard_error, atol=1e-9)


# --- the global statistic and batches -------------------------------------------------------


def test_mmd2_by_brute_force():
    x, y = data("mmd2")
    chosen = choose(x, y, EXACT, STREAMS)
    a, b = chosen.transform(x), chosen.transform(y)
    h = chosen.bank.bandwidths

    def k(s, t):
        return np.mean([np.exp(-cdist(s, t, "sqeuclidean") / (2 * w * w)) for w in h], axis=0)

    pairs = ~np.eye(30, dtype=bool), ~np.eye(45, dtype=bool)
    expected = k(a, a)[pairs[0]].mean() + k(b, b)[pairs[1]].mean() - 2 * k(a, b).mean()
    assert oracles.mmd2(x, y, EXACT, STREAMS) == (pytest.approx(expected, abs=1e-13), "exact")


def test_mmd2_is_unbiased_under_the_null():
    bank = unchanged(GaussianBank((1.0,)))
    values = []
    for r in range(500):
        z = STREAMS("null", r).normal(size=(25, 2))
        values.append(oracles.mmd2(z[:10], z[10:], EXACT, STREAMS, choices=bank)[0])
    assert abs(z_of_mean(np.array(values))) < 5


def test_a_batch_of_all_events_gives_the_pair_target():
    x, y = data("batches")
    chosen = choose(x, y, EXACT, STREAMS)
    a, b = chosen.transform(x), chosen.transform(y)
    target = witness.pair_target(a, chosen.bank, EmpiricalBackground(chosen.bank, b))
    found = batch_estimates.batch_estimates(x, y, EXACT, STREAMS, m=30, R=4, group_size=2)
    np.testing.assert_allclose(found.scores.witness, target, atol=1e-8)
    assert found.target_correlation == 1
    rff = batch_estimates.batch_estimates(x, y, RFF, STREAMS, m=30, R=4, group_size=2, rank=128)
    z = random_features.draw_features(chosen.bank, 2, RFF, STREAMS)
    u, v = (z.transform(t, dtype=np.float64) for t in (a, b))
    centred = u - v.mean(axis=0)
    q = centred @ centred.T
    expected = (q.sum(axis=1) - np.diag(q)) / 29
    np.testing.assert_allclose(rff.scores.witness, expected, atol=1e-5)
    assert rff.target_correlation == pytest.approx(1, abs=1e-6)
    # few directions keep the witness and lose some of the events' own terms: 1 - 3e-2 here
    few = batch_estimates.batch_estimates(x, y, RFF, STREAMS, m=30, R=4, group_size=2, rank=2)
    assert few.target_correlation < rff.target_correlation
    measured = metrics.correlation(few.scores.witness, expected)
    assert few.target_correlation == pytest.approx(measured, abs=1e-5)


def test_compressed_features_converge_to_the_witness_of_all_events(monkeypatch):
    """The eigenvectors come from some events, the direction that is kept from all of them."""
    monkeypatch.setattr(batch_estimates, "_FOR_BASIS", 12)
    x, y = data("few")
    chosen = choose(x, y, RFF, STREAMS)
    found = batch_estimates.batch_estimates(
        x, y, RFF, STREAMS, m=30, R=30_000, group_size=1000, replacement=True, rank=3
    )
    z = random_features.draw_features(chosen.bank, 2, RFF, STREAMS)
    u, v = (z.transform(chosen.transform(t), dtype=np.float64) for t in (x, y))
    centred = u - v.mean(axis=0)
    target = centred @ centred.mean(axis=0)
    assert found.target_correlation == pytest.approx(1, abs=1e-12)
    pull = (found.scores.pair - target * 2 / 30) / found.errors["pair"]
    assert np.max(abs(pull)) < 6


def test_batches_converge_to_the_witness():
    x, y = data("converge", N=60)
    found = batch_estimates.batch_estimates(x, y, EXACT, STREAMS, m=10, R=20_000, group_size=500)
    loo = score.score_events(x, y, EXACT, STREAMS).loo
    for estimate in (found.scores.pair, found.scores.marginal):
        assert np.corrcoef(estimate, loo)[0, 1] > 0.99
    assert np.corrcoef(found.scores.raw, loo)[0, 1] > 0.5
    # the mean over all batches of an event is known: the pair target over m / 2
    chosen = choose(x, y, EXACT, STREAMS)
    a, b = chosen.transform(x), chosen.transform(y)
    target = witness.pair_target(a, chosen.bank, EmpiricalBackground(chosen.bank, b))
    pulls = (found.scores.pair - target / 5) / found.errors["pair"]
    # of 60 pulls with 19 degrees of freedom, none beyond 8 in 10^5 samples
    assert np.abs(pulls).max() < 8
    assert 0.5 < np.sqrt(np.mean(pulls**2)) < 1.8


# --- bad input ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"coordinates": "polar"}, "coordinates must be one of as_is"),
        ({"source": "sample"}, "source must be one of pooled, reference"),
        ({"method": "fast"}, "method must be one of auto, exact, rff"),
        ({"factors": ()}, "factors must hold at least one"),
        ({"factors": (1.0, 0.0)}, "factors must be positive"),
        ({"n_per_bandwidth": 5}, "must be even"),
        ({"companions": 1}, "companions must be at least"),
        ({"pairs": 10}, "pairs must be at least"),
        ({"exact_limit": 0.5}, "exact_limit must be a whole number"),
    ],
)
def test_bad_recipes(change, message):
    with pytest.raises(ValueError, match=message):
        Recipe(**change)


def test_bad_data():
    x, y = data("bad")
    with pytest.raises(ValueError, match="reference must have 2 features, it has 3"):
        score.score_events(x, np.ones((9, 3)), EXACT, STREAMS)
    with pytest.raises(ValueError, match="sample must hold at least 3 events, it holds 2"):
        score.score_events(x[:2], y, EXACT, STREAMS)
    with pytest.raises(ValueError, match="1 of its values are NaN"):
        score.score_events(np.where(x == x[3, 1], np.nan, x), y, EXACT, STREAMS)
    with pytest.raises(ValueError, match="d_med must be positive"):
        score.score_events(x * 0, y * 0, replace(EXACT, coordinates="as_is"), STREAMS)
    with pytest.raises(ValueError, match="multiple of group_size"):
        batch_estimates.batch_estimates(x, y, EXACT, STREAMS, m=3, R=5, group_size=2)
    with pytest.raises(ValueError, match="the number of parts must be at least 2"):
        batch_estimates.batch_estimates(x, y, EXACT, STREAMS, m=3, R=2, group_size=2)


def test_a_feature_that_is_constant_in_a_part_changes_nothing():
    """A permutation's reference or a fold may lack the one event in which a feature differs."""
    x, y = data("flat")
    flat = np.array([1.0, 0.0])
    both_flat = score.score_events(x * flat + 0.1, y * flat + 0.1, EXACT, STREAMS)
    alone = score.score_events(x[:, :1] + 0.1, y[:, :1] + 0.1, EXACT, STREAMS)
    np.testing.assert_allclose(both_flat.loo, alone.loo, rtol=1e-12, atol=1e-15)


def test_scores_and_their_calibration_have_limits_of_their_own():
    recipe = Recipe(exact_limit=4000, calibration_limit=10_000)
    assert recipe.for_scores(40, 60).method == "exact"
    assert recipe.for_scores(40, 61).method == "rff"
    assert recipe.for_calibration(40, 60).method == "exact"
    assert recipe.for_calibration(40, 61).method == "rff"
    assert EXACT.for_scores(10**6, 10**6) == EXACT.for_calibration(10**6, 10**6) == EXACT
    assert RFF.for_scores(3, 3) == RFF.for_calibration(3, 3) == RFF
