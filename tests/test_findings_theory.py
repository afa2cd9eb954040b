"""The claims of the theory sections: every row has a finding, and the checks can fail.

A z-test fails by chance with |z| > 5, once in 1.7 million.
"""

import math
from dataclasses import replace
from functools import partial
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from localizer import experiment1, findings1, findings_theory, functionals, scoreboard, toys
from localizer.forced import Moments, population
from localizer.gaussian import GaussianBenchmark
from localizer.randomness import stream

SEED = 5
MODEL = GaussianBenchmark(mean=(1.5, 0.0), sigma_s=0.5, epsilon=0.02, h=1.0)
PREFIX = {"-": "t.", "I": "e1.", "II": "e2.", "III": "e3."}


def published():
    return scoreboard.read_published(pd.read_csv("resources/published.csv", dtype=str))


def test_rows_are_named_and_placed():
    for row in published():
        assert row.id.startswith(PREFIX[row.experiment]), row.id
        for place in row.where.split("; "):
            assert place == "abstract" or place.startswith(("sec. ", "eq. ", "fig. ")), row.id
        assert bool(row.value) == (row.kind != "statement"), row.id


def test_every_claim_of_the_theory_has_a_finding_and_holds():
    """At another seed than the configuration's, so that no verdict hangs on that one."""
    found = [
        *findings_theory.of_marginals(SEED, MODEL, R=300),
        *findings_theory.of_projections(SEED, atoms=4, m=4),
        *findings_theory.of_influence(SEED, MODEL, R=5000),
        *findings_theory.of_mmd(SEED, MODEL),
        *findings_theory.of_variances(SEED, MODEL, R=5000, about=0.1),
        *findings_theory.of_sampling(SEED, MODEL),
        *findings_theory.of_witness(SEED, MODEL, N=100, runs=100),
        *findings_theory.of_context(SEED, MODEL, N=6, toys_of=100),
        *findings_theory.of_interpretation(SEED, MODEL, N=200, runs=100),
        *findings_theory.of_choices(SEED, MODEL),
    ]
    names = [finding.id for finding in found]
    # two claims of Experiment II are theory too
    wanted = {row.id for row in published() if row.experiment == "-"}
    wanted |= {"e2.known_theta", "e2.no_shared_no_information"}
    assert sorted(names) == sorted(wanted)
    assert [finding.id for finding in found if not finding.holds] == []
    assert all(finding.value is not None and finding.note for finding in found)


def test_the_largest_distance_of_one_event_is_a_rayleigh_mean():
    null = replace(MODEL, epsilon=0.0)
    assert findings_theory._mean_largest(null, 1) == pytest.approx(math.sqrt(math.pi / 2))
    # an event far outside is the largest for certain
    far = np.array([12.0, 0.0])
    assert findings_theory._mean_largest(MODEL, 5, far) == pytest.approx(12.0)


def test_an_event_more_than_five_errors_away_is_seen():
    scores = Moments.of(stream(SEED, "off").normal(0.0, 1.0, (2, 400)))
    assert findings_theory._off(scores, [0.0, 0.0]) < 5
    assert findings_theory._off(scores, [0.0, 0.5]) > 5


def test_probes_that_errors_could_swap_are_seen():
    scores = Moments.of(stream(SEED, "gap").normal(0.0, 1.0, (3, 400)))
    wide, narrow = np.array([1.0, 0.0, 2.0]), np.array([1.0, 0.95, 2.0])
    # an error of a difference is sqrt(2/400) = 0.07 within a fifth
    assert findings_theory._smallest_gap(scores, wide) == pytest.approx(14.1, rel=0.2)
    assert findings_theory._smallest_gap(scores, narrow) < 1


def test_addition_that_ranks_otherwise_is_noticed(monkeypatch):
    """A score whose probes are swapped is refused."""
    exact = findings_theory.forced_scores

    def swapped(*args, **options):
        found = exact(*args, **options)
        wrong = found["addition"]
        wrong = Moments(wrong.contexts, wrong.mean[::-1], wrong.scatter[::-1])
        return replace(found, moments={**found.moments, "addition": wrong})

    monkeypatch.setattr(findings_theory, "forced_scores", swapped)
    # without the distances of the means, which see it too
    monkeypatch.setattr(findings_theory, "_off", lambda *_: 0.0)
    holds = {f.id: f.holds for f in findings_theory.of_marginals(SEED, MODEL, R=300)}
    assert holds["t.replacement"]
    assert not holds["t.addition_constant"]


def test_u_statistic_of_products_by_hand():
    """Of 2, 1, 3, 5 the mean product is 41/6, without the 2 it is 23/3."""
    kernel = math.prod
    assert findings_theory._u_statistic(kernel, [2, 1, 3, 5], 2) == pytest.approx(41 / 6)
    assert findings_theory._u_statistic(kernel, [1, 3, 5], 2) == pytest.approx(23 / 3)
    assert findings_theory._context_difference(kernel, [2, 1, 3, 5], 2) < 1e-12
    # the mean product with the 2 is 6, and r/m is 1/2
    assert 41 / 6 - 23 / 3 == pytest.approx((6 - 23 / 3) / 2)


def test_random_kernels_are_symmetric():
    kernel = findings_theory._symmetric(stream(SEED, "kernel"), 4, 3)
    assert len({kernel(order) for order in permutations((0, 2, 3))}) == 1


@pytest.mark.parametrize("twins", [True, False])
def test_mean_over_contexts_is_that_of_all_contexts(twins):
    x = population(MODEL)(stream(SEED, "contexts"), 5)
    m = 3
    q = functionals.pair_kernel(x, x, h=1.0)
    found = findings_theory._contexts_mean(q, m, twins=twins)
    for i in range(5):
        others = [j for j in range(5) if j != i]
        contexts = product(others, repeat=m - 1) if twins else permutations(others, m - 1)
        values = [functionals.unbiased(x[[i, *context]], h=1.0) for context in contexts]
        assert found[i] == pytest.approx(np.mean(values), abs=1e-14)


def test_posterior_of_two_labels():
    """Two events, one of them signal: by symmetry even, whatever the covariance."""
    x = np.array([[1.0, 0.3], [0.2, -0.5]])
    shared = partial(findings_theory._shared_ratio, covariance=0.75)
    even = findings_theory._label_posterior(x, shared, signals=1)
    assert even == pytest.approx([0.5, 0.5])
    both = findings_theory._label_posterior(x, shared, epsilon=0.5)
    square, cross = np.sum(x**2), 2 * np.sum(x[0] * x[1])
    log_ratio = -math.log(1 - 0.75**2) + square / 2
    log_ratio -= (square - 0.75 * cross) / (2 * (1 - 0.75**2))
    ratio = math.exp(log_ratio)
    assert both == pytest.approx(2 * [(1 + ratio) / (3 + ratio)])


def test_private_locations_of_another_spread_say_something():
    """Only if the marginal of a signal event is B does nothing remain of its location."""
    x = toys.independent_latents(stream(SEED, "private"), 8, d=2, sigma_s=0.5, epsilon=0.25).x
    for spread, moves in ((math.sqrt(0.75), False), (0.8, True), (1.0, True)):
        private = partial(findings_theory._private_ratio, sigma_s=0.5, spread=spread)
        found = findings_theory._label_posterior(x, private, signals=2)
        assert (np.abs(found - 0.25).max() > 1e-3) == moves
        # one event has the marginal N(0, sigma_s^2 + spread^2)
        variance = 0.25 + spread**2
        closed = np.exp(np.sum(x[0] ** 2) / 2 * (1 - 1 / variance)) / variance
        assert private(x[:1]) == pytest.approx(closed, abs=1e-9)


@pytest.mark.parametrize("change", [{"shift": 0.02}, {"N": 50}])
def test_a_mismatch_too_small_for_the_sample_is_not_coherent(monkeypatch, change):
    exact = findings_theory._mismatch

    def smaller(rng, model, shift, *, N, runs):
        shift = change.get("shift", shift) if shift else 0.0
        return exact(rng, model, shift, N=change.get("N", N), runs=runs)

    monkeypatch.setattr(findings_theory, "_mismatch", smaller)
    found = findings_theory.of_interpretation(SEED, MODEL, N=200, runs=100)
    assert not {f.id: f.holds for f in found}["t.background_mismatch"]


def test_slope_along_the_path_is_that_of_a_long_path():
    """MMD^2 is quadratic in eta: the slope does not depend on the step."""
    sample = population(MODEL)(stream(SEED, "path"), 20)
    at = np.array([[2.0, 0.0]])
    short, long = (findings_theory._path_slope(sample, at, 1.0, eta=eta) for eta in (1e-3, 0.3))
    assert short == pytest.approx(long, abs=1e-12)


def test_influence_does_not_vanish_away_from_the_null():
    """By quadrature over S it is that of the closed form, and far from zero."""
    at = np.array([[1.5, 0.0], [0.0, 0.0]])
    signal = replace(MODEL, epsilon=1.0)
    found = findings_theory._influence(*findings_theory._nodes(signal), at, 1.0)
    assert found == pytest.approx(functionals.influence(signal, at), abs=1e-12)
    assert np.abs(found).min() > 0.1


def test_another_second_order_is_noticed(monkeypatch):
    """Half as much again is about 12 standard errors away at 5000 contexts."""
    exact = functionals.second_order
    monkeypatch.setattr(functionals, "second_order", lambda *a, **k: 1.5 * exact(*a, **k))
    holds = {f.id: f.holds for f in findings_theory.of_influence(SEED, MODEL, R=5000)}
    assert not holds.pop("t.influence")
    assert all(holds.values())


def test_composition_and_correlation_of_the_empirical_witness():
    """Against samples: means over N events of k(x, X), with independent and with fixed labels."""
    rng = stream(SEED, "field")
    N, number = 200, 4000
    model = replace(MODEL, epsilon=0.2)
    at = np.array([[1.5, 0.0], [1.0, 0.0]])

    def means(x):
        return np.exp(-((x[:, None] - at) ** 2).sum(-1) / 2).mean(axis=0)

    free = np.array([means(population(model)(rng, N)) for _ in range(number)])
    fixed = np.array([means(toys.fixed_alternative(rng, N, model).x) for _ in range(number)])
    share = 1 - fixed[:, 0].var() / free[:, 0].var()
    error = math.sqrt(2 * 2 / number)
    assert abs(share - findings1._composition_share(model)) < 5 * error
    correlation = np.corrcoef(free.T)[0, 1]
    expected = findings1._field_correlation(model, (-0.5, 0.0))
    assert abs(correlation - expected) < 5 * (1 - expected**2) / math.sqrt(number)


def test_another_separation_is_noticed():
    rng = stream(SEED, "separation")
    n = 200
    table = pd.DataFrame({"m": 20, "contexts": 100, "signal": np.arange(n) < n // 2, "G": 0.0})
    table = table.assign(x=0.0, y=0.0)
    for name in ("raw", "addition", "replacement", "pair"):
        table[name] = rng.normal(0.3, 0.1, n)
        table[f"{name}_variance"] = rng.gamma(100, 0.01, n)
    found = findings1._separations(experiment1.precision(table, MODEL))
    assert all(abs(z) < 5 for z in found.values())
    table["pair"] += 0.1 * table["signal"]
    found = findings1._separations(experiment1.precision(table, MODEL))
    assert found[20, "pair"] > 5 > abs(found[20, "raw"])


def test_scores_off_the_line_are_seen():
    """A standard error at every probe of one size doubles its chi-square, the other has its own."""
    n = 1000
    noise = stream(SEED, "line").normal(size=(2, n)) * 0.1
    table = pd.DataFrame({"m": np.repeat([5, 80], n), "contexts": 100, "G": 0.0})
    table = table.assign(raw=noise.ravel(), raw_variance=1.0)
    assert max(map(abs, findings1._on_the_line(table).values())) < 5
    moved = table.assign(raw=table["raw"] + 0.1 * (table["m"] == 80))
    found = findings1._on_the_line(moved)
    assert abs(found[5]) < 5 < found[80]


def test_the_ratio_of_variances_is_that_of_the_population():
    """Probes are half signal, the population has few: the weights make up for it."""
    rng = stream(SEED, "ratio")
    signal = np.arange(400) < 200
    pair = np.where(signal, 1.0, 2.0) * rng.gamma(50, 1 / 50, 400)
    addition = np.where(signal, 3.0, 2.2) * rng.gamma(50, 1 / 50, 400)
    part = pd.DataFrame({"signal": signal, "pair_variance": pair, "addition_variance": addition})
    ratio, error = findings1._measured_ratio(part, 0.1)
    assert abs(ratio - (0.1 * 3 + 0.9 * 2.2) / (0.1 * 1 + 0.9 * 2)) < 5 * error
    assert 0.005 < error < 0.02
