"""Closed forms of the variances: against quadrature, simulation and each other.

A z-test fails by chance with |z| > 5, once in 1.7 million.
"""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from localizer.base.randomness import stream
from localizer.base.vocabulary import FORCED_ESTIMATORS
from localizer.estimators.forced import fresh, mmd_scores, population
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory import functionals
from localizer.theory.variance import ContextVariance, GaussianSum

MODEL = GaussianBenchmark(mean=(1.5, 0.0), sigma_s=0.5, epsilon=0.02, h=1.0)
LINE = GaussianBenchmark(mean=(1.2,), sigma_s=0.6, epsilon=0.3, h=0.9)
PUBLISHED = {5: 0.396, 80: 0.362, 160: 0.373, 320: 0.388, 640: 0.420}


def nodes(components, order=160):
    """Return points and weights of a mixture of normals on the line (Gauss-Hermite)."""
    x, w = np.polynomial.hermite_e.hermegauss(order)
    w = w / w.sum()
    points = [mean[0] + math.sqrt(variance) * x for _, mean, variance in components]
    weights = [share * w for share, _, _ in components]
    return np.concatenate(points)[:, None], np.concatenate(weights)


def random_sum(seed, terms, d):
    rng = stream(seed, "random sum", terms, d)
    precision = rng.uniform(0, 3, terms) * (rng.random(terms) < 0.8)
    return GaussianSum(rng.normal(size=terms), rng.normal(size=(terms, d)), precision)


# the algebra


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_sums_and_products_hold_at_every_point(seed, one, other, d):
    f, g = random_sum(seed, one, d), random_sum(seed + 1, other, d)
    x = stream(seed, "x").normal(size=(5, d))
    assert np.allclose((f + g)(x), f(x) + g(x), rtol=0, atol=1e-12)
    assert np.allclose((f - g)(x), f(x) - g(x), rtol=0, atol=1e-12)
    assert np.allclose((f * g)(x), f(x) * g(x), rtol=0, atol=1e-12)
    assert np.allclose((2.5 * f - 1.5)(x), 2.5 * f(x) - 1.5, rtol=0, atol=1e-12)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 4), st.floats(0.3, 3.0))
def test_means_and_smoothings_are_integrals(seed, terms, h):
    f = random_sum(seed, terms, 1)
    y, weight = nodes(LINE.components)
    assert f.mean(LINE.components) == pytest.approx(weight @ f(y), rel=1e-7, abs=1e-7)
    x = np.linspace(-3, 4, 6)[:, None]
    k = np.exp(-((x - y.T) ** 2) / (2 * h * h))
    assert np.allclose(f.smoothed(LINE.components, h)(x), k @ (weight * f(y)), rtol=0, atol=1e-6)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_smoothed_constants_are_the_embeddings(d):
    model = GaussianBenchmark(mean=(0.7,) * d, sigma_s=0.4, epsilon=1.0, h=0.8)
    one = GaussianSum.constant(1.0, d)
    x = stream(1, "embedding").normal(size=(4, d))
    assert np.allclose(one.smoothed(model.components, model.h)(x), model.a_S(x))
    assert one.smoothed(model.components, model.h).mean(model.components) == pytest.approx(
        model.K_SS
    )


# the components


def quadrature(model, x):
    """Return zeta_1, zeta_2, e(x), b(x), v(x) from the Hoeffding decomposition on a grid."""
    y, weight = nodes(model.components)
    q = functionals.pair_kernel(y, y, h=model.h)
    theta = weight @ q @ weight
    h_1 = q @ weight - theta
    h_2 = q - theta - h_1[:, None] - h_1
    q_x = functionals.pair_kernel(x, y, h=model.h)
    centred = q_x - (q_x @ weight)[:, None]
    of_x = centred - h_1
    return (
        weight @ h_1**2,
        weight @ h_2**2 @ weight,
        of_x**2 @ weight,
        of_x @ (weight * h_1),
        centred**2 @ weight,
    )


@pytest.mark.parametrize("epsilon", [0.0, 0.02, 0.3, 1.0])
@pytest.mark.parametrize("h", [0.5, 1.0, 3.0])
def test_components_against_quadrature(epsilon, h):
    model = replace(LINE, epsilon=epsilon, h=h)
    variance = ContextVariance(model)
    x = np.array([[-2.0], [0.0], [1.2], [5.0]])
    zeta_1, zeta_2, e, b, v = quadrature(model, x)
    assert variance.zeta_1 == pytest.approx(zeta_1, rel=1e-9, abs=1e-18)
    assert variance.zeta_2 == pytest.approx(zeta_2, rel=1e-9)
    assert np.allclose(variance.e(x), e, rtol=1e-9, atol=1e-14)
    assert np.allclose(variance.b(x), b, rtol=1e-9, atol=1e-14)
    assert np.allclose(variance.v(x), v, rtol=1e-9, atol=1e-14)


@settings(deadline=None, max_examples=30)
@given(
    d=st.integers(1, 5),
    sigma_s=st.floats(0.1, 3.0),
    epsilon=st.floats(0.0, 1.0),
    h=st.floats(0.2, 5.0),
    shift=st.floats(-3.0, 3.0),
    m=st.integers(3, 1000),
)
def test_identities_of_the_components(d, sigma_s, epsilon, h, shift, m):
    model = GaussianBenchmark(mean=(shift,) * d, sigma_s=sigma_s, epsilon=epsilon, h=h)
    variance = ContextVariance(model)
    P = model.components
    assert 0 <= variance.zeta_1 <= 1
    assert variance.zeta_2 > 0
    assert abs(variance.b.mean(P)) < 1e-13
    # Var q(X, X') = 2 zeta_1 + zeta_2, and its mean given one of the two is zeta_1 + zeta_2
    assert variance.v.mean(P) == pytest.approx(variance.zeta_1 + variance.zeta_2)
    # the law of total variance: Var T_m = E Var(T_m | X_1) + Var L(X_1)
    total = variance.of("raw", m=m).mean(P) + 4 * variance.zeta_1 / m**2
    assert total == pytest.approx(variance.statistic(m))


def test_null_case():
    null = ContextVariance(replace(MODEL, epsilon=0.0))
    x = [[0.0, 0.0], [5.0, 0.0]]
    assert null.zeta_1 == 0
    assert np.all(null.b(x) == 0)
    assert null.crossover == math.inf
    assert null.best_size() == math.inf
    assert null.ratio_constants("pair")[1] == math.inf
    # E k^2 - 2 E mu_B^2 + K_BB^2 for two and three independent normals in the plane
    assert null.zeta_2 == pytest.approx(1 / 5 - 2 / 8 + 1 / 9)
    assert null.statistic(7) == pytest.approx(2 * null.zeta_2 / 42)
    with pytest.raises(ValueError, match="class separation"):
        null.relative_rms("raw", m=5, R=10)


def test_signal_equal_to_background_is_the_null():
    same = ContextVariance(GaussianBenchmark(mean=(0.0, 0.0), sigma_s=1.0, epsilon=0.4, h=1.0))
    null = ContextVariance(replace(MODEL, epsilon=0.0))
    x = [[0.0, 0.0], [2.0, 1.0]]
    assert same.zeta_1 < 1e-30
    assert same.zeta_2 == pytest.approx(null.zeta_2)
    assert np.allclose(same.of("raw", m=9)(x), null.of("raw", m=9)(x))


# the variances


@pytest.mark.parametrize(
    ("model", "m"),
    [
        (replace(MODEL, epsilon=0.0), 3),
        (replace(MODEL, epsilon=0.0), 20),
        (MODEL, 5),
        (MODEL, 40),
        (replace(MODEL, epsilon=0.5), 8),
        (replace(MODEL, epsilon=1.0), 4),
        (replace(MODEL, epsilon=1.0, h=0.3), 30),
        (LINE, 6),
        (GaussianBenchmark(mean=(1.0, -0.5, 0.2), sigma_s=1.5, epsilon=0.2, h=1.3), 10),
    ],
)
def test_variances_against_simulation(model, m):
    """Groups of contexts give independent sample variances, and so their own error."""
    probes = np.zeros((3, model.d))
    probes[:, 0] = [0.0, 1.5, 4.0]
    groups = 100
    scores = mmd_scores(
        np.repeat(probes, groups, axis=0),
        m=m,
        R=60,
        h=model.h,
        contexts=fresh(population(model)),
        rngs=[stream(2, "variance", m, i) for i in range(len(probes) * groups)],
    )
    variance = ContextVariance(model)
    for name in FORCED_ESTIMATORS:
        measured = scores[name].variance.reshape(len(probes), groups)
        error = measured.std(axis=1, ddof=1) / math.sqrt(groups)
        exact = variance.of(name, m=m)(probes)
        assert np.all(abs(measured.mean(axis=1) - exact) < 5 * error)
        assert np.all(error < 0.08 * exact)


# Four equally likely events: every context can be visited.
ATOMS = np.array([[0.0, 0.3], [1.2, -0.4], [-0.7, 2.0], [2.5, 0.9]])


def of_atoms(x):
    """Return variances with the Hoeffding components of the atoms, for a probe that is one."""
    q = functionals.pair_kernel(ATOMS, ATOMS, h=0.8)
    theta, h_1 = q.mean(), q.mean(axis=1) - q.mean()
    h_2 = q - theta - h_1[:, None] - h_1
    variance = ContextVariance(MODEL)
    functions = {"e": (h_2[x] ** 2).mean(), "b": (h_1 * h_2[x]).mean(), "v": q[x].var()}
    vars(variance).update(zeta_1=(h_1**2).mean(), zeta_2=(h_2**2).mean())
    vars(variance).update({k: GaussianSum.constant(c, 2) for k, c in functions.items()})
    return variance


@pytest.mark.parametrize("m", [3, 4])
def test_every_factor_of_m_over_all_contexts(m):
    contexts = list(product(ATOMS, repeat=m))
    scores = mmd_scores(
        ATOMS,
        m=m,
        R=len(contexts),
        h=0.8,
        contexts=lambda _rng, number, _size: np.array(contexts[:number]),
        rngs=[stream(6, "atoms", m, x) for x in range(len(ATOMS))],
    )
    for x in range(len(ATOMS)):
        for name in FORCED_ESTIMATORS:
            exact = scores[name].scatter[x] / len(contexts)
            # the contexts' pairs are summed in single precision
            assert of_atoms(x).of(name, m=m)([[9.0, 9.0]])[0] == pytest.approx(exact, rel=1e-6)
    T = [functionals.unbiased(np.array(batch), h=0.8) for batch in contexts]
    assert of_atoms(0).statistic(m) == pytest.approx(np.var(T), rel=1e-9)


def test_resolution_by_hand():
    """Equal probes: a variance of R - 1 degrees and its kurtosis, over the probes, a half each."""
    variance = of_atoms(0)
    options = {"m": 5, "R": 100, "probes": 40}
    value = variance.relative_rms("pair", m=5, R=100)
    for changes, relative in (
        ({}, 2 / 99),
        ({"degrees": 1}, 2),
        ({"excess_kurtosis": 3.0}, 2 / 99 + 3 / 100),
    ):
        found = variance.relative_rms_resolution("pair", **options, **changes)
        assert found == pytest.approx(value * math.sqrt(relative / 40) / 2, rel=1e-9)


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_resolution_by_quadrature(share):
    """Fixed numbers of signal and background probes: only the scatter within a class counts."""
    variance = ContextVariance(LINE)
    of = variance.of("addition", m=6)
    average = within = average_square = 0.0
    for weight, *rest in replace(LINE, epsilon=share).components:
        x, w = nodes([(1.0, *rest)])
        mean = w @ of(x)
        average += weight * mean
        within += weight * (w @ (of(x) - mean) ** 2)
        average_square += weight * (w @ of(x) ** 2)
    options = {"m": 6, "R": 50, "signal_share": share}
    value = variance.relative_rms("addition", **options)
    assert value == pytest.approx(math.sqrt(average / 50) / LINE.class_separation(6))
    for given_probes, expected in (
        (False, within + average_square * 2 / 49),
        (True, average_square * 2 / 49),
    ):
        found = variance.relative_rms_resolution(
            "addition", probes=30, given_probes=given_probes, **options
        )
        error = math.sqrt(expected / 30) / (2 * average)
        assert found == pytest.approx(value * error, rel=1e-7)


@pytest.mark.parametrize("m", [3, 17, 640])
def test_parts_of_the_raw_variance(m):
    variance = ContextVariance(MODEL)
    x = [[0.0, 0.0], [1.5, 0.0], [5.0, 0.0]]
    parts = variance.raw_parts(m=m)
    assert np.allclose(sum(part(x) for part in parts.values()), variance.of("raw", m=m)(x))
    P = MODEL.components
    assert parts["first"].mean(P) == pytest.approx(4 * (m - 1) * variance.zeta_1 / m**2)
    assert parts["second"].mean(P) == pytest.approx(2 * variance.zeta_2 / (m * (m - 1)))
    assert abs(parts["cross"].mean(P)) < 1e-18


def test_orders_are_equal_at_the_crossover():
    variance = ContextVariance(MODEL)
    m = round(variance.crossover)
    parts = variance.raw_parts(m=m)
    ratio = parts["first"].mean(MODEL.components) / parts["second"].mean(MODEL.components)
    assert ratio == pytest.approx(1, abs=3 / m)


@pytest.mark.parametrize("epsilon", [0.02, 0.3, 1.0])
def test_ratio_constants(epsilon):
    variance = ContextVariance(replace(MODEL, epsilon=epsilon))
    probes = replace(MODEL, epsilon=0.5).components
    for name in ("addition", "pair"):
        far, m = variance.ratio_constants(name)[1], 10**8
        ratio = variance.of(name, m=m).mean(probes) / variance.of("raw", m=m).mean(probes)
        assert m * m * ratio == pytest.approx(far, rel=1e-4)
        assert far > 1  # the 1 of eq. variance-reduction-factor is for a linear statistic
    almost_null = ContextVariance(replace(MODEL, epsilon=1e-7))
    m = 10**5
    for name in ("addition", "pair"):
        ratio = almost_null.of(name, m=m).mean(probes) / almost_null.of("raw", m=m).mean(probes)
        assert m * ratio == pytest.approx(almost_null.ratio_constants(name)[0], rel=1e-3)


def test_only_replacement_falls_as_the_square():
    variance = ContextVariance(MODEL)
    x = [[1.0, 0.5]]
    for name, power in (("raw", 1), ("addition", 3), ("replacement", 2), ("pair", 3)):
        far = [variance.of(name, m=m)(x)[0] for m in (10**7, 10**8)]
        assert math.log10(far[0] / far[1]) == pytest.approx(power, abs=1e-3)


# the curve of the paper


def test_relative_errors_of_the_paper():
    """The published ones are measured at one set of probes: a few per cent are theirs."""
    variance = ContextVariance(MODEL)
    for m, published in PUBLISHED.items():
        assert variance.relative_rms("raw", m=m, R=3000) == pytest.approx(published, rel=0.015)
    curve = [variance.relative_rms("raw", m=m, R=3000) for m in range(3, 1000)]
    best = 3 + int(np.argmin(curve))
    assert abs(variance.best_size() - best) <= 1
    assert best == 41
    assert curve[80 - 3] / min(curve) < 1.01  # the minimum is flat


@pytest.mark.parametrize("share", [0.0, 0.02, 1.0])
def test_best_size_for_other_probes(share):
    variance = ContextVariance(replace(MODEL, epsilon=0.1))
    curve = [variance.relative_rms("raw", m=m, R=1, signal_share=share) for m in range(3, 200)]
    assert abs(variance.best_size(signal_share=share) - (3 + int(np.argmin(curve)))) <= 1


def test_best_size_where_a_larger_batch_never_helps():
    variance = ContextVariance(GaussianBenchmark(mean=(0.0,), sigma_s=4.0, epsilon=0.5, h=1.0))
    curve = [variance.relative_rms("raw", m=m, R=1, signal_share=0.0) for m in range(3, 50)]
    assert (variance.best_size(signal_share=0.0) <= 3.5) == (np.argmin(curve) == 0)


def test_null_error_of_the_paper():
    null = ContextVariance(replace(MODEL, epsilon=0.0))
    error = math.sqrt(null.of("raw", m=20)([[5.0, 0.0]])[0] / 1e4)
    assert error == pytest.approx(0.173e-3, rel=0.02)


@pytest.mark.parametrize("name", FORCED_ESTIMATORS)
def test_mean_over_given_probes_tends_to_the_exact_one(name):
    variance = ContextVariance(MODEL)
    probes = np.concatenate(
        [population(replace(MODEL, epsilon=e))(stream(3, "probes", int(e)), 4000) for e in (0, 1)]
    )
    at = variance.relative_rms_at(name, probes, m=6, R=100)
    exact = variance.relative_rms(name, m=6, R=100)
    # as if each variance were known: very many degrees of freedom
    error = variance.relative_rms_resolution(name, m=6, R=100, probes=8000, degrees=10**9)
    assert abs(at - exact) < 5 * error
    assert error < 0.01 * exact


@pytest.mark.simulation
@pytest.mark.parametrize(("name", "kurtosis"), [("raw", 3.0), ("pair", 0.0)])
def test_resolution_against_repeated_experiments(name, kurtosis):
    """The spread of 200 measurements is known to 5 %."""
    m, R, probes, times = 10, 100, 40, 200
    half = probes * times // 2
    events = np.concatenate(
        [population(replace(MODEL, epsilon=e))(stream(4, "class", int(e)), half) for e in (0, 1)]
    )
    scores = mmd_scores(
        events,
        m=m,
        R=R,
        h=1.0,
        contexts=fresh(population(MODEL)),
        rngs=[stream(5, "experiments", name, i) for i in range(len(events))],
    )
    shift = 0.0 if name == "raw" else (1 - 2 / m) * MODEL.mmd2
    residuals = scores[name].mean - (MODEL.G(events, m) - shift)
    for squares, degrees in ((residuals**2, 1), (scores[name].standard_error ** 2, R - 1)):
        experiments = squares.reshape(2, times, -1).mean(axis=(0, 2))
        relative = np.sqrt(experiments) / MODEL.class_separation(m)
        variance = ContextVariance(MODEL)
        expected = variance.relative_rms_resolution(
            name, m=m, R=R, probes=probes, degrees=degrees, excess_kurtosis=kurtosis
        )
        exact = variance.relative_rms(name, m=m, R=R)
        assert abs(relative.mean() - exact) < 5 * expected / math.sqrt(times) + expected**2 / exact
        # 5 standard errors of a spread, and 5 % for a kurtosis that is not quite that
        assert relative.std(ddof=1) == pytest.approx(expected, rel=5 * 0.05 + 0.05)


def test_resolution_grows_with_kurtosis_and_falls_with_probes():
    def resolution(**change):
        options = {"m": 20, "R": 500, "probes": 100} | change
        return ContextVariance(MODEL).relative_rms_resolution("raw", **options)

    assert resolution(probes=400) == pytest.approx(resolution() / 2)
    assert resolution(excess_kurtosis=4.0) > resolution()
    assert resolution(degrees=1) > 5 * resolution()


# bad input


def test_bad_input():
    variance = ContextVariance(MODEL)
    with pytest.raises(ValueError, match="estimator must be one of"):
        variance.of("best", m=5)
    with pytest.raises(ValueError, match="m must be at least 3"):
        variance.of("raw", m=2)
    with pytest.raises(ValueError, match="m must be at least 3"):
        variance.raw_parts(m=2)
    with pytest.raises(ValueError, match="m must be at least 2"):
        variance.statistic(1)
    with pytest.raises(ValueError, match="x must have 2 features"):
        variance.of("raw", m=5)([[1.0]])
    with pytest.raises(ValueError, match="R must be at least 1"):
        variance.relative_rms("raw", m=5, R=0)
    with pytest.raises(ValueError, match="epsilon must lie between 0 and 1"):
        variance.relative_rms("raw", m=5, R=10, signal_share=1.5)
    with pytest.raises(ValueError, match="estimator must be 'addition' or 'pair'"):
        variance.ratio_constants("raw")
    with pytest.raises(ValueError, match="degrees must be at least 1"):
        variance.relative_rms_resolution("raw", m=5, R=1, probes=10)
    with pytest.raises(ValueError, match="probes must be at least 1"):
        variance.relative_rms_resolution("raw", m=5, R=10, probes=0)
