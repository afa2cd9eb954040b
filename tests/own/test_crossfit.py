"""Cross-fitting. A z-test fails by chance with |z| > 5, once in 1.7 million."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from localizer.base.randomness import stream
from localizer.kernels.bank import GaussianBank
from localizer.own import crossfit, score
from localizer.own.recipe import Choices, Recipe, choose

STREAMS = partial(stream, 6, "test_crossfit")
EXACT = Recipe(method="exact", factors=(0.5, 1.0))
RFF = Recipe(method="rff", factors=(0.5, 1.0), n_per_bandwidth=64)
FIXED = GaussianBank((0.5, 1.0))


def data(*key, N=30, M=40):
    rng = STREAMS("data", *key)
    return rng.normal(0.3, 1, size=(N, 2)), rng.normal(size=(M, 2))


def z_of_mean(values):
    return np.mean(values) / (np.std(values, ddof=1) / np.sqrt(len(values)))


@given(st.integers(2, 60), st.integers(2, 60), st.integers(0, 2**32 - 1))
def test_folds_are_of_equal_size(N, k, seed):
    if k > N:
        with pytest.raises(ValueError, match="k must be at most"):
            crossfit.folds(N, k, stream(seed))
        return
    fold = crossfit.folds(N, k, stream(seed))
    sizes = np.bincount(fold, minlength=k)
    assert sizes.sum() == fold.size == N
    assert sizes.max() - sizes.min() <= 1
    assert np.array_equal(fold, crossfit.folds(N, k, stream(seed)))


def test_events_have_no_place_of_their_own_in_the_folds():
    """Each event is in fold 0 as often as any other: 20 events, 2000 draws of four folds."""
    first = np.mean([crossfit.folds(20, 4, STREAMS("fold", r)) == 0 for r in range(2000)], axis=0)
    assert np.abs(first - 0.25).max() < 5 * np.sqrt(0.25 * 0.75 / 2000)


@pytest.mark.parametrize("coordinates", ["standardized", "uniform"])
@pytest.mark.parametrize("witness", ["loo", "held_out"])
def test_by_brute_force(witness, coordinates):
    x, y = data("brute")
    recipe = replace(EXACT, coordinates=coordinates)
    found = crossfit.cross_fit(x, y, recipe, STREAMS, k=4, witness=witness)
    fold = crossfit.folds(30, 4, STREAMS("folds"))
    for i in range(30):
        rest = x[fold != fold[i]]
        chosen = choose(rest, y, recipe, STREAMS)
        others = np.delete(x, i, axis=0) if witness == "loo" else rest
        at = chosen.transform(x[[i]])
        inside = chosen.bank(at, chosen.transform(others))
        outside = chosen.bank(at, chosen.transform(y))
        assert found.loo[i] == pytest.approx(inside.mean() - outside.mean(), abs=1e-12)
        error = inside.var(ddof=1) / inside.size + outside.var(ddof=1) / outside.size
        assert found.standard_error[i] == pytest.approx(np.sqrt(error), rel=1e-9)
        own = (1 - inside.mean()) / 30 if witness == "loo" else 0
        assert found.witness[i] == pytest.approx(found.loo[i] + own, abs=1e-12)


@pytest.mark.parametrize("witness", ["loo", "held_out"])
def test_random_features_agree_with_exact_scores(witness):
    x, y = data("rff")
    exact = crossfit.cross_fit(x, y, EXACT, STREAMS, k=3, witness=witness)
    many = replace(RFF, n_per_bandwidth=10_000)
    found = crossfit.cross_fit(x, y, many, STREAMS, k=3, witness=witness)
    assert np.abs(found.loo - exact.loo).max() < 5 * found.error_features.max()
    assert found.error_features.max() < 0.01
    assert found.method == "rff"


def test_with_fixed_choices_it_is_the_plain_score():
    x, y = data("fixed")

    def fit(*_):
        return Choices(lambda t: np.asarray(t, dtype=float), 1.0, FIXED)

    found = crossfit.cross_fit(x, y, EXACT, STREAMS, k=5, fit=fit)
    plain = score.score_events(x, y, EXACT, STREAMS, choices=fit())
    np.testing.assert_allclose(found.loo, plain.loo, atol=1e-12)
    np.testing.assert_allclose(found.witness, plain.witness, atol=1e-12)
    np.testing.assert_allclose(found.standard_error, plain.standard_error, rtol=1e-9)


@pytest.mark.parametrize("coordinates", ["as_is", "standardized", "uniform", "normal"])
def test_an_event_has_no_say_in_its_own_choices(coordinates):
    """Every event in turn is sent far away: the choices of its fold do not move, others do."""
    x, y = data("say", N=12)
    recipe = replace(EXACT, coordinates=coordinates)
    fold = crossfit.folds(12, 3, STREAMS("folds"))

    def choices(events):
        seen = []

        def fit(*arguments):
            seen.append(choose(*arguments))
            return seen[-1]

        crossfit.cross_fit(events, y, recipe, STREAMS, k=3, fit=fit)
        return [described(chosen) for chosen in seen]

    def described(chosen):
        return chosen.bank, chosen.transform(y).tobytes()

    before = choices(x)
    for i in range(12):
        moved = x.copy()
        moved[i] = [40.0, -70.0]
        after = choices(moved)
        for f in range(3):
            assert (after[f] == before[f]) == (f == fold[i])
        # without folds its own choices do move
        plain = [described(choose(events, y, recipe, STREAMS)) for events in (x, moved)]
        assert plain[0] != plain[1]


def memorised(training):
    """Return a reference that is nothing but what it was made from, up to a trace of noise."""
    return training + 1e-6


def test_a_reference_that_memorises_its_events_is_seen_through():
    """The learned reference is the sample itself: the witness is 0, and its estimate should be.

    Without folds every event finds itself in the reference, and its score falls by
    (1 - mean of k over the others) / N on average; with folds it has mean 0.
    """
    plain, predicted, fitted = [], [], {"loo": [], "held_out": []}

    def fit(*_):
        return Choices(lambda t: np.asarray(t, dtype=float), 1.0, FIXED)

    for r in range(60):
        x, _ = data("memory", r)
        found = score.score_events(x, memorised(x), EXACT, STREAMS, choices=fit())
        plain.append(found.loo.mean())
        k = FIXED(x, x)
        predicted.append(-(1 - (k.sum() - 30) / (30 * 29)) / 30)
        for witness, values in fitted.items():
            streams = partial(STREAMS, "memory", r)
            options = {"k": 5, "witness": witness, "fit": fit}
            values.append(crossfit.cross_fit(x, memorised, EXACT, streams, **options).loo.mean())
    np.testing.assert_allclose(plain, predicted, atol=1e-6)
    assert z_of_mean(np.array(plain)) < -10
    assert np.abs(fitted["held_out"]).max() < 1e-5
    assert abs(z_of_mean(np.array(fitted["loo"]))) < 5


def test_a_representation_that_memorises_its_events_cannot_favour_them():
    """Events that the choices have seen are sent aside, where they all meet.

    Scored by such choices, the events of a null sample look unlike fresh events from the same
    distribution. Scored by choices of other folds, they do not.
    """

    def fit(training, *_):
        known = {tuple(event) for event in training}

        def transform(t):
            events = np.array(t, dtype=float)
            events[[tuple(event) in known for event in events]] = [9.0, 9.0]
            return events

        return Choices(transform, 1.0, FIXED)

    plain, fitted = [], []
    for r in range(60):
        x, y = data("aside", r)
        fresh = STREAMS("fresh", r).normal(0.3, 1, size=(30, 2))
        streams = partial(STREAMS, "aside", r)

        def scored(chosen, among, events=fresh, reference=y):
            at, others, outside = map(chosen.transform, (events, among, reference))
            return score.scores_among(at, others, outside, None, chosen.bank, EXACT, STREAMS).loo

        own = score.score_events(x, y, EXACT, streams, choices=fit(x)).loo
        plain.append(own.mean() - scored(fit(x), x).mean())
        found = crossfit.cross_fit(x, y, EXACT, streams, k=3, witness="held_out", fit=fit)
        fold = crossfit.folds(30, 3, streams("folds"))
        rests = [x[fold != f] for f in range(3)]
        fitted.append(found.loo.mean() - np.mean([scored(fit(rest), rest) for rest in rests]))
    assert np.min(plain) > 0.5
    assert abs(z_of_mean(np.array(fitted))) < 5


def test_one_method_for_all_folds():
    x, y = data("method")
    for limit, method in ((30 * 70, "exact"), (30 * 70 - 1, "rff")):
        recipe = Recipe(factors=(1.0,), exact_limit=limit, n_per_bandwidth=8)
        assert crossfit.cross_fit(x, y, recipe, STREAMS, k=2).method == method


def test_bad_input():
    x, y = data("bad")
    with pytest.raises(ValueError, match="witness must be one of loo, held_out"):
        crossfit.cross_fit(x, y, EXACT, STREAMS, k=3, witness="own")
    with pytest.raises(ValueError, match="k must be at least 2"):
        crossfit.cross_fit(x, y, EXACT, STREAMS, k=1)
    with pytest.raises(ValueError, match="reference must have 2 features"):
        crossfit.cross_fit(x, lambda rest: rest[:, :1], EXACT, STREAMS, k=3)
    with pytest.raises(ValueError, match="sample must hold at least 3 events, it holds 2"):
        crossfit.cross_fit(x[:4], y, EXACT, STREAMS, k=2)
