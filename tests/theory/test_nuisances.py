"""Closed forms of profiling, against simulation. A z-test fails by chance with |z| > 5."""

import numpy as np
import pytest
from localizer.base.randomness import stream
from localizer.estimators import profiled, templates
from localizer.estimators.forced import fresh, matched_scores
from localizer.estimators.templates import Template
from localizer.kernels.bank import GaussianBank
from localizer.kernels.pair_means import kernel_pairs
from localizer.models.gaussian import GaussianBenchmark, smoothed_normal
from localizer.theory import nuisances
from localizer.theory.nuisances import ProfiledPopulation, normal

ORIGIN = [0.0, 0.0]
SIGNAL = (1.0, [1.5, 0.0], 0.25)
# a tenth of signal over a background that is shifted and wider than the nominal one
SAMPLE = [(0.1, [1.5, 0.0], 0.25), (0.9, [0.15, -0.1], 1.2)]
PROBES = np.array([[1.5, 0.0], [0.0, 0.0], [-1.5, 1.0], [0.3, 2.5]])
SIZES = (10, 40, 160)


def population(sample=SAMPLE):
    return ProfiledPopulation(sample, normal(ORIGIN), (normal([0.3, 0.0]), normal(ORIGIN, 1.2)), 1)


def events(normals, rng, n):
    weights = [w for w, *_ in normals]
    which = rng.choice(len(normals), size=n, p=weights)
    means = np.array([mean for _, mean, _ in normals])
    return means[which] + np.sqrt([v for *_, v in normals])[which, None] * rng.normal(size=(n, 2))


def test_the_benchmark_is_a_special_case():
    model = GaussianBenchmark(mean=(1.5, 0.0), sigma_s=0.5, epsilon=0.02, h=1.0)
    plain = ProfiledPopulation(model.components, normal(ORIGIN), (), model.h)
    assert plain.discrepancy == pytest.approx(model.mmd2)
    np.testing.assert_allclose(plain.witness(PROBES), model.witness(PROBES), atol=1e-12)


def test_closed_forms_are_the_limit_of_the_estimators():
    """3000 events each; the errors of theta are the estimator's own."""
    exact = population()
    rng = stream(33, "limit")
    templates_ = templates.problem(
        Template(events(SAMPLE, rng, 3000)),
        Template(events(normal(ORIGIN), rng, 3000)),
        [
            Template(events(normal([0.3, 0.0]), rng, 3000)),
            Template(events(normal(ORIGIN, 1.2), rng, 3000)),
        ],
    )
    embeddings = templates.exact(templates_, GaussianBank((1.0,)))
    found = profiled.profile(embeddings)
    np.testing.assert_array_less(np.abs(found.theta - exact.theta), 5 * found.errors)
    at = templates_[0].events
    witness = profiled.scores(embeddings, found).loo
    assert np.corrcoef(witness, exact.witness(at))[0, 1] > 0.95
    # the mean products of pairs of different events
    assert np.max(np.abs(embeddings.products() - exact.products)) < 0.01


def test_what_a_signal_loses_is_the_squared_cosine():
    """A signal across the shift keeps its length; one along it loses three quarters."""
    along, across = (
        ProfiledPopulation([SIGNAL], normal(ORIGIN), (normal(shift),), 1.0)
        for shift in ([0.3, 0.0], [0.0, 0.3])
    )
    assert along.share > 0.7
    assert across.share < 1e-3
    delta, d = along.differences(PROBES).T
    cosine = along.products[0, 1] / np.sqrt(along.products[0, 0] * along.products[1, 1])
    assert along.share == pytest.approx(cosine**2)
    np.testing.assert_allclose(along.witness(PROBES), delta - along.theta[0] * d, atol=1e-12)


@pytest.mark.simulation
def test_matched_contributions_converge_to_the_profiled_witness():
    """Of the plug-in statistic, to its exact value at every m, and so as 1/m to the witness."""
    exact = population()
    inverse = exact.inverse
    K_00 = exact.gram[1, 1]

    def plug_in(batches):
        m = batches.shape[1]
        flat = batches.reshape(-1, 2)
        pairs = kernel_pairs(batches, (1.0,))
        b_0 = nuisances.mean_embedding(exact.reference, flat, h=1.0).reshape(-1, m)
        c = exact.centred(flat).reshape(-1, m, 2).mean(axis=1)
        squared = 1 / m + (1 - 1 / m) * pairs - 2 * b_0.mean(axis=1) + K_00
        return squared - np.einsum("rk,kl,rl->r", c, inverse, c)

    far, limit = [], 2 * exact.witness(PROBES)
    for m in SIZES:
        found = matched_scores(
            plug_in,
            PROBES,
            m=m,
            R=8000,
            contexts=fresh(lambda rng, n: events(SAMPLE, rng, n)),
            rngs=[stream(33, "matched", m, probe) for probe in range(len(PROBES))],
        )["addition"]
        expected = exact.plug_in_localizer(PROBES, m=m)
        # the constant is the same for all probes
        difference = (found.mean - expected) - (found.mean - expected)[0]
        error = np.hypot(found.standard_error, found.standard_error[0])[1:]
        assert np.all(np.abs(difference[1:]) < 5 * error)
        assert np.all(error < 0.1 * np.ptp(expected))
        from_limit = m * expected - limit
        far.append(np.ptp(from_limit))
    slopes = np.diff(np.log(far)) / np.diff(np.log(SIZES))
    np.testing.assert_allclose(slopes, -1, atol=1e-6)


@pytest.mark.simulation
def test_envelope_theorem_for_a_family_that_is_not_linear():
    """T_m = min over t of |p - b(t)|^2 with b(t) truly shifted: m L is 2 w at the best t + O(1/m).

    The remainder times m is one number for each probe, whatever m is.
    """
    variance = 2.0  # of kernel and background

    def plug_in(batches):
        t = batches[..., 0].mean(axis=1)
        for _ in range(30):
            gap = batches[..., 0] - t[:, None]
            k = np.exp(-(gap**2 + batches[..., 1] ** 2) / (2 * variance))
            t = np.sum(k * batches[..., 0], axis=1) / k.sum(axis=1)
        m = batches.shape[1]
        gap = batches[..., 0] - t[:, None]
        a = np.exp(-(gap**2 + batches[..., 1] ** 2) / (2 * variance)).mean(axis=1) / variance
        pairs = kernel_pairs(batches, (1.0,))
        return 1 / m + (1 - 1 / m) * pairs - 2 * a + 1 / 3

    shifts = np.linspace(-0.5, 1.0, 15001)
    means = np.stack([shifts, np.zeros_like(shifts)], axis=1)
    best = means[np.argmax(nuisances.mean_embedding(SAMPLE, means, h=np.sqrt(2.0)))]
    p = nuisances.mean_embedding(SAMPLE, PROBES, h=1.0)
    limit = 2 * (p - smoothed_normal(PROBES, mean=best, variance=1.0, h=1.0))
    remainders, errors = [], []
    for m in SIZES:
        found = matched_scores(
            plug_in,
            PROBES,
            m=m,
            R=4000,
            contexts=fresh(lambda rng, n: events(SAMPLE, rng, n)),
            rngs=[stream(33, "envelope", m, probe) for probe in range(len(PROBES))],
        )["addition"]
        remainder = m * (m * found.mean - limit)
        remainders.append((remainder - remainder[0])[1:])
        errors.append(m * m * np.hypot(found.standard_error, found.standard_error[0])[1:])
    # the next order, at m = 10, is a fifth at most
    scale = np.ptp(limit)
    for remainder, error in zip(remainders[1:], errors[1:], strict=True):
        np.testing.assert_array_less(
            np.abs(remainder - remainders[0]), 5 * np.hypot(error, errors[0]) + scale
        )
    far = [np.max(np.abs(r)) / m for r, m in zip(remainders, SIZES, strict=True)]
    assert far[2] < 0.2 * far[0] + np.max(errors[2]) / SIZES[2]


def test_a_shift_beyond_first_order():
    """A variation of 0.3 explains a shift of 0.3 exactly, others to second order."""
    remainders = []
    for shift in (0.3, 0.4, 0.5):
        one, both = (
            ProfiledPopulation(normal([shift, 0.0]), normal(ORIGIN), variations, 1.0)
            for variations in (
                (normal([0.3, 0.0]),),
                (normal([0.3, 0.0]), normal([-0.3, 0.0])),
            )
        )
        remainders.append(one.discrepancy)
        assert one.breaking_size() < both.breaking_size() / 10 or shift == 0.3
    assert remainders[0] < 1e-14
    # |shift (shift - 0.3) / 2|^2 times the length of the second derivative
    ratio = remainders[2] / remainders[1]
    assert ratio == pytest.approx((0.5 * 0.2 / (0.4 * 0.1)) ** 2, rel=0.15)


def test_the_null_spread_against_simulation():
    """400 toys of 300 events: the spread of the projected discrepancy is known to 3.5 %."""
    exact = ProfiledPopulation(normal(ORIGIN), normal(ORIGIN), (normal([0.3, 0.0]),), 1.0)
    n, values = 300, []
    for toy in range(400):
        rng = stream(33, "spread", toy)
        x, y = rng.normal(size=(2, n, 2))
        # a sample of its own so large that D is the population's
        k = GaussianBank((1.0,))
        c = exact.centred(x).mean(axis=0) - exact.centred(y).mean(axis=0)
        xx, yy, xy = k(x, x), k(y, y), k(x, y)
        values.append(xx.mean() + yy.mean() - 2 * xy.mean() - c @ exact.inverse @ c)
    assert np.std(values) == pytest.approx(2 / n * exact.null_spread(), rel=0.18)
