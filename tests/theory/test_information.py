"""The informations of sec. information against their definitions, each other and simulated labels.

A z-test fails by chance with |z| > 5, once in 1.7 million.
"""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from localizer.base.randomness import stream
from localizer.models import toys
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory.information import (
    companion_information,
    information_row,
    oracle_information,
    recovered_fraction,
)
from localizer.theory.posterior import contextual_posterior
from scipy import stats

EPSILON, SIGMA_S = 0.02, 0.5
GAMMA = 1 - SIGMA_S**2
PAPER = {"epsilon": EPSILON, "sigma_s": SIGMA_S}


def benchmark(mu, epsilon=EPSILON, sigma_s=SIGMA_S, h=1.0):
    return GaussianBenchmark(mean=mu, sigma_s=sigma_s, epsilon=epsilon, h=h)


def rows(name, number, N, epsilon=EPSILON, sigma_s=SIGMA_S):
    """Return the terms of ``number`` pseudoexperiments with independent labels, as arrays."""
    found = []
    for toy in range(number):
        rng = stream(1, "test_information", name, toy)
        mu = toys.latent_location(rng, d=2, sigma_s=sigma_s)
        x = toys.mixture(rng, N, benchmark(mu, epsilon, sigma_s))
        found.append(information_row(x, mu, epsilon=epsilon, sigma_s=sigma_s))
    return {key: np.array([row[key] for row in found]) for key in found[0]}


def z_of_mean(values, expected=0.0):
    return (np.mean(values) - expected) / (np.std(values, ddof=1) / np.sqrt(len(values)))


def normals(d, order):
    """Return nodes, of shape (n, d), and weights of the mean over a standard normal."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(order)
    points = np.array(list(product(nodes, repeat=d)))
    masses = np.array(list(product(weights / weights.sum(), repeat=d))).prod(axis=1)
    return points, masses


@pytest.fixture(scope="module")
def thousand():
    """Pseudoexperiments of N = 1000."""
    return rows("thousand", 150, 1000)


@pytest.mark.parametrize(("epsilon", "gamma"), [(0.3, 0.4), (0.05, 0.3)])
def test_one_companion_by_its_definition(epsilon, gamma):
    """The mean divergence of X_j | X_i, Z_i from X_j | X_i, written in the paper's densities."""
    points, masses = normals(4, 26)
    x, y = points[:, :2], points[:, 2:]
    given_background = stats.norm.pdf(y).prod(axis=1)
    follows = stats.norm.pdf(y, gamma * x, np.sqrt(1 - gamma**2)).prod(axis=1)
    given_signal = (1 - epsilon) * given_background + epsilon * follows
    either = (1 - epsilon) * given_background + epsilon * given_signal
    divergence = epsilon * given_signal * np.log(given_signal / either) + (
        1 - epsilon
    ) * given_background * np.log(given_background / either)
    expected = masses @ (divergence / given_background)
    found = companion_information(epsilon=epsilon, covariance=gamma)
    assert found == pytest.approx(expected, rel=1e-5)


def test_the_oracle_by_its_definition():
    """The mean divergence of P(Z | X, mu) from P(Z | X) = epsilon."""
    epsilon, sigma_s = 0.2, 0.85
    points, masses = normals(4, 26)
    mu, x = np.sqrt(1 - sigma_s**2) * points[:, :2], points[:, 2:]
    b = stats.norm.pdf(x).prod(axis=1)
    s = stats.norm.pdf(x, mu, sigma_s).prod(axis=1)
    mixture = (1 - epsilon) * b + epsilon * s
    p, not_p = epsilon * s / mixture, (1 - epsilon) * b / mixture
    divergence = p * np.log(p / epsilon) + not_p * np.log(not_p / (1 - epsilon))
    expected = masses @ (divergence * mixture / b)
    found = oracle_information(epsilon=epsilon, sigma_s=sigma_s)
    assert found == pytest.approx(expected, rel=1e-5)


def test_private_locations_tell_nothing():
    assert companion_information(epsilon=EPSILON, covariance=0.0) == 0.0


@settings(deadline=None, max_examples=40)
@given(st.floats(0.01, 0.9), st.floats(0.3, 0.95))
def test_a_companion_tells_less_than_the_location(epsilon, sigma_s):
    """Eqs. central-zero-positive-result and oracle-gap-identity, and I(Z; .) <= H(Z)."""
    one = companion_information(epsilon=epsilon, covariance=1 - sigma_s**2)
    all_of_it = oracle_information(epsilon=epsilon, sigma_s=sigma_s)
    assert 0 < one < all_of_it < stats.bernoulli(epsilon).entropy()


def test_a_rare_signal():
    """To lowest order the information is half of epsilon^3 (1 - epsilon) times E (t - 1)^2.

    By Mehler's expansion E t^2 = (1 - gamma^2)^-d.
    """
    epsilon, gamma = 1e-4, 0.3
    expected = epsilon**3 * (1 - epsilon) / 2 * ((1 - gamma**2) ** -2 - 1)
    found = companion_information(epsilon=epsilon, covariance=gamma)
    assert found == pytest.approx(expected, rel=1e-3)


@pytest.mark.simulation
def test_one_companion_in_pairs():
    """Samples of two events: the estimate's mean is the quadrature, given the sample or mu."""
    exact = companion_information(epsilon=0.4, covariance=GAMMA)
    found = rows("pairs", 1500, 2, epsilon=0.4)
    assert abs(z_of_mean(found["contextual"], exact)) < 5
    assert abs(z_of_mean(found["expected"], exact)) < 5
    assert exact / (found["expected"].std() / np.sqrt(1500)) > 10


@pytest.mark.simulation
def test_the_oracle_gap_identity(thousand):
    """Eq. oracle-gap-identity holds in every pseudoexperiment, and the gap is no gain."""
    assert thousand["contextual"] + thousand["gap"] == pytest.approx(thousand["oracle"], abs=1e-12)
    assert np.all(thousand["gap"] >= 0)
    assert np.all(thousand["expected"] >= 0)


@pytest.mark.simulation
def test_the_sample_recovers_part_of_it(thousand):
    """More than one companion tells, less than the location; the margins are many errors wide."""
    one = companion_information(epsilon=EPSILON, covariance=GAMMA)
    exact = oracle_information(**PAPER)
    assert abs(z_of_mean(thousand["oracle"], exact)) < 5
    assert abs(z_of_mean(thousand["contextual"] - thousand["expected"])) < 5
    assert z_of_mean(thousand["expected"], one) > 3
    assert z_of_mean(thousand["gap"]) > 3
    ratio, error = recovered_fraction(thousand["expected"], thousand["oracle"])
    assert 3 * error < ratio < 1 - 3 * error


@pytest.mark.simulation
def test_more_companions_tell_more(thousand):
    """A fifth of the events at the same locations, which are the first that a stream gives."""
    fewer = rows("thousand", 150, 200)
    assert z_of_mean(thousand["expected"] - fewer["expected"]) > 3


@pytest.mark.simulation
def test_averaged_labels_are_right_on_average():
    """Drawn labels give the same gain in log-loss as their probabilities do."""
    differences = []
    for toy in range(120):
        rng = stream(2, "test_information", toy)
        mu = toys.latent_location(rng, d=2, sigma_s=SIGMA_S)
        labels = rng.random(500) < EPSILON
        x = toys.background(rng, 500, 2)
        x[labels] = toys.signal(rng, int(labels.sum()), benchmark(mu))
        p = contextual_posterior(x, **PAPER)
        gain = np.where(labels, np.log(p / EPSILON), np.log((1 - p) / (1 - EPSILON)))
        differences.append(gain.mean() - information_row(x, mu, **PAPER)["contextual"])
    assert abs(z_of_mean(differences)) < 5


def test_a_sample_of_two_by_hand():
    """What the companion y says of x: the ratio of densities is 1 - epsilon + epsilon t."""
    epsilon, sigma_s = 0.3, 0.8
    x, y, mu = np.array([[0.4, -1.0], [1.1, 0.2], [0.5, 0.3]])
    gamma = 1 - sigma_s**2
    t = (stats.norm.pdf(y, gamma * x, np.sqrt(1 - gamma**2)) / stats.norm.pdf(y)).prod()
    learned = np.log(1 - epsilon + epsilon * t)
    rows = {"oracle": [], "contextual": [], "expected": [], "gap": []}
    for event in (x, y):
        told = np.log((stats.norm.pdf(event, mu, sigma_s) / stats.norm.pdf(event)).prod())
        p, q = (
            epsilon * np.exp(ratio) / (1 - epsilon + epsilon * np.exp(ratio))
            for ratio in (told, learned)
        )
        for name, chance, guess in (("oracle", p, p), ("contextual", p, q), ("expected", q, q)):
            gain = chance * np.log(guess / epsilon)
            rows[name].append(gain + (1 - chance) * np.log((1 - guess) / (1 - epsilon)))
        rows["gap"].append(p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))
    found = information_row([x, y], mu, epsilon=epsilon, sigma_s=sigma_s)
    assert found == {name: pytest.approx(np.mean(two), rel=1e-6) for name, two in rows.items()}


def test_the_recovered_fraction_by_hand():
    """Off by -1, 0 and 1 about the ratio of means 1: a scatter of 1, an error of 1 / sqrt(3)."""
    ratio, error = recovered_fraction([0.0, 2.0, 4.0], [1.0, 2.0, 3.0])
    assert ratio == 1.0
    assert error == pytest.approx(1 / np.sqrt(3) / 2, rel=1e-15)


def test_the_error_of_the_recovered_fraction():
    """Pulls of samples of 50 are distributed as Student's t with 49 degrees of freedom."""
    rng = stream(3, "test_information")
    oracle = 3 + rng.standard_normal((2000, 50))
    contextual = 0.6 * oracle + 0.3 * rng.standard_normal((2000, 50))
    pulls = [
        (ratio - 0.6) / error
        for ratio, error in (
            recovered_fraction(*pair) for pair in zip(contextual, oracle, strict=True)
        )
    ]
    assert abs(z_of_mean(np.square(pulls), 49 / 47)) < 5


def test_two_signal_events_share_a_location():
    """Eq. signal-cross-covariance, and the regression of eq. signal-predictive-one-event."""
    pairs = []
    for toy in range(4000):
        rng = stream(4, "test_information", toy)
        mu = toys.latent_location(rng, d=2, sigma_s=SIGMA_S)
        pairs.append(toys.signal(rng, 2, benchmark(mu)))
    one, other = np.swapaxes(pairs, 0, 1)
    for a, b in product(range(2), repeat=2):
        assert abs(z_of_mean(one[:, a] * other[:, b], GAMMA if a == b else 0.0)) < 5
    rest = other - GAMMA * one
    for a in range(2):
        assert abs(z_of_mean(rest[:, a])) < 5
        assert abs(z_of_mean(rest[:, a] * one[:, a])) < 5
        assert abs(z_of_mean(rest[:, a] ** 2, 1 - GAMMA**2)) < 5


def test_the_witness_averages_to_zero_over_locations():
    """Eq. average-witness-zero: no witness that is fixed beforehand can do."""
    x = stream(5, "test_information").standard_normal((20, 2))
    points, masses = normals(2, 40)
    witnesses = np.array([benchmark(np.sqrt(GAMMA) * z).witness(x) for z in points])
    assert np.max(np.abs(witnesses)) > 1e-3
    assert masses @ witnesses == pytest.approx(np.zeros(20), abs=1e-9)


def test_bad_input():
    with pytest.raises(ValueError, match="covariance must lie between 0 and 1"):
        companion_information(epsilon=0.1, covariance=1.0)
    with pytest.raises(ValueError, match="covariance must lie between 0 and 1"):
        companion_information(epsilon=0.1, covariance=-0.2)
    with pytest.raises(ValueError, match="epsilon must lie between 0 and 1"):
        companion_information(epsilon=0.0, covariance=0.5)
    with pytest.raises(ValueError, match="sigma_s must lie between 0 and 1"):
        oracle_information(epsilon=0.1, sigma_s=1.0)
    with pytest.raises(ValueError, match="mu must have 2 entries"):
        information_row([[0.0, 0.0]], [1.0, 2.0, 3.0], **PAPER)
    with pytest.raises(ValueError, match="x must have 2 features"):
        information_row([[0.0]], [1.0, 2.0], **PAPER)
    with pytest.raises(ValueError, match="oracle must have 2 entries"):
        recovered_fraction([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="oracle must have a positive mean"):
        recovered_fraction([1.0, 2.0], [0.0, 0.0])
