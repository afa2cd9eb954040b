"""AUC and SIC from places in the background: the ranking's numbers, at once and later."""

import typing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from localizer.base import metrics, sic
from localizer.base.randomness import stream
from stage.configuration import kinds


def scores(seed, *, signal, background, digits):
    """Return a score with ties of every kind, and its labels."""
    rng = stream(seed, "sic")
    score = np.round(rng.normal(size=signal + background), digits)
    score[0] += 10
    return score, np.arange(score.size) < signal


@given(
    seed=st.integers(0, 10**6),
    signal=st.integers(1, 40),
    background=st.integers(1, 80),
    digits=st.integers(0, 3),
    floor=st.integers(1, 30),
    most=st.integers(30, 100),
)
@settings(max_examples=300, deadline=None)
def test_heads_judge_as_the_ranking_does(seed, signal, background, digits, floor, most):
    score, labels = scores(seed, signal=signal, background=background, digits=digits)
    standing = sic.Standing.of(score, labels)
    ranked = metrics.ranking(score, labels)
    least = min(floor, background)
    expected, threshold = ranked.sic(floor=least)
    assert standing.auc == ranked.auc
    assert standing.sic(floor=floor) == (expected, np.sum(score[~labels] >= threshold))
    found, beyond = standing.head(most)
    heads = sic.Heads(found[None], np.array([beyond]), np.array([signal, background, 1.0]))
    assert heads.sic(floor=floor).tolist() == [expected]


def test_heads_of_many_scores_by_hand():
    """Signal 9, 7.5, 1 and background 8, 7, 5, 4; then the signal on top of all."""
    labels = np.array([1, 1, 1, 0, 0, 0, 0]).astype(bool)
    two = [[9, 7.5, 1, 8, 7, 5, 4], [9, 8.5, 8.2, 8, 7, 5, 4]]
    heads = sic.Heads.of([sic.Standing.of(score, labels) for score in two])
    assert heads.found.tolist() == [[2, 2, 2, 3], [3, 3, 3, 3]]
    assert heads.sic(floor=1) == pytest.approx([2 / 3 / np.sqrt(1 / 4), 2])
    assert heads.sic(floor=3) == pytest.approx([1, 1 / np.sqrt(3 / 4)])
    assert heads.sic(floor=50) == pytest.approx([1, 1])
    half = sic.Heads.of([sic.Standing.of(score, labels) for score in two], fraction=0.5)
    assert half.sic(floor=6).tolist() == heads.sic(floor=3).tolist()
    both = sic.Heads.joined([heads, half])
    assert both.sic(floor=3).tolist() == [*heads.sic(floor=3), *heads.sic(floor=3)]
    again = sic.heads_from_arrays({**heads.arrays("a"), **heads.arrays("b.c")})
    assert list(again) == ["a", "b.c"]
    assert again["b.c"].sic(floor=2).tolist() == heads.sic(floor=2).tolist()


def test_a_floor_beyond_the_head_is_refused():
    score, labels = scores(1, signal=5, background=1500, digits=6)
    heads = sic.Heads.of([sic.Standing.of(score, labels)])
    assert heads.found.shape == (1, sic.HEAD)
    with pytest.raises(ValueError, match="at most 1000"):
        heads.sic(floor=1001)


def test_the_configuration_allows_what_heads_can_judge():
    (_, limits) = typing.get_args(kinds.Floor)
    assert limits.metadata[1].le == sic.HEAD
