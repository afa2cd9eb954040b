"""The contextual posterior against enumeration, quadrature, its symmetries and simulated labels.

A z-test fails by chance with |z| > 5, once in 1.7 million.
"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from localizer.base import metrics
from localizer.base.randomness import stream
from localizer.models import toys
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory import posterior
from localizer.theory.posterior import (
    LocationGrid,
    contextual_error,
    contextual_log_ratio,
    contextual_posterior,
    leave_one_out_log_ratio,
    location_posterior,
    signal_posterior,
)
from scipy import stats

EPSILON, SIGMA_S = 0.02, 0.5
PAPER = {"epsilon": EPSILON, "sigma_s": SIGMA_S}

fractions = st.floats(0.01, 0.9)
spreads = st.floats(0.25, 0.95)
coordinate = st.floats(-4, 4)
events = st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=7).map(np.array)


def benchmark(mu, epsilon=EPSILON, sigma_s=SIGMA_S):
    return GaussianBenchmark(mean=mu, sigma_s=sigma_s, epsilon=epsilon, h=1.0)


def shared_toy(name, toy, N):
    """Return a sample with independent labels, its labels and its model."""
    rng = stream(4, "test_posterior", name, toy)
    model = benchmark(toys.latent_location(rng, d=2, sigma_s=SIGMA_S))
    labels = rng.random(N) < EPSILON
    x = toys.background(rng, N, 2)
    x[labels] = toys.signal(rng, int(labels.sum()), model)
    return x, labels, model


def z_of_mean(values):
    return np.mean(values) / (np.std(values, ddof=1) / np.sqrt(len(values)))


def by_sets(x, epsilon, sigma_s):
    """Return s~_{-i}(x_i)/b(x_i) by adding up every set of events that may be signal.

    Given the set, all integrals over mu are normal.
    """
    gamma, variance = 1 - sigma_s**2, sigma_s**2

    def evidence(members):
        k, own = len(members), x[list(members)]
        width = 1 / (1 / gamma + k / variance)
        total = own.sum(axis=0) / variance
        one = -k * np.log(sigma_s) + np.log(width / gamma) / 2
        return np.exp(2 * one + np.sum(own**2) * (1 - 1 / variance) / 2 + width * total @ total / 2)

    ratios = []
    for i in range(len(x)):
        others = [j for j in range(len(x)) if j != i]
        above = below = 0.0
        for k in range(len(x)):
            weight = epsilon**k * (1 - epsilon) ** (len(others) - k)
            for members in combinations(others, k):
                above += weight * evidence((*members, i))
                below += weight * evidence(members)
        ratios.append(above / below)
    return np.array(ratios)


def on_dense_grid(x, epsilon, sigma_s, step=0.06, half_width=7.0):
    """Return s~_{-i}(x_i)/b(x_i), the posterior without event i computed afresh for each i."""
    axis = np.arange(-half_width, half_width + step, step)[:, None]
    one, other = ((values**2 - ((values - axis) / sigma_s) ** 2) / 2 for values in x.T)
    ratio = np.exp(one[:, None] + other - 2 * np.log(sigma_s)).reshape(-1, len(x))
    log_prior = -(axis**2 + axis.T**2).reshape(-1, 1) / (2 * (1 - sigma_s**2))
    others = 1 - np.eye(len(x))
    without = log_prior + np.log1p(epsilon * (ratio - 1)) @ others
    weight = np.exp(without - without.max(axis=0))
    return (weight * ratio).sum(axis=0) / weight.sum(axis=0)


@settings(deadline=None)
@given(events, fractions, spreads)
def test_every_set_of_signal_events(x, epsilon, sigma_s):
    ratio = np.exp(contextual_log_ratio(x, epsilon=epsilon, sigma_s=sigma_s))
    assert ratio == pytest.approx(by_sets(x, epsilon, sigma_s), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize(
    "name", ["background", "cluster", "two clusters", "an outlier", "a far crowd"]
)
def test_leave_one_out_computed_afresh(name):
    """Eq. theta-loo-explicit for every event, where one posterior has to serve them all."""
    x = stream(5, "test_posterior", name).standard_normal((60, 2))
    if "cluster" in name:
        x[:4] = np.array([1.8, 1.0]) + x[:4] / 4
    if name == "two clusters":
        x[4:8] = np.array([-2.0, 0.4]) + x[4:8] / 4
    if name == "an outlier":
        x[0] = [4.0, -4.5]
    if name == "a far crowd":  # the product of their factors exceeds the largest float
        x[:50] = np.array([4.5, 4.5]) + x[:50] / 2
    ratio = np.exp(contextual_log_ratio(x, **PAPER))
    assert ratio == pytest.approx(on_dense_grid(x, **PAPER), rel=1e-6, abs=1e-9)


def test_leave_one_out_by_quadrature():
    """Eqs. theta-loo-explicit and posterior-predictive-signal as they stand, in densities."""
    x = np.array([[1.2, 0.4], [1.5, 0.1], [-0.3, -1.0], [0.9, 0.6], [2.0, 0.2]])
    epsilon, sigma_s, i = 0.3, 0.6, 1

    def normal(at, mean, sd):
        return np.exp(-np.sum((at - mean) ** 2, axis=-1) / (2 * sd**2)) / (2 * np.pi * sd**2)

    background, others = normal(x, 0, 1), np.delete(x, i, axis=0)

    # sums over a lattice: for smooth functions that vanish at the ends as good as any quadrature
    axis = np.linspace(-6, 6, 121)
    mu = np.stack(np.meshgrid(axis, axis), axis=-1)
    unnormalised = normal(mu, 0, np.sqrt(1 - sigma_s**2)) / background.prod()
    for event in others:
        unnormalised *= (1 - epsilon) * normal(event, 0, 1) + epsilon * normal(event, mu, sigma_s)
    predictive = normal(x[i], mu, sigma_s) * unnormalised
    found = contextual_log_ratio(x, epsilon=epsilon, sigma_s=sigma_s)[i]
    expected = np.log(predictive.sum() / unnormalised.sum() / background[i])
    assert found == pytest.approx(expected, abs=1e-7)


@settings(deadline=None)
@given(st.lists(coordinate, min_size=4, max_size=4), fractions, spreads)
def test_one_companion(values, epsilon, sigma_s):
    """Two events: s~/b is eq. companion-given-signal over eq. companion-given-background."""
    x = np.reshape(values, (2, 2))
    gamma = 1 - sigma_s**2
    background = stats.norm.pdf(x[1]).prod()
    follows = stats.norm.pdf(x[1], gamma * x[0], np.sqrt(1 - gamma**2)).prod()
    exact = ((1 - epsilon) * background + epsilon * follows) / background
    ratio = np.exp(contextual_log_ratio(x, epsilon=epsilon, sigma_s=sigma_s))
    assert ratio == pytest.approx([exact, exact], rel=1e-8)


@settings(deadline=None)
@given(st.tuples(coordinate, coordinate), fractions, spreads)
def test_a_lone_event_says_nothing(event, epsilon, sigma_s):
    """Eq. single-event-MI-zero: the prior predictive signal density is the background's."""
    found = contextual_posterior([event], epsilon=epsilon, sigma_s=sigma_s)
    assert found == pytest.approx([epsilon], rel=1e-8)


def test_order_and_orientation_do_not_matter():
    """A rotated sample meets another lattice and must find the same ratios."""
    x, _, _ = shared_toy("symmetry", 0, 1500)
    ratio = np.exp(contextual_log_ratio(x, **PAPER))
    order = stream(6, "test_posterior").permutation(len(x))
    permuted = np.exp(contextual_log_ratio(x[order], **PAPER))
    assert permuted == pytest.approx(ratio[order], rel=1e-9, abs=1e-12)
    turn = np.array([[np.cos(0.4), np.sin(0.4)], [-np.sin(0.4), np.cos(0.4)]])
    for symmetry in (turn, np.array([[0.0, 1.0], [1.0, 0.0]])):
        moved = np.exp(contextual_log_ratio(x @ symmetry, **PAPER))
        assert moved == pytest.approx(ratio, rel=1e-6, abs=1e-9)


def test_no_mode_is_lost_between_lattice_points():
    """Two sharp modes, mirror images of each other and differently placed on the lattice.

    Their largest values on the first lattice differ by 63 in the logarithm, twice the depth.
    """
    half = np.array([1.5, 0.0]) + stream(12, "test_posterior").standard_normal((2500, 2)) / 2
    crowd = np.concatenate([half, half * [1, -1]])
    angle = 2.5
    mirror = np.array([[np.cos(angle), np.sin(angle)], [np.sin(angle), -np.cos(angle)]])
    x = np.concatenate([crowd, crowd @ mirror])
    grid = location_posterior(x, epsilon=0.4, sigma_s=SIGMA_S)
    side = np.subtract.outer(np.sin(angle / 2) * grid.first, np.cos(angle / 2) * grid.second)
    assert grid.weights[side > 0.5].sum() == pytest.approx(0.5, abs=1e-9)
    assert grid.weights[side < -0.5].sum() == pytest.approx(0.5, abs=1e-9)
    one, other = np.split(contextual_posterior(x, epsilon=0.4, sigma_s=SIGMA_S), 2)
    assert one == pytest.approx(other, abs=1e-9)


@pytest.mark.parametrize("N", [500, 5000])
def test_a_finer_lattice_changes_nothing(N):
    for toy in range(3):
        x, _, _ = shared_toy(f"refinement {N}", toy, N)
        assert contextual_error(x, **PAPER) < 1e-8


def test_an_unresolved_posterior_is_noticed(monkeypatch):
    x = toys.fixed_alternative(stream(7, "test_posterior"), 5000, benchmark((1.6, 0.7))).x
    monkeypatch.setattr(posterior, "_RESOLVED", np.inf)
    assert contextual_error(x, **PAPER) > 1e-3


def test_the_posterior_of_the_location():
    """Events that are all signal, nearly: the conjugate normal, also far narrower than a cell."""
    for N in (5, 4000):
        x = benchmark((1.2, -0.8)).mean + 0.5 * stream(8, "test_posterior").standard_normal((N, 2))
        grid = location_posterior(x, epsilon=1 - 1e-9, sigma_s=SIGMA_S)
        width = 1 / (1 / (1 - SIGMA_S**2) + N / SIGMA_S**2)
        assert grid.weights.sum() == pytest.approx(1)
        for axis, center, marginal in (
            (grid.first, x[:, 0].sum(), grid.weights.sum(axis=1)),
            (grid.second, x[:, 1].sum(), grid.weights.sum(axis=0)),
        ):
            mean = marginal @ axis
            assert mean == pytest.approx(center * width / SIGMA_S**2, abs=1e-6)
            assert marginal @ (axis - mean) ** 2 == pytest.approx(width, rel=1e-6)


@given(events, fractions, spreads)
def test_a_known_location_leaves_nothing_to_learn(x, epsilon, sigma_s):
    """Eq. no-ensemble-gain: in the fully specified model the others do not matter, to rounding."""
    model = benchmark((0.7, -1.1), epsilon, sigma_s)
    point = LocationGrid.at(model.mean)
    found = leave_one_out_log_ratio(x, point, epsilon=epsilon, sigma_s=sigma_s)
    assert found == pytest.approx(model.log_likelihood_ratio(x), rel=1e-12, abs=1e-12)


def test_the_single_event_posterior_is_bayes_theorem():
    model = benchmark((1.5, 0.0))
    x = stream(9, "test_posterior").standard_normal((50, 2))
    s = stats.multivariate_normal(model.mean, SIGMA_S**2).pdf(x)
    b = stats.multivariate_normal([0, 0], 1).pdf(x)
    found = signal_posterior(model.log_likelihood_ratio(x), epsilon=EPSILON)
    assert found == pytest.approx(EPSILON * s / ((1 - EPSILON) * b + EPSILON * s))


@pytest.mark.simulation
def test_calibration():
    """P(Z | X) is right on average, also where it is large: its errors average to zero."""
    errors, weighted = [], []
    for toy in range(200):
        x, labels, _ = shared_toy("calibration", toy, 500)
        p = contextual_posterior(x, **PAPER)
        errors.append(np.sum(labels - p))
        weighted.append(np.sum((labels - p) * p))
    assert abs(z_of_mean(errors)) < 5
    assert abs(z_of_mean(weighted)) < 5


@pytest.mark.simulation
def test_between_chance_and_the_oracle():
    """Fixed counts, as Experiment II has them. The differences are some ten errors wide."""
    contextual, told, control = [], [], []
    for toy in range(120):
        rng = stream(10, "test_posterior", toy)
        model = benchmark(toys.latent_location(rng, d=2, sigma_s=SIGMA_S))
        shared = toys.fixed_alternative(rng, 500, model)
        private = toys.independent_latents(rng, 500, d=2, **PAPER)
        told.append(metrics.auc(model.log_likelihood_ratio(shared.x), shared.labels))
        contextual.append(metrics.auc(contextual_log_ratio(shared.x, **PAPER), shared.labels))
        control.append(metrics.auc(contextual_log_ratio(private.x, **PAPER), private.labels))
    assert z_of_mean(np.array(contextual) - 0.5) > 4
    assert z_of_mean(np.subtract(told, contextual)) > 4
    assert abs(z_of_mean(np.array(control) - 0.5)) < 5


def test_far_events_stay_finite():
    x = stream(11, "test_posterior").standard_normal((300, 2))
    x[:2] = [[19.0, 0.0], [-14.0, 14.0]]
    p = contextual_posterior(x, epsilon=0.1, sigma_s=0.3)
    assert np.all((p >= 0) & (p <= 1))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"x": [[0.0, 1.0, 2.0]]}, "x must have 2 features"),
        ({"x": [[np.nan, 1.0]]}, "x must be finite"),
        ({"x": np.zeros((0, 2))}, "x must hold at least 1 event"),
        ({"x": [[25.0, 1.0]]}, "x must lie within 20 of the background's mean"),
        ({"epsilon": 0.0}, "epsilon must lie between 0 and 1"),
        ({"epsilon": 1.0}, "epsilon must lie between 0 and 1"),
        ({"sigma_s": 1.0}, "sigma_s must lie between 0 and 1"),
        ({"halvings": -1}, "halvings must be at least 0"),
    ],
)
def test_bad_input(change, says):
    with pytest.raises(ValueError, match=says):
        location_posterior(**{"x": [[0.0, 0.0]], **PAPER, **change})


def test_bad_locations_and_ratios():
    with pytest.raises(ValueError, match="mu must have 2 entries"):
        LocationGrid.at([1.0])
    with pytest.raises(ValueError, match="log_ratio must be finite"):
        signal_posterior([np.inf], epsilon=0.1)
    with pytest.raises(ValueError, match="x must have 2 features"):
        leave_one_out_log_ratio([[0.0]], LocationGrid.at([0, 0]), **PAPER)
