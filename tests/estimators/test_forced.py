"""Forced inclusion: identities by enumeration, the fast form against the reference.

A z-test fails by chance with |z| > 5, once in 1.7 million.
"""

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from localizer.base.randomness import stream
from localizer.base.vocabulary import FORCED_ESTIMATORS
from localizer.estimators.context_moments import ContextMoments, ForcedScores
from localizer.estimators.forced import (
    forced_scores,
    fresh,
    from_sample,
    mmd_scores,
    over_contexts,
    population,
)
from localizer.kernels import context_pairs, pair_means
from localizer.kernels.matched_sums import KernelSums, MatchedSums
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory import functionals
from localizer.theory.variance import ContextVariance

MODEL = GaussianBenchmark(mean=(1.5, 0.0), sigma_s=0.5, epsilon=0.02, h=1.0)
STRONG = replace(MODEL, epsilon=0.4)

# Four equally likely events: small enough to visit every context.
ATOMS = np.array([[0.0, 0.3], [1.2, -0.4], [-0.7, 2.0], [2.5, 0.9]])

STATISTICS = {
    "unbiased": partial(functionals.unbiased, h=0.8),
    "plug-in": partial(functionals.plug_in, h=0.8),
    "root": partial(functionals.plug_in, h=0.8, root=True),
    "median": lambda batch: float(np.median(batch[:, 0] * batch[:, 1])),
    "range": lambda batch: float(np.ptp(batch[:, 0]) * len(batch)),
    "spread of the two features": lambda batch: float(np.std(batch[:, 0]) - batch[:, 1].max()),
}


def every_context(m):
    """Return a sampler that hands out each of the |ATOMS|^m contexts once, in any blocks."""
    contexts = iter(itertools.product(ATOMS, repeat=m))

    def draw(_rng, number, size):
        assert size == m
        return np.array(list(itertools.islice(contexts, number)))

    return draw


def enumerated(statistic, m):
    return forced_scores(
        statistic,
        ATOMS,
        m=m,
        R=len(ATOMS) ** m,
        contexts=[every_context(m) for _ in ATOMS],
        rngs=generators(len(ATOMS)),
    )


def mean_statistic(statistic, m):
    return np.mean([statistic(np.array(batch)) for batch in itertools.product(ATOMS, repeat=m)])


def conditional(statistic, m):
    rest = list(itertools.product(ATOMS, repeat=m - 1))
    return np.array([np.mean([statistic(np.array([x, *C])) for C in rest]) for x in ATOMS])


def generators(number, *key):
    return [stream(7, "test forced", *key, i) for i in range(number)]


def score(probes, *, model=MODEL, m=20, R=500, key="score", **options):
    options.setdefault("contexts", fresh(population(model)))
    options.setdefault(
        "rngs", generators(1 if options.get("shared_contexts") else len(probes), key)
    )
    return mmd_scores(probes, m=m, R=R, h=model.h, **options)


# identities of the population, over every context there is


@pytest.mark.parametrize("m", [3, 4])
@pytest.mark.parametrize("name", STATISTICS)
def test_replacement_is_centred_conditional_localization(name, m):
    """Eq. replacement-exact-localization, for any symmetric statistic."""
    statistic = STATISTICS[name]
    scores = enumerated(statistic, m)
    given_x = conditional(statistic, m)
    localization = given_x - mean_statistic(statistic, m)
    assert np.allclose(scores["raw"].mean, given_x, atol=1e-12)
    assert np.allclose(scores["replacement"].mean, localization, atol=1e-12)
    assert np.ptp(localization) > 1e-3


@pytest.mark.parametrize("m", [3, 4])
@pytest.mark.parametrize("name", STATISTICS)
def test_addition_is_off_by_the_change_of_the_mean(name, m):
    """Eq. addition-localization-relation; nothing to change for a U-statistic."""
    statistic = STATISTICS[name]
    scores = enumerated(statistic, m)
    offset = mean_statistic(statistic, m) - mean_statistic(statistic, m - 1)
    difference = scores["addition"].mean - scores["replacement"].mean
    assert np.allclose(difference, offset, atol=1e-12)
    if name == "unbiased":
        assert abs(offset) < 1e-12
    if name in ("plug-in", "root", "range"):
        assert abs(offset) > 1e-3


@pytest.mark.parametrize("name", STATISTICS)
def test_sum_of_localizations_is_the_hajek_projection(name):
    """Eq. hajek-sum-localizations: what the sum leaves over is orthogonal to single events."""
    m, statistic = 3, STATISTICS[name]
    L = enumerated(statistic, m)["replacement"].mean
    indices = np.array(list(itertools.product(range(len(ATOMS)), repeat=m)))
    T = np.array([statistic(ATOMS[batch]) for batch in indices])
    left = T - T.mean() - L[indices].sum(axis=1)
    for atom in range(len(ATOMS)):
        assert abs(np.mean(left[indices[:, 0] == atom])) < 1e-12
    assert np.std(T) > np.std(left) > 1e-6


@pytest.mark.simulation
@pytest.mark.parametrize("m", [3, 4, 5])
def test_localization_of_a_u_statistic_is_its_first_projection(m):
    """Eq. ustat-main, with h_1 from the kernel itself."""
    q = functionals.pair_kernel(ATOMS, ATOMS, h=0.8)
    h_1 = q.mean(axis=1) - q.mean()
    L = enumerated(STATISTICS["unbiased"], m)["addition"].mean
    assert np.allclose(L, 2 / m * h_1, atol=1e-12)


# the fast form


def reference(probes, *, h, **options):
    def pair(x, C):
        return 2 / (len(C) * (len(C) + 1)) * functionals.pair_kernel(x[None], C, h=h).sum()

    return forced_scores(partial(functionals.unbiased, h=h), probes, pair=pair, **options)


@settings(deadline=None, max_examples=25)
@given(
    m=st.integers(3, 30),
    d=st.integers(1, 4),
    h=st.floats(0.1, 5.0),
    epsilon=st.floats(0.0, 1.0),
    shared=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_fast_form_equals_reference(m, d, h, epsilon, shared, seed):
    model = GaussianBenchmark(mean=(1.5,) + (0.5,) * (d - 1), sigma_s=0.5, epsilon=epsilon, h=h)
    probes = 2 * stream(seed, "probes").standard_normal((3, d))
    options = {"m": m, "R": 8, "h": h, "contexts": fresh(population(model))}
    options["shared_contexts"] = shared
    number = 1 if shared else 3
    fast = mmd_scores(probes, rngs=generators(number, seed), **options)
    slow = reference(probes, rngs=generators(number, seed), **options)
    for name in FORCED_ESTIMATORS:
        # kernels in single precision; in pair the sum over a context's pairs drops out
        error = 1e-12 if name == "pair" else 3e-7
        assert np.allclose(fast[name].mean, slow[name].mean, rtol=0, atol=error)
        assert np.allclose(fast[name].scatter, slow[name].scatter, rtol=0, atol=10 * error)


@pytest.mark.parametrize("m", [100, 200, 400])
def test_fast_form_equals_reference_by_series(m):
    probes = [[5.0, 0.0], [0.2, -0.3]]
    options = {"m": m, "R": 10, "h": 1.0, "contexts": fresh(population(MODEL))}
    fast = mmd_scores(probes, rngs=generators(2), **options)
    slow = reference(probes, rngs=generators(2), **options)
    for name in FORCED_ESTIMATORS:
        assert np.allclose(fast[name].mean, slow[name].mean, rtol=0, atol=1e-7)
        assert np.allclose(fast[name].variance, slow[name].variance, rtol=1e-4, atol=0)


def brute_pairs(companions, h):
    gaps = np.sum((companions[:, :, None] - companions[:, None]) ** 2, axis=-1)
    k = np.exp(-gaps / (2 * h * h))
    return (k.sum(axis=(1, 2)) - companions.shape[1]) / 2


@pytest.mark.parametrize("n", [2, 60, 250])
@pytest.mark.parametrize("h", [1e-12, 0.05, 1.0, 30.0])
@pytest.mark.parametrize(
    "case", ["normal", "one far away", "all far away", "all equal", "on a line"]
)
def test_pair_sum_of_awkward_contexts(n, h, case):
    """Narrow and wide kernels, ranges of zero and of a thousand: pairs or series."""
    block = stream(3, "awkward", n).standard_normal((4, n + 1, 2))
    if case == "one far away":
        block[:, 0] += 1e3
    elif case == "all far away":
        block += 1e5
    elif case == "all equal":
        block[:] = [0.4, -1.1]
    elif case == "on a line":
        block[..., 1] = 0.0
    sums = MatchedSums.of(block, h=h)
    pairs = n * (n - 1) / 2
    expected = brute_pairs(block[:, :-1], h)
    assert np.allclose(sums.context.pairs, expected, rtol=0, atol=3e-7 * pairs)
    assert np.allclose(
        sums.forced(block[0, -1]).pairs[0], sums.replaced.pairs[0], rtol=0, atol=1e-12 * pairs
    )


@pytest.mark.parametrize("m", [3, 20, 90, 160, 640])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_single_precision_is_far_below_the_noise(m, d):
    """The sum over the pairs of a context against the exact form, in units of its scatter."""
    rng = stream(11, "single", m, d)
    contexts = rng.standard_normal((300, m - 1, d)) * rng.choice([1.0, 0.5], size=(300, 1, 1))
    number = (m - 1) * (m - 2) / 2
    for h in (0.3, 1.0, 3.0):
        error = context_pairs.pair_sums(contexts, h) / number - pair_means.kernel_pairs(
            contexts, (h,)
        )
        assert np.abs(error).max() < 3e-7
        assert abs(error.mean()) < 1e-7
        assert np.abs(error).max() > 0


def test_no_context_depends_on_those_beside_it():
    """More contexts than are worked on side by side, and a last block of few."""
    contexts = stream(12, "lanes").standard_normal((700, 6, 2))
    together = context_pairs.pair_sums(contexts, 0.8)
    exact = pair_means.kernel_pairs(contexts, (0.8,)) * 15
    np.testing.assert_allclose(together, exact, rtol=0, atol=15 * 3e-7)
    assert np.ptp(exact) > 1


def test_statistic_does_not_depend_on_the_order_of_companions():
    block = population(STRONG)(stream(4, "order"), 200 * 5).reshape(5, 200, 2)
    mixed = block.copy()
    mixed[:, :-1] = block[:, stream(5, "shuffle").permutation(199)]
    for one, other in zip(
        *(
            (sums.context, sums.replaced, sums.forced(np.array([1.0, 2.0])))
            for sums in (MatchedSums.of(each, h=1.0) for each in (block, mixed))
        ),
        strict=True,
    ):
        assert np.allclose(one.unbiased(), other.unbiased(), rtol=0, atol=1e-7)


def test_kernel_sums_give_the_statistic():
    batch = population(STRONG)(stream(6, "batch"), 12)
    sums = MatchedSums.of(batch[None], h=0.7)
    assert isinstance(sums.replaced, KernelSums)
    assert sums.replaced.unbiased()[0] == pytest.approx(functionals.unbiased(batch, h=0.7))
    assert sums.context.unbiased()[0] == pytest.approx(functionals.unbiased(batch[:-1], h=0.7))


def test_matched_identities_hold_in_every_context():
    """T_m - T_{m-1} = J - (2/m) T_{m-1}: so raw, addition and pair are linearly related."""
    m, scores = 11, score([[0.3, 0.1]], m=11, R=50)
    raw, addition, pair = (scores[name].mean for name in ("raw", "addition", "pair"))
    without = raw - addition
    assert np.allclose(addition, pair - 2 / m * without, rtol=0, atol=1e-15)


# random numbers


def test_a_probe_does_not_depend_on_its_neighbours():
    probes = np.array([[0.0, 0.0], [1.5, 0.0], [3.0, -1.0]])
    options = {"m": 12, "R": 5000, "h": 1.0, "contexts": fresh(population(MODEL))}
    together = mmd_scores(probes, rngs=generators(3, "own"), **options)
    alone = mmd_scores(probes[1:2], rngs=generators(3, "own")[1:2], **options)
    stacked = ForcedScores.stack(
        [
            mmd_scores(probes[:1], rngs=generators(3, "own")[:1], **options),
            mmd_scores(probes[1:], rngs=generators(3, "own")[1:], **options),
        ]
    )
    for name in FORCED_ESTIMATORS:
        assert np.array_equal(together[name].mean[1:2], alone[name].mean)
        assert np.array_equal(together[name].mean, stacked[name].mean)
        assert np.array_equal(together[name].scatter, stacked[name].scatter)


def test_shared_contexts_give_each_probe_the_contexts_of_the_stream():
    probes = np.array([[0.0, 0.0], [1.5, 0.0]])
    shared = score(probes, m=15, R=4000, shared_contexts=True)
    for i, x in enumerate(probes):
        alone = score([x], m=15, R=4000)
        for name in FORCED_ESTIMATORS:
            assert np.array_equal(shared[name].mean[i : i + 1], alone[name].mean)
            assert np.array_equal(shared[name].scatter[i : i + 1], alone[name].scatter)


def test_shared_contexts_correlate_the_raw_errors_of_probes():
    probes = [[0.0, 0.0], [0.0, 3.0]]
    residuals = []
    for group in range(200):
        rngs = [stream(8, "groups", group)]
        scores = score(probes, model=STRONG, m=30, R=20, shared_contexts=True, rngs=rngs)
        residuals.append([scores[name].mean - STRONG.G(probes, 30) for name in ("raw", "pair")])
    correlation = [np.corrcoef(np.array(residuals)[:, k].T)[0, 1] for k in (0, 1)]
    assert correlation[0] > 0.8
    assert correlation[1] < 0.5


@settings(deadline=None, max_examples=30)
@given(
    cut=st.integers(1, 49),
    offset=st.floats(-1e6, 1e6),
    seed=st.integers(0, 10**6),
)
def test_merged_moments_are_those_of_all_contexts(cut, offset, seed):
    values = offset + stream(seed, "moments").standard_normal((3, 50))
    merged = ContextMoments.of(values[:, :cut]).merge(ContextMoments.of(values[:, cut:]))
    assert merged.contexts == 50
    assert np.allclose(merged.mean, values.mean(axis=1), rtol=1e-12)
    assert np.allclose(merged.variance, values.var(axis=1, ddof=1), rtol=1e-5)
    assert np.allclose(merged.standard_error, values.std(axis=1, ddof=1) / 50**0.5, rtol=1e-5)


def test_scores_merge_estimator_by_estimator():
    one, other = score([[1.0, 0.0]], R=300, key="one"), score([[1.0, 0.0]], R=200, key="other")
    merged = one.merge(other)
    for name in FORCED_ESTIMATORS:
        assert merged[name].contexts == 500
        assert merged[name].mean == pytest.approx(0.6 * one[name].mean + 0.4 * other[name].mean)


def test_moments_by_hand():
    """Two probes in three contexts: variances 3 and 12, squared errors 1 and 4."""
    moments = ContextMoments.of(np.array([[0.0, 3.0, 3.0], [0.0, 0.0, 6.0]]))
    assert moments.mean.tolist() == [2.0, 2.0]
    assert moments.scatter.tolist() == [6.0, 24.0]
    assert moments.variance.tolist() == [3.0, 12.0]
    assert moments.standard_error.tolist() == [1.0, 2.0]


# companions


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("probe", [0, 3, 7])
def test_companions_from_a_sample_without_its_probe(replacement, probe):
    sample = np.arange(8.0)[:, None]
    contexts = from_sample(sample, probe=probe, replacement=replacement)(stream(1, "c"), 7000, 5)
    assert contexts.shape == (7000, 5, 1)
    assert not np.any(contexts == probe)
    repeats = sum(len(np.unique(context)) < 5 for context in contexts)
    assert (repeats > 0) == replacement
    # each of the others, at each place (the last is Y), as often as any other
    for place in range(5):
        counts = np.bincount(contexts[:, place, 0].astype(int), minlength=8)
        assert np.all(abs(np.delete(counts, probe) - 1000) < 5 * np.sqrt(1000))


@pytest.mark.parametrize("replacement", [True, False])
def test_forced_score_on_a_fixed_sample_converges_to_its_pair_target(replacement):
    """The pair estimator's mean is (2/m) times the mean of q_B over the other events."""
    sample = population(STRONG)(stream(2, "sample"), 40)
    q = functionals.pair_kernel(sample, sample, h=1.0)
    target = (q.sum(axis=1) - np.diag(q)) / (len(sample) - 1)
    probes = [0, 11, 39]
    contexts = [from_sample(sample, probe=i, replacement=replacement) for i in probes]
    scores = score(sample[probes], m=10, R=3000, contexts=contexts)
    z = (scores["pair"].mean - 2 / 10 * target[probes]) / scores["pair"].standard_error
    assert np.all(abs(z) < 5)
    if not replacement:  # distinct companions: T of the others, and of m distinct events
        others = [functionals.unbiased(np.delete(sample, i, axis=0), h=1.0) for i in probes]
        expected = 2 / 10 * (target[probes] - others)
        for name in ("addition", "replacement"):
            assert np.all(abs(scores[name].mean - expected) < 5 * scores[name].standard_error)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_population_draws_the_mixture(epsilon):
    model = replace(MODEL, epsilon=epsilon)
    events = population(model)(stream(3, "population", round(10 * epsilon)), 20000)
    weights, means, variances = zip(*model.components, strict=True)
    mean = sum(w * a[0] for w, a in zip(weights, means, strict=True))
    second = sum(w * (v + a[0] ** 2) for w, a, v in zip(weights, means, variances, strict=True))
    for power, expected in ((1, mean), (2, second)):
        values = events[:, 0] ** power
        assert abs(values.mean() - expected) < 5 * values.std() / np.sqrt(len(values))
    spread = sum(w * v for w, v in zip(weights, variances, strict=True))
    square = events[:, 1] ** 2
    assert abs(square.mean() - spread) < 5 * square.std() / np.sqrt(len(square))


# the localization of the paper


@pytest.mark.parametrize(("model", "m"), [(MODEL, 5), (STRONG, 12), (STRONG, 150)])
def test_estimators_are_unbiased_for_the_localization(model, m):
    """Eqs. mmd-localization and analytic-G-gaussian: L = (2/m) (w - mean w)."""
    probes = np.array([[1.5, 0.0], [0.0, 0.0], [-2.0, 1.0], [5.0, 0.0]])
    scores = score(probes, model=model, m=m, R=1500, key=m)
    L = 2 / m * (model.witness(probes) - model.mean_witness)
    expected = {
        "raw": model.G(probes, m),
        "addition": L,
        "replacement": L,
        "pair": L + 2 / m * model.mmd2,
    }
    for name, value in expected.items():
        assert np.all(abs(scores[name].mean - value) < 5 * scores[name].standard_error)


def test_class_separation():
    """Eq. mmd-localization-class-separation, from random probes with contexts of their own."""
    m, each = 10, 300
    means = {}
    for epsilon in (0.0, 1.0):
        probes = population(replace(STRONG, epsilon=epsilon))(
            stream(5, "class", int(epsilon)), each
        )
        means[epsilon] = score(probes, model=STRONG, m=m, R=20, key=int(epsilon))["pair"].mean
    difference = means[1.0].mean() - means[0.0].mean()
    error = np.sqrt((means[1.0].var() + means[0.0].var()) / (each - 1))
    assert error < 0.1 * STRONG.class_separation(m)
    assert abs(difference - STRONG.class_separation(m)) < 5 * error


def test_null_localization_of_an_extreme_event_is_zero():
    null = replace(MODEL, epsilon=0.0)
    scores = score([[5.0, 0.0]], model=null, m=20, R=10000)
    for name in FORCED_ESTIMATORS:
        assert abs(scores[name].mean[0]) < 5 * scores[name].standard_error[0]
    # with an excess kurtosis of 3, 10^4 contexts fix a variance to sqrt(5 / 10^4) = 2.2 %
    exact = ContextVariance(null).of("raw", m=20)([[5.0, 0.0]])[0] / 10000
    assert scores["raw"].standard_error[0] ** 2 == pytest.approx(exact, rel=5 * 0.022)


# bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"m": 2}, "m must be at least 3"),
        ({"m": 5.0}, "m must be a whole number"),
        ({"R": 0}, "R must be at least 1"),
        ({"h": -1.0}, "h must be positive"),
        ({"probes": [1.0, 2.0]}, "probes must be a table"),
        ({"probes": [[1.0, np.nan]]}, "probes must be finite"),
        ({"probes": [[1.0, 2.0, 3.0]]}, "contexts must be of shape"),
        ({"rngs": generators(2)}, "rngs must hold 1 different generators, it holds 2"),
        ({"probes": [[1.0, 2.0]] * 2, "rngs": generators(1) * 2}, "rngs must hold 2 different"),
        ({"contexts": [fresh(population(MODEL))] * 2}, "contexts must be one sampler"),
        ({"contexts": lambda _rng, r, n: np.full((r, n, 2), np.inf)}, "contexts must be finite"),
        ({"contexts": fresh(lambda _rng, n: np.zeros(n))}, "sampler must return a table"),
        ({"contexts": fresh(lambda _rng, n: np.zeros((2, n)))}, "sampler must return a table"),
        (
            {"contexts": from_sample(np.zeros((4, 2)), probe=0, replacement=False)},
            "sample must hold at least 6 events",
        ),
    ],
)
def test_bad_input(change, message):
    arguments = {
        "probes": [[1.0, 2.0]],
        "m": 5,
        "R": 3,
        "h": 1.0,
        "contexts": fresh(population(MODEL)),
        "rngs": generators(1),
    }
    with pytest.raises(ValueError, match=message):
        mmd_scores(**(arguments | change))


def test_bad_input_of_shared_contexts():
    with pytest.raises(ValueError, match="rngs must hold 1 different generators, it holds 2"):
        score([[1.0, 2.0]] * 2, shared_contexts=True, rngs=generators(2))
    with pytest.raises(ValueError, match="contexts must be one sampler"):
        score([[1.0, 2.0]] * 2, shared_contexts=True, contexts=[fresh(population(MODEL))] * 2)


def test_bad_input_of_the_rest():
    with pytest.raises(ValueError, match="statistic must return finite numbers, it returned nan"):
        forced_scores(
            lambda _batch: np.nan,
            [[0.0, 0.0]],
            m=3,
            R=2,
            contexts=fresh(population(MODEL)),
            rngs=generators(1),
        )
    with pytest.raises(ValueError, match="m must be at least 2"):
        over_contexts(
            lambda _block: lambda _x: np.zeros((1, 1)),
            ["zero"],
            [[0.0]],
            m=1,
            R=1,
            contexts=fresh(population(MODEL)),
            rngs=generators(1),
        )
    with pytest.raises(ValueError, match="probe must be at most 3"):
        from_sample(np.zeros((4, 2)), probe=4, replacement=True)
    scores = score([[0.0, 0.0]], R=1)
    with pytest.raises(ValueError, match="contexts must be at least 2 for a variance"):
        _ = scores["raw"].variance
    with pytest.raises(ValueError, match="estimator must be one of"):
        _ = scores["best"]
    with pytest.raises(ValueError, match="the same m"):
        scores.merge(score([[0.0, 0.0]], m=21, R=1))
    with pytest.raises(ValueError, match="same probes"):
        scores.merge(score([[0.0, 0.0]] * 2, R=1))
    with pytest.raises(ValueError, match="same number of contexts"):
        ForcedScores.stack([scores, score([[0.0, 0.0]], R=2)])
    with pytest.raises(ValueError, match="parts must hold at least one"):
        ForcedScores.stack([])
