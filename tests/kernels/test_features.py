"""Random Fourier features. A z-test fails by chance with |z| > 5, once in 1.7 million."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from localizer.base.randomness import stream
from localizer.kernels import features as module
from localizer.kernels.bank import GaussianBank
from localizer.kernels.compression import FeatureMoments, centred_moments, compress
from localizer.kernels.features import FourierFeatures, fourier_features

BANK = GaussianBank((0.5, 1.0, 3.0))
FORMS = ["offset", "paired"]


def rng(*key):
    return stream(9, "test_features", *key)


def events(*key, n=40, d=3):
    return rng("events", *key).normal(size=(n, d))


@pytest.mark.parametrize("form", FORMS)
def test_products_have_the_mean_and_the_variance_of_their_kernel(form):
    x, y = events("pair", n=1), events("pair", "y", n=1)
    n, draws = 64, 2000
    generator = rng("draws", form)
    values = np.empty(draws)
    for r in range(draws):
        drawn = fourier_features(BANK, 3, generator, n_per_bandwidth=n, form=form)
        zx, zy = (drawn.transform(at, dtype=np.float64)[0] for at in (x, y))
        values[r] = zx @ zy
    k = [GaussianBank((h,))(x, y).item() for h in BANK.bandwidths]
    twice = [GaussianBank((h / 2,))(x, y).item() for h in BANK.bandwidths]  # k(2x, 2y)
    expected = np.mean(k)
    # Var cos(w.t) = (1 + k(2t))/2 - k(t)^2; an offset adds 1/2 for each of twice as many terms
    of_term = np.array([(1 + b) / 2 - a**2 for a, b in zip(k, twice, strict=True)])
    variance = np.mean((of_term + 0.5) / n if form == "offset" else of_term / (n / 2)) / len(k)
    assert abs(values.mean() - expected) < 5 * np.sqrt(variance / draws)
    assert abs(values.var() / variance - 1) < 5 * np.sqrt(2 / draws) * 1.2


def test_paired_features_have_unit_length():
    drawn = fourier_features(BANK, 3, rng("unit"), n_per_bandwidth=10, form="paired")
    z = drawn.transform(events("unit"), dtype=np.float64)
    np.testing.assert_allclose(np.sum(z**2, axis=1), 1, rtol=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_features_one_by_one(form):
    drawn = fourier_features(BANK, 3, rng("each", form), n_per_bandwidth=6, form=form)
    x = events("each", n=4)
    z = drawn.transform(x, dtype=np.float64)
    assert z.shape == (4, 18)
    for i in range(4):
        for j in range(18):
            phase = x[i] @ drawn.frequencies[:, j] + drawn.offsets[j]
            assert z[i, j] == pytest.approx(np.sqrt(2 / 18) * np.cos(phase), abs=1e-14)


def test_default_is_512_offset_features_a_bandwidth():
    drawn = fourier_features(BANK, 4, rng("default"))
    assert drawn.D == 3 * 512
    again = fourier_features(BANK, 4, rng("default"), n_per_bandwidth=512, form="offset")
    assert np.array_equal(drawn.frequencies, again.frequencies)
    assert np.array_equal(drawn.offsets, again.offsets)
    assert drawn.offsets.min() >= 0
    assert drawn.offsets.max() < 2 * np.pi
    assert abs(drawn.offsets.mean() / np.pi - 1) < 5 / np.sqrt(3 * drawn.D)
    # the spread of the frequencies is one over the bandwidth, in every map
    for part, h in zip(np.split(drawn.frequencies, 3, axis=1), BANK.bandwidths, strict=True):
        assert abs(part.std() * h - 1) < 5 / np.sqrt(2 * part.size)


@settings(max_examples=25, deadline=None)
@given(n=st.integers(1, 30), block=st.integers(1, 12), stripe=st.integers(1, 5))
def test_rows_do_not_depend_on_blocks(n, block, stripe):
    drawn = fourier_features(BANK, 3, rng("blocks"), n_per_bandwidth=8)
    x, centre = events("blocks", n=n), rng("centre").normal(size=drawn.D)
    for dtype in (np.float32, np.float64):
        whole = drawn.transform(x, centre=centre, dtype=dtype)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_BLOCK", block)
            patch.setattr(module, "_STRIPE", stripe)
            assert np.array_equal(drawn.transform(x, centre=centre, dtype=dtype), whole)


def test_single_precision_is_close_to_double():
    drawn = fourier_features(BANK, 3, rng("single"), n_per_bandwidth=32)
    x = events("single")
    single, double = drawn.transform(x), drawn.transform(x, dtype=np.float64)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, atol=1e-5 * np.sqrt(2 / drawn.D) * 10)


def test_centre_and_basis_are_applied_in_this_order():
    drawn = fourier_features(BANK, 3, rng("order"), n_per_bandwidth=8)
    x = events("order")
    centre, basis = rng("centre").normal(size=drawn.D), rng("basis").normal(size=(drawn.D, 5))
    z = drawn.transform(x, dtype=np.float64)
    found = drawn.transform(x, centre=centre, basis=basis, dtype=np.float64)
    np.testing.assert_allclose(found, (z - centre) @ basis, atol=1e-12)


def problem(n=60, *, form="offset"):
    drawn = fourier_features(BANK, 3, rng("problem", form), n_per_bandwidth=8, form=form)
    x = events("problem", n=n) + 0.3
    centre = drawn.transform(events("reference", n=500), dtype=np.float64).mean(axis=0)
    return drawn, x, centre


@pytest.mark.parametrize(("dtype", "atol"), [(np.float32, 1e-6), (np.float64, 1e-14)])
def test_moments_of_centred_features(dtype, atol, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 17)
    drawn, x, centre = problem()
    z = drawn.transform(x, dtype=np.float64) - centre
    moments = centred_moments(x, drawn, centre, dtype=dtype)
    assert moments.size == 60
    np.testing.assert_allclose(moments.mean, z.mean(axis=0), atol=atol)
    np.testing.assert_allclose(moments.second, z.T @ z / 60, atol=atol)
    np.testing.assert_allclose(moments.covariance, np.cov(z.T, bias=True), atol=atol)


def test_full_rank_loses_nothing():
    drawn, x, centre = problem()
    moments = centred_moments(x, drawn, centre, dtype=np.float64)
    compression = compress(moments, rank=drawn.D)
    z = drawn.transform(x, centre=centre, dtype=np.float64)
    c = drawn.transform(x, centre=centre, basis=compression.basis, dtype=np.float64)
    np.testing.assert_allclose(c @ c.T, z @ z.T, atol=1e-13)
    assert compression.trace_lost == pytest.approx(0, abs=1e-14)
    assert compression.noise_lost == pytest.approx(0, abs=1e-13)
    for replacement in (True, False):
        found = compression.target_correlation(x, drawn, centre, N=60, replacement=replacement)
        assert found == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("rank", [1, 4, 11])
def test_reported_losses_are_those_of_the_pair_kernel(rank):
    drawn, x, centre = problem()
    moments = centred_moments(x, drawn, centre, dtype=np.float64)
    compression = compress(moments, rank=rank)
    z = drawn.transform(x, centre=centre, dtype=np.float64)
    c = drawn.transform(x, centre=centre, basis=compression.basis, dtype=np.float64)
    full, kept = z @ z.T, c @ c.T
    assert compression.rank == rank
    assert c.shape == (60, rank)
    assert compression.trace_lost == pytest.approx(1 - np.trace(kept) / np.trace(full))
    assert compression.noise_lost == pytest.approx(
        1 - kept.var(axis=1).mean() / full.var(axis=1).mean()
    )
    for own in (True, False):
        limits = [q.sum(axis=1) - (0 if own else np.diag(q)) for q in (full, kept)]
        found = compression.target_correlation(x, drawn, centre, N=60, replacement=own)
        assert found == pytest.approx(np.corrcoef(limits)[0, 1])


@pytest.mark.parametrize("rank", [1, 2, 5, 12])
def test_the_witness_is_kept_at_any_rank(rank):
    drawn, x, centre = problem()
    moments = centred_moments(x, drawn, centre, dtype=np.float64)
    compression = compress(moments, rank=rank)
    np.testing.assert_allclose(compression.basis.T @ compression.basis, np.eye(rank), atol=1e-13)
    z = drawn.transform(x, centre=centre, dtype=np.float64)
    c = z @ compression.basis
    np.testing.assert_allclose(c @ c.mean(axis=0), z @ z.mean(axis=0), atol=1e-13)
    # without replacement an event's own term is left, which does not matter in a large sample
    near, far = (
        compression.target_correlation(x, drawn, centre, N=N, replacement=False)
        for N in (10**9, 60)
    )
    assert 1 - near < 1e-12 < 1 - far


def test_a_target_of_its_own_is_kept():
    """The moments of a part of the events, the mean of all of them."""
    drawn, x, centre = problem()
    moments = centred_moments(x[:30], drawn, centre, dtype=np.float64)
    z = drawn.transform(x, centre=centre, dtype=np.float64)
    mean = z.mean(axis=0)
    witness = {
        name: (z @ (found.basis @ (found.basis.T @ mean)))
        for name, found in (
            ("of all", compress(moments, rank=4, target=mean)),
            ("of some", compress(moments, rank=4)),
        )
    }
    np.testing.assert_allclose(witness["of all"], z @ mean, atol=1e-13)
    assert np.max(abs(witness["of some"] - z @ mean)) > 1e-3


@pytest.mark.parametrize("position", [0, 2, 7])
def test_a_target_among_the_eigenvectors_changes_nothing(position):
    """A mean that the kept eigenvectors hold already leaves no rest to keep in their place."""
    drawn, x, centre = problem()
    moments = centred_moments(x, drawn, centre, dtype=np.float64)
    values, vectors = np.linalg.eigh(moments.second)
    expected = vectors[:, :-9:-1]
    found = compress(moments, rank=8, target=vectors[:, -1 - position])
    np.testing.assert_allclose(abs(np.sum(found.basis * expected, axis=0)), 1, atol=1e-9)
    kept = np.trace(found.basis.T @ moments.second @ found.basis)
    assert kept == pytest.approx(values[-8:].sum())


def test_no_other_basis_keeps_more():
    """All but one direction are the best there are: a random basis of 5 is worse than these 4."""
    drawn, x, centre = problem()
    moments = centred_moments(x, drawn, centre, dtype=np.float64)
    best = compress(moments, rank=5)
    other, _ = np.linalg.qr(rng("other").normal(size=(drawn.D, 5)))
    kept = [np.trace(b.T @ moments.second @ b) for b in (best.basis[:, :4], other)]
    assert kept[0] == pytest.approx(np.linalg.eigvalsh(moments.second)[-4:].sum())
    assert kept[0] > kept[1]


@pytest.mark.parametrize("tolerance", [0.5, 0.1, 1e-3, 1e-6])
@pytest.mark.parametrize("step", [1, 5])
def test_tolerance_gives_the_smallest_sufficient_rank(tolerance, step):
    drawn, x, centre = problem()
    moments = centred_moments(x, drawn, centre, dtype=np.float64)
    found = compress(moments, tolerance=tolerance, step=step)
    assert found.noise_lost <= tolerance
    assert found.rank % step == 0 or found.rank == drawn.D
    smaller = found.rank - (found.rank % step or step)
    assert smaller == 0 or compress(moments, rank=smaller).noise_lost > tolerance


def test_signs_of_eigenvectors_are_fixed(monkeypatch):
    drawn, x, centre = problem()
    moments = centred_moments(x, drawn, centre, dtype=np.float64)
    plain = compress(moments, rank=6).basis
    assert np.all(plain[np.argmax(abs(plain), axis=0), np.arange(6)] > 0)
    eigh = np.linalg.eigh

    def flipped(matrix):
        values, vectors = eigh(matrix)
        return values, -vectors

    monkeypatch.setattr(np.linalg, "eigh", flipped)
    assert np.array_equal(compress(moments, rank=6).basis, plain)


def test_bad_input_is_refused():
    drawn, x, centre = problem()
    moments = centred_moments(x, drawn, centre)
    with pytest.raises(ValueError, match="form must be one of"):
        fourier_features(BANK, 3, rng("bad"), form="sine")
    with pytest.raises(ValueError, match="n_per_bandwidth must be even"):
        fourier_features(BANK, 3, rng("bad"), n_per_bandwidth=7, form="paired")
    with pytest.raises(ValueError, match="n_per_bandwidth must be at least 1"):
        fourier_features(BANK, 3, rng("bad"), n_per_bandwidth=0)
    with pytest.raises(ValueError, match="d must be at least 1"):
        fourier_features(BANK, 0, rng("bad"))
    with pytest.raises(ValueError, match="offsets must have 2 entries"):
        FourierFeatures(np.ones((3, 2)), np.ones(3))
    with pytest.raises(ValueError, match="x must have 3 features"):
        drawn.transform(x[:, :2])
    with pytest.raises(ValueError, match="centre must have 24 entries"):
        drawn.transform(x, centre=[0.0])
    with pytest.raises(ValueError, match="basis must have 24 rows"):
        drawn.transform(x, basis=np.ones((3, 2)))
    for options in ({}, {"rank": 2, "tolerance": 0.1}):
        with pytest.raises(ValueError, match="rank or tolerance must be given"):
            compress(moments, **options)
    with pytest.raises(ValueError, match="rank must be at most 24"):
        compress(moments, rank=25)
    with pytest.raises(ValueError, match="tolerance must lie between 0 and 1"):
        compress(moments, tolerance=1.5)
    with pytest.raises(ValueError, match="target must have 24 entries"):
        compress(moments, rank=2, target=[1.0])
    nothing = FeatureMoments(5, np.zeros(3), np.zeros((3, 3)))
    with pytest.raises(ValueError, match="moments must not vanish"):
        compress(nothing, rank=1)
    level = compress(FeatureMoments(5, np.zeros(24), np.eye(24)), rank=2)
    with pytest.raises(ValueError, match="must not be constant"):
        level.target_correlation(x, drawn, centre, N=60, replacement=True)


MEMORY = """
import numpy as np
from localizer.kernels.features import fourier_features
from localizer.kernels.bank import GaussianBank
from localizer.base.randomness import stream
from localizer.estimators.witness import rff_loo
from localizer.kernels.feature_products import plain_mean
x = stream(9, "memory").normal(size=(200_000, 4))
drawn = fourier_features(GaussianBank((0.5, 1.0, 2.0, 4.0, 8.0)), 4, stream(9, "memory", "z"))
mean, background = plain_mean(drawn, x), plain_mean(drawn, x[:20_000])
scores = np.concatenate([rff_loo(z, mean, background, N=len(x)) for z in drawn.blocks(x)])
assert scores.shape == (200_000,)
"""


@pytest.mark.slow
def test_memory_of_a_large_sample(peak_memory):
    # 218 MiB, of which the interpreter and its packages take 128
    assert peak_memory(MEMORY) < 400 * 1024**2
