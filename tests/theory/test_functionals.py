"""Localization beyond U-statistics: influence functions, the V-statistic and its root.

A z-test fails by chance with |z| > 5, once in 1.7 million.
"""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from localizer.base.randomness import stream
from localizer.estimators.forced import forced_scores, fresh, population
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory import functionals

MODEL = GaussianBenchmark(mean=(1.5, 0.0), sigma_s=0.5, epsilon=0.5, h=1.0)
LINE = GaussianBenchmark(mean=(1.2,), sigma_s=0.6, epsilon=0.3, h=0.9)
PROBES = np.array([[1.5, 0.0], [0.0, 0.0], [-1.0, 1.0], [3.0, 1.0]])


def generators(number, *key):
    return [stream(11, "test functionals", *key, i) for i in range(number)]


def nodes(components, order=80):
    x, w = np.polynomial.hermite_e.hermegauss(order)
    points = [mean[0] + math.sqrt(variance) * x for _, mean, variance in components]
    weights = [share * w / w.sum() for share, _, _ in components]
    return np.concatenate(points)[:, None], np.concatenate(weights)


def test_pair_kernel_is_centred_by_the_background():
    y, weight = nodes(replace(LINE, epsilon=0.0).components)
    x = np.array([[-1.0], [0.5], [6.0]])
    assert np.allclose(functionals.pair_kernel(x, y, h=0.9) @ weight, 0, atol=1e-12)
    q = functionals.pair_kernel(y, y, h=0.9)
    assert np.allclose(q, q.T, rtol=0, atol=1e-15)


def test_plug_in_is_a_u_statistic_and_a_diagonal():
    batch = population(MODEL)(stream(1, "batch"), 9)
    diagonal = np.trace(functionals.pair_kernel(batch, batch, h=0.7))
    value = functionals.plug_in(batch, h=0.7)
    assert value == pytest.approx(8 / 9 * functionals.unbiased(batch, h=0.7) + diagonal / 81)
    assert functionals.plug_in(batch, h=0.7, root=True) == pytest.approx(math.sqrt(value))


def test_plug_in_is_never_negative():
    background = population(replace(MODEL, epsilon=0.0))
    batches = [background(stream(2, "batch", i), 30) for i in range(20)]
    assert min(functionals.plug_in(batch, h=1.0) for batch in batches) > 0
    assert min(functionals.unbiased(batch, h=1.0) for batch in batches) < 0


@pytest.mark.simulation
def test_statistics_estimate_their_means():
    m = 6
    batches = [population(MODEL)(stream(3, "means", i), m) for i in range(3000)]
    for statistic, expected in (
        (functionals.unbiased, MODEL.mmd2),
        (functionals.plug_in, functionals.mean_plug_in(MODEL, m)),
    ):
        values = np.array([statistic(batch, h=1.0) for batch in batches])
        assert abs(values.mean() - expected) < 5 * values.std() / math.sqrt(len(values))


@pytest.mark.parametrize("root", [False, True])
def test_influence_is_the_response_to_contamination(root):
    """Eq. if-expansion-pop, by a central difference of D((1 - eta) P + eta delta_x)."""
    y, weight = nodes(LINE.components)
    x = np.array([[-1.0], [1.2], [4.0]])

    def D(at, eta):
        support = np.vstack([y, at[None]])
        P = np.append((1 - eta) * weight, eta)
        value = P @ functionals.pair_kernel(support, support, h=LINE.h) @ P
        return math.sqrt(value) if root else value

    eta = 1e-4
    slope = [(D(at, eta) - D(at, -eta)) / (2 * eta) for at in x]
    assert np.allclose(functionals.influence(LINE, x, root=root), slope, rtol=0, atol=1e-6)


@pytest.mark.parametrize("root", [False, True])
def test_influence_and_second_order_are_centred(root):
    y, weight = nodes(LINE.components)
    for function in (functionals.influence, functionals.second_order):
        assert abs(weight @ function(LINE, y, root=root)) < 1e-10


@pytest.mark.simulation
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_localization_of_the_plug_in_estimator_by_forced_inclusion(epsilon):
    """L exactly at finite m, and addition off by E V_m - E V_{m-1}."""
    m, model = 4, replace(MODEL, epsilon=epsilon)
    scores = forced_scores(
        partial(functionals.plug_in, h=1.0),
        PROBES[:2],
        m=m,
        R=2500,
        contexts=fresh(population(model)),
        rngs=generators(2, "plug-in", round(10 * epsilon)),
    )
    L = functionals.localization(model, PROBES[:2], m)
    offset = functionals.mean_plug_in(model, m) - functionals.mean_plug_in(model, m - 1)
    expected = {
        "raw": functionals.mean_plug_in(model, m) + L,
        "addition": L + offset,
        "replacement": L,
    }
    for name, value in expected.items():
        assert np.all(abs(scores[name].mean - value) < 5 * scores[name].standard_error)
    # addition would be seen to differ from L
    assert np.all(abs(offset) > 10 * scores["addition"].standard_error)


@pytest.mark.parametrize("m", [3, 10, 60])
def test_remainder_of_the_plug_in_estimator(m):
    """At every m, m L - IF is second_order / m."""
    remainder = functionals.simulated_remainder(
        MODEL, PROBES, m=m, R=4000, rngs=generators(4, "remainder", m)
    )
    expected = m * functionals.localization(MODEL, PROBES, m) - functionals.influence(MODEL, PROBES)
    assert np.allclose(expected, functionals.second_order(MODEL, PROBES) / m)
    assert np.all(abs(remainder.mean - expected) < 5 * remainder.standard_error)


def test_remainder_of_the_root_falls_to_its_second_order():
    """At m = 160 the third order is far below the error."""
    m = 160
    remainder = functionals.simulated_remainder(
        MODEL, PROBES[:2], m=m, R=12000, rngs=generators(2, "root"), root=True
    )
    expected = functionals.second_order(MODEL, PROBES[:2], root=True) / m
    assert np.all(abs(remainder.mean - expected) < 5 * remainder.standard_error)
    assert np.all(abs(expected) > 8 * remainder.standard_error)


@pytest.mark.simulation
def test_simulated_remainder_equals_plain_replacement():
    """The subtracted influence of Y changes the noise, not the mean."""
    m = 20
    plain = forced_scores(
        partial(functionals.plug_in, h=1.0, root=True),
        PROBES[:1],
        m=m,
        R=3000,
        contexts=fresh(population(MODEL)),
        rngs=generators(1, "same"),
    )["replacement"]
    controlled = functionals.simulated_remainder(
        MODEL, PROBES[:1], m=m, R=3000, rngs=generators(1, "same"), root=True
    )
    mL = controlled.mean + functionals.influence(MODEL, PROBES[:1], root=True)
    assert np.all(abs(mL - m * plain.mean) < 5 * m * plain.standard_error)
    assert np.all(controlled.standard_error < 0.6 * m * plain.standard_error)


def test_bad_input():
    null = replace(MODEL, epsilon=0.0)
    for function in (functionals.influence, functionals.second_order):
        with pytest.raises(ValueError, match="no influence at 0"):
            function(null, PROBES, root=True)
    with pytest.raises(ValueError, match="batch must hold at least 2 events"):
        functionals.unbiased([[1.0, 2.0]], h=1.0)
    with pytest.raises(ValueError, match="y must have 2 features"):
        functionals.pair_kernel([[1.0, 2.0]], [[1.0]], h=1.0)
    with pytest.raises(ValueError, match="h must be positive"):
        functionals.plug_in(PROBES, h=0.0)
    with pytest.raises(ValueError, match="m must be at least 1"):
        functionals.localization(MODEL, PROBES, 0)
    with pytest.raises(ValueError, match="m must be at least 3"):
        functionals.simulated_remainder(MODEL, PROBES, m=2, R=10, rngs=generators(4))
