"""The scaling laws against their definitions and against runs of the engine."""

from __future__ import annotations

from functools import cache, partial
from itertools import pairwise

import numpy as np
import oracles
import pytest
from localizer.base.randomness import stream
from localizer.estimators.batch_sums import BatchSums, scores
from localizer.estimators.batches import run
from localizer.estimators.pair_forms import FeaturePairs
from localizer.theory.power_law import fit_power_law
from localizer.theory.scaling import (
    PairMoments,
    correlation,
    log_q_covariance,
    moments_of_features,
    q_rho,
)
from scipy.stats import chi2

SEED = 20251


@cache
def sample(N: int) -> np.ndarray:
    """Smooth features of contaminated Gaussian events, centred on the background."""
    frequency = stream(SEED, "frequency").normal(size=(2, 20))
    phase = stream(SEED, "phase").uniform(0, 2 * np.pi, size=20)

    def features(x: np.ndarray) -> np.ndarray:
        return np.cos(x @ frequency + phase) / np.sqrt(10)

    x = stream(SEED, "events", N).normal(size=(N, 2))
    x[: N // 10] += 1.5
    return features(x) - features(stream(SEED, "background").normal(size=(20_000, 2))).mean(axis=0)


def witness(z: np.ndarray, replacement: bool) -> np.ndarray:
    q = z @ z.T
    if replacement:
        return q.mean(axis=1)
    return (q.sum(axis=1) - np.diag(q)) / (len(z) - 1)


# -- q_rho


def test_q_rho_is_the_definition():
    rng = stream(SEED, "q_rho")
    target = rng.normal(size=50)
    score = target + rng.normal(size=50)
    rho = np.corrcoef(score, target)[0, 1]
    assert q_rho(score, target) == pytest.approx(rho**-2 - 1, rel=1e-12)
    assert q_rho(3 * score - 7, 1 - 2 * target) == pytest.approx(rho**-2 - 1, rel=1e-12)
    assert correlation(q_rho(score, target)) == pytest.approx(rho, rel=1e-12)


def test_q_rho_keeps_its_digits_close_to_one():
    target = np.array([-1.0, -1.0, 1.0, 1.0])
    noise = 2.0**-30 * np.array([1.0, -1.0, 1.0, -1.0])
    assert q_rho(target + noise, target) == 2.0**-60
    assert q_rho(target, target) == 0


# -- moments


@pytest.mark.parametrize("replacement", [True, False])
def test_moments_are_the_definition(replacement):
    z = sample(40)
    q = z @ z.T
    rows = [q[i] if replacement else np.delete(q[i], i) for i in range(40)]
    moments = moments_of_features(z, replacement=replacement)
    assert moments.N == 40
    assert moments.witness == pytest.approx(np.var([row.mean() for row in rows]), rel=1e-9)
    assert moments.pair == pytest.approx(np.mean([row.var() for row in rows]), rel=1e-9)
    centred = witness(z, replacement) - witness(z, replacement).mean()
    companions = q if replacement else q - np.diag(np.diag(q))
    along = np.var(centred @ companions / 40) / np.var(centred)
    assert moments.aligned == pytest.approx(along, rel=1e-9)
    np.testing.assert_allclose(moments.C, 40 * moments.pair / moments.witness)


def test_trace_formula():
    z = sample(400)
    second = z.T @ z / 400
    covariance = second - np.outer(z.mean(axis=0), z.mean(axis=0))
    moments = moments_of_features(z, replacement=True)
    assert moments.pair == pytest.approx(np.trace(second @ covariance), rel=1e-10)
    u = z.mean(axis=0)
    assert moments.witness == pytest.approx(u @ covariance @ u, rel=1e-10)


def test_published_constant_gives_the_simple_law():
    """C (m/(m-1)) (1 + N/(R m)) / (R m^2), the twins' (m-1)/N apart."""
    C, N = 6.80e9, 122_124
    law = PairMoments.from_constant(C, N=N, replacement=True)
    np.testing.assert_allclose(law.C, C)
    for m, R in ((20, 10**6), (100, 10**6), (1000, 10**5), (1000, 5 * 10**6)):
        simple = C * m / (m - 1) * (1 + N / (R * m)) / (R * m**2)
        assert law.q("pair", m=m, R=R) == pytest.approx(simple * (1 + (m - 1) / N), rel=1e-4)
        # m/(m-2) more for the marginal
        ratio = law.q("marginal", m=m, R=R) / law.q("pair", m=m, R=R)
        assert ratio == pytest.approx(m / (m - 2), rel=1e-4)
    raw = N / (5 * 10**9) * (C / N / 2 + 1000)
    assert law.q("raw", m=1000, R=5 * 10**6) == pytest.approx(raw, rel=3e-3)


# -- the laws against the engine


@cache
def simulated(replacement: bool) -> dict[str, tuple[np.ndarray, float]]:
    """Give log q_rho of each of 250 runs at N = 800, m = 20, R = 8000, and the predicted q_rho."""
    N, m, R, runs = 800, 20, 8000, 250
    z = sample(N)
    pairs, target = FeaturePairs(z), witness(z, replacement)
    moments = moments_of_features(z, replacement=replacement)
    found: dict[str, list[float]] = {"raw": [], "marginal": [], "pair": []}
    for number in range(runs):
        of_run = scores(
            run(
                pairs,
                m=m,
                groups=range(1),
                group_size=R,
                streams=partial(stream, SEED, "law", str(replacement), number),
                replacement=replacement,
            )
        )
        for name, values in found.items():
            values.append(q_rho(getattr(of_run, name), target))
    return {
        name: (np.log(values), moments.q(name, m=m, R=R))  # type: ignore[arg-type]
        for name, values in found.items()
    }


@pytest.mark.simulation
@pytest.mark.parametrize("estimator", ["raw", "marginal", "pair"])
@pytest.mark.parametrize("replacement", [True, False])
def test_predicted_q(estimator, replacement):
    """Within five standard errors and the terms that the law leaves out.

    These are of relative order q_B(x, x)^2 / (N mean Var) ~ 1 %; E log q is below log E q by
    half its variance, and above by the variance of the slope: again below 1 %.
    """
    log_q, predicted = simulated(replacement)[estimator]
    difference = log_q.mean() - np.log(predicted)
    error = log_q.std(ddof=1) / np.sqrt(log_q.size)
    assert error < 0.015
    assert abs(difference) < 5 * error + 0.015


def test_finite_population_factor_is_needed():
    """At m/N = 1/4 the noise falls short of the infinite population's by that quarter.

    The slope of the raw score does so too, and a part of the pair score's noise that is of
    relative order m/N follows the witness.
    """
    N, m, R, runs = 400, 100, 2000, 60
    z = sample(N)
    pairs, target = FeaturePairs(z), witness(z, replacement=False)
    moments = moments_of_features(z, replacement=False)
    found = np.empty((runs, 2))
    for number in range(runs):
        of_run = scores(
            run(
                pairs,
                m=m,
                groups=range(1),
                group_size=R,
                streams=partial(stream, SEED, "finite", number),
                replacement=False,
            )
        )
        found[number] = np.log([q_rho(of_run.pair, target), q_rho(of_run.raw, target)])
    error = found.std(axis=0, ddof=1) / np.sqrt(runs)
    predicted = np.log([moments.q("pair", m=m, R=R), moments.q("raw", m=m, R=R)])
    assert (np.abs(found.mean(axis=0) - predicted) < 5 * error + 0.02).all()
    # log(3/4) would be missed
    assert (5 * error + 0.02 < 0.25).all()


@cache
def checkpoints() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nested log q_rho of 300 runs, their mean jackknife covariance, and the closed form."""
    N, m, size = 500, 10, 250
    z = sample(N)
    pairs, target = FeaturePairs(z), witness(z, replacement=True)
    ends = (6, 12, 24)
    values, covariances = [], []
    for number in range(300):
        blocks = [
            run(
                pairs,
                m=m,
                groups=range(g, g + 1),
                group_size=size,
                streams=partial(stream, SEED, "blocks", number),
                replacement=True,
            )
            for g in range(ends[-1])
        ]
        value, covariance = oracles.jackknife_log_q(blocks, target, checkpoints=ends)
        values.append(value)
        covariances.append(covariance)
    closed = log_q_covariance(z, m=[m] * 3, R=[size * end for end in ends])
    return np.array(values), np.mean(covariances, axis=0), closed


@pytest.mark.simulation
@pytest.mark.parametrize("which", ["jackknife", "closed"])
def test_covariance_of_nested_checkpoints(which):
    """Entries against the scatter over runs, in units of the Wishart standard error.

    5 of these, and 15 % of the variances for what both leave out (higher orders in q_rho,
    which is 0.2 to 0.7 here).
    """
    values, jackknife, closed = checkpoints()
    predicted = jackknife if which == "jackknife" else closed
    found = np.cov(values.T)
    variances = np.diag(predicted)
    product = np.outer(variances, variances)
    error = np.sqrt((predicted**2 + product) / (len(values) - 1))
    assert (np.abs(found - predicted) < 5 * error + 0.15 * np.sqrt(product)).all()


def test_two_estimates_of_the_covariance_agree():
    _, jackknife, closed = checkpoints()
    np.testing.assert_allclose(jackknife, closed, rtol=0.2)


def test_the_closed_covariance_by_brute_force():
    """The formula of the docstring from the matrix q_ij itself, nested and not nested."""
    z, sizes, numbers = sample(40), np.array([6, 6, 15]), np.array([50, 400, 50])
    q = z @ z.T
    v, c = q.var(axis=1), np.cov(q, bias=True)
    w = q.mean(axis=1) - q.mean()
    # u^T Cov^3 u is the variance of the mean of (w_i - mean w) q_ik over i
    along = np.var(w @ q / 40)
    found = log_q_covariance(z, m=sizes.tolist(), R=numbers.tolist())
    for a in range(3):
        for b in range(3):
            m, few, many = sizes[a], *sorted((numbers[a], numbers[b]))
            residual = 2 / 40 * (np.mean(v**2) + m**2 / 40 * np.mean(c**2)) / v.mean() ** 2
            slope = (np.mean(w**2 * v) / (m - 1) + along) / (many * m * np.mean(w**2) ** 2)
            nested = residual * few / many + 4 * slope
            assert found[a, b] == pytest.approx(nested if m == sizes[b] else 0, rel=1e-9)


def test_the_jackknife_by_hand():
    """Five equal blocks: (n-1)/n times the squares about the mean, halved for the residual."""
    pairs, target = FeaturePairs(sample(40)), witness(sample(40), replacement=True)
    options = {"m": 5, "group_size": 60, "replacement": True}
    streams = partial(stream, SEED, "jackknife by hand")
    blocks = [run(pairs, groups=range(g, g + 1), streams=streams, **options) for g in range(5)]
    logs = []
    for left_out in range(5):
        kept = [block for g, block in enumerate(blocks) if g != left_out]
        slope, level = np.polyfit(target, scores(sum(kept[1:], kept[0])).pair, 1)
        residual = scores(sum(kept[1:], kept[0])).pair - slope * target - level
        logs.append((np.log(residual.var()), np.log(slope**2)))
    squares = 4 / 5 * 5 * np.var(logs, axis=0)
    _, covariance = oracles.jackknife_log_q(blocks, target, checkpoints=(5,))
    assert covariance[0, 0] == pytest.approx(squares[0] / 2 + squares[1], rel=1e-9)


def test_the_law_without_replacement_by_hand():
    """N = 10, m = 4, R = 5: exposure 2; f = 6/8, h = 6/9 and f2 = h2 = 6 * 5 / (8 * 7)."""
    moments = PairMoments(N=10, replacement=False, witness=2.0, pair=5.0, aligned=0.5)
    f, h, f2, s = 6 / 8, 6 / 9, 30 / 56, 3.0
    # an event's count scatters by 1 - m/N less than a Poisson one
    grows = (1 + 0.6 / 2) / 2
    pair = f * 5 / 3 * grows - (h * 2 + 2 * f2 * s / 3 + f * 0.5) / 4 / 5
    assert moments.q("pair", m=4, R=5) == pytest.approx(pair / 2, rel=1e-12)
    marginal = (f * 5 + 2 * f2 * s / 2) / 3 * grows - (h * 2 + f * 0.5) / 4 / 5
    assert moments.q("marginal", m=4, R=5) == pytest.approx(marginal / 2, rel=1e-12)
    own = 3 * f * 2 + (f + f2 * 2 / 2) * s / 3
    raw = own * grows - (9 / 4 * h * 2 + f2 * s * 4 / 6) / 5
    assert moments.q("raw", m=4, R=5) == pytest.approx(raw / (h**2 * 2), rel=1e-12)


def test_points_of_different_m_are_independent():
    matrix = log_q_covariance(sample(100), m=[10, 10, 20], R=[100, 400, 100])
    assert matrix[0, 2] == matrix[1, 2] == 0
    np.testing.assert_array_equal(matrix, matrix.T)
    assert (np.linalg.eigvalsh(matrix) > 0).all()


def test_jackknife_value_is_the_prefix():
    z = sample(60)
    pairs, target = FeaturePairs(z), witness(z, replacement=True)
    options = {
        "m": 6,
        "group_size": 50,
        "streams": partial(stream, SEED, "prefix"),
        "replacement": True,
    }
    # blocks of unequal size
    ends = [0, 1, 2, 4, 6, 9, 12, 15]
    blocks = [run(pairs, groups=range(a, b), **options) for a, b in pairwise(ends)]

    def marginal(sums: BatchSums) -> np.ndarray:
        return scores(sums).marginal

    value, covariance = oracles.jackknife_log_q(blocks, target, checkpoints=(5, 7), score=marginal)
    for k, stop in ((0, 9), (1, 15)):
        sums = run(pairs, groups=range(stop), **options)
        assert value[k] == pytest.approx(np.log(q_rho(scores(sums).marginal, target)), rel=1e-12)
    assert covariance.shape == (2, 2)
    assert (np.linalg.eigvalsh(covariance) > 0).all()


# -- the fit


def test_fit_recovers_a_power_law():
    exposure = np.array([2e9, 1e10, 4e10, 1e12])
    law = fit_power_law(exposure, 3e9 * exposure**-0.97)
    assert law.alpha == pytest.approx(0.97, rel=1e-12)
    np.testing.assert_allclose(law.C, 3e9, rtol=1e-10)
    assert law.scatter < 1e-12
    assert law.points == 4


def test_fixed_exponent_is_a_weighted_mean():
    exposure, q = np.array([1.0, 2.0, 5.0]), np.array([3.0, 1.7, 0.5])
    law = fit_power_law(exposure, q, alpha=1)
    logs = np.log(q * exposure)
    assert law.log_constant == pytest.approx(logs.mean(), rel=1e-12)
    assert law.log_constant_error == pytest.approx(logs.std(ddof=1) / np.sqrt(3), rel=1e-12)
    assert law.scatter == pytest.approx(logs.std(), rel=1e-12)
    assert law.alpha == 1
    assert law.alpha_error == 0
    variance = np.array([0.01, 0.04, 0.09])
    weighted = fit_power_law(exposure, q, alpha=1, covariance=np.diag(variance))
    assert weighted.log_constant == pytest.approx(np.average(logs, weights=1 / variance))
    assert weighted.log_constant_error == pytest.approx(np.sum(1 / variance) ** -0.5)


def test_free_exponent_is_the_least_squares_line():
    rng = stream(SEED, "line")
    x = rng.uniform(0, 5, size=12)
    y = 1 - 0.9 * x + rng.normal(size=12) / 10
    law = fit_power_law(np.exp(x), np.exp(y))
    line, covariance = np.polyfit(x, y, 1, cov=True)
    assert law.alpha == pytest.approx(-line[0], rel=1e-9)
    assert law.log_constant == pytest.approx(line[1], rel=1e-9)
    assert law.alpha_error == pytest.approx(np.sqrt(covariance[0, 0]), rel=1e-9)
    assert law.log_constant_error == pytest.approx(np.sqrt(covariance[1, 1]), rel=1e-9)


@pytest.mark.parametrize("alpha", [None, 1.0])
def test_errors_cover_nested_points(alpha):
    """Pulls over 2000 fits have unit variance; chi-square, false-alarm rate 6e-7."""
    m = [20, 50, 1000, 1000, 1000]
    R = [10**6, 10**6, 10**5, 10**6, 5 * 10**6]
    exposure = np.array(R) * np.array(m) ** 2
    covariance = log_q_covariance(sample(400), m=m, R=R)
    root = np.linalg.cholesky(covariance)
    rng = stream(SEED, "pulls", str(alpha))
    pulls = np.empty((2000, 2))
    for i in range(len(pulls)):
        q = np.exp(np.log(6.8e9) - np.log(exposure) + root @ rng.normal(size=5))
        law = fit_power_law(exposure, q, alpha=alpha, covariance=covariance)
        at = np.array([1.0, -np.log(1e10)])
        error = np.sqrt(at @ law.covariance @ at)
        pulls[i] = (
            (at @ [law.log_constant, law.alpha] - np.log(0.68)) / error,
            (law.log_constant - np.log(6.8e9)) / law.log_constant_error,
        )
    for column in pulls.T:
        statistic = column @ column
        assert 3e-7 < chi2.cdf(statistic, len(pulls)) < 1 - 3e-7


# -- bad input

MOMENTS = PairMoments.from_constant(1e6, N=100, replacement=False)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: q_rho([1, 2], [1, 1]), "target must not be constant"),
        (lambda: q_rho([1, 1], [1, 2]), "score must be correlated"),
        (lambda: q_rho([1, np.nan], [1, 2]), "score must be finite"),
        (lambda: q_rho([1, 2, 3], [1, 2]), "target must have 3"),
        (lambda: MOMENTS.q("pair", m=2, R=10), "m must be at least 3"),
        (lambda: MOMENTS.q("pair", m=101, R=10), "m must be at most 100"),
        (lambda: MOMENTS.q("pair", m=10, R=0), "R must be at least 1"),
        (lambda: MOMENTS.q("mean", m=10, R=10), "estimator must be raw, marginal or pair"),
        (lambda: PairMoments.from_constant(0, N=100, replacement=True), "C must be positive"),
        (lambda: moments_of_features(np.zeros((5, 2)), replacement=True), "witness must vary"),
        (lambda: log_q_covariance(sample(40), m=[10], R=[0]), "R must be positive"),
        (lambda: log_q_covariance(sample(40), m=[10], R=[5, 6]), "R must have 1"),
        (lambda: fit_power_law([1, 2], [1, 2]), "at least 3 points"),
        (lambda: fit_power_law([1, 2, 3], [1, 0, 1]), "q must be positive"),
        (lambda: fit_power_law([1, 1, 1], [1, 2, 1]), "exposure must take two values"),
        (
            lambda: fit_power_law([1, 2, 3], [1, 2, 1], covariance=-np.eye(3)),
            "covariance must be a positive definite",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
