"""What is said of a sample beside its null draws, counted by hand."""

import numpy as np
import pandas as pd
import pytest
from localizer.own import calibration
from localizer.own.significance import NullDraws

# forty draws, so that the band of 95 % is that of the second and the last but one
NULL = NullDraws(
    np.arange(40),
    np.arange(40.0),
    np.stack([np.arange(40.0) + 10, np.arange(40.0)], axis=1),
    -np.arange(40.0),
)


def test_p_values_count_the_draws_not_below():
    observed = NullDraws(
        np.zeros(1, int), np.array([36.5]), np.array([[48.5, 1.0]]), np.array([-37.5])
    )
    found = calibration.summary(observed, NULL, draws_from="permutations")
    assert found["p_value"] == (3 + 1) / 41
    assert found["p_largest"] == (1 + 1) / 41
    assert (found["mmd2"], found["largest"], found["lowest"]) == (36.5, 48.5, -37.5)
    # the draws whose lowest score is at most as low
    assert found["p_lowest"] == (2 + 1) / 41
    assert found["mmd2_null_sd"] == pytest.approx(np.sqrt(sum((np.arange(40) - 19.5) ** 2) / 39))
    assert (found["draws"], found["draws_from"]) == (40, "permutations")


SCORES = pd.DataFrame(
    {
        **{"rank": [3, 1, 2], "loo": [0.1, 0.9, 0.5], "error": [1.0, 2.0, 3.0]},
        "studentized": [3.0, 5.0, 4.0],
    }
)
OBSERVED = NullDraws(np.zeros(1, int), np.zeros(1), np.array([[0.8, 0.4]]), np.zeros(1))


def test_the_band_belongs_to_the_ranks_of_the_largest_scores():
    found = calibration.ranking(SCORES, OBSERVED, NULL, by="contribution", alike=True)
    assert found["rank"].tolist() == [1, 2]
    assert found["score"].tolist() == [0.9, 0.5]
    assert found["error"].tolist() == [2, 3]
    # order statistics number ceil(41 level) of each rank's forty
    for name, number in {"low": 2, "median": 21, "high": 40}.items():
        assert found[name].tolist() == [10 + number - 1, number - 1]


def test_the_band_is_held_against_scores_of_its_own_kind():
    """Exact scores beside draws by random features are no comparison."""
    by_features = calibration.ranking(SCORES, OBSERVED, NULL, by="contribution", alike=False)
    assert by_features["score"].tolist() == [0.8, 0.4]
    evidence = calibration.ranking(SCORES, OBSERVED, NULL, by="evidence", alike=True)
    assert evidence["score"].tolist() == [5.0, 4.0]
    assert evidence["error"].isna().all()


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        (None, {}),
        ([True] * 4, {}),
        ([True, False, True, False], {"auc": 0.75, "auc_evidence": 0.5}),
    ],
)
def test_an_auc_needs_both_labels(label, expected):
    scores = pd.DataFrame({"loo": [4.0, 3.0, 2.0, 1.0], "studentized": [4.0, 3.0, 1.0, 3.0]})
    assert (
        calibration.auc_by_label(scores if label is None else scores.assign(label=label))
        == expected
    )


def test_too_few_draws_are_said_to_be_too_few():
    """With 99 draws p may be 0.01, which is a departure; with 98 it cannot."""
    assert "draws" not in calibration.answer(0.03, 99)
    assert "With 98 draws p cannot be smaller" in calibration.answer(0.03, 98)
