"""The statistics against plain formulas, SciPy and scikit-learn; what is refused and how."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from localizer.base.randomness import stream
from localizer.estimators import batch_statistic, mmd, own_statistic, statistics
from localizer.estimators.batch_statistic import Prepared
from localizer.estimators.energy import EnergyBackground, pair_target
from localizer.estimators.own_statistic import Own
from localizer.estimators.statistics import (
    MMD,
    AndersonDarling,
    Classifier,
    Energy,
    KolmogorovSmirnov,
)
from localizer.kernels.bank import EmpiricalBackground, GaussianBank, NormalBackground, q_B
from scipy import optimize, stats
from sklearn.linear_model import Ridge

ALL = [
    MMD((0.5, 1.0, 2.0)),
    Energy(),
    KolmogorovSmirnov(),
    KolmogorovSmirnov("max"),
    AndersonDarling(),
    AndersonDarling("max"),
    Classifier(),
    Classifier(degree=1, ridge=0.1),
]
NAMES = [f"{each.name}-{getattr(each, 'features', getattr(each, 'degree', ''))}" for each in ALL]


@pytest.fixture
def reference() -> np.ndarray:
    return stream(1, "statistics reference").standard_normal((200, 2))


@pytest.fixture
def sample() -> np.ndarray:
    return stream(1, "statistics sample").standard_normal((100, 2)) + np.array([0.5, 0.0])


def ties(size: int) -> st.SearchStrategy[np.ndarray]:
    """One feature with many equal values, also between the samples."""
    whole = st.integers(-4, 4).map(float)
    return arrays(np.float64, st.tuples(st.integers(2, size), st.just(1)), elements=whole)


# --- values -----------------------------------------------------------------------


def test_mmd_is_the_mean_of_the_pair_kernel(sample, reference):
    bank = GaussianBank((0.5, 1.0, 2.0))
    for background, prepared in (
        (EmpiricalBackground(bank, reference), MMD(bank.bandwidths).prepare(reference)),
        (
            NormalBackground(bank, d=2),
            MMD(bank.bandwidths).against(NormalBackground(bank, d=2), d=2),
        ),
    ):
        expected = mmd.T(q_B(sample, sample, bank, background))
        assert prepared(sample) == pytest.approx(expected, abs=1e-12)


def test_energy_is_the_energy_distance(sample, reference):
    expected = pair_target(sample, EnergyBackground(reference)).mean()
    assert Energy().prepare(reference)(sample) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None, max_examples=100)
@given(ties(12), ties(20))
def test_ks_is_scipys_at_one_feature(x, y):
    expected = stats.ks_2samp(x[:, 0], y[:, 0], method="asymp").statistic
    assert KolmogorovSmirnov().prepare(y)(x) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None, max_examples=50)
@given(ties(12), ties(20))
def test_ad_is_scipys_at_one_feature(x, y):
    """Of the events' ranks in the reference, against the uniform distribution."""
    prepared = AndersonDarling().prepare(y)
    fit = stats.goodness_of_fit(
        stats.uniform,
        prepared.encode(x)[:, 0],
        known_params={"loc": 0, "scale": 1},
        statistic="ad",
        n_mc_samples=1,
    )
    assert len(x) * prepared(x) == pytest.approx(fit.statistic, abs=1e-10)


def test_ad_approaches_the_known_background(sample):
    """With the quantiles of B as reference the ranks are the distribution function."""
    n = 200_000
    quantiles = stats.norm.ppf((np.arange(n) + 0.5) / n)[:, None]
    x = sample[:, :1]
    fit = stats.goodness_of_fit(
        stats.norm, x[:, 0], known_params={"loc": 0, "scale": 1}, statistic="ad", n_mc_samples=1
    )
    assert len(x) * AndersonDarling().prepare(quantiles)(x) == pytest.approx(
        fit.statistic, rel=1e-3
    )


@pytest.mark.parametrize("kind", [KolmogorovSmirnov, AndersonDarling])
def test_features_are_combined_by_mean_or_maximum(kind, sample, reference):
    alone = [kind().prepare(reference[:, c : c + 1])(sample[:, c : c + 1]) for c in range(2)]
    assert kind("mean").prepare(reference)(sample) == pytest.approx(np.mean(alone), rel=1e-13)
    assert kind("max").prepare(reference)(sample) == pytest.approx(max(alone), rel=1e-13)


@pytest.mark.parametrize("kind", [KolmogorovSmirnov, AndersonDarling])
def test_monotone_transformations_change_nothing(kind, sample, reference):
    assert kind().prepare(np.exp(reference))(np.exp(sample)) == kind().prepare(reference)(sample)


@pytest.mark.parametrize("ridge", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("m", [1, 3, 20, 100])
def test_the_classifier_is_scikit_learns_ridge_regression(ridge, m, sample, reference):
    statistic = Classifier(ridge=ridge).prepare(reference)
    rows = np.vstack([statistic.encode(sample[:m]), statistic.encode(reference)])[:, 1:]
    label = np.where(np.arange(len(rows)) < m, 1.0, -1.0)
    weight = np.where(label > 0, 0.5 / m, 0.5 / len(reference))
    fit = Ridge(alpha=ridge, solver="cholesky").fit(rows, label, sample_weight=weight)
    loss = weight @ (label - fit.predict(rows)) ** 2 + ridge * np.sum(fit.coef_**2)
    assert statistic(sample[:m]) == pytest.approx(1 - loss, abs=1e-10)


def test_the_linear_classifier_is_fishers_discriminant(sample, reference):
    """With D^2 Fisher's separation of the means, it explains D^2 / (D^2 + 4) of the label."""
    within = (np.cov(sample.T, ddof=0) + np.cov(reference.T, ddof=0)) / 2
    gap = sample.mean(axis=0) - reference.mean(axis=0)
    square = gap @ np.linalg.solve(within, gap)
    value = Classifier(degree=1, ridge=1e-12).prepare(reference)(sample)
    assert value == pytest.approx(square / (square + 4), rel=1e-9)


def test_the_classifier_cannot_tell_the_reference_from_itself(reference):
    assert Classifier().prepare(reference)(reference) == pytest.approx(0, abs=1e-12)


def test_units_change_nothing_for_the_classifier(sample, reference):
    plain = Classifier().prepare(reference)(sample)
    scale, shift = np.array([100.0, 0.01]), np.array([5.0, -3.0])
    moved = Classifier().prepare(reference * scale + shift)(sample * scale + shift)
    assert moved == pytest.approx(plain, rel=1e-9)


def test_the_influence_function_of_the_classifier_is_its_own_answer():
    """(M + 1) [T(X, x) - T(X)] tends to IF(x), eq. localization-IF, with an error of O(1/M)."""
    rng = stream(1, "influence")
    reference = rng.standard_normal((300, 2))
    x = rng.standard_normal((4000, 2)) + np.array([0.7, 0.0])
    statistic = Classifier(ridge=0.01).prepare(reference)
    rows, against = statistic.encode(x), statistic.encode(reference)

    def objective(theta):
        loss = np.mean((1 - rows @ theta) ** 2) + np.mean((1 + against @ theta) ** 2)
        return loss / 2 + 0.01 * np.sum(theta[1:] ** 2)

    theta = optimize.minimize(objective, np.zeros(rows.shape[1]), tol=1e-10).x
    assert statistic(x) == pytest.approx(1 - objective(theta), abs=1e-8)
    probes = np.array([[1.0, 0.5], [-2.0, 0.0], [0.5, 2.0]])
    answers = -((1 - statistic.encode(probes) @ theta) ** 2) / 2
    expected = answers + np.mean((1 - rows @ theta) ** 2) / 2
    found = [len(x) * (statistic(np.vstack([x, p])) - statistic(x)) for p in probes]
    np.testing.assert_allclose(found, expected, rtol=0.01, atol=1e-3)


# --- what all have in common --------------------------------------------------------


@pytest.mark.parametrize("statistic", ALL, ids=NAMES)
def test_a_batch_is_worth_the_same_in_any_company(statistic, sample, reference):
    prepared = statistic.prepare(reference)
    rows = prepared.encode(sample)
    batches = np.stack([rows[i : i + 10] for i in range(40)])
    together = prepared.values(batches)
    np.testing.assert_array_equal(together, [prepared.values(one[None])[0] for one in batches])
    assert prepared(sample[3:13]) == together[3]


@pytest.mark.parametrize("statistic", ALL, ids=NAMES)
def test_the_statistics_pass_their_own_check(statistic, sample, reference):
    batch_statistic.check(statistic.prepare(reference), sample, m=12, rng=stream(1, "check"))


@pytest.mark.parametrize("statistic", ALL, ids=NAMES)
def test_a_departure_is_larger_than_none(statistic, reference):
    rng = stream(1, "departure")
    prepared = statistic.prepare(reference)
    null = [prepared(rng.standard_normal((50, 2))) for _ in range(20)]
    away = [prepared(rng.standard_normal((50, 2)) + np.array([1.5, 0.0])) for _ in range(20)]
    assert min(away) > max(null)


@pytest.mark.parametrize("statistic", ALL, ids=NAMES)
def test_other_features_than_the_references_are_refused(statistic, reference):
    with pytest.raises(ValueError, match="events must have 2 features, it has 3"):
        statistic.prepare(reference)(np.ones((5, 3)))


def test_pairs_need_two_events(reference):
    with pytest.raises(ValueError, match="at least 2 events for energy, they hold 1"):
        Energy().prepare(reference)([[0.0, 0.0]])


@pytest.mark.parametrize("name", statistics.NAMES)
def test_a_statistic_is_found_by_its_name(name, reference):
    found = statistics.by_name(name, bandwidths=[1.0])
    assert found.name == name
    assert found.prepare(reference).name == name


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: statistics.by_name("mdm", bandwidths=[1.0]), "one of mmd, energy"),
        (lambda: KolmogorovSmirnov("median"), "features must be one of"),
        (lambda: AndersonDarling("median"), "features must be one of"),
        (lambda: Classifier(degree=3), "degree must be at most 2"),
        (lambda: Classifier(ridge=0.0), "ridge must be positive"),
        (lambda: Classifier().prepare(np.ones((9, 2))), "feature 0 is constant"),
        (lambda: MMD((1.0,)).prepare([[np.inf]]), "reference must be finite"),
        (lambda: MMD((-1.0,)).prepare([[0.0]]), "must be positive"),
        (
            lambda: MMD((1.0,)).against(NormalBackground(GaussianBank((2.0,)), d=1), d=1),
            "must belong to the bandwidths",
        ),
    ],
)
def test_bad_options_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


# --- a function of one's own ----------------------------------------------------------


def prepared(function, reference) -> Prepared:
    return Own(function, "mine:statistic").prepare(reference)


def test_a_function_may_ask_for_the_reference(reference, sample):
    def with_reference(batch, other):
        return float(batch.mean() - other.mean())

    def with_optional(batch, reference=None):
        return float(batch.mean() - reference.mean())

    def with_option(batch, power=2):
        return float(np.mean(batch**power))

    shift = sample.mean() - reference.mean()
    assert prepared(with_reference, reference)(sample) == shift
    assert prepared(with_optional, reference)(sample) == shift
    assert prepared(with_option, reference)(sample) == np.mean(sample**2)
    assert prepared(np.mean, reference)(sample) == np.mean(sample)


def test_a_decision_is_a_statistic(reference, sample):
    """Inverse Bagging's first form: background-like or not."""
    assert prepared(lambda batch: batch.mean() > 0, reference)(sample) == 1.0


def test_a_function_that_works_in_place_harms_nobody(reference, sample):
    def median(batch):
        batch.sort(axis=0)
        return batch[len(batch) // 2, 0]

    statistic = prepared(median, reference)
    rows = sample[None].copy()
    statistic.values(rows)
    np.testing.assert_array_equal(rows[0], sample)

    def spoil(batch, reference):
        reference[0] = batch[0]
        return 0.0

    with pytest.raises(ValueError, match=r"mine:statistic failed .* ValueError: .* read-only"):
        prepared(spoil, reference)(sample)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda _: None, "mine:statistic must return one number for a batch, it returned None"),
        (lambda batch: batch, r"returned ndarray of shape \(100, 2\)"),
        (lambda batch: batch[:1, 0], r"returned ndarray of shape \(1,\)"),
        (lambda _: "big", "it returned str"),
        (lambda _: 1j, "it returned complex"),
        (lambda _: {}, "it returned dict"),
        (lambda _: np.nan, "must return finite numbers, it returned nan for a batch of 100"),
        (lambda _: np.inf, "must return finite numbers, it returned inf"),
        (lambda _: 1 / 0, r"failed on a batch of shape \(100, 2\): ZeroDivisionError"),
        (lambda batch: batch[:, 7].sum(), "failed on .*: IndexError: index 7"),
        (lambda: 0.0, r"must be a function of a batch .* called as \(\)"),
        (lambda a, b, c: a + b + c, r"must be a function of a batch .* called as \(a, b, c\)"),
    ],
)
def test_what_a_function_does_wrong_is_said(function, words, sample, reference):
    with pytest.raises(ValueError, match=words) as caught:
        prepared(function, reference)(sample)
    assert "\n" not in str(caught.value)


@pytest.fixture
def module(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Return a module of a user's own, under a name that no other test has."""
    path = tmp_path / f"own_{request.node.name.partition('[')[0]}.py"
    path.write_text(
        textwrap.dedent(
            """
            import numpy as np
            number = 3.0
            def spread(batch, reference):
                return batch.std() - reference.std()
            """
        )
    )
    return path


def test_a_function_is_loaded_from_a_folder(module, sample, reference):
    loaded = statistics.by_name(
        f"{module.stem}:spread", bandwidths=[1.0], folder=str(module.parent)
    )
    assert loaded.name == f"{module.stem}:spread"
    assert loaded.prepare(reference)(sample) == sample.std() - reference.std()


def test_the_file_behind_a_function_is_found_without_running_it(tmp_path):
    path = tmp_path / "own_unrun.py"
    path.write_text("raise RuntimeError('it ran')\n")
    assert own_statistic.source("own_unrun:f", folder=str(tmp_path)) == str(path)
    assert own_statistic.source("no_such_module_here:f", folder=str(tmp_path)) is None
    assert own_statistic.source("no_such_module_here.part:f", folder=str(tmp_path)) is None
    assert own_statistic.source(":f", folder=str(tmp_path)) is None
    broken = tmp_path / "own_broken"
    broken.mkdir()
    (broken / "__init__.py").write_text("def (")
    assert own_statistic.source("own_broken.part:f", folder=str(tmp_path)) is None


def test_a_function_is_loaded_from_pythons_path(sample, reference, tmp_path):
    loaded = own_statistic.load("numpy:ptp", folder=str(tmp_path))
    assert loaded.prepare(reference)(sample) == np.ptp(sample)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("{module}:spraed", "has no spraed; did you mean spread?"),
        ("{module}:xyz", "has no xyz$"),
        ("{module}:number", "must be a function of a batch, it is of type float"),
        ("no_such_module_here:f", "no module no_such_module_here in"),
        ("numpy.no_such_part:f", "no module numpy.no_such_part in"),
        ("spread", 'given as "module:name"'),
        ("mine:", 'given as "module:name"'),
        (":f", 'given as "module:name"'),
        ("../mine:f", 'given as "module:name"'),
        ("mine:f()", 'given as "module:name"'),
    ],
)
def test_a_function_that_is_not_there_is_said(spec, words, module):
    with pytest.raises(ValueError, match=words) as caught:
        own_statistic.load(spec.format(module=module.stem), folder=str(module.parent))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("def f(batch: return 1", "cannot be loaded: .* SyntaxError"),
        ("import no_such_dependency", "cannot be loaded: .* No module named 'no_such_dependency'"),
        ("raise RuntimeError('at import')", "cannot be loaded: .* RuntimeError: at import"),
    ],
)
def test_a_module_that_cannot_be_imported_is_said(line, words, tmp_path):
    (tmp_path / "own_broken.py").write_text(line + "\n")
    with pytest.raises(ValueError, match=words):
        own_statistic.load("own_broken:f", folder=str(tmp_path))


# --- symmetry -----------------------------------------------------------------------


def first_counts_more(batch):
    """Symmetric to one part in ten thousand."""
    weight = np.ones(len(batch))
    weight[0] += 1e-2
    return np.average(batch[:, 0], weights=weight)


def halves(batch):
    """Split by order, as for training and test: the classic mistake."""
    half = len(batch) // 2
    return np.abs(batch[:half].mean(axis=0) - batch[half:].mean(axis=0)).sum()


def neighbours(batch):
    """Depends on who stands beside whom; reversing the batch changes nothing."""
    return np.abs(np.diff(batch[:, 0])).mean()


def breaks_ties_by_order(batch):
    """Take the event with the largest rounded first feature: ties go to the first."""
    return batch[np.argmax(np.round(batch[:, 0])), 1]


@pytest.mark.parametrize("m", [12, 13])
@pytest.mark.parametrize(
    "function",
    [first_counts_more, halves, neighbours, breaks_ties_by_order],
    ids=lambda f: f.__name__,
)
def test_an_asymmetric_statistic_is_refused(function, m, sample, reference):
    with pytest.raises(ValueError, match="mine:statistic must be symmetric") as caught:
        batch_statistic.check(prepared(function, reference), sample, m=m, rng=stream(1, "check"))
    assert "\n" not in str(caught.value)


def test_the_check_says_the_same_every_time(sample, reference):
    sentences = set()
    for _ in range(2):
        with pytest.raises(ValueError, match="symmetric") as caught:
            batch_statistic.check(prepared(halves, reference), sample, m=9, rng=stream(1, "check"))
        sentences.add(str(caught.value))
    assert len(sentences) == 1


def test_rounding_is_no_asymmetry(sample, reference):
    """Sums in float32 depend on the order in their last digits."""
    single = prepared(lambda batch: np.sum(batch.astype(np.float32) ** 2), reference)
    batch_statistic.check(single, sample, m=50, rng=stream(1, "check"))
    with pytest.raises(ValueError, match="symmetric"):
        batch_statistic.check(single, sample, m=50, rng=stream(1, "check"), tolerance=1e-12)


def test_a_random_statistic_is_refused(sample, reference):
    rng = stream(1, "random statistic")
    random = prepared(lambda batch: batch.mean() + rng.normal(), reference)
    with pytest.raises(ValueError, match="two values for the same batch"):
        batch_statistic.check(random, sample, m=9, rng=stream(1, "check"))


def test_a_statistic_that_lacks_the_smaller_batch_is_refused(sample, reference):
    """Addition needs batches of m - 1 events too."""
    even = prepared(lambda batch: batch.mean() if len(batch) % 2 == 0 else np.nan, reference)
    with pytest.raises(ValueError, match="returned nan for a batch of 9 events"):
        batch_statistic.check(even, sample, m=10, rng=stream(1, "check"))


def test_many_must_return_one_number_a_batch(sample):
    wrong = Prepared("wrong", lambda x: np.asarray(x), lambda batches: batches.sum(axis=1))
    with pytest.raises(ValueError, match="wrong must return one number for each of 1 batches"):
        wrong(sample)
