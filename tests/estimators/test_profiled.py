"""Profiling over nuisances, against projected features and brute force."""

import numpy as np
import pytest
from localizer.base.randomness import stream
from localizer.estimators import profiled, templates
from localizer.estimators.templates import Template
from localizer.kernels.bank import GaussianBank
from localizer.kernels.features import fourier_features

BANK = GaussianBank((1.0,))


def draw(*key, n=60, d=2):
    return stream(32, "test_profiled", *key).normal(size=(n, d))


def small_problem(*, sample=None, own=False):
    x = np.add(draw("sample"), [0.2, 0.1]) if sample is None else sample
    y = draw("reference", n=80)
    return templates.problem(
        Template(x),
        Template(y),
        [
            Template(np.add(y, [0.4, 0.0]), same_events=True),
            Template(draw("other", n=70) * 1.3) if own else Template(1.3 * y, same_events=True),
        ],
    )


def projected(problem, features):
    """Return the oracle: features with D projected out, and D."""
    z = [features.transform(t.events, dtype=np.float64) for t in problem]
    means = [rows.mean(axis=0) for rows in z]
    D = np.array([b - means[1] for b in means[2:]])
    complement = np.eye(features.D) - np.linalg.pinv(D) @ D
    return [rows @ complement for rows in z], D, means


@pytest.mark.parametrize("own", [False, True])
def test_the_profiled_discrepancy_is_mmd_of_projected_features(own):
    problem = small_problem(own=own)
    features = fourier_features(BANK, 2, stream(32, "features"), n_per_bandwidth=64, form="paired")
    embeddings = templates.by_features(problem, features)
    found = profiled.profile(embeddings)
    (sample, reference, *_), D, means = projected(problem, features)
    delta = sample.mean(axis=0) - reference.mean(axis=0)
    plain = embeddings.products(corrected=False)
    statistic = found.rule_nearest.statistic(plain, found.nearest)
    assert statistic == pytest.approx(delta @ delta, abs=1e-7)
    theta = np.linalg.lstsq(D.T, means[0] - means[1], rcond=None)[0]
    np.testing.assert_allclose(found.nearest, theta, rtol=1e-3)
    # the witness of the projected features, up to one constant
    z = features.transform(problem[0].events, dtype=np.float64)
    np.testing.assert_allclose(profiled.scores(embeddings, found).witness, z @ delta, atol=1e-6)
    total = means[0] - means[1]
    assert found.share == pytest.approx(1 - delta @ delta / (total @ total), abs=1e-4)
    assert np.cos(np.radians(found.angle)) ** 2 == pytest.approx(found.share)


def test_unbiased_mmd_of_projected_features_for_a_fixed_D():
    """With nuisances that are known exactly, ``after`` is the U-statistic of the oracle."""
    problem = small_problem()
    features = fourier_features(BANK, 2, stream(32, "features"), n_per_bandwidth=64, form="paired")
    embeddings = templates.by_features(problem, features)
    (sample, reference, *_), *_ = projected(problem, features)
    between = sample.mean(axis=0) @ reference.mean(axis=0)
    within = [
        ((rows.sum(axis=0) ** 2).sum() - (rows**2).sum()) / (len(rows) * (len(rows) - 1))
        for rows in (sample, reference)
    ]
    expected = within[0] + within[1] - 2 * between
    found = profiled.profile(embeddings)
    uncorrected = found.rule_nearest.statistic(embeddings.products(corrected=False), found.nearest)
    # here the nuisances have the noise of 80 events, which the oracle does not know
    assert abs(found.after - expected) < 0.1 * abs(uncorrected - expected)


@pytest.mark.parametrize("widths", [None, [0.5, None], [0.1, 0.1]])
def test_leave_one_out_leaves_the_event_out_of_the_fit(widths):
    """Against a fit of the sample without the event; the priors' weights stay as they are."""
    problem = small_problem()
    embeddings = templates.exact(problem, BANK)
    found = profiled.profile(embeddings, widths=widths)
    scores = profiled.scores(embeddings, found)
    for i in (0, 17, 59):
        without = templates.problem(
            Template(np.delete(problem[0].events, i, axis=0)), problem[1], problem[2:]
        )
        others = templates.exact(without, BANK)
        theta = found.rule_nearest.theta(others.products(corrected=False))
        values = [BANK([problem[0].events[i]], t.events).mean() for t in without]
        expected = values[0] - values[1] - theta @ (np.array(values[2:]) - values[1])
        assert scores.loo[i] == pytest.approx(expected, abs=1e-12)
        assert scores.witness[i] != pytest.approx(expected, abs=1e-4)


def test_products_are_corrected_where_variations_have_noise_of_their_own():
    problem = small_problem(own=True)
    embeddings = templates.exact(problem, BANK)
    found = profiled.profile(embeddings, least=0.01)
    A, c = embeddings.products()[1:, 1:], embeddings.products()[1:, 0]
    np.testing.assert_allclose(found.theta, np.linalg.solve(A, c), rtol=1e-9)
    V = embeddings.products(corrected=False)
    np.testing.assert_allclose(found.nearest, np.linalg.solve(V[1:, 1:], V[1:, 0]), rtol=1e-9)
    np.testing.assert_allclose(found.told, [1, 1])


def test_a_combination_that_is_noise_is_not_corrected():
    """Three samples of one distribution: noise divided by noise is nobody's theta."""
    problem = templates.problem(
        Template(draw("sample")), Template(draw("a")), [Template(draw("b")), Template(draw("c"))]
    )
    embeddings = templates.exact(problem, BANK)
    plain, corrected = (embeddings.products(corrected=c)[1:, 1:] for c in (False, True))
    values = np.linalg.eigvalsh(corrected)
    assert values[0] < 0 < values[1]
    found = profiled.profile(embeddings)
    W = profiled.correctable(plain, corrected)
    assert np.trace(W) == pytest.approx(1)
    assert found.told.min() < 0.5
    # along what is left out, theta is that of the nearest mixture
    left_out = np.eye(2) - W
    np.testing.assert_allclose(left_out @ found.theta, left_out @ found.nearest, atol=1e-12)
    assert not np.allclose(W @ found.theta, W @ found.nearest, atol=1e-3)


def test_duplicates_and_nothing():
    y = draw("reference", n=80)
    same = Template(np.add(y, [0.4, 0.0]), same_events=True)
    x = Template(np.add(draw("sample"), [0.2, 0.1]))
    one, twice, none = (
        templates.exact(templates.problem(x, Template(y), [same] * n), BANK) for n in (1, 2, 0)
    )
    single, double = profiled.profile(one), profiled.profile(twice)
    np.testing.assert_allclose(double.theta, np.full(2, single.theta[0] / 2), rtol=1e-6)
    np.testing.assert_allclose(
        profiled.scores(one, single).loo, profiled.scores(twice, double).loo, atol=1e-9
    )
    plain = profiled.profile(none)
    assert plain.after == plain.before == pytest.approx(single.before)
    assert plain.share == 0
    np.testing.assert_allclose(profiled.scores(none, plain).witness, none.at[0][:, 1])
    unmoved = Template(y, same_events=True)
    still = profiled.profile(templates.exact(templates.problem(x, Template(y), [unmoved]), BANK))
    assert still.theta.tolist() == [0]
    assert still.told.tolist() == [0]


def test_the_size_in_which_variations_are_given_does_not_matter():
    """D -> D T: the same B_theta, and theta -> T^-1 theta."""
    problem = small_problem()
    V = templates.exact(problem, BANK).products(corrected=False)
    T = np.array([[1e-3, 0.2], [0.0, 50.0]])
    along = np.eye(3)
    along[1:, 1:] = T
    rules = [
        profiled.Rule(np.zeros((3, 3)), profiled.combinations(A[1:, 1:]), A[1:, 1:], np.zeros(2))
        for A in (V, along.T @ V @ along)
    ]
    theta, other = (rule.theta(A) for rule, A in zip(rules, (V, along.T @ V @ along), strict=True))
    np.testing.assert_allclose(T @ other, theta, rtol=1e-6)


@pytest.mark.parametrize("own", [False, True])
def test_fluctuations_are_derivatives_by_the_weight_of_an_event(own):
    """An event and its variations get a little more weight; delta - D theta is far from zero."""
    problem = small_problem(own=own)
    embeddings = templates.exact(problem, BANK)
    theta = np.array([0.7, -0.4])
    v = np.array([1.0, *-theta])

    def slope(together, i):
        step, heavier = 1e-5, list(problem)
        for k in together:
            weights = np.ones(len(problem[k].events))
            weights[i] += step * len(weights)
            heavier[k] = Template(
                problem[k].events, weights=weights, same_events=problem[k].same_events
            )
        V, more = (
            templates.exact(tuple(p), BANK).products(corrected=False) for p in (problem, heavier)
        )
        return ((more - V) @ v)[1:] / step

    groups = templates.groups(problem)
    for together, rows in zip(groups, profiled.fluctuations(embeddings, theta), strict=True):
        for i in (0, 41):
            # the weights of all others fall by the same factor
            np.testing.assert_allclose(
                rows[i] * len(rows), slope(together, i), rtol=1e-3, atol=1e-6
            )


def test_a_prior_combines_with_the_free_fit_by_their_covariances():
    problem = small_problem()
    embeddings = templates.exact(problem, BANK)
    free = profiled.profile(embeddings)
    widths = np.array([0.3, 2.0])
    found = profiled.profile(embeddings, widths=widths)
    information = np.linalg.inv(free.covariance)
    expected = np.linalg.inv(information + np.diag(widths**-2.0))
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-6)
    np.testing.assert_allclose(found.theta, expected @ information @ free.theta, rtol=1e-6)
    wide = profiled.profile(embeddings, widths=[1e4, 1e4])
    np.testing.assert_allclose(wide.theta, free.theta, rtol=1e-5)
    narrow = profiled.profile(embeddings, widths=[1e-4, 1e-4])
    np.testing.assert_allclose(narrow.theta, 0, atol=1e-5)
    assert narrow.after == pytest.approx(narrow.before, rel=1e-3)
    # one that is free beside one that is held
    mixed = profiled.profile(embeddings, widths=[None, 1e-4])
    alone = profiled.profile(
        templates.exact(templates.problem(problem[0], problem[1], problem[2:3]), BANK)
    )
    assert mixed.theta[1] == pytest.approx(0, abs=1e-5)
    assert mixed.errors[0] < free.errors[0]
    assert mixed.errors[0] == pytest.approx(alone.errors[0], rel=0.05)


def test_what_is_absorbed():
    """A point-like signal in the direction of a nuisance is lost, a far one is not."""
    y = draw("reference", n=4000)
    peak = np.array([[1.5, 0.0]])
    moved = y.copy()
    moved[:400] = peak
    x = np.concatenate([peak, [[-3.0, -3.0]], draw("sample", n=500)])
    problem = templates.problem(Template(x), Template(y), [Template(moved, same_events=True)])
    embeddings = templates.exact(problem, BANK)
    lost = profiled.scores(embeddings, profiled.profile(embeddings)).absorbed
    assert lost[0] > 0.97
    assert lost[1] < 0.05


def test_what_is_refused():
    embeddings = templates.exact(small_problem(), BANK)
    with pytest.raises(ValueError, match="one entry for each of 2 variations, not 1"):
        profiled.profile(embeddings, widths=[1.0])
    with pytest.raises(ValueError, match="each width must be positive, it is 0"):
        profiled.profile(embeddings, widths=[0.0, None])


@pytest.mark.simulation
@pytest.mark.parametrize(
    "own", [False, True], ids=["the same events, varied", "samples of their own"]
)
def test_pulls_have_unit_width(own):
    """500 toys: the spread of a pull is known to 3 %, its mean to 0.045; five of each allowed."""
    pulls, discrepancies = [], []
    for toy in range(500):
        rng = stream(32, "pulls", int(own), toy)
        y = rng.normal(size=(400, 2))
        base = rng.normal(size=(400, 2)) if own else y
        x = rng.normal(size=(400, 2))
        x[rng.random(400) < 0.5] += [1.0, 0.0]
        problem = templates.problem(
            Template(x), Template(y), [Template(np.add(base, [1.0, 0.0]), same_events=not own)]
        )
        embeddings = templates.exact(problem, BANK)
        found = profiled.profile(embeddings)
        pulls.append((found.theta[0] - 0.5) / found.errors[0])
        discrepancies.append(found.after)
    assert abs(np.mean(pulls)) < 0.225
    assert 0.85 < np.std(pulls) < 1.15
    # what is left of the discrepancy has no bias
    assert abs(np.mean(discrepancies)) < 5 * np.std(discrepancies) / np.sqrt(500)
