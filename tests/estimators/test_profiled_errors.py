"""Errors of profiled scores: against toys, and against the fit left out."""

import numpy as np
import pytest
from localizer.base.randomness import stream
from localizer.estimators import profiled, profiled_errors, templates
from localizer.estimators.templates import Template
from localizer.kernels.bank import GaussianBank
from localizer.kernels.features import fourier_features

BANK = GaussianBank((1.0,))
PROBES = np.array([[0.0, 0.0], [1.5, 0.0], [0.5, -1.5]])


def toy(number, *, own, n=300):
    rng = stream(35, "test_profiled_errors", int(own), number)
    y = rng.normal(size=(n, 2))
    base = rng.normal(size=(n, 2)) if own else y
    x = rng.normal(size=(n, 2))
    x[rng.random(n) < 0.5] += [0.8, 0.0]
    # fixed points at the end, at which scores scatter from toy to toy
    return templates.problem(
        Template(np.concatenate([x, PROBES])),
        Template(y),
        [Template(np.add(base, [0.8, 0.0]), same_events=not own)],
    )


def scored(problem, *, companions=10_000, widths=None):
    embeddings = templates.exact(problem, BANK)
    found = profiled.profile(embeddings, widths=widths)
    rng = stream(35, "companions")
    error = profiled_errors.standard_errors(embeddings, found, BANK, rng, companions=companions)
    return profiled.scores(embeddings, found).loo, error


@pytest.mark.simulation
@pytest.mark.parametrize(
    "own", [False, True], ids=["the same events, varied", "samples of their own"]
)
def test_scores_scatter_as_their_errors_say(own):
    """300 toys tell a spread to 4 %; five of these are allowed."""
    scores, errors = (
        np.array(values)[:, -len(PROBES) :]
        for values in zip(*(scored(toy(k, own=own)) for k in range(300)), strict=True)
    )
    spread, expected = scores.std(axis=0), np.sqrt(np.mean(errors**2, axis=0))
    np.testing.assert_allclose(expected, spread, rtol=0.2)


def test_without_variations_they_are_those_of_two_means():
    sample, reference, _ = toy(0, own=False)
    _, error = scored((sample, reference))
    k, b = BANK(sample.events, sample.events), BANK(sample.events, reference.events)
    np.fill_diagonal(k, np.nan)
    N, M = len(sample.events), len(reference.events)
    expected = np.sqrt(np.nanvar(k, axis=1) / N + np.var(b, axis=1) / M)
    np.testing.assert_allclose(error, expected, rtol=0.01)


def test_few_companions_stand_for_all():
    problem = toy(1, own=True)
    _, every = scored(problem)
    _, some = scored(problem, companions=100)
    assert np.median(some / every) == pytest.approx(1, abs=0.15)
    assert not np.array_equal(some, every)


def test_a_prior_adds_its_own_scatter():
    """A wide prior is no prior; one of the size of the error makes the fit's part smaller."""
    problem = toy(2, own=False)
    _, free = scored(problem)
    _, wide = scored(problem, widths=[1e4])
    np.testing.assert_allclose(free, wide, rtol=1e-4)
    _, held = scored(problem, widths=[1e-6])
    _, plain = scored(problem[:2])
    np.testing.assert_allclose(held, plain, rtol=1e-3)


def test_a_prior_as_narrow_as_the_fit_takes_half_of_the_variance_from_either():
    """That with a free and that with a fixed nuisance, where theta is 0 and the two agree on it."""
    problem = toy(3, own=False)
    problem = (Template(stream(35, "unmoved").normal(size=(300, 2))), *problem[1:])
    width = profiled.profile(templates.exact(problem, BANK)).errors[0]
    (_, free), (_, held), (_, half) = (scored(problem, widths=[w]) for w in (1e4, 1e-6, width))
    np.testing.assert_allclose(half**2, (free**2 + held**2) / 2, rtol=0.03)
    assert np.median(np.abs(free / held - 1)) > 0.1


@pytest.mark.simulation
def test_random_features_scatter_as_their_error_says():
    """40 draws of features tell a spread to 11 %; the median over 300 events is far better."""
    problem, bank = toy(3, own=True), GaussianBank((1.0, 0.5))
    differences, errors = [], []
    exact = templates.exact(problem, bank)
    truth = profiled.scores(exact, profiled.profile(exact)).loo
    for draw in range(40):
        rng = stream(35, "test_profiled_errors", "features", draw)
        features = fourier_features(bank, 2, rng, n_per_bandwidth=64, form="paired")
        drawn = templates.by_features(problem, features)
        found = profiled.profile(drawn)
        differences.append(profiled.scores(drawn, found).loo - truth)
        errors.append(profiled_errors.feature_errors(drawn, found, features, bandwidths=2))
    seen = np.sqrt(np.mean(np.square(differences), axis=0))
    stated = np.sqrt(np.mean(np.square(errors), axis=0))
    assert np.median(stated / seen) == pytest.approx(1, abs=0.1)
    with pytest.raises(ValueError, match="those of random features"):
        profiled_errors.feature_errors(exact, found, features, bandwidths=2)
