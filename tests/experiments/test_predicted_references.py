"""References that are not at hand: their predicted law, and a closure test."""

import numpy as np
import pytest
from localizer.base.randomness import stream
from localizer.estimators.witness import rff_loo
from localizer.experiments import predicted_references
from localizer.experiments.experiment3 import Coordinates, performance
from localizer.kernels.bank import GaussianBank
from localizer.kernels.feature_products import feature_rows, plain_mean
from localizer.kernels.features import fourier_features
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
    found = predicted_references.predicted_means(features, pool, rng, n=n, draws=20_000, folds=3)
    z = table(features, pool)
    expected = np.cov(z.T, ddof=0) * (1 / n + 1 / 600)
    drawn = np.cov(found.means.T)
    assert found.means.mean(axis=0) == pytest.approx(
        z.mean(axis=0), abs=5e-3 * np.sqrt(expected.max()) * 7
    )
    assert np.abs(drawn - expected).max() < 0.05 * expected.max()


def test_a_held_out_fold_has_no_part_in_its_means():
    rng = np.random.default_rng(2)
    features = bank_of(2)
    pool = background(rng, 90)
    streams = [np.random.default_rng(7) for _ in range(2)]
    words = {"n": 50, "draws": 4, "folds": 3, "groups": 30}
    found = predicted_references.predicted_means(features, pool, streams[0], **words)
    moved = np.where((found.fold_of == 1)[:, None], 0.5 * pool, pool)
    again = predicted_references.predicted_means(features, moved, streams[1], **words)
    np.testing.assert_array_equal(found.fold_of, again.fold_of)
    np.testing.assert_allclose(found.held_out[1], again.held_out[1], rtol=1e-6, atol=1e-9)
    assert np.abs(found.held_out[0] - again.held_out[0]).max() > 1e-3
    assert np.abs(found.means - again.means).max() > 1e-3


def test_the_folds_divide_the_pool_evenly():
    rng = np.random.default_rng(3)
    found = predicted_references.predicted_means(
        bank_of(3), background(rng, 1000), rng, n=10, draws=1, folds=4, groups=200
    )
    assert np.bincount(found.fold_of).tolist() == [250, 250, 250, 250]


def test_groups_keep_the_covariance():
    """Shared weights in groups of about 8 events give the same law as weights of one's own."""
    rng = np.random.default_rng(4)
    features = bank_of(4, n=2)
    pool, spreads = background(rng, 4000), []
    for groups in (500, 4000):
        drawn = [
            predicted_references.predicted_means(
                features, pool, rng, n=1000, draws=200, folds=2, groups=groups
            ).means
            for _ in range(20)
        ]
        spreads.append(np.concatenate(drawn).std(axis=0))
    assert spreads[0] == pytest.approx(spreads[1], rel=0.08)


def sample_of(rng, *, reference, mixed=400, signal=40):
    near = 0.5 + 0.1 * rng.standard_normal((signal + 30, 4))
    events = np.concatenate([background(rng, mixed - signal), near[:signal]])
    return Coordinates(
        mixed=events,
        labels=np.arange(mixed) >= mixed - signal,
        reference=background(rng, reference),
        evaluation_background=background(rng, 50),
        evaluation_signal=near[signal:],
    )


def test_held_out_scores_by_hand():
    rng = np.random.default_rng(5)
    features, sample = bank_of(5), sample_of(rng, reference=60)
    pool = predicted_references.pool_of(sample)
    predicted = predicted_references.predicted_means(features, pool, rng, n=80, draws=3, folds=4)
    found = predicted_references.held_out(
        features, sample, predicted, bandwidths=2, published_background=1000
    )
    assert found.scores.shape == (len(pool) + 30, 3)
    assert found.labels.sum() == 30
    assert found.fraction == len(pool) / 1000
    mean = plain_mean(features, sample.mixed)
    z = table(features, np.concatenate([pool, sample.evaluation_signal]))
    for event, own in ((5, "mixed"), (360 + 7, "other"), (len(pool) + 6, "signal")):
        fold = predicted.fold_of[event] if event < len(pool) else 6 % 4
        for k in range(3):
            reference = predicted.held_out[fold, k]
            expected = (
                rff_loo(z[[event]], mean, reference, N=400)[0]
                if own == "mixed"
                else z[event] @ (mean - reference)
            )
            assert found.scores[event, k] == pytest.approx(expected, abs=2e-6)
            if own != "mixed":  # the second half of the features is the second bandwidth
                half = z[event, 16:] @ (mean - reference)[16:]
                assert found.single[event - 360, 1, k] == pytest.approx(half, abs=2e-6)
    assert found.single.shape == (len(pool) - 360 + 30, 2, 3)
    assert found.single_labels.sum() == 30


@pytest.mark.simulation
def test_closure_a_hidden_reference_lies_where_it_is_predicted():
    """The rank of the truth is uniform: Kolmogorov-Smirnov over 200 samples, 1e-6 false alarms."""
    ranks = {"auc": [], "variance": []}
    for number in range(200):
        rng = np.random.default_rng((6, number))
        features = bank_of(number)
        sample, hidden = sample_of(rng, reference=350), background(rng, 500)
        predicted = predicted_references.predicted_means(
            features, predicted_references.pool_of(sample), rng, n=500, draws=99, folds=2
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
