"""Where the responsible events lie: against counting by hand."""

import numpy as np
import pandas as pd
import pytest
from localizer.base.randomness import stream
from localizer.own import example, top_events
from scipy.stats import ks_2samp


def test_ranks_are_a_permutation_that_sorts():
    scores = stream(1, "ranks").normal(size=200).round(1)
    rank = top_events.ranks(scores)
    assert sorted(rank) == list(range(1, 201))
    assert (np.diff(scores[np.argsort(rank)]) <= 0).all()
    equal = np.flatnonzero(scores == scores[0])
    assert (np.diff(rank[equal]) == 1).all()


def test_features_are_sorted_by_their_distance():
    rng = stream(2, "features")
    reference = rng.normal(size=(300, 3)) * [1.0, 5.0, 1.0]
    top = rng.normal([0.0, 20.0, 1.0], 1.0, size=(40, 3))
    table = top_events.features_by_distance(["a", "b", "c"], reference, top)
    assert table["feature"].tolist() == ["b", "c", "a"]
    assert table["distance"][0] == ks_2samp(top[:, 1], reference[:, 1]).statistic
    assert table["shift"][0] == pytest.approx(
        (top[:, 1].mean() - reference[:, 1].mean()) / reference[:, 1].std()
    )
    with pytest.raises(ValueError, match="names must hold 3 names"):
        top_events.features_by_distance(["a"], reference, top)


def test_histograms_are_densities():
    rng = stream(3, "histograms")
    reference, sample = rng.normal(size=(500, 2)), rng.normal(size=(400, 2))
    table = top_events.histograms(
        ["a", "b"], reference=reference, sample=sample, top=sample[:30], bins=25
    )
    width = table["high"] - table["low"]
    mass = (table["density"] * width).groupby([table["feature"], table["kind"]]).sum()
    # 98 % of the events, and nine in ten of the top events
    assert (mass > 0.85).all()
    assert mass["a", "sample"] > 0.97
    assert (mass < 1 + 1e-12).all()


def test_a_heavy_tail_does_not_squash_an_axis():
    rng = stream(3, "tail")
    tail = rng.standard_cauchy(size=(5000, 1))
    table = top_events.histograms(["a"], reference=tail, sample=tail, top=tail[:50])
    assert table["low"].min() > -15  # the quartiles lie at -1 and 1, the hundredths at 32
    assert table["high"].max() < 15
    field = top_events.field(tail[:, 0], tail[:, 0], tail[:, 0])
    assert field["x_high"].max() - field["x_low"].min() < 30


def test_a_feature_with_one_value_almost_everywhere_has_an_axis():
    pixel = np.where(np.arange(1000) % 20, 0.0, 5.0)[:, None]
    table = top_events.histograms(["a"], reference=pixel, sample=pixel, top=pixel[:50])
    assert table["high"].max() >= 5.0


def test_responsible_events_have_positive_scores():
    signs = top_events.departures([0.3, -0.1, 0.1, -0.2])
    scores = pd.DataFrame({"departure": signs, "rank": [1, 3, 2, 4]})
    assert top_events.responsible(scores, top=3).index.tolist() == [0, 2]
    assert top_events.responsible(scores, top=1).index.tolist() == [0]
    none = scores.assign(departure="deficit")
    assert top_events.responsible(none, top=3).index.tolist() == [0]


def test_deficits_are_the_lowest_scores_the_lowest_first():
    values = [0.3, -0.1, 0.0, -0.2]
    scores = pd.DataFrame(
        {"departure": top_events.departures(values), "rank": top_events.ranks(values)}
    )
    assert scores["departure"].tolist() == ["excess", "deficit", "none", "deficit"]
    assert top_events.deficits(scores, top=3).index.tolist() == [3, 1]
    assert top_events.deficits(scores, top=1).index.tolist() == [3]


def test_field_is_the_mean_in_each_cell():
    rng = stream(4, "field")
    x, y, score = rng.uniform(size=(3, 2000))
    table = top_events.field(x, y, score, bins=5)
    assert len(table) == 25
    row = table.iloc[7]
    inside = (x >= row.x_low) & (x < row.x_high) & (y >= row.y_low) & (y < row.y_high)
    assert row.events == inside.sum()
    assert row.score == pytest.approx(score[inside].mean())


def test_the_example_has_the_faults_it_names():
    table = example.month(stream(5, "example"), readings=4000, worn=0.03)
    assert table["fault"].sum() == 120
    sound = example.month(stream(6, "example"), readings=4000)
    assert sound["fault"].sum() == 0
    worn, rest = table[table["fault"] == 1], table[table["fault"] == 0]
    for name in ("flow", "pressure", "power", "vibration", "temperature"):
        # no reading is extreme in any column: that is the point of the example
        low, high = np.quantile(sound[name], [0.0005, 0.9995])
        assert worn[name].between(low, high).mean() > 0.95
        z = (rest[name].mean() - sound[name].mean()) / (sound[name].std() * np.sqrt(2 / 4000))
        assert abs(z) < 5  # one in a million and a half


def test_a_statistic_that_no_event_changes_ranks_none():
    scores = pd.DataFrame({"event": range(4), "loo": [0.1, 0.2, 0.3, 0.4], "label": [0, 1, 0, 1]})
    localized = pd.DataFrame(
        {
            **{"row": range(4), "statistic": "tail"},
            **{"addition": 0.0, "addition_error": 0.1, "raw": 0.0, "raw_error": 0.2},
        }
    )
    _, summary = top_events.statistics_beside_witness(localized, scores)
    assert summary[["auc", "correlation_with_loo"]].isna().all().all()
    assert summary["auc_of_loo"][0] == 0.75


def test_the_best_and_a_random_part_of_the_others_are_drawn():
    rank = np.random.default_rng(2).permutation(1000) + 1
    first, second = (
        top_events.drawn(rank, stream(seed, "score", "explorer"), most=120, top=20)
        for seed in (1, 2)
    )
    for rows in (first, second):
        assert len(np.unique(rows)) == 120
        assert set(rank[rows]) >= set(range(1, 21))
        assert (np.diff(rows) > 0).all()
    # of the 980 others no part is left out
    assert set(first) != set(second)
    assert np.histogram(rank[first], bins=5, range=(21, 1001))[0].min() > 8
    again = top_events.drawn(rank, stream(1, "score", "explorer"), most=120, top=20)
    assert again.tolist() == first.tolist()
