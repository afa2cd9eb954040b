"""Each competitor wins or loses where it must by construction, the same on any number of cores."""

import numba
import numpy as np
import pytest
from localizer.base import metrics
from localizer.base.randomness import stream
from localizer.comparison import boosting, crossfit, objective, problems
from localizer.comparison.competitors import coin_flip, knn_ratio, witness_exact, witness_rff
from localizer.comparison.coordinates import copula
from localizer.comparison.objective import Problem
from scipy.spatial.distance import cdist
from scipy.stats import binom
from threadpoolctl import threadpool_limits

# the mean of ten of idealized_1, and ten times as slow: tested where it differs
SEARCHES = [name for name in objective.names() if name not in ("supervised", "idealized_10")]
LOCAL = [name for name in SEARCHES if name != "quadratic"]


def auc(name, problem):
    found = objective.scores(
        objective.competitor(name), problem, objective.generator(1, "tests", 0, name)
    )
    return metrics.auc(found, problem.labels)


def clump(rng, *, n=1200, signal=120, place=(1.0, -1.0), width=0.15, sign=1):
    """Return a dense clump on a plane of background; with sign -1, in the reference instead."""
    x, y = rng.normal(size=(n, 2)), rng.normal(size=(n, 2))
    extra = place + width * rng.normal(size=(signal, 2))
    training = place + width * rng.normal(size=(500, 2))
    if sign > 0:
        sample = np.concatenate([x, extra])
        return Problem(sample, np.arange(len(sample)) >= n, y, training)
    hole = np.hypot(*(x - place).T) < 2 * width
    return Problem(x, hole, np.concatenate([y, extra]), training, sign=-1)


@pytest.mark.parametrize("name", [*LOCAL, "idealized_10", "supervised"])
def test_a_clump_is_found(name):
    assert auc(name, clump(stream(5, "tests", "clump"))) > 0.9


@pytest.mark.parametrize("name", LOCAL)
def test_a_deficit_is_found_by_its_sign(name):
    assert auc(name, clump(stream(5, "tests", "hole"), sign=-1)) > 0.85


@pytest.mark.parametrize("name", SEARCHES)
def test_where_both_agree_nothing_is_found(name):
    """Labels at random: a score that has seen them would tell."""
    rng = stream(6, "tests", "null")
    problem = Problem(
        rng.normal(size=(800, 2)), rng.random(800) < 0.3, rng.normal(size=(800, 2)), np.eye(2)
    )
    assert abs(auc(name, problem) - 0.5) < 0.08


def test_a_quadratic_discriminant_sees_means_and_not_a_ring():
    """The ring has the mean and covariance of the background; a shift has not."""
    rng = stream(7, "tests", "ring")
    x, y = rng.normal(size=(4000, 2)), rng.normal(size=(4000, 2))
    angle = rng.uniform(0, 2 * np.pi, 400)
    ring = np.sqrt(2) * np.column_stack([np.cos(angle), np.sin(angle)])
    labels = np.arange(4400) >= 4000
    on_ring = Problem(np.concatenate([x, ring]), labels, y, ring)
    shifted = Problem(np.concatenate([x, 2 + rng.normal(size=(400, 2))]), labels, y, ring)
    assert auc("quadratic", shifted) > 0.9
    assert auc("witness_exact", on_ring) > auc("quadratic", on_ring) + 0.1


def test_trees_see_through_features_of_noise():
    problem = problems.bump(
        *(1, 0),
        **{"features": 10, "informative": 3, "location": 1.0, "width": 0.2, "epsilon": 0.05},
        **{"N": 2500, "reference": 2500},
    )
    assert auc("idealized_1", problem) > auc("knn_ratio", problem) + 0.1


def test_random_features_follow_the_exact_witness():
    problem = clump(stream(8, "tests", "features"), n=3000)
    found = [
        objective.scores(one, problem, stream(8, "tests", "rff"))
        for one in (witness_rff, witness_exact)
    ]
    # the same kernels: what is left is the error of 2560 features
    assert np.corrcoef(*found)[0, 1] > 0.97


def test_more_classifiers_scatter_less():
    problem = clump(stream(9, "tests", "ensemble"))

    def scatter(members):
        found = [
            boosting.ensemble(
                *(problem.sample, problem.reference, problem.sample[:200]),
                *(stream(9, "tests", members, draw),),
                members=members,
            )
            for draw in range(4)
        ]
        return np.var(found, axis=0).mean()

    assert scatter(5) < 0.5 * scatter(1)


# --- the parts -------------------------------------------------------------------------------


def test_cross_fitting_never_scores_what_was_seen():
    sample = np.arange(37.0)[:, None]
    times = np.zeros(37)

    def fitted(seen, at):
        assert not set(seen.ravel()) & set(at.ravel())
        assert len(seen) + len(at) == 37
        times[at.ravel().astype(int)] += 1
        return 10 * at[:, 0]

    out = crossfit.cross_fitted(sample, stream(1, "tests"), fitted)
    np.testing.assert_array_equal(out, 10 * sample[:, 0])
    assert (times == 1).all()


def test_coin_flips_are_binomial_tails_with_a_sign():
    table = coin_flip._signed_significance(12, 0.3)
    for k, heads in ((1, 0), (1, 1), (7, 5), (12, 0), (12, 12), (10, 3)):
        more, fewer = binom.sf(heads - 1, k, 0.3), binom.cdf(heads, k, 0.3)
        expected = -np.log(more) if more <= fewer else np.log(fewer)
        assert table[k, heads] == pytest.approx(expected, rel=1e-10)


def test_coin_flips_leave_the_event_itself_out():
    """Two samples of two events far apart: the one neighbour of each event is its partner."""
    rng = stream(10, "tests", "flips")
    x = rng.normal(size=(40, 2))
    found = coin_flip.score(x, 100 + rng.normal(size=(40, 2)), rng)
    # two neighbours at most (a twentieth of 40), both of the sample: p = 39/79 each
    np.testing.assert_allclose(found, -2 * np.log(39 / 79))


def test_the_event_itself_is_no_flip():
    """A sample event among the reference alone: both of its neighbours are tails."""
    rng = stream(10, "tests", "lone")
    x, y = rng.normal(size=(40, 2)), 100 + rng.normal(size=(40, 2))
    x[0] = 100
    assert coin_flip.score(x, y, rng)[0] == pytest.approx(2 * np.log(40 / 79))


def test_coin_flips_survive_many_twins():
    rng = stream(11, "tests", "twins")
    x = np.concatenate([np.zeros((60, 2)), rng.normal(size=(60, 2))])
    assert np.isfinite(coin_flip.score(x, x[::-1] + 0.1, rng)).all()


def test_the_density_ratio_is_that_of_two_uniform_samples():
    """The sample fills a quarter of the reference's square, four times as dense."""
    rng = stream(12, "tests", "ratio")
    x, y = 0.5 * rng.random((3000, 2)), rng.random((3000, 2))
    inner = ((x > 0.1) & (x < 0.4)).all(axis=1)
    assert np.mean(knn_ratio.score(x, y, rng)[inner]) == pytest.approx(np.log(4), abs=0.1)


def test_the_density_ratio_is_that_of_the_distances():
    rng = stream(12, "tests", "distances")
    x, y = rng.normal(size=(17, 3)), rng.normal(size=(30, 3))
    u, v = copula(x, y)
    inside, outside = (np.sort(cdist(u, t), axis=1) for t in (u, v))
    # the fourth neighbour, the event itself left out
    expected = 3 * np.log(outside[:, 3] / inside[:, 4]) + np.log(30 / 16)
    np.testing.assert_allclose(knn_ratio.score(x, y, rng), expected, rtol=1e-10)


def test_twins_have_a_finite_density_ratio():
    x = np.zeros((50, 2))
    x[:5] = np.arange(10).reshape(5, 2)
    assert np.isfinite(knn_ratio.score(x, x + 0.5, stream(1))).all()


@pytest.mark.parametrize("name", [*SEARCHES, "supervised"])
def test_the_same_bytes_on_one_thread_and_on_two(name):
    problem = clump(stream(13, "tests", "threads"), n=1500)
    one, before = objective.competitor(name), numba.get_num_threads()
    found = []
    for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
        numba.set_num_threads(threads)
        # OpenMP alone: BLAS has one thread in every job that writes numbers
        with (
            threadpool_limits(threads, user_api="openmp"),
            threadpool_limits(1, user_api="blas"),
        ):
            rng = objective.generator(1, "tests", 0, name)
            found.append(objective.scores(one, problem, rng).tobytes())
    numba.set_num_threads(before)
    assert found[0] == found[1]
