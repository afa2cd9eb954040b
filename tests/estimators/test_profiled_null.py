"""P-values of the profiled discrepancy: uniform under the null, with a wrong nominal reference.

A Kolmogorov-Smirnov test at 1e-4 is asked of each set of p-values, so that one of the sets below
fails by chance once in a thousand runs.
"""

from functools import partial

import numpy as np
import pytest
from localizer.base.randomness import stream
from localizer.estimators import profiled, profiled_null, templates
from localizer.estimators.templates import Template
from localizer.kernels.bank import GaussianBank
from localizer.kernels.features import fourier_features
from localizer.theory.nuisances import ProfiledPopulation, normal
from scipy.stats import binom, kstest

N, TOYS, DRAWS = 500, 150, 99
BANK = GaussianBank((1.0,))
SHIFT = np.array([0.4, 0.0])
# where a signal lies: along the nuisance, which would explain it, and across it
ALONG, ACROSS = np.array([1.5, 0.0]), np.array([0.0, 1.5])


def experiment(
    kind, theta, toy, *, n=N, signal=0, at=ACROSS, shift=SHIFT, mixed=True, both_sides=False
):
    """Return sample, reference and variations; B_theta is a mixture or truly shifted."""
    streams = partial(stream, 34, "test_profiled_null", kind, toy)
    y = streams("reference").normal(size=(n, 2))
    x = streams("sample").normal(size=(n, 2))
    moved = streams("theta").random(n) < theta if mixed else np.full(n, theta)
    x += np.outer(moved, SHIFT)
    x[:signal] = at + 0.4 * streams("signal").normal(size=(signal, 2))
    if kind == "weights":
        weights = np.exp(y @ shift - shift @ shift / 2)
        variations = [Template(y, weights=weights, same_events=True)]
    else:
        moves = [shift, -shift] if both_sides else [shift]
        variations = [
            Template(y + move, same_events=True)
            if kind == "varied"
            else Template(streams("variation", k).normal(size=(n, 2)) + move)
            for k, move in enumerate(moves)
        ]
    return templates.problem(Template(x), Template(y), variations), streams


def p_value_pair(problem, streams, *, draws=DRAWS, widths=None):
    """Return the p-values of the discrepancy and of the largest score."""
    features = fourier_features(BANK, 2, streams("features"), n_per_bandwidth=128, form="paired")
    embeddings = templates.by_features(problem, features)
    found = profiled.profile(embeddings, widths=widths)
    data = profiled_null.observed(embeddings, found)
    null = profiled_null.null_draws(embeddings, found, features, streams, draws=draws)
    above = [
        np.count_nonzero(getattr(null, name) >= getattr(data, name))
        for name in ("discrepancy", "largest")
    ]
    return (np.array(above) + 1) / (draws + 1)


def p_values(kind, theta, *, toys=TOYS, profile=True, **options):
    found = []
    for toy in range(toys):
        problem, streams = experiment(kind, theta, toy, **options)
        found.append(p_value_pair(problem if profile else problem[:2], streams))
    return np.array(found).T


@pytest.mark.simulation
@pytest.mark.parametrize("kind", ["varied", "weights"])
@pytest.mark.parametrize("theta", [0.0, 0.5, 1.0])
def test_p_values_are_uniform_for_nulls_of_the_mixture_family(kind, theta):
    for p in p_values(kind, theta):
        assert kstest(p, "uniform").pvalue > 1e-4
        assert np.mean(p <= 0.05) <= binom.isf(1e-4, TOYS, 0.05) / TOYS


@pytest.mark.simulation
@pytest.mark.parametrize("theta", [0.0, 0.5, 1.0])
def test_p_values_are_not_too_small_where_variations_have_noise(theta):
    """D is drawn anew; where its noise counts, p-values err on the safe side."""
    for p in p_values("own", theta):
        for level in (0.05, 0.2, 0.5):
            assert np.mean(p <= level) <= binom.isf(1e-4, TOYS, level) / TOYS
        # and still tell something
        assert 0.4 < np.mean(p) < 0.65


@pytest.mark.simulation
def test_without_profiling_a_wrong_reference_is_a_discovery():
    for p in p_values("varied", 1.0, toys=40, profile=False):
        assert np.mean(p <= 0.05) > 0.8


@pytest.mark.simulation
def test_a_signal_is_found_beside_a_wrong_reference_unless_it_looks_like_it():
    """As much signal across the nuisance as adds eight standard deviations of the null."""
    nominal, moved = normal([0.0, 0.0]), normal(SHIFT)
    at = [
        ProfiledPopulation([(1.0, centre, 0.16)], nominal, (moved,), 1.0)
        for centre in (ACROSS, ALONG)
    ]
    fraction = np.sqrt(8 * 2 / N * at[0].null_spread() / at[0].discrepancy)
    signal = round(fraction * N)
    assert at[0].share < 0.01
    assert at[1].share > 0.6
    across, along = (
        p_values("varied", 0.5, toys=40, signal=signal, at=centre) for centre in (ACROSS, ALONG)
    )
    for found, lost in zip(across, along, strict=True):
        assert np.mean(found <= 0.05) > 0.8
        assert np.mean(lost <= 0.05) < np.mean(found <= 0.05) - 0.3


@pytest.mark.simulation
def test_with_a_prior_p_values_are_uniform_over_its_scatter():
    """Theta is drawn from the prior, also below 0, where weights are negative."""
    found = []
    for toy in range(TOYS):
        problem, streams = experiment("varied", 0.0, toy)
        theta = streams("true").normal(0.0, 0.5)
        x = streams("both").normal(size=(2, N, 2))
        sample = Template(
            np.concatenate([x[0], x[1] + SHIFT]), weights=np.repeat([1 - theta, theta], N)
        )
        drawn = templates.problem(sample, problem[1], problem[2:])
        found.append(p_value_pair(drawn, streams, widths=[0.5]))
    for p in np.array(found).T:
        assert kstest(p, "uniform").pvalue > 1e-4


@pytest.mark.simulation
@pytest.mark.parametrize("kind", ["varied", "own"])
def test_the_bootstrap_has_the_spread_of_pseudoexperiments(kind):
    """The null distribution of 8 experiments against 400 drawn from the true model itself.

    400 values tell a mean to 5 % of the spread and a spread to 4 %. Each of the experiments has a
    null of its own, with the noise of its templates, which moves its mean by some tenths of the
    spread. The largest score is searched at the sample's own events, which lie where the draws
    fluctuate most: its null is a little high, on the safe side.
    """
    truth, ours = [], []
    for toy in range(408):
        problem, streams = experiment(kind, 0.5, toy)
        features = fourier_features(
            BANK, 2, stream(34, "pseudoexperiments"), n_per_bandwidth=128, form="paired"
        )
        embeddings = templates.by_features(problem, features)
        found = profiled.profile(embeddings)
        if toy >= 8:
            truth.append(profiled_null.observed(embeddings, found))
        else:
            ours.append(profiled_null.null_draws(embeddings, found, features, streams, draws=100))
    for name in ("discrepancy", "largest"):
        true = np.concatenate([getattr(data, name) for data in truth])
        null = np.concatenate([getattr(data, name) for data in ours])
        assert -0.2 < (null.mean() - true.mean()) / true.std() < 0.5
        assert null.std() == pytest.approx(true.std(), rel=0.25)
    spread = np.mean([data.theta[:, 0].std() for data in ours])
    assert spread == pytest.approx(np.std([data.theta[0, 0] for data in truth]), rel=0.25)
    assert abs(np.mean([data.theta[0, 0] for data in truth]) - 0.5) < 0.1


@pytest.mark.simulation
def test_a_shift_beyond_first_order_shows_from_the_predicted_size_on():
    """A shift one and a half times the variation, at a fifth and at four times that size."""
    nominal, moved, above, below = (normal(a * SHIFT) for a in (0.0, 1.5, 1.0, -1.0))
    one = ProfiledPopulation(moved, nominal, (above,), 1.0).breaking_size()
    both = ProfiledPopulation(moved, nominal, (above, below), 1.0).breaking_size()
    assert both > 10 * one

    def false_alarms(n, **options):
        found = p_values("varied", 1.5, mixed=False, toys=40, n=round(n), **options)
        return np.mean(found[0] <= 0.05)

    allowed = binom.isf(1e-4, 40, 0.05) / 40
    assert false_alarms(one / 5) <= allowed
    assert false_alarms(4 * one) > 0.5
    assert false_alarms(4 * one, both_sides=True) <= allowed


def test_draws_scatter_as_the_errors_say_with_a_prior_as_narrow_as_they_are():
    """400 draws tell a mean to a twentieth of the spread and the spread to 4 %."""
    problem, streams = experiment("varied", 0.5, 0)
    features = fourier_features(BANK, 2, streams("features"), n_per_bandwidth=128, form="paired")
    embeddings = templates.by_features(problem, features)
    free = profiled.profile(embeddings)
    found = profiled.profile(embeddings, widths=[free.errors[0]])
    assert found.errors[0] == pytest.approx(free.errors[0] / np.sqrt(2))
    theta = profiled_null.null_draws(
        embeddings, found, features, streams, draws=400, largest=False
    ).theta[:, 0]
    assert theta.mean() == pytest.approx(found.theta[0], abs=0.25 * found.errors[0])
    assert theta.std() == pytest.approx(found.errors[0], rel=0.2)


def test_draws_leave_the_scored_event_out():
    """Events far from each other have no witness of their own; they would have up to 3 / N."""
    problem, streams = experiment("varied", 0.0, 0, n=40)
    lonely = Template(40.0 * np.stack([np.arange(1, 41), np.arange(1, 41)], axis=1))
    features = fourier_features(BANK, 2, streams("features"), n_per_bandwidth=4000, form="paired")
    embeddings = templates.by_features(templates.problem(lonely, problem[1]), features)
    found = profiled.profile(embeddings)
    null = profiled_null.null_draws(embeddings, found, features, streams, draws=50)
    # the largest of 40 multipliers is 2.2 on average; the features have noise of their own
    assert np.mean(null.largest) < 0.5 / 40


def test_draws_do_not_depend_on_how_they_are_cut():
    problem, streams = experiment("varied", 0.5, 0, n=300)
    features = fourier_features(BANK, 2, streams("features"), n_per_bandwidth=16, form="paired")
    embeddings = templates.by_features(problem, features)
    found = profiled.profile(embeddings)
    few, many = (
        profiled_null.null_draws(embeddings, found, features, streams, draws=draws)
        for draws in (10, 70)
    )
    for name in ("discrepancy", "largest", "theta"):
        np.testing.assert_array_equal(getattr(few, name), getattr(many, name)[:10])
    without = profiled_null.null_draws(
        embeddings, found, features, streams, draws=10, largest=False
    )
    np.testing.assert_array_equal(without.discrepancy, few.discrepancy)
    assert np.isnan(without.largest).all()


def test_exact_embeddings_are_refused():
    problem, streams = experiment("varied", 0.5, 0, n=100)
    embeddings = templates.exact(problem, BANK)
    features = fourier_features(BANK, 2, streams("features"), n_per_bandwidth=16)
    with pytest.raises(ValueError, match="must come from random features"):
        profiled_null.null_draws(
            embeddings, profiled.profile(embeddings), features, streams, draws=10
        )
