"""Variations of a user's own reference, from Python."""

from functools import partial

import localizer
import numpy as np
import pandas as pd
import pytest
from localizer.base.randomness import stream

streams = partial(stream, 36, "test_nuisances")
NAMES = ["a", "b"]


def frame(*key, n=400):
    return pd.DataFrame(streams(*key).normal(size=(n, 2)), columns=NAMES)


REFERENCE = frame("reference", n=500)
MOVED = REFERENCE.add([0.8, 0.0])


def wrong_sample():
    """Return a sample of which half is shifted as the variation says, and some signal across."""
    x = frame("sample")
    x.iloc[:200, 0] += 0.8
    x.iloc[:60] = np.add([0.0, 2.0], 0.3 * x.iloc[:60].to_numpy())
    return x


def score(sample, **options):
    return localizer.score(sample, REFERENCE, calibration={"draws": 49}, progress=False, **options)


def test_a_wrong_reference_is_profiled_away(tmp_path):
    result = score(wrong_sample(), variations={"scale": MOVED})
    table = result.nuisances.table.iloc[0]
    assert table["events"] == "the same"
    assert abs(table["theta"] - 0.5) < 5 * table["error"]
    assert table["pull"] == pytest.approx(table["theta"] / table["error"])
    signal = np.arange(400) < 60
    scores = result.scores
    assert localizer.auc(scores["profiled"], signal) > localizer.auc(scores["loo"], signal)
    assert scores["profiled_rank"].tolist() == (-scores["profiled"]).rank().tolist()
    assert (scores["profiled_error"] > 0).all()
    assert scores["absorbed"].between(0, 1).all()
    found = result.nuisances.found
    assert found["after"] < found["before"]
    assert found["p_value"] == found["p_largest"] == 0.02
    assert "pulls" in result.plot()
    text = result.report(tmp_path / "page.html").read_text(encoding="utf-8")
    for sentence in result.nuisances.said:
        assert sentence.replace("<=", "&lt;=") in text
    assert "moved by scale 0." in text


def test_without_variations_nothing_changes():
    result = score(wrong_sample())
    assert result.nuisances is None
    assert "profiled" not in result.scores
    assert "pulls" not in result.plot()
    beside = score(wrong_sample(), variations={"scale": MOVED}).scores
    pd.testing.assert_frame_equal(result.scores, beside[result.scores.columns])


def test_a_null_with_a_wrong_reference_is_no_departure():
    x = frame("null")
    x.iloc[:200, 0] += 0.8
    result = score(x, variations={"scale": MOVED})
    assert result.p_value == 0.02
    found = result.nuisances.found
    assert found["p_value"] > 0.05
    assert found["p_largest"] > 0.05
    # the first line has both answers, so that nobody takes the reference's error for a signal
    said = f"p = {found['p_value']:.3g}, and the largest score p = {found['p_largest']:.3g}."
    assert repr(result).splitlines()[0].endswith(f"what is left has {said}")


def test_the_top_is_that_of_the_profiled_scores():
    result = score(wrong_sample(), variations={"scale": MOVED})
    profiled = result.scores["profiled"]
    assert result.top(5).index.tolist() == profiled.nlargest(5).index.tolist()
    lowest = result.top(5, departure="deficit")
    assert lowest.index.tolist() == profiled.nsmallest(5).index.tolist()
    assert result.top(5).index.tolist() != result.scores["loo"].nlargest(5).index.tolist()


def test_the_label_measures_the_profiled_ranking():
    x = wrong_sample().assign(fault=(np.arange(400) < 60).astype(int))
    result = score(x, label="fault", columns=NAMES, variations={"scale": MOVED})
    auc = localizer.auc(result.scores["profiled"], x["fault"])
    assert result.nuisances.found["auc"] == auc
    assert f"with an AUC of {auc:.3f}." in result.nuisances.said[3]


def test_rows_tell_whether_events_are_the_same():
    other = frame("other", n=500).add([0.8, 0.0])
    tables = [
        score(wrong_sample(), variations={"scale": variation}).nuisances.table.iloc[0]
        for variation in (MOVED, other, {"table": MOVED, "events": "other"})
    ]
    assert [table["events"] for table in tables] == ["the same", "its own", "its own"]
    # half and half of two samples scatter less than one and the same sample, varied
    assert tables[2]["error"] < 0.96 * tables[0]["error"]


def test_a_column_of_other_weights():
    """Weights that shift the reference are the shifted reference, up to their noise."""
    weighted = REFERENCE.assign(up=np.exp(0.8 * REFERENCE["a"] - 0.32))
    found = localizer.score(
        wrong_sample(),
        weighted,
        columns=NAMES,
        variations={"pdf": {"weight": "up"}},
        calibration={"draws": 49},
        progress=False,
    ).nuisances.table.iloc[0]
    assert found["events"] == "the same"
    assert abs(found["theta"] - 0.5) < 5 * found["error"]


def test_a_prior_of_stated_width():
    free, narrow = (
        score(wrong_sample(), variations={"scale": {"table": MOVED, "width": width}})
        for width in (None, 0.05)
    )
    one, other = (result.nuisances.table.iloc[0] for result in (free, narrow))
    assert np.isnan(one["width"])
    information = one["error"] ** -2 + 0.05**-2
    assert other["error"] == pytest.approx(information**-0.5, rel=1e-3)
    assert other["pull"] == pytest.approx(other["theta"] / 0.05)


def test_random_features_find_the_same():
    exact, features = (
        score(wrong_sample(), variations={"scale": MOVED}, method=method)
        for method in ("exact", "rff")
    )
    assert exact.nuisances.found["method"] == "exact"
    assert features.nuisances.found["method"] == "rff"
    for name, tolerance in (("theta", 0.1), ("error", 0.02)):
        one, other = (result.nuisances.table[name][0] for result in (exact, features))
        assert one == pytest.approx(other, abs=tolerance)
    one, other = (result.scores["profiled"] for result in (exact, features))
    assert np.corrcoef(one, other)[0, 1] > 0.97
    # p-values are those of random features in both
    assert exact.nuisances.found["p_value"] == features.nuisances.found["p_value"]


def test_noise_is_told():
    result = score(wrong_sample(), variations={"again": frame("again", n=60)})
    assert result.nuisances.table["told"][0] < 0.5
    assert "Too few events tell again from noise" in result.nuisances.said[-1]


@pytest.mark.parametrize(
    ("variations", "sentence"),
    [
        ({"up": MOVED[["a"]]}, "score.variations: up has no column b"),
        ({"up": {"weight": ""}}, "up needs a table, or the column of other weights"),
        ({"up": {"tabel": MOVED}}, "up has no key tabel; there are table, weight"),
        (
            {"up": {"table": MOVED[:400], "events": "same"}},
            "up holds 400 events and the reference 500",
        ),
        ({"up": REFERENCE}, "up is the reference itself: give the events as they are varied"),
        ([MOVED], "variations must be a mapping from a name to a table"),
        ({"up": MOVED[:5]}, "up holds 5 events; at least 10 are needed"),
        ({"up": MOVED.replace(MOVED.iloc[0, 0], np.nan)}, "up has 1 missing or infinite values"),
        ({"up": {"table": MOVED, "width": 0.0}}, "up: width must be positive, it is 0"),
        ({"up": {"table": MOVED, "events": "some"}}, "events must be one of auto, same, other"),
        ({"up": {"table": MOVED, "weight": "w"}}, "up has no column w"),
    ],
)
def test_what_is_refused(variations, sentence):
    with pytest.raises(ValueError, match=sentence):
        score(wrong_sample(), variations=variations)


def test_an_array_stands_for_the_features_of_a_table():
    one, other = (
        score(wrong_sample(), variations={"scale": table}) for table in (MOVED, MOVED.to_numpy())
    )
    assert one.nuisances.table.equals(other.nuisances.table)
