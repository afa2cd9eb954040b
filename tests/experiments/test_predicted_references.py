"""References that are not at hand: their predicted law, and a closure test."""

import numpy as np
import pytest
from localizer.base.randomness import stream
from localizer.estimators.witness import rff_loo
from localizer.experiments import predicted_references
from localizer.experiments.experiment3 import Coordinates, performance
from localizer.kernels.bank import GaussianBank
from localizer.kernels.feature_products import plain_mean
from localizer.kernels.features import feature_rows, fourier_features
from scipy import stats

BANK = GaussianBank((0.3, 0.8))


def bank_of(seed, n=16):
    return fourier_features(BANK, 4, stream(seed, "test", "features"), n_per_bandwidth=n)


def table(features, x):
    return np.concatenate([z.copy() for _, z in feature_rows(features, x)]).astype(float)


def background(rng, n):
    return rng.uniform(size=(n, 4))


def test_mean_and_covariance_are_those_of_the_prediction():
    rng = np.random.default_rng(1)
    features = bank_of(1, n=4)
    pool, n = background(rng, 600), 200
    found = predicted_references.predicted_means(features, pool, rng, n=n, draws=20_000)
    z = table(features, pool)
    expected = np.cov(z.T, ddof=0) * (1 / n + 1 / 600)
    drawn = np.cov(found.means.T)
    assert found.means.mean(axis=0) == pytest.approx(
        z.mean(axis=0), abs=5e-3 * np.sqrt(expected.max()) * 7
    )
    assert np.abs(drawn - expected).max() < 0.05 * expected.max()


def means_by_hand(z, weights, spread):
    """Return the mean of a pool of P events, moved by its weighted sum about that mean."""
    mean = z.mean(axis=0)
    return mean + spread / len(z) * weights.T @ (z - mean)


@pytest.mark.parametrize("groups", [30, 1000])
def test_an_event_has_no_part_in_what_it_is_scored_with(groups):
    """By hand: the pool's mean, its weighted sum and the sample's mean without each event."""
    rng = np.random.default_rng(2)
    features, sample = bank_of(2), sample_of(rng, reference=60)
    pool = predicted_references.pool_of(sample)
    predicted = predicted_references.predicted_means(
        features, pool, rng, n=50, draws=3, groups=groups
    )
    z = table(features, pool)
    weights = predicted.pool.weights[predicted.pool.group_of].astype(float)
    by_hand = means_by_hand(z, weights, predicted.spread)
    assert predicted.means == pytest.approx(by_hand, abs=1e-6)
    _, found = predicted_references.products_and_evaluation(
        features, sample, predicted, np.empty((0, features.D)), bandwidths=2, published_background=9
    )
    mixed = table(features, sample.mixed)
    (background_rows,) = np.nonzero(~sample.labels)
    for event in (0, 5, 359, 360, 411, len(pool) - 1):
        others = np.arange(len(pool)) != event
        reference = means_by_hand(z[others], weights[others], predicted.spread)
        kept = np.ones(len(mixed), dtype=bool)
        if event < 360:
            kept[background_rows[event]] = False
        expected = (mixed[kept].mean(axis=0) - reference) @ z[event]
        assert found.scores[event] == pytest.approx(expected, abs=3e-7)
        if event >= 360:  # each bandwidth has half of the features
            half = (mixed.mean(axis=0) - reference)[:, 16:] @ z[event, 16:]
            assert found.single[event - 360, 1] == pytest.approx(half, abs=3e-7)
    # what leaving out corrects is a hundred times larger
    plain = (mixed.mean(axis=0) - predicted.means) @ z[5]
    assert np.abs(found.scores[5] - plain).max() > 3e-5


def test_a_reference_that_is_known_has_no_event_to_leave_out():
    rng = np.random.default_rng(3)
    features, sample = bank_of(3), sample_of(rng, reference=60)
    known = predicted_references.PredictedMeans(plain_mean(features, background(rng, 70))[None])
    _, found = predicted_references.products_and_evaluation(
        features, sample, known, np.empty((0, features.D)), bandwidths=2, published_background=9
    )
    z = table(features, predicted_references.pool_of(sample))
    mean = plain_mean(features, sample.mixed)
    loo = rff_loo(z[:360], mean, known.means[0], N=400)
    assert found.scores[:360, 0] == pytest.approx(loo, abs=1e-6)
    assert found.scores[360:-30, 0] == pytest.approx(z[360:] @ (mean - known.means[0]), abs=1e-6)


def test_groups_keep_the_covariance():
    """Shared weights in groups of about 8 events give the same law as weights of one's own."""
    rng = np.random.default_rng(4)
    features = bank_of(4, n=2)
    pool, spreads = background(rng, 4000), []
    for groups in (500, 4000):
        drawn = [
            predicted_references.predicted_means(
                features, pool, rng, n=1000, draws=200, groups=groups
            ).means
            for _ in range(20)
        ]
        spreads.append(np.concatenate(drawn).std(axis=0))
    assert spreads[0] == pytest.approx(spreads[1], rel=0.08)


def sample_of(rng, *, reference, mixed=400, signal=40):
    near = 0.5 + 0.1 * rng.standard_normal((signal + 30, 4))
    labels = rng.permutation(mixed) < signal  # in no order
    events = background(rng, mixed)
    events[labels] = near[:signal]
    return Coordinates(
        mixed=events,
        labels=labels,
        reference=background(rng, reference),
        evaluation_background=background(rng, 50),
        evaluation_signal=near[signal:],
    )


def test_products_in_the_mixed_sample_and_scores_of_signal():
    rng = np.random.default_rng(5)
    features, sample = bank_of(5), sample_of(rng, reference=60)
    pool = predicted_references.pool_of(sample)
    predicted = predicted_references.predicted_means(features, pool, rng, n=80, draws=3)
    others = rng.normal(size=(2, features.D))
    products, found = predicted_references.products_and_evaluation(
        features, sample, predicted, others, bandwidths=2, published_background=1000
    )
    mean = plain_mean(features, sample.mixed)
    directions = mean - predicted.means
    plain = np.concatenate([directions, others])
    assert products == pytest.approx(table(features, sample.mixed) @ plain.T, abs=3e-6)
    assert found.scores.shape == (len(pool) + 30, 3)
    assert found.fraction == len(pool) / 1000
    assert found.labels.tolist() == [False] * len(pool) + [True] * 30
    signal = table(features, sample.evaluation_signal)
    assert found.scores[-30:] == pytest.approx(signal @ directions.T, abs=1e-6)
    half = signal[:, 16:] @ directions[:, 16:].T
    assert found.single[-30:, 1] == pytest.approx(half, abs=1e-6)
    assert found.single.shape == (len(pool) - 360 + 30, 2, 3)
    assert found.single_labels.sum() == 30


def test_a_floor_is_the_same_fraction_of_the_background():
    rng = np.random.default_rng(8)
    features, sample = bank_of(8), sample_of(rng, reference=60)
    pool = predicted_references.pool_of(sample)
    predicted = predicted_references.predicted_means(features, pool, rng, n=80, draws=2)
    draws = predicted_references.draws_of_predicted(
        features, sample, predicted, rng, points=(), bandwidths=2, published_background=1000
    )
    assert {name: heads.about.tolist() for name, heads in draws.heads.items()} == {
        "witness": [40, 360, 1],
        "evaluation": [30, len(pool), len(pool) / 1000],
    }


@pytest.mark.simulation
def test_closure_a_hidden_reference_lies_where_it_is_predicted():
    """The rank of the truth is uniform: Kolmogorov-Smirnov over 200 samples, 1e-6 false alarms."""
    ranks = {"auc": [], "variance": []}
    for number in range(200):
        rng = np.random.default_rng((6, number))
        features = bank_of(number)
        sample, hidden = sample_of(rng, reference=350), background(rng, 500)
        predicted = predicted_references.predicted_means(
            features, predicted_references.pool_of(sample), rng, n=500, draws=99
        )
        z = table(features, sample.mixed)
        mean = z.mean(axis=0)

        def measured(reference, z=z, mean=mean, labels=sample.labels):
            w = z @ (mean - reference)
            return {"auc": performance(w, labels, sic_floor=5)["auc"], "variance": w.var()}

        truth = measured(plain_mean(features, hidden))
        drawn = [measured(each) for each in predicted.means]
        for name, found in ranks.items():
            below = sum(draw[name] < truth[name] for draw in drawn)
            found.append((below + 0.5) / 100)
    for name, found in ranks.items():
        assert stats.kstest(found, "uniform").pvalue > 1e-6, name
