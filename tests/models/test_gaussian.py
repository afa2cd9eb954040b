"""The closed forms of the Gaussian benchmark, against quadrature, simulation and each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from localizer.base.randomness import stream
from localizer.models.gaussian import GaussianBenchmark
from scipy import integrate, stats

EXPERIMENT1 = GaussianBenchmark(mean=(1.5, 0.0), sigma_s=0.5, epsilon=0.02, h=1.0)

benchmarks = st.builds(
    GaussianBenchmark,
    mean=st.lists(st.floats(-2, 2), min_size=1, max_size=3).map(tuple),
    sigma_s=st.floats(0.2, 2),
    epsilon=st.floats(0, 1),
    h=st.floats(0.2, 3),
)


def test_published_digits():
    assert f"{EXPERIMENT1.D_SB:.5f}" == "0.46086"
    assert f"{EXPERIMENT1.class_separation(20):.4e}" == "9.2172e-04"


@given(benchmarks)
def test_mean_witness_and_mmd2_differ_by_the_background_mean(model):
    """E_P w_P = <P - B, P> = MMD^2(P, B) + <P - B, B>, inner products of mean embeddings."""
    eps = model.epsilon
    inner = eps * (model.K_SB - model.K_BB)
    assert model.mean_witness == pytest.approx(model.mmd2 + inner, abs=1e-12)


@given(benchmarks, st.integers(2, 1000))
def test_class_separation_is_the_difference_of_class_means(model, m):
    of_signal = model.epsilon * (model.K_SS - model.K_SB)
    of_background = model.epsilon * (model.K_SB - model.K_BB)
    assert model.class_separation(m) == pytest.approx(2 / m * (of_signal - of_background))


def test_embeddings_in_one_dimension_by_quadrature():
    model = GaussianBenchmark(mean=(0.7,), sigma_s=0.6, epsilon=0.3, h=0.9)

    def kernel(x, y):
        return np.exp(-((x - y) ** 2) / (2 * model.h**2))

    densities = {"B": stats.norm(0, 1).pdf, "S": stats.norm(0.7, 0.6).pdf}
    for at in (-1.3, 0.0, 2.1):
        for name, form in (("B", model.a_B), ("S", model.a_S)):
            exact, _ = integrate.quad(lambda y, n=name, x=at: kernel(x, y) * densities[n](y), -9, 9)
            assert form([[at]])[0] == pytest.approx(exact, rel=1e-9)
    # sums over a lattice: for smooth functions that vanish at the ends as good as any quadrature
    x, step = np.linspace(-9, 9, 361, retstep=True)
    for (a, b), form in (("BB", model.K_BB), ("SS", model.K_SS), ("SB", model.K_SB)):
        exact = densities[a](x) @ kernel(x[:, None], x) @ densities[b](x) * step**2
        assert form == pytest.approx(exact, rel=1e-9)


def test_localization_averages_to_zero_over_the_mixture():
    """E_P G_m = MMD^2(P, B): |z| < 5, a false alarm once in 1.7 million seeds."""
    rng = stream(1, "test_gaussian")
    n = 200000
    signal = rng.random(n) < EXPERIMENT1.epsilon
    x = rng.standard_normal((n, 2))
    x[signal] = np.array(EXPERIMENT1.mean) + EXPERIMENT1.sigma_s * x[signal]
    scores = EXPERIMENT1.G(x, 20)
    z = (scores.mean() - EXPERIMENT1.mmd2) / (scores.std() / np.sqrt(n))
    assert abs(z) < 5


def test_likelihood_ratio_is_that_of_the_densities():
    x = stream(2, "test_gaussian").standard_normal((50, 2)) * 2
    signal = stats.multivariate_normal(EXPERIMENT1.mean, 0.25).logpdf(x)
    background = stats.multivariate_normal([0, 0], 1).logpdf(x)
    assert EXPERIMENT1.log_likelihood_ratio(x) == pytest.approx(signal - background)


def test_the_ranking_does_not_depend_on_m():
    x = stream(3, "test_gaussian").standard_normal((100, 2))
    orders = [np.argsort(EXPERIMENT1.G(x, m)).tolist() for m in (2, 20, 640)]
    assert orders[0] == orders[1] == orders[2]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"h": 0.0}, "h must be positive"),
        ({"sigma_s": -1.0}, "sigma_s must be positive"),
        ({"epsilon": 1.5}, "epsilon must lie between 0 and 1"),
        ({"mean": ()}, "mean must have at least 1"),
        ({"mean": (np.nan,)}, "mean must be finite"),
    ],
)
def test_bad_parameters(change, says):
    good = {"mean": (1.0,), "sigma_s": 0.5, "epsilon": 0.1, "h": 1.0}
    with pytest.raises(ValueError, match=says):
        GaussianBenchmark(**{**good, **change})


def test_bad_arguments():
    with pytest.raises(ValueError, match="m must be at least 2"):
        EXPERIMENT1.G([[0.0, 0.0]], 1)
    with pytest.raises(ValueError, match="x must have 2 features"):
        EXPERIMENT1.witness([[0.0]])
