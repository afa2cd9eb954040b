"""The surrogate: draws, parameters, fit, and (where they are had) comparison with real events."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from localizer.base import metrics
from localizer.base.copula import BackgroundCDF
from localizer.base.randomness import stream
from localizer.lhco import samples, surrogate
from localizer.lhco.surrogate import FEATURES, Generator, Surrogate
from scipy.special import ndtr
from scipy.stats import ks_2samp, spearmanr

SHIPPED = Path(__file__).resolve().parents[2] / "resources/lhco/surrogate/parameters.json"
TEXT = SHIPPED.read_text()
MIRROR = os.environ.get("LHCO_MIRROR", "")
real_events = pytest.mark.skipif(
    not MIRROR or not (Path(MIRROR) / "innerdata_extrasig.npy").is_file(),
    reason="the real events are needed: set LHCO_MIRROR to a directory that holds them",
)


@pytest.fixture(scope="module")
def shipped() -> Surrogate:
    return surrogate.parse(TEXT)


# Draws


@pytest.mark.parametrize("kind", surrogate.KINDS)
def test_shape_type_and_ranges(shipped, kind):
    events = shipped.sample(stream(1, "surrogate", kind), 50_000, kind)
    assert events.shape == (50_000, 5)
    assert events.dtype == np.float64
    assert events[:, 0].min() > 3.3
    assert events[:, 0].max() < 3.7
    quantiles = shipped.generators[kind].quantiles
    assert (events >= quantiles[0]).all()
    assert (events <= quantiles[-1]).all()
    # the features are continuous: no event comes twice
    assert len(np.unique(events, axis=0)) == 50_000


def test_the_same_stream_gives_the_same_events(shipped):
    draws = [shipped.sample(stream(2, "surrogate"), 1000, "signal") for _ in range(2)]
    np.testing.assert_array_equal(*draws)
    other = shipped.sample(stream(3, "surrogate"), 1000, "signal")
    assert not np.isin(other[:, 0], draws[0][:, 0]).any()


@pytest.mark.parametrize(
    ("n", "kind", "why"),
    [
        (0, "qcd", "n must be at least 1"),
        (1.5, "qcd", "n must be a whole number"),
        (1, "top", "kind must be qcd or signal, not 'top'"),
    ],
)
def test_bad_requests(shipped, n, kind, why):
    with pytest.raises(ValueError, match=why):
        shipped.sample(stream(1), n, kind)


def two_components() -> dict[str, Any]:
    """Return a mixture of two normal components with marginals that hardly change it."""
    z = np.linspace(-6, 6, 4001)
    levels = np.concatenate([[0.0], ndtr(z), [1.0]])
    nodes = np.concatenate([[-7.0], z, [7.0]])
    return {
        "levels": levels,
        "quantiles": np.column_stack([nodes, nodes]),
        "weights": np.array([0.3, 0.7]),
        "means": np.array([[1.0, -0.5], [-0.5, 0.25]]),
        "factors": np.array([[[0.5, 0.0], [0.3, 0.4]], [[1.0, 0.0], [-0.6, 0.8]]]),
    }


def test_the_moments_are_those_of_the_mixture():
    # With x = z the sample's moments are the mixture's, which are sums over components.
    parts = two_components()
    n = 200_000
    x = Generator(**parts).sample(stream(4, "surrogate"), n)
    w, mu = parts["weights"], parts["means"]
    mean = w @ mu
    second = sum(
        w[k] * (parts["factors"][k] @ parts["factors"][k].T + np.outer(mu[k], mu[k]))
        for k in range(2)
    )
    # five moments at |z| < 5: false alarm about 3e-6
    assert np.abs((x.mean(axis=0) - mean) / (x.std(axis=0) / np.sqrt(n))).max() < 5
    for i, j in ((0, 0), (0, 1), (1, 1)):
        product = x[:, i] * x[:, j]
        assert abs(product.mean() - second[i, j]) < 5 * product.std() / np.sqrt(n)


def test_weights_are_frequencies():
    parts = two_components()
    parts["means"] = np.array([[-4.0, -4.0], [4.0, 4.0]])
    parts["factors"] = np.stack([0.1 * np.eye(2)] * 2)
    x = Generator(**parts).sample(stream(5, "surrogate"), 100_000)
    error = np.sqrt(0.3 * 0.7 / 100_000)
    assert abs((x[:, 0] < 0).mean() - 0.3) < 5 * error


@pytest.mark.parametrize("kind", surrogate.KINDS)
def test_the_marginals_are_the_tabulated_ones(shipped, kind):
    generator = shipped.generators[kind]
    n = 100_000
    events = shipped.sample(stream(6, "surrogate", kind), n, kind)
    for k, name in enumerate(FEATURES):
        levels, at = generator.levels[20:-20:20], generator.quantiles[20:-20:20, k]
        got = (events[:, k, None] <= at).mean(axis=0)
        # The mixture's own marginals are standard normal only as far as the fit goes.
        allowed = 5 * np.sqrt(levels * (1 - levels) / n) + 0.004
        assert (np.abs(got - levels) < allowed).all(), name


@pytest.mark.simulation
def test_samples_of_the_papers_sizes(shipped):
    found = samples.from_surrogate(shipped, seed=7)
    assert found.counts == samples.PAPER
    again = samples.from_surrogate(shipped, seed=7)
    np.testing.assert_array_equal(again.mixed.x, found.mixed.x)
    other = samples.from_surrogate(shipped, seed=8)
    assert samples.overlap(other.reference, found.reference) == 0


# Parameters


def test_the_shipped_file_is_small_and_says_where_it_comes_from(shipped):
    assert SHIPPED.stat().st_size < 200_000
    assert shipped.fitted["events"] == {"qcd": 161_352, "signal": 75_299}


def test_the_shipped_parameters_are_what_the_fit_would_write(shipped):
    import fit_surrogate

    assert shipped.fitted["seed"] == fit_surrogate.SEED
    assert shipped.fitted["tolerance"] == fit_surrogate.TOLERANCE
    for kind, generator in shipped.generators.items():
        events = shipped.fitted["events"][kind]
        assert len(generator.weights) == fit_surrogate.COMPONENTS[kind]
        assert (np.diff(generator.weights) <= 0).all()
        np.testing.assert_allclose(
            generator.levels, fit_surrogate.normal_levels(events, fit_surrogate.NODES), rtol=1e-7
        )
        # normal scores have mean 0 and variance 1 in each feature; EM keeps the first two
        # moments of what it is fitted to, up to its tolerance and the ridge of 1e-5
        w, mu, factors = generator.weights, generator.means, generator.factors
        second = np.einsum("k,kij,kij->i", w, factors, factors) + w @ mu**2
        np.testing.assert_allclose(w @ mu, 0, atol=2e-3)
        np.testing.assert_allclose(second, 1, atol=2e-3)


def test_the_events_of_the_fit(tmp_path):
    import fit_surrogate

    (tmp_path / "separated_data").mkdir()
    rng = stream(20, "surrogate")
    labels = {
        "innerdata_train.npy": [0, 1, 0],
        "innerdata_test.npy": [1, 0],
        "separated_data/innerdata_test.npy": [0, 0, 1],
        "innerdata_extrasig.npy": [1, 1, 1, 1],
    }
    tables = {name: np.column_stack([rng.random((len(y), 5)), y]) for name, y in labels.items()}
    for name, table in tables.items():
        np.save(tmp_path / name, table)
    found = fit_surrogate.events_of(tmp_path)
    train, test, extra, signal = tables.values()
    np.testing.assert_array_equal(
        found["qcd"], np.concatenate([train[[0, 2]], test[[1]], extra[:2]])[:, :5]
    )
    # the signal of the evaluation file is part of the extra signal, and not taken twice
    np.testing.assert_array_equal(
        found["signal"], np.concatenate([train[[1]], test[[0]], signal])[:, :5]
    )


def test_parameters_survive_their_text(shipped):
    assert surrogate.dumps(shipped) == TEXT


def changed(path: list[Any], value: Any) -> str:
    content = json.loads(TEXT)
    target = content
    for key in path[:-1]:
        target = target[key]
    if value is None:
        del target[path[-1]]
    else:
        target[path[-1]] = value
    return json.dumps(content)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ("<html>", "not JSON"),
        ("[]", "must be of the format"),
        (changed(["format"], "other"), "must be of the format"),
        (changed(["features"], ["mJJ"]), "features must be mJJ, mJmin"),
        (changed(["signal"], None), "of signal lack 'signal'"),
        (changed(["qcd", "mixture"], None), "of qcd lack 'mixture'"),
        (changed(["qcd"], 3), "of qcd are malformed"),
        (changed(["qcd", "marginals", 0, 0], 0.5), "levels must increase from 0 to 1"),
        (changed(["qcd", "marginals", 5, 0], 0.0), "levels must increase from 0 to 1"),
        (changed(["qcd", "marginals", 9, 2], 5.0), "quantiles must not decrease"),
        (changed(["qcd", "marginals", 9, 2], "x"), "marginals must hold numbers only"),
        (changed(["qcd", "marginals", 9], [0.1]), "marginals must hold numbers only"),
        (changed(["qcd", "marginals", 0, 1], 3.3), "mJJ of qcd must lie between 3.3 and 3.7"),
        (changed(["signal", "marginals", -1, 1], 3.7), "mJJ of signal must lie between"),
        (changed(["signal", "mixture", 0, 0], 0.9), "weights must sum to one"),
        (changed(["signal", "mixture", 0, 6], -1.0), "positive diagonal"),
        (changed(["signal", "mixture", 0, 6], float("nan")), "mixture must be finite"),
    ],
)
def test_bad_parameters(text, why):
    with pytest.raises(ValueError, match=why):
        surrogate.parse(text)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("quantiles", np.zeros((3, 2)), "one row for each of the 4003 levels"),
        ("weights", np.array([0.5, 0.6]), "sum to one"),
        ("weights", np.array([-0.5, 1.5]), "weights must be positive"),
        ("weights", np.array([1.0]), "1 components of 2 features"),
        ("means", np.zeros((2, 3)), "means must have 2 features"),
        ("factors", np.zeros((2, 3, 3)), "2 components of 2 features"),
        ("factors", np.ones((2, 2, 2)), "lower triangles"),
        ("factors", np.full((2, 2, 2), np.nan), "lower triangles"),
        ("factors", np.array(2 * [[[1.0, 0.0], [np.inf, 1.0]]]), "lower triangles"),
    ],
)
def test_bad_generators(name, value, why):
    with pytest.raises(ValueError, match=why):
        Generator(**{**two_components(), name: value})


def test_both_kinds_are_needed(shipped):
    with pytest.raises(ValueError, match="qcd and signal"):
        Surrogate({"qcd": shipped.generators["qcd"]}, {})
    with pytest.raises(ValueError, match="must have the features"):
        Surrogate(dict.fromkeys(surrogate.KINDS, Generator(**two_components())), {})


# The fit


def test_the_fit_finds_what_made_the_events():
    import fit_surrogate

    truth = Generator(**two_components())
    events = truth.sample(stream(9, "surrogate"), 20_000)
    # other units and shapes, which the marginals have to take up
    events = np.column_stack([np.exp(events[:, 0]), events[:, 1] ** 3])
    found = fit_surrogate.fit(events, stream(10, "surrogate"), components=3, nodes=201)
    drawn = found.sample(stream(11, "surrogate"), 20_000)
    levels = np.array([0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
    for k in range(2):
        at = np.quantile(events[:, k], levels)
        got = (drawn[:, k, None] <= at).mean(axis=0)
        allowed = 5 * np.sqrt(2 * levels * (1 - levels) / 20_000) + 0.004
        assert (np.abs(got - levels) < allowed).all()
    # Spearman's rho has an error of about 1/sqrt(n) in each sample.
    ours, theirs = (spearmanr(x[:, 0], x[:, 1]).statistic for x in (drawn, events))
    assert abs(ours - theirs) < 5 * np.sqrt(2 / 20_000) + 0.01
    assert (np.diff(found.weights) <= 0).all()


def test_the_fits_levels_reach_into_the_tails():
    import fit_surrogate

    levels = fit_surrogate.normal_levels(1000, 51)
    assert len(levels) == 51
    np.testing.assert_allclose(levels + levels[::-1], 1, atol=1e-15)
    assert levels[0] == 0
    assert levels[1] == pytest.approx(1 / 1000)
    assert (np.diff(levels) > 0).all()


# Against the real events


class Witness:
    """The direct RFF witness of a bank of five bandwidths in copula coordinates."""

    def __init__(self, seed: int, per_bandwidth: int) -> None:
        rng = stream(seed, "surrogate", "rff")
        # d_med of the real background; close enough for both, and the same for both
        widths = 0.771 * np.array([0.25, 0.5, 1, 2, 4])
        frequencies = rng.standard_normal((4, 5, per_bandwidth)) / widths[:, None]
        self.frequencies = frequencies.reshape(4, -1).astype(np.float32)
        self.offsets = rng.uniform(0, 2 * np.pi, 5 * per_bandwidth).astype(np.float32)

    def features(self, u: np.ndarray) -> np.ndarray:
        return np.cos(u.astype(np.float32) @ self.frequencies + self.offsets)

    def mean(self, u: np.ndarray) -> np.ndarray:
        total = sum(
            self.features(u[i : i + 20_000]).sum(axis=0, dtype=np.float64)
            for i in range(0, len(u), 20_000)
        )
        return np.asarray(total / len(u))

    def scores(self, u: np.ndarray, weights: np.ndarray) -> np.ndarray:
        blocks = [self.features(u[i : i + 20_000]) @ weights for i in range(0, len(u), 20_000)]
        return np.concatenate(blocks)


def noise_free(qcd: np.ndarray, signal: np.ndarray, witness: Witness) -> tuple[float, float]:
    """Return AUC and largest SIC of the witness of all signal against all background."""
    cdf = BackgroundCDF.of(qcd[:, 1:])
    b, s = cdf.transform(qcd[:, 1:]), cdf.transform(signal[:, 1:])
    weights = witness.mean(s) - witness.mean(b)
    scores = np.concatenate([witness.scores(b, weights), witness.scores(s, weights)])
    ranking = metrics.ranking(scores, np.arange(len(scores)) >= len(b))
    return ranking.auc, ranking.sic(floor=100)[0]


def direct_auc(
    mixed: np.ndarray, labels: np.ndarray, reference: np.ndarray, witness: Witness
) -> float:
    """Return the AUC of the mixed sample's witness against a reference."""
    cdf = BackgroundCDF.of(reference[:, 1:])
    u, r = cdf.transform(mixed[:, 1:]), cdf.transform(reference[:, 1:])
    return metrics.auc(witness.scores(u, witness.mean(u) - witness.mean(r)), labels)


@pytest.fixture(scope="module")
def real() -> dict[str, np.ndarray]:
    import fit_surrogate

    return fit_surrogate.events_of(Path(MIRROR))


@real_events
@pytest.mark.parametrize("kind", surrogate.KINDS)
def test_marginals_and_copula_of_the_real_events(shipped, real, kind):
    events = real[kind]
    drawn = shipped.sample(stream(12, "surrogate", kind), len(events), kind)
    levels = np.array([0.001, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999])
    for k in range(5):
        at = np.quantile(events[:, k], levels)
        got = (drawn[:, k, None] <= at).mean(axis=0)
        allowed = 5 * np.sqrt(2 * levels * (1 - levels) / len(events)) + 0.003
        assert (np.abs(got - levels) < allowed).all(), FEATURES[k]
    ours, theirs = (spearmanr(x).statistic for x in (drawn, events))
    assert np.abs(ours - theirs).max() < 5 * np.sqrt(2 / len(events)) + 0.005


@real_events
@pytest.mark.slow
def test_the_noise_free_witness_sees_the_same(shipped, real):
    witness = Witness(13, 512)
    auc, sic = noise_free(real["qcd"], real["signal"], witness)
    for draw in range(2):
        drawn = [
            shipped.sample(stream(14, "surrogate", draw, kind), len(real[kind]), kind)
            for kind in surrogate.KINDS
        ]
        drawn_auc, drawn_sic = noise_free(drawn[0], drawn[1], witness)
        assert abs(drawn_auc - auc) < 0.01
        assert abs(drawn_sic / sic - 1) < 0.1


@real_events
@pytest.mark.slow
def test_the_direct_witness_scatters_alike(shipped, real):
    # One AUC says little: with this reference it scatters between 0.5 and 0.93. So the real
    # events are dealt out anew many times, and the two distributions are compared.
    sizes, witness, reference = samples.SUBSET, Witness(15, 16), 30_000
    labels = np.arange(sizes.mixed_background + sizes.mixed_signal) >= sizes.mixed_background
    wanted = {"qcd": sizes.mixed_background + reference, "signal": sizes.mixed_signal}
    found: dict[str, list[float]] = {"real": [], "drawn": []}
    for draw in range(60):
        rng = stream(16, "surrogate", draw)
        for name, (qcd, signal) in {
            "real": [rng.permutation(real[kind])[:n] for kind, n in wanted.items()],
            "drawn": [shipped.sample(rng, n, kind) for kind, n in wanted.items()],
        }.items():
            mixed = np.concatenate([qcd[reference:], signal])
            found[name].append(direct_auc(mixed, labels, qcd[:reference], witness))
    # false alarm 1e-4 if the distributions are the same
    assert ks_2samp(found["real"], found["drawn"]).pvalue > 1e-4
