"""Products of random features, a few rows at a time, against the matrix of features."""

import numpy as np
import pytest
from localizer.base.randomness import stream
from localizer.kernels import feature_products, features
from localizer.kernels.bank import GaussianBank
from localizer.kernels.features import feature_rows, fourier_features
from oracles import fourier_rows

X = stream(3, "test_linear").normal(size=(70, 3))
FEATURES = fourier_features(GaussianBank((0.5, 2.0)), 3, stream(3, "features"), n_per_bandwidth=33)
MATRIX = fourier_rows(FEATURES, X)


@pytest.mark.parametrize("rows", [1, 7, 70, 128])
def test_rows_are_those_of_the_matrix_whatever_the_block(rows):
    found = np.empty((70, 66), dtype=np.float32)
    for place, z in feature_rows(FEATURES, X, rows=rows):
        assert len(z) <= rows
        found[place] = z
    np.testing.assert_allclose(found, MATRIX, atol=2e-6)
    whole = next(iter(feature_rows(FEATURES, X)))[1]
    assert found.tobytes() == whole.tobytes()


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("n", [1, 7, features._STRIPE // 2 + 3])
def test_cosines_of_any_number_of_columns_and_features(d, n):
    """Fewer columns than four are padded, more are added first; features come in stripes."""
    bank = GaussianBank((0.5, 2.0))
    drawn = fourier_features(bank, d, stream(3, "columns"), n_per_bandwidth=n)
    x = stream(3, "columns", d).normal(size=(20, d))
    exact = fourier_rows(drawn, x)
    # turns of frequencies that add up to a few tens: some 1e-6 of a turn in float32
    for dtype, error in ((np.float32, 2e-5), (np.float64, 2e-14)):
        (_, z), *_ = feature_rows(drawn, x, dtype=dtype)
        assert z.dtype == dtype
        np.testing.assert_allclose(z, exact, rtol=0, atol=error * np.sqrt(2 / drawn.D))


def test_means_and_projections():
    weights = stream(3, "weights").normal(size=(70, 4))
    directions = stream(3, "directions").normal(size=(5, 66))
    means = feature_products.weighted_means(FEATURES, X, weights)
    np.testing.assert_allclose(means, weights.T @ MATRIX / 70, atol=1e-6)
    np.testing.assert_allclose(
        feature_products.plain_mean(FEATURES, X), MATRIX.mean(axis=0), atol=1e-6
    )
    found = feature_products.projections(FEATURES, X, directions)
    np.testing.assert_allclose(found, MATRIX @ directions.T, atol=1e-5)


@pytest.mark.parametrize(
    ("n", "group"), [(70, 1), (70, 7), (70, 16), (70, 70), (70, 99), (301, 150)]
)
def test_sums_of_groups(n, group, monkeypatch):
    """Whatever divides whatever, and blocks of sums that fill up on the way."""
    monkeypatch.setattr(feature_products, "_SUMS", 130)
    x = stream(3, "groups").normal(size=(n, 3))
    z = fourier_rows(FEATURES, x)
    expected = [z[k : k + group].sum(axis=0) for k in range(0, n, group)]
    found = [block.copy() for block in feature_products.sums_of_groups(FEATURES, x, group=group)]
    np.testing.assert_allclose(np.concatenate(found), expected, atol=2e-5)


def test_sums_of_groups_in_many_blocks():
    x = stream(3, "groups").normal(size=(2 * feature_products._SUMS + 5, 3))
    found = [block.copy() for block in feature_products.sums_of_groups(FEATURES, x, group=1)]
    assert len(found) == 3
    np.testing.assert_allclose(np.concatenate(found), FEATURES.transform(x), atol=2e-6)


def test_bad_input():
    with pytest.raises(ValueError, match="x must have 3 features, it has 2"):
        next(feature_rows(FEATURES, X[:, :2]))
    with pytest.raises(ValueError, match="one row for each of the 70 events"):
        feature_products.weighted_means(FEATURES, X, np.ones((3, 1)))
    with pytest.raises(ValueError, match="directions must have 66 features"):
        feature_products.projections(FEATURES, X, np.ones((1, 2)))


RUN = """
import hashlib, sys
sys.path.insert(0, "workflow")
from localizer.kernels.features import feature_rows
from localizer.kernels.features import fourier_features
from localizer.kernels.bank import GaussianBank
from localizer.base.randomness import stream
for d in (2, 4, 7):
    features = fourier_features(GaussianBank((0.5, 2.0)), d, stream(3, d), n_per_bandwidth=333)
    for _, z in feature_rows(features, stream(3, "x").normal(size=(90, d))):
        print(hashlib.sha256(z.tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_compiled_and_cached_code_give_the_same_bytes(fresh_and_cached):
    fresh, cached = fresh_and_cached(RUN)
    assert fresh
    assert fresh == cached
