"""The studentized multiscale witness. A z-test fails by chance once in 1.7 million (|z| > 5)."""

import numpy as np
import pytest
from localizer.base import threads as base_threads
from localizer.base.randomness import stream
from localizer.estimators import studentized as module
from localizer.estimators.studentized import (
    LADDER,
    StudentizedFeatures,
    rff_studentized,
    studentized,
    studentized_witness,
)
from localizer.estimators.weights import Weights, worth
from localizer.kernels import feature_means
from localizer.kernels.bank import GaussianBank
from localizer.kernels.feature_means import feature_mean
from localizer.kernels.features import fourier_features
from localizer.kernels.moments import kernel_moments
from scipy.spatial.distance import cdist

H = (0.3, 0.6, 1.7)


def draw(*key, n=20, d=2):
    return stream(8, "test_studentized", *key).normal(size=(n, d))


def by_definition(x, y, bandwidths):
    """Return the evidence by loops over the definition."""
    N, M = len(x), len(y)
    square = cdist(x, np.concatenate([x, y]), "sqeuclidean")
    found = []
    for i in range(N):
        z = []
        for h in bandwidths:
            k = np.exp(-square[i] / (2 * h * h))
            loo = np.delete(k[:N], i).mean() - k[N:].mean()
            error = np.sqrt(k.var() * (1 / (N - 1) + 1 / M))
            z.append(loo / error if error > 0 else 0.0)
        found.append(np.mean(z))
    return np.array(found)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exact_by_definition(dtype):
    x, y = draw("x"), draw("y", n=33)
    found = studentized_witness(x, y, H, dtype=dtype)
    expected = by_definition(x, y, H)
    np.testing.assert_allclose(found, expected, rtol=1e-9 if dtype is np.float64 else 1e-4)
    assert (expected > 0).any()
    assert (expected < 0).any()


def test_an_isolated_event_has_no_evidence():
    x, y = draw("x"), draw("y", n=33)
    x[3] = 1e6
    found = studentized_witness(x, y, LADDER)
    assert found[3] == 0
    assert np.isfinite(found).all()
    # a neighbour so far that its kernel is tiny is hardly one
    near = np.concatenate([x, x[3:4] + 0.6])
    assert 0 < studentized_witness(near, y, (0.1,))[3] < 1e-6


def test_equal_events_have_equal_evidence_and_are_neighbours():
    x, y = draw("x"), draw("y", n=33)
    twins = np.concatenate([x, x[:1]])
    found = studentized_witness(twins, y, LADDER)
    assert found[0] == found[-1]
    assert found[0] > studentized_witness(x, y, LADDER)[0]
    np.testing.assert_allclose(found, by_definition(twins, y, LADDER), rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_events_that_are_all_equal_have_none(dtype):
    x = np.full((30, 2), 0.1)
    assert not studentized_witness(x, x[:7], LADDER, dtype=dtype).any()
    # bandwidths so wide that all kernels are 1, but for a few roundings or exactly
    for h in {np.float64: (3e4, 1e6, 1e8), np.float32: (1e3, 1e4, 1e8)}[dtype]:
        assert not studentized_witness(draw("x"), draw("y"), (h,), dtype=dtype).any()


def test_the_sign_tells_an_excess_from_a_deficit():
    x, y = draw("x", n=300), draw("y", n=300)
    x[:60] = 2 + 0.2 * x[:60]
    y[:60] = -2 + 0.2 * y[:60]
    found = studentized_witness(x, y, LADDER)
    assert found[:60].min() > 2
    low = np.linalg.norm(x + 2, axis=1) < 0.3
    assert low.any()
    assert found[low].max() < -2


@pytest.mark.simulation
def test_every_scale_has_mean_0_and_variance_1_under_the_null():
    """Given the pooled events, over the ways to divide them.

    The variance is 1 but for the pooled variance, which holds the event itself, and n for n - 1.
    """
    pooled, N, R = draw("pooled", n=70), 30, 1500
    rng = stream(8, "test_studentized", "null")
    found = {h: [] for h in H}
    for _ in range(R):
        # the first event stays in the sample
        mixed = np.concatenate([pooled[:1], pooled[1:][rng.permutation(69)]])
        for h in H:
            found[h].append(studentized_witness(mixed[:N], mixed[N:], (h,))[0])
    for h, values in found.items():
        z = np.array(values)
        assert abs(z.mean()) / (z.std() / np.sqrt(R)) < 5
        k = np.exp(-(cdist(pooled[:1], pooled, "sqeuclidean")[0]) / (2 * h * h))
        expected = k[1:].var(ddof=1) / k.var()
        squares = z**2
        assert abs(squares.mean() - expected) / (squares.std() / np.sqrt(R)) < 5


# --- weights ------------------------------------------------------------------------------


def weighted(x, y, u, v, bandwidths):
    weights = Weights(u, v)
    inside = kernel_moments(x, x, bandwidths[:1], each=bandwidths, weights=u)
    outside = kernel_moments(x, y, bandwidths[:1], each=bandwidths, weights=v)
    return studentized(inside, outside, weights)


def test_equal_weights_change_nothing():
    x, y = draw("x"), draw("y", n=33)
    plain = studentized_witness(x, y, H)
    np.testing.assert_allclose(weighted(x, y, np.full(20, 3.0), np.full(33, 0.1), H), plain)
    assert worth(np.full(33, 0.1)) == pytest.approx(33)


def test_weights_by_definition():
    x, y = draw("x"), draw("y", n=33)
    rng = stream(8, "test_studentized", "weights")
    u, v = rng.uniform(0.5, 2, size=20), rng.uniform(-0.3, 2, size=33)
    n, m = (w.sum() ** 2 / (w**2).sum() for w in (u, v))
    expected = []
    for i in range(20):
        z = []
        for h in H:
            k, c = (np.exp(-cdist(x[i : i + 1], t, "sqeuclidean")[0] / (2 * h * h)) for t in (x, y))
            others = np.delete(np.arange(20), i)
            loo = np.average(k[others], weights=u[others]) - np.average(c, weights=v)
            p, q = (
                (n * np.average(k**r, weights=u) + m * np.average(c**r, weights=v)) / (n + m)
                for r in (1, 2)
            )
            left = u[others].sum() ** 2 / (u[others] ** 2).sum()
            z.append(loo / np.sqrt((q - p * p) * (1 / left + 1 / m)))
        expected.append(np.mean(z))
    np.testing.assert_allclose(weighted(x, y, u, v, H), expected, rtol=1e-9)


def test_negative_weights_leave_no_nan():
    """Where the reference's weights cancel, the event's own part keeps the error above zero."""
    x, y = draw("x"), np.repeat(draw("y", n=10), 2, axis=0)
    v = np.tile([1.0, -0.9], 10)
    found = weighted(x, y, np.ones(20), v, LADDER)
    assert np.isfinite(found).all()
    # an excess where the reference's sum is negative is one, of a size that an error bounds
    y = np.concatenate([x[:1] + 0.01, x[:1] + 0.02, y])
    v = np.concatenate([[-1.0, -1.0], np.full(20, 2.0)])
    share = worth(np.ones(20)) / (worth(np.ones(20)) + worth(v)) / 20
    p = share * 20 / 20 + (1 - share * 20) * -2 / v.sum()
    expected = (2 / v.sum()) / np.sqrt(share * (1 - p) ** 2 * (1 / 19 + 1 / worth(v)))
    assert weighted(x, y, np.ones(20), v, (1e-1,))[0] == pytest.approx(expected, rel=0.1)


# --- random features ------------------------------------------------------------------------


def features(n, x, y):
    z = fourier_features(
        GaussianBank(H), 2, stream(8, "test_studentized", "z"), n_per_bandwidth=n, form="paired"
    )
    return StudentizedFeatures.of(z, np.concatenate([x, y]), bandwidths=len(H))


def rff(n, x, y):
    found = features(n, x, y)
    mean, mean_reference = feature_mean(found.z, x), feature_mean(found.z, y)
    return rff_studentized(found, x, mean, mean_reference, Weights.none(len(x), len(y)))


def test_features_by_definition():
    """The features' kernel in the place of the kernel."""
    x, y = draw("x"), draw("y", n=33)
    found = features(8, x, y)
    pooled = np.concatenate([x, y])
    rows = found.z.transform(pooled, dtype=np.float64)
    expected = np.zeros(20)
    for h in range(len(H)):
        part = rows[:, 8 * h : 8 * h + 8] * np.sqrt(len(H))
        k = part[:20] @ part.T
        for i in range(20):
            loo = np.delete(k[i, :20], i).mean() - k[i, 20:].mean()
            expected[i] += loo / np.sqrt(k[i].var() * (1 / 19 + 1 / 33)) / len(H)
    np.testing.assert_allclose(rff(8, x, y), expected, rtol=1e-3, atol=1e-4)


def test_more_features_come_closer():
    """The mean square of the difference falls as one over the number of features."""
    x, y = draw("x"), draw("y", n=33)
    exact = studentized_witness(x, y, H)
    few, many = (np.mean(np.square(rff(n, x, y) - exact)) for n in (16, 400))
    assert many < few / 5
    assert many < 0.1 * exact.var()


def test_features_with_weights():
    """Weights of a pooled event go into its covariance; equal weights change nothing."""
    x, y = draw("x"), draw("y", n=33)
    z = features(8, x, y).z
    pooled, w = np.concatenate([x, y]), stream(8, "w").uniform(0.2, 2, size=53)
    found = StudentizedFeatures.of(z, pooled, bandwidths=len(H), weights=w)
    rows = z.transform(pooled, dtype=np.float64).reshape(53, len(H), 8)
    for h, root in enumerate(found.roots.astype(float)):
        expected = np.cov(rows[:, h].T * len(H), aweights=w, ddof=0)
        np.testing.assert_allclose(root @ root.T, expected, atol=1e-5)
    np.testing.assert_allclose(
        found.mean, np.average(rows.reshape(53, -1), axis=0, weights=w), atol=1e-6
    )


def test_threads_change_no_byte(monkeypatch):
    monkeypatch.setattr(feature_means, "CHUNK", 16)
    monkeypatch.setattr(module, "_ROWS", 8)
    x, y = draw("x", n=70), draw("y", n=50)
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(base_threads, "get_num_threads", lambda threads=threads: threads)
        found.append((rff(8, x, y).tobytes(), studentized_witness(x, y, H).tobytes()))
    assert found[0] == found[1] == found[2]
