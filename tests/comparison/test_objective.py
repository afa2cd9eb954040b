"""The objective gives every competitor the same and judges by labels alone."""

from types import SimpleNamespace

import numpy as np
import pytest
from localizer.base import metrics
from localizer.base.randomness import stream
from localizer.comparison import objective
from localizer.comparison.objective import Problem

RNG = stream(3, "tests", "objective")
SAMPLE, REFERENCE, SIGNAL = (RNG.normal(size=(n, 2)) for n in (60, 50, 40))
LABELS = np.arange(60) >= 45
PROBLEM = Problem(SAMPLE, LABELS, REFERENCE, SIGNAL)


def rival(score, **more):
    return SimpleNamespace(LABEL="a rival", score=score, **more)


def first_feature(sample, reference, rng):
    return sample[:, 0]


def scored(one, problem=PROBLEM):
    return objective.scores(one, problem, stream(3, "tests", "competitor"))


def test_scores_belong_to_their_events():
    np.testing.assert_array_equal(scored(rival(first_feature)), SAMPLE[:, 0])


def test_the_order_of_events_reveals_nothing():
    """Signal comes last in the problem; a score by place must not find it."""
    by_place = rival(lambda sample, reference, rng: np.arange(len(sample)))
    assert abs(metrics.auc(scored(by_place), LABELS) - 0.5) < 0.3


def test_a_deficit_asks_for_the_lowest_scores():
    missing = Problem(SAMPLE, LABELS, REFERENCE, SIGNAL, sign=-1)
    np.testing.assert_array_equal(scored(rival(first_feature), missing), -SAMPLE[:, 0])


def test_an_oracle_alone_sees_labelled_events():
    seen = {}

    def score(sample, reference, rng, **labelled):
        seen.update(labelled)
        return sample[:, 0]

    scored(rival(score))
    assert seen == {}
    missing = Problem(SAMPLE, LABELS, REFERENCE, SIGNAL, sign=-1)
    # what an oracle returns is high for what is to be found, too many or too few
    np.testing.assert_array_equal(scored(rival(score, ORACLE=True), missing), SAMPLE[:, 0])
    np.testing.assert_array_equal(seen["signal"], SIGNAL)


def test_a_competitor_cannot_spoil_the_events_of_the_next():
    def spoil(sample, reference, rng):
        found = sample[:, 0].copy()
        sample[:], reference[:] = 0, 0
        return found

    before = SAMPLE.copy(), REFERENCE.copy()
    scored(rival(spoil))
    np.testing.assert_array_equal(PROBLEM.sample, before[0])
    np.testing.assert_array_equal(PROBLEM.reference, before[1])


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (lambda sample, reference, rng: sample[1:, 0], "score must have 60 entries"),
        (lambda sample, reference, rng: np.full(len(sample), np.nan), "score must be finite"),
    ],
)
def test_a_bad_score_is_refused(score, words):
    with pytest.raises(ValueError, match=words):
        scored(rival(score))


def test_auc_and_sic_are_those_of_the_metrics():
    row = objective.judged(SAMPLE[:, 0], LABELS, floors=[2, 10])
    assert row["auc"] == metrics.auc(SAMPLE[:, 0], LABELS)
    assert row["sic_2"] == metrics.max_sic(SAMPLE[:, 0], LABELS, floor=2)
    assert row["sic_10"] == metrics.max_sic(SAMPLE[:, 0], LABELS, floor=10)


def test_a_floor_above_the_background_has_no_sic():
    row = objective.judged(SAMPLE[:, 0], LABELS, floors=[45, 46])
    # all of the background is kept: no threshold is left to choose
    assert row["sic_45"] > 0
    assert np.isnan(row["sic_46"])


def test_a_problem_is_checked():
    with pytest.raises(ValueError, match="reference must have 2 features"):
        Problem(SAMPLE, LABELS, REFERENCE[:, :1], SIGNAL)
    with pytest.raises(ValueError, match="both classes"):
        Problem(SAMPLE, np.zeros(60), REFERENCE, SIGNAL)
    with pytest.raises(ValueError, match="sign must be 1 or -1"):
        Problem(SAMPLE, LABELS, REFERENCE, SIGNAL, sign=0)


def test_every_file_of_the_folder_is_a_competitor():
    assert {"witness_rff", "idealized_10", "coin_flip", "supervised"} <= set(objective.names())
    for name in objective.names():
        one = objective.competitor(name)
        assert one.LABEL
        assert objective.is_oracle(one) == (name == "supervised")


def test_labels_differ():
    labels = [objective.competitor(name).LABEL for name in objective.names()]
    assert len(set(labels)) == len(labels)


def test_an_unknown_competitor_is_refused():
    with pytest.raises(ValueError, match=r"must be one of .*witness_rff.*, not 'oracle'"):
        objective.competitor("oracle")


def test_each_competitor_has_random_numbers_of_its_own():
    def first(*key):
        return objective.generator(*key).random()

    keys = [
        (1, "a", 0, "x"),
        (2, "a", 0, "x"),
        (1, "b", 0, "x"),
        (1, "a", 1, "x"),
        (1, "a", 0, "y"),
    ]
    assert len({first(*key) for key in keys}) == len(keys)
    assert first(*keys[0]) == first(*keys[0])
