"""The pseudoexperiments have the classes, marginals and dependence that the model says.

z-tests with |z| < 5: each a false alarm once in 1.7 million seeds.
"""

import numpy as np
import pytest
from localizer.base.randomness import stream
from localizer.models import toys
from localizer.models.gaussian import GaussianBenchmark

MODEL = GaussianBenchmark(mean=(1.5, 0.0), sigma_s=0.5, epsilon=0.02, h=1.0)


def z(values, mean):
    return np.abs((values.mean(0) - mean) / (values.std(0, ddof=1) / np.sqrt(len(values)))).max()


def test_class_counts_are_fixed():
    for seed in range(5):
        sample = toys.fixed_alternative(stream(seed), 5000, MODEL)
        assert sample.labels.sum() == 100
        assert sample.x.shape == (5000, 2)


def test_moments_of_the_fixed_alternative():
    sample = toys.fixed_alternative(stream(1, "toys"), 200000, MODEL)
    signal, background = sample.x[sample.labels], sample.x[~sample.labels]
    assert z(signal, MODEL.mean) < 5
    assert z((signal - MODEL.mean) ** 2, 0.25) < 5
    assert z(background, 0) < 5
    assert z(background**2, 1) < 5


def test_latent_location_has_the_variance_that_hides_the_signal():
    rng = stream(2, "toys")
    mus = np.array([toys.latent_location(rng, d=2, sigma_s=0.5) for _ in range(20000)])
    assert z(mus, 0) < 5
    assert z(mus**2, 0.75) < 5


def test_latent_location_of_norm():
    rng = stream(3, "toys")
    mus = np.array([toys.latent_location_of_norm(rng, 0.7723, d=2) for _ in range(2000)])
    assert np.linalg.norm(mus, axis=1) == pytest.approx(np.full(2000, 0.7723))
    assert z(mus, 0) < 5


def test_signal_marginals_of_the_control_are_those_of_background():
    rng = stream(4, "toys")
    sample = toys.independent_latents(rng, 200000, d=2, sigma_s=0.5, epsilon=0.5)
    signal = sample.x[sample.labels]
    assert z(signal, 0) < 5
    assert z(signal**2, 1) < 5
    assert z(signal[::2] * signal[1::2], 0) < 5


def test_shared_latent_signals_have_covariance_gamma():
    """Two signals of one toy have Cov(X_i, X_j) = 1 - sigma_s^2, eq. signal-cross-covariance."""
    rng = stream(5, "toys")
    products, squares = [], []
    for _ in range(20000):
        mu = toys.latent_location(rng, d=2, sigma_s=0.5)
        model = GaussianBenchmark(mean=mu, sigma_s=0.5, epsilon=0.5, h=1.0)
        x = toys.signal(rng, 2, model)
        products.append(x[0] * x[1])
        squares.append(x[0] ** 2)
    assert z(np.array(products), 0.75) < 5
    assert z(np.array(squares), 1.0) < 5


def test_mixture_draws_both_components():
    model = GaussianBenchmark(mean=(3.0, 0.0), sigma_s=0.5, epsilon=0.3, h=1.0)
    x = toys.mixture(stream(6, "toys"), 100000, model)
    assert z(x[:, 0], 0.9) < 5
    assert z(x[:, 0] ** 2, 0.7 + 0.3 * 9.25) < 5


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: toys.signal_count(10, 0.01), "leaves one class empty"),
        (lambda: toys.signal_count(10, 1.0), "leaves one class empty"),
        (lambda: toys.signal_count(1, 0.5), "N must be at least 2"),
        (lambda: toys.latent_location(stream(1), d=2, sigma_s=1.0), "sigma_s must lie between"),
        (lambda: toys.latent_location_of_norm(stream(1), 0.0, d=2), "norm must be positive"),
    ],
)
def test_bad_input(call, says):
    with pytest.raises(ValueError, match=says):
        call()
