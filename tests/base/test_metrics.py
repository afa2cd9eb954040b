"""Ranks, AUC, ROC and SIC, against textbook forms that compare every pair."""

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from localizer.base import metrics
from localizer.base.randomness import stream
from localizer.models.gaussian import GaussianBenchmark
from scipy import stats

MODEL = GaussianBenchmark(mean=(1.5, 0.0), sigma_s=0.5, epsilon=0.02, h=1.0)

# few distinct values, so that ties abound
events = st.lists(
    st.tuples(st.integers(0, 6).map(float), st.booleans()), min_size=4, max_size=40
).filter(lambda e: len({label for _, label in e}) == 2 and len({score for score, _ in e}) > 1)


def split(sample):
    scores, labels = zip(*sample, strict=True)
    return np.array(scores), np.array(labels)


def pairwise_auc(scores, labels):
    """Count, over all pairs, how often signal outranks background."""
    difference = scores[labels][:, None] - scores[~labels][None, :]
    return np.mean((difference > 0) + 0.5 * (difference == 0))


@given(events)
def test_auc_counts_pairs(sample):
    scores, labels = split(sample)
    assert metrics.auc(scores, labels) == pytest.approx(pairwise_auc(scores, labels), abs=1e-14)


@given(events)
def test_auc_is_invariant_and_antisymmetric(sample):
    scores, labels = split(sample)
    area = metrics.auc(scores, labels)
    assert metrics.auc(np.exp(scores), labels) == area
    assert metrics.auc(scores[::-1], labels[::-1]) == area
    assert metrics.auc(-scores, labels) == pytest.approx(1 - area, abs=1e-14)


@given(events)
def test_auc_is_the_area_under_the_roc(sample):
    scores, labels = split(sample)
    ranking = metrics.ranking(scores, labels)
    false, true = ranking.roc()
    assert np.trapezoid(true, false) == pytest.approx(ranking.auc, abs=1e-14)
    assert (false[0], true[0], false[-1], true[-1]) == (0, 0, 1, 1)
    assert (np.diff(false) >= 0).all()
    assert (np.diff(true) >= 0).all()


@given(events, st.integers(1, 5))
def test_sic_tries_every_threshold(sample, floor):
    scores, labels = split(sample)
    if (~labels).sum() < floor:
        return
    found, at = metrics.ranking(scores, labels).sic(floor=floor)
    tried = []
    for threshold in np.unique(scores):
        kept = scores >= threshold
        if (kept & ~labels).sum() >= floor:
            eps_s, eps_b = kept[labels].mean(), kept[~labels].mean()
            tried.append((eps_s / np.sqrt(eps_b), threshold))
    assert found == pytest.approx(max(tried)[0])
    assert at in {threshold for value, threshold in tried if value == pytest.approx(found)}


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30))
def test_average_ranks(values):
    assert metrics.average_ranks(values).tolist() == stats.rankdata(values).tolist()


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=20, unique=True))
def test_correlation(values):
    x = np.array(values)
    y = np.cos(np.arange(x.size) + x)
    if np.ptp(x) < 1e-6 or np.ptp(y) < 1e-6:
        return
    assert metrics.correlation(x, y) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)
    assert metrics.correlation(x, x) == pytest.approx(1)
    assert metrics.correlation(x, -2 * x + 1) == pytest.approx(-1)


def likelihood_ratio_auc():
    """Compare distances from the circles' centre mu / (1 - sigma_s^2), exactly.

    The level sets of s/b are circles, so the AUC is P(|X_S - c| < |X_B - c|), one
    integral over noncentral chi-squared laws.
    """
    mean, variance = np.array(MODEL.mean), MODEL.sigma_s**2
    centre = mean / (1 - variance)
    of_signal = stats.ncx2(2, np.sum((mean - centre) ** 2) / variance, scale=variance)
    of_background = stats.ncx2(2, np.sum(centre**2))
    midpoints = (np.arange(20000) + 0.5) / 20000
    return float(np.mean(of_background.sf(of_signal.ppf(midpoints))))


def test_population_auc_of_the_likelihood_ratio():
    found = oracles.population_auc(MODEL, MODEL.log_likelihood_ratio)
    assert found == pytest.approx(likelihood_ratio_auc(), abs=2e-5)


def test_population_auc_converges():
    coarse = oracles.population_auc(MODEL, MODEL.witness, cells=700)
    fine = oracles.population_auc(MODEL, MODEL.witness)
    assert coarse == pytest.approx(fine, abs=2e-5)


def test_population_auc_is_the_mean_of_toys():
    """|z| < 5: a false alarm once in 1.7 million seeds."""
    rng = stream(5, "test_metrics")
    areas = []
    for _ in range(200):
        signal = np.array([1.5, 0]) + rng.normal(0, 0.5, (40, 2))
        x = np.concatenate([rng.standard_normal((400, 2)), signal])
        areas.append(metrics.auc(MODEL.witness(x), np.arange(440) >= 400))
    z = (np.mean(areas) - oracles.population_auc(MODEL, MODEL.witness)) / (
        np.std(areas, ddof=1) / np.sqrt(len(areas))
    )
    assert abs(z) < 5


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: metrics.auc([1, 1, 1], [0, 1, 0]), "scores must not all be the same"),
        (lambda: metrics.auc([1, np.nan], [0, 1]), "scores must be finite"),
        (lambda: metrics.auc([1, 2], [1, 1]), "there is no background"),
        (lambda: metrics.auc([1, 2, 3], [0, 1]), "labels must have 3 entries"),
        (lambda: metrics.max_sic([1, 2, 3], [0, 1, 0], floor=3), "floor must be at most 2"),
        (lambda: metrics.max_sic([1, 2, 3], [0, 1, 0], floor=0), "floor must be at least 1"),
        (lambda: metrics.correlation([1, 1], [1, 2]), "one must not be constant"),
        (lambda: metrics.correlation([1, 2], [1, 2, 3]), "other must have 2 entries"),
    ],
)
def test_bad_input(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def test_the_population_auc_counts_pairs_of_cells_and_half_of_the_same_cell():
    axis = np.linspace(-4, 4, 13)[:-1] + 4 / 12
    x = np.array([(a, b) for a in axis for b in axis])
    b = np.exp(-0.5 * np.sum(x**2, axis=1))
    s = np.exp(-0.5 * np.sum((x - [1.5, 0.0]) ** 2, axis=1) / 0.25)
    score = x @ [1.0, 0.01]
    above = (score[:, None] > score) + 0.5 * np.eye(len(x))
    exact = s @ above @ b / (s.sum() * b.sum())
    found = oracles.population_auc(MODEL, lambda x: x @ [1.0, 0.01], half_width=4.0, cells=12)
    assert found == pytest.approx(exact, rel=1e-12)
