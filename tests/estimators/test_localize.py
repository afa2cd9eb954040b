"""Scores of any statistic: closed forms, enumeration, the house's own estimators, job cuts.

A z-test fails by chance with |z| > 5, once in 1.7 million for each of its numbers.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import oracles
import pytest
from localizer.base.randomness import stream
from localizer.base.vocabulary import MATCHED_ESTIMATORS
from localizer.estimators import energy, forced, localize, statistics, witness
from localizer.estimators.batch_statistic import Prepared
from localizer.estimators.context_moments import ForcedScores
from localizer.estimators.energy import EnergyBackground
from localizer.estimators.own_statistic import Own
from localizer.estimators.statistics import MMD, AndersonDarling, Energy
from localizer.kernels.bank import EmpiricalBackground, GaussianBank, NormalBackground
from scipy import stats

BANK = GaussianBank((1.0,))


@pytest.fixture
def reference() -> np.ndarray:
    return stream(1, "localize reference").standard_normal((150, 2))


@pytest.fixture
def sample() -> np.ndarray:
    return stream(1, "localize sample").standard_normal((40, 2)) * 0.8 + (0.6, 0.0)


def vectorised(function) -> Prepared:
    """Return a statistic of the first feature from a function along the last axis."""
    return Prepared(
        "test", lambda x: np.asarray(x, dtype=float), lambda batches: function(batches[..., 0])
    )


def z_values(scores: ForcedScores, name: str, expected: np.ndarray) -> np.ndarray:
    return (scores[name].mean - expected) / scores[name].standard_error


# --- closed forms -------------------------------------------------------------------


def k_statistic(order: int):
    """Return the unbiased estimate of a cumulant: a U-statistic of that order."""
    return {
        1: lambda x: x.mean(axis=-1),
        2: lambda x: x.var(axis=-1, ddof=1),
        3: lambda x: stats.kstat(x, 3, axis=-1),
    }[order]


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("m", [5, 30])
def test_addition_and_replacement_of_a_u_statistic_are_its_projection(order, m, sample):
    """L = (r/m) h_1, eq. ustat-main; P is the distribution of the other events.

    Drawn with replacement, they have the plain cumulants.
    """
    probes = [0, 7, 23]
    scores = localize.localize(
        vectorised(k_statistic(order)), sample, m=m, R=4000, seed=3, probes=probes, replacement=True
    )
    expected, level = [], []
    for i in probes:
        others = np.delete(sample[:, 0], i)
        x, variance = sample[i, 0] - others.mean(), others.var()
        third = np.mean((others - others.mean()) ** 3)
        expected.append([x, x**2 - variance, x**3 - 3 * variance * x - third][order - 1] / m)
        level.append([others.mean(), variance, third][order - 1])
    for name in ("addition", "replacement"):
        assert np.all(np.abs(z_values(scores, name, np.array(expected))) < 5)
    assert np.all(np.abs(z_values(scores, "raw", np.array(expected) + level)) < 5)


def test_a_linear_statistic_is_localized_exactly(sample):
    """In the same contexts the scores of two points differ by [f(x) - f(y)] / m, no noise left."""
    m, points = 12, np.array([[0.0, 0.0], [3.0, 1.0], [-2.0, 5.0]])
    scores = localize.field(
        vectorised(lambda x: np.mean(x**3, axis=-1)), sample, points, m=m, R=50, seed=3
    )
    expected = (points[:, 0] ** 3 - points[0, 0] ** 3) / m
    for name in MATCHED_ESTIMATORS:
        np.testing.assert_allclose(scores[name].mean - scores[name].mean[0], expected, atol=1e-12)


@pytest.mark.simulation
@pytest.mark.parametrize("kind", ["mmd", "energy"])
def test_the_exact_localizer_is_the_mean_over_all_contexts(kind, sample, reference):
    """Every context of a small sample, for addition and for replacement."""
    x, m = sample[:7], 4
    statistic, target = _with_target(kind, x, reference)
    exact = localize.pair_localization(target, m=m)
    for i in range(len(x)):
        others = np.delete(np.arange(len(x)), i)
        added = [
            statistic(x[[i, *context]]) - statistic(x[list(context)])
            for context in combinations(others, m - 1)
        ]
        assert np.mean(added) == pytest.approx(exact[i], abs=1e-12)
        replaced = np.mean([statistic(x[[i, *c]]) for c in combinations(others, m - 1)])
        replaced -= np.mean([statistic(x[list(c)]) for c in combinations(others, m)])
        assert replaced == pytest.approx(exact[i], abs=1e-12)


def _with_target(kind: str, x: np.ndarray, reference: np.ndarray) -> tuple[Prepared, np.ndarray]:
    if kind == "energy":
        return Energy().prepare(reference), energy.pair_target(x, EnergyBackground(reference))
    background = EmpiricalBackground(BANK, reference)
    return MMD(BANK.bandwidths).prepare(reference), witness.pair_target(x, BANK, background)


@pytest.mark.parametrize("kind", ["mmd", "energy"])
def test_all_events_converge_to_the_exact_localizer(kind, sample, reference):
    """Their standard errors are calibrated too: z^2 has the mean of a squared Student t."""
    m, R = 10, 300
    statistic, target = _with_target(kind, sample, reference)
    exact = localize.pair_localization(target, m=m)
    scores = localize.localize(statistic, sample, m=m, R=R, seed=5)
    for name in ("addition", "replacement"):
        z = z_values(scores, name, exact)
        assert np.all(np.abs(z) < 5.2)  # Student's t of 299 degrees has wider tails
        expected, spread = (R - 1) / (R - 3), np.sqrt(2.1 / z.size)
        assert abs(np.mean(z**2) - expected) < 5 * spread
    # the raw score holds the level of the others
    U = target.mean()
    without = (sample.shape[0] * U - 2 * target) / (len(sample) - 2)
    assert np.all(np.abs(z_values(scores, "raw", exact + without)) < 5.2)


def test_replacement_is_the_conditional_localizer_of_a_plug_in_statistic(reference):
    """A^2/m is no U-statistic: addition is off by E T_m - E T_{m-1}, replacement is not.

    The sample is small, so that all contexts can be visited.
    """
    x = np.array([[-0.5, 0.2], [0.4, 1.5], [1.8, -1.0], [0.9, 0.1], [2.0, 2.0], [-1.0, 0.3]])
    m, statistic = 3, AndersonDarling().prepare(reference)
    scores = localize.localize(statistic, x, m=m, R=3000, seed=7, probes=[0, 2])
    for k, i in enumerate((0, 2)):
        others = np.delete(np.arange(len(x)), i)
        forced_mean = np.mean([statistic(x[[i, *c]]) for c in combinations(others, m - 1)])
        level = np.mean([statistic(x[list(c)]) for c in combinations(others, m)])
        smaller = np.mean([statistic(x[list(c)]) for c in combinations(others, m - 1)])
        for name, value in (
            ("raw", forced_mean),
            ("replacement", forced_mean - level),
            ("addition", forced_mean - smaller),
        ):
            assert abs(z_values(scores, name, np.array([value, value]))[k]) < 5
        # the two differ by many errors here, so that the test would notice a swap
        assert abs(level - smaller) > 10 * scores["addition"].standard_error[k]


# --- the house's own estimators -------------------------------------------------------


@pytest.mark.simulation
def test_mmd_is_the_fast_form_of_experiment_one(sample):
    """Given the same companions, context by context."""
    statistic = MMD(BANK.bandwidths).against(NormalBackground(BANK, d=2), d=2)
    probes, m, R = [0, 11], 9, 80
    scores = localize.localize(statistic, sample, m=m, R=R, seed=2, key=("same",), probes=probes)
    fast = forced.mmd_scores(
        sample[probes],
        m=m,
        R=R,
        h=1.0,
        contexts=[forced.from_sample(sample, probe=i, replacement=False) for i in probes],
        rngs=[stream(2, "same", "event", i) for i in probes],
    )
    for name in MATCHED_ESTIMATORS:
        np.testing.assert_allclose(scores[name].mean, fast[name].mean, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(scores[name].scatter, fast[name].scatter, rtol=1e-6)


def test_any_function_takes_the_same_way(sample, reference):
    """A statistic written as a plain function of a batch, event by event."""
    background = EmpiricalBackground(BANK, reference)

    def plain(batch):
        k = BANK(batch, batch)
        m = len(batch)
        pairs = (k.sum() - m) / (m * (m - 1))
        return pairs - 2 * background.mean_embedding(batch).mean() + background.K_BB

    arguments = {"m": 6, "R": 20, "seed": 4, "probes": [3, 5]}
    own = localize.localize(Own(plain, "plain").prepare(reference), sample, **arguments)
    house = localize.localize(MMD(BANK.bandwidths).prepare(reference), sample, **arguments)
    for name in MATCHED_ESTIMATORS:
        np.testing.assert_allclose(own[name].mean, house[name].mean, atol=1e-12)


# --- how the work is cut ----------------------------------------------------------------


def same(one: ForcedScores, other: ForcedScores) -> None:
    for name in MATCHED_ESTIMATORS:
        assert one[name].contexts == other[name].contexts
        np.testing.assert_array_equal(one[name].mean, other[name].mean)
        np.testing.assert_array_equal(one[name].scatter, other[name].scatter)


def test_cutting_by_events_changes_no_byte():
    sample = stream(1, "cut").standard_normal((2500, 1))
    statistic = vectorised(lambda x: x.std(axis=-1))
    arguments = {"m": 2000, "R": 60, "seed": 8, "replacement": True}
    probes = [0, 1, 17, 2499]
    whole = localize.localize(statistic, sample, probes=probes, **arguments)

    parts = [
        localize.localize(statistic, sample, probes=p, **arguments) for p in ([0], [1, 17], [2499])
    ]
    same(ForcedScores.stack(parts), whole)


def test_other_keys_and_seeds_are_other_contexts(sample, reference):
    statistic = Energy().prepare(reference)
    means = [
        localize.localize(statistic, sample, m=5, R=10, seed=seed, key=key, probes=[0])["raw"].mean
        for seed, key in ((1, ()), (1, ("other",)), (2, ()))
    ]
    assert len({float(mean[0]) for mean in means}) == 3


def test_the_order_of_the_probes_is_kept(sample, reference):
    statistic = Energy().prepare(reference)
    forwards = localize.localize(statistic, sample, m=5, R=10, seed=1, probes=[2, 9])
    backwards = localize.localize(statistic, sample, m=5, R=10, seed=1, probes=[9, 2])
    np.testing.assert_array_equal(forwards["raw"].mean, backwards["raw"].mean[::-1])


def test_an_event_is_never_its_own_companion():
    """The event is the only one that is not 0, so the batch's sum is the event."""
    sample = np.zeros((6, 1))
    sample[2] = 1.0
    scores = localize.localize(
        vectorised(lambda x: x.sum(axis=-1)), sample, m=5, R=20, seed=1, probes=[2]
    )
    assert scores["raw"].mean[0] == 1.0
    assert scores["raw"].scatter[0] == 0.0


# --- a map ------------------------------------------------------------------------------


def test_the_field_is_the_witness_of_the_sample(sample, reference):
    """For the energy distance, drawn with replacement: (2/m) [w(x) - mean w] in the sample."""
    m, points = 8, np.array([[0.0, 0.0], [1.0, -1.0], [3.0, 3.0]])
    background = EnergyBackground(reference)
    scores = localize.field(
        Energy().prepare(reference), sample, points, m=m, R=4000, seed=6, replacement=True
    )
    w = oracles.energy_witness(points, sample, background)
    expected = 2 / m * (w - oracles.energy_witness(sample, sample, background).mean())
    for name in ("addition", "replacement"):
        assert np.all(np.abs(z_values(scores, name, expected)) < 5)


# --- bad input ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"m": 2}, "at least 2 events for energy, they hold 1"),
        ({"m": 1}, "m must be at least 2"),
        ({"m": 41}, "at least 42 events for contexts of 41 distinct companions"),
        ({"R": 0}, "R must be at least 1"),
        ({"probes": [40]}, "each of probes must be at most 39"),
        ({"probes": [-1]}, "each of probes must be at least 0"),
        ({"probes": []}, "probes must be the numbers of events"),
        ({"probes": [0.5]}, "probes must be the numbers of events"),
        ({"seed": -1}, "seed must be at least 0"),
    ],
)
def test_bad_arguments_are_refused(change, words, sample, reference):
    arguments = {"m": 5, "R": 4, "seed": 1, "probes": [0]}
    with pytest.raises(ValueError, match=words):
        localize.localize(Energy().prepare(reference), sample, **{**arguments, **change})


def test_a_statistic_that_fails_in_a_context_is_said(sample, reference):
    """It passes on most batches; the score would be a silent NaN."""

    def fragile(batch):
        return np.log(2.5 - batch[:, 0].max())

    statistic = Own(fragile, "mine:fragile").prepare(reference)
    sample[5, 0] = 2.5
    with np.errstate(divide="ignore"), pytest.raises(ValueError, match="mine:fragile must return"):
        localize.localize(statistic, sample, m=5, R=50, seed=1, probes=[5])


def test_three_events_are_needed_for_an_exact_localizer():
    with pytest.raises(ValueError, match="target must have at least 3 entries"):
        localize.pair_localization([1.0, 2.0], m=2)


def test_every_name_can_be_localized(sample, reference):
    for name in statistics.NAMES:
        statistic = statistics.by_name(name, bandwidths=[1.0]).prepare(reference)
        scores = localize.localize(statistic, sample, m=5, R=3, seed=1, probes=[0, 1])
        assert np.all(scores["addition"].standard_error > 0)
