"""Each problem has the events it promises, and the same ones for every competitor."""

import numpy as np
import pytest
from localizer.base.randomness import stream
from localizer.comparison import known, problems
from localizer.lhco.samples import PAPER
from localizer.models.gaussian import GaussianBenchmark

RNG = stream(4, "tests", "problems")
POOL = problems.Pool(RNG.random((3000, 4)), 1 + RNG.random((600, 4)))
SIZES = {"background": 1500, "reference": 1200}
MODEL = GaussianBenchmark(mean=(1.5, 0.0), sigma_s=0.5, epsilon=0.02, h=1.0)
BUMP = {"features": 10, "informative": 3, "location": 1.0, "width": 0.2, "epsilon": 0.05}
HOLE = {"distance": 1.0, "radius": 0.4, "depth": 0.5}
LATENT = {"d": 2, "sigma_s": 0.5, "epsilon": 0.02, "h": 1.0}


def mock(number=0, *, seed=1, fraction=1.0, **sizes):
    return problems.lhco(POOL, seed, number, fraction=fraction, **{**SIZES, **sizes})


def rows(x):
    return set(map(tuple, x.tolist()))


def test_the_pool_holds_every_class_once():
    """Events of each sample are marked by their value."""
    samples = {
        "mixed": np.arange(6.0)[:, None],
        "labels": np.array([0, 1, 0, 0, 1, 0]),
        "reference": np.array([[10.0], [11.0]]),
        "evaluation_background": np.array([[20.0]]),
        "evaluation_signal": np.array([[30.0], [31.0]]),
    }
    pool = problems.Pool.of(samples)
    assert sorted(pool.background.ravel()) == [0, 2, 3, 5, 10, 11, 20]
    assert sorted(pool.signal.ravel()) == [1, 4, 30, 31]


def test_the_papers_ratio_is_that_of_its_sample():
    assert known.PAPER_RATIO == PAPER.mixed_signal / PAPER.mixed_background


@pytest.mark.parametrize("fraction", [0.25, 1.0, 4.0])
def test_the_injected_fraction_is_in_units_of_the_papers(fraction):
    problem = mock(fraction=fraction)
    signal = int(problem.labels.sum())
    assert signal == round(fraction * 772 / 121352 * 1500)
    assert len(problem.labels) == 1500 + signal
    # the events are of the classes that the labels say
    assert rows(problem.sample[problem.labels]) <= rows(POOL.signal)
    assert rows(problem.sample[~problem.labels]) <= rows(POOL.background)


def test_no_event_is_in_two_parts():
    problem = mock(background=1700, reference=1300)
    parts = [problem.sample, problem.reference, problem.signal]
    assert len(set.union(*map(rows, parts))) == sum(map(len, parts))


def test_mocks_of_one_number_share_their_events():
    """The curve over signal fractions is of nested samples: its points differ in signal alone."""
    few, many = mock(fraction=1.0), mock(fraction=4.0)
    background = [problem.sample[~problem.labels] for problem in (few, many)]
    np.testing.assert_array_equal(*background)
    np.testing.assert_array_equal(few.reference, many.reference)
    assert rows(few.sample[few.labels]) < rows(many.sample[many.labels])


@pytest.mark.parametrize(("number", "seed"), [(1, 1), (0, 2)])
def test_another_mock_is_another_draw(number, seed):
    assert rows(mock().sample) != rows(mock(number, seed=seed).sample)


def test_sizes_that_the_edition_does_not_have_are_refused():
    with pytest.raises(ValueError, match="share the 3000 background events"):
        mock(background=2000, reference=1001)
    with pytest.raises(ValueError, match="injects 0 signal events into 50"):
        mock(background=50, fraction=1.0)
    with pytest.raises(ValueError, match="injects 9"):
        mock(fraction=100.0)


def made(name, number=0, seed=1):
    sizes = {"N": 4000, "reference": 3000}
    if name == "gaussian":
        return problems.gaussian(seed, number, model=MODEL, name=name, **sizes)
    parameters = {"latent": LATENT, "bump": BUMP, "deficit": HOLE}[name]
    return getattr(problems, name)(seed, number, **parameters, **sizes)


NAMES = ["gaussian", "latent", "bump", "deficit"]


@pytest.mark.parametrize("name", NAMES)
def test_a_toy_is_the_same_each_time_and_another_for_another_number(name):
    one, again = made(name), made(name)
    for part in ("sample", "labels", "reference", "signal"):
        np.testing.assert_array_equal(getattr(one, part), getattr(again, part))
        for other in (made(name, 1), made(name, 0, 2)):
            assert not np.array_equal(getattr(one, part), getattr(other, part)) or part == "labels"


@pytest.mark.parametrize("name", NAMES)
def test_a_toy_has_its_sizes_and_no_event_twice(name):
    problem = made(name)
    assert len(problem.sample) == 4000
    assert len(problem.reference) == 3000
    parts = [problem.sample, problem.reference, problem.signal]
    assert len(set.union(*map(rows, parts))) == sum(map(len, parts))


def test_the_signal_of_the_benchmark_is_where_the_paper_puts_it():
    problem = made("gaussian")
    assert problem.labels.sum() == 80
    for signal in (problem.sample[problem.labels], problem.signal):
        np.testing.assert_allclose(signal.mean(axis=0), [1.5, 0.0], atol=0.25)
        np.testing.assert_allclose(signal.std(axis=0), 0.5, atol=0.12)
    np.testing.assert_allclose(problem.reference.std(axis=0), 1, atol=0.05)


def test_the_latent_location_is_shared_and_drawn_anew():
    places = []
    for number in range(3):
        problem = made("latent", number)
        inside, outside = problem.sample[problem.labels], problem.signal
        # an oracle learns the same location
        np.testing.assert_allclose(inside.mean(axis=0), outside.mean(axis=0), atol=0.25)
        np.testing.assert_allclose(outside.std(axis=0), 0.5, atol=0.02)
        places.append(tuple(outside.mean(axis=0).round(1)))
    assert len(set(places)) == 3


def test_the_bump_is_in_the_informative_features_only():
    problem = made("bump")
    assert problem.labels.sum() == 200
    for signal in (problem.sample[problem.labels], problem.signal):
        np.testing.assert_allclose(signal[:, :3].mean(axis=0), 1.0, atol=0.06)
        np.testing.assert_allclose(signal[:, :3].std(axis=0), 0.2, atol=0.04)
        np.testing.assert_allclose(signal[:, 3:].mean(axis=0), 0.0, atol=0.35)
        np.testing.assert_allclose(signal[:, 3:].std(axis=0), 1.0, atol=0.2)


def test_the_deficit_lacks_its_share_of_events():
    problem = made("deficit")
    assert problem.sign == -1
    distance = np.hypot(problem.sample[:, 0] - 1, problem.sample[:, 1])
    np.testing.assert_array_equal(problem.labels, distance < 0.4)
    in_reference = np.hypot(problem.reference[:, 0] - 1, problem.reference[:, 1]) < 0.4
    # half of 5 % is missing; the error of the ratio is a tenth
    ratio = problem.labels.mean() / in_reference.mean()
    assert 0.35 < ratio < 0.7
    assert (np.hypot(problem.signal[:, 0] - 1, problem.signal[:, 1]) < 0.4).all()


def test_the_smallest_model_parameters_are_checked():
    for name, bad in (("informative", 11), ("width", 0.0), ("epsilon", 0.0)):
        with pytest.raises(ValueError, match=name if name != "epsilon" else "class empty"):
            problems.bump(1, 0, **{**BUMP, name: bad}, N=100, reference=100)
    with pytest.raises(ValueError, match="depth"):
        problems.deficit(1, 0, **{**HOLE, "depth": 1.0}, N=100, reference=100)
