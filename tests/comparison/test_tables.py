"""The tables of the comparison: means, errors and paired differences by hand."""

import numpy as np
import pandas as pd
import pytest
from localizer.comparison import tables
from localizer.comparison.known import BASELINE

MEASURES = ["auc", "sic_10"]


def scores(**changes):
    """Return two problems, three mocks and two competitors with chosen numbers."""
    rows = []
    for problem, fraction, background in (("lhco_1", 1.0, 100), ("bump", np.nan, 98)):
        for mock, common in enumerate([0.0, 0.1, 0.2]):
            for name, above in ((BASELINE, 0.0), ("other", 0.05 + 0.01 * mock)):
                rows.append(
                    {
                        **{"problem": problem, "mock": mock, "competitor": name, "label": name},
                        **{"fraction": fraction, "background": background, "signal": 2 + mock},
                        **{"reference": 50, "auc": 0.5 + common + above, "sic_10": 1 + above},
                    }
                )
    return pd.DataFrame(rows).assign(**changes)


def of(table, problem, competitor):
    rows = table[(table["problem"] == problem) & (table["competitor"] == competitor)]
    assert len(rows) == 1
    return rows.iloc[0]


def test_means_and_errors_are_over_mocks():
    row = of(tables.summary(scores(), measures=MEASURES), "lhco_1", BASELINE)
    assert row["mocks"] == 3
    assert row["auc"] == pytest.approx(0.6)
    assert row["auc_error"] == pytest.approx(0.1 / np.sqrt(3))
    assert row["signal"] == pytest.approx(3)
    assert np.isnan(row["auc_gain"])


def test_gains_are_paired():
    """What is common to all competitors of a mock falls out of the difference and of its error."""
    row = of(tables.summary(scores(), measures=MEASURES), "bump", "other")
    assert row["auc_gain"] == pytest.approx(0.06)
    assert row["auc_gain_error"] == pytest.approx(0.01 / np.sqrt(3))
    assert row["auc_error"] > 10 * row["auc_gain_error"]
    assert row["sic_10_gain"] == pytest.approx(0.06)


def test_the_best_of_a_problem_comes_first_and_problems_keep_their_order():
    table = tables.summary(scores(), measures=MEASURES)
    assert list(table["problem"]) == ["lhco_1", "lhco_1", "bump", "bump"]
    assert list(table["competitor"]) == ["other", BASELINE] * 2


def test_the_order_of_rows_changes_nothing():
    mixed = scores().sort_values(["competitor", "problem", "mock"], ascending=[False, False, True])
    one = tables.summary(scores(), measures=MEASURES)
    other = tables.summary(mixed, measures=MEASURES)
    by = ["problem", "competitor"]
    pd.testing.assert_frame_equal(
        one.sort_values(by, ignore_index=True), other.sort_values(by, ignore_index=True)
    )


def test_competitors_of_other_mocks_are_refused():
    with pytest.raises(ValueError, match="must have a score of witness_rff"):
        tables.summary(scores().iloc[1:], measures=MEASURES)
    with pytest.raises(ValueError, match="the same mocks of lhco_1"):
        tables.summary(scores().drop(index=1), measures=MEASURES)


def test_the_points_are_those_of_the_table():
    table = tables.summary(scores(), measures=MEASURES)
    points = tables.drawn_points(table, measure="sic_10")
    scan = points[points["panel"] == "scan"]
    assert list(scan["problem"].unique()) == ["lhco_1"]
    assert list(scan["x"]) == [1.0, 1.0]
    assert list(scan["value"]) == list(table["sic_10"][:2])
    gains = points[points["panel"] == "sic_10_gain"].set_index("problem")
    assert set(gains["competitor"]) == {"other"}
    assert gains.loc["bump", "value"] == pytest.approx(0.06)
    assert gains.loc["bump", "error"] == pytest.approx(0.01 / np.sqrt(3))
    assert (points["panel"] == "auc_gain").sum() == 2


def test_the_scan_is_of_one_size():
    """The tenth of the sample has the paper's fraction too, and is no point of the scan."""
    whole = scores()
    tenth = whole[whole["problem"] == "lhco_1"].assign(problem="lhco_tenth", background=10)
    table = tables.summary(pd.concat([whole, tenth]), measures=MEASURES)
    scan = tables.drawn_points(table, measure="auc").query("panel == 'scan'")
    assert set(scan["problem"]) == {"lhco_1"}


def test_the_cost_is_a_mean_of_time_and_a_peak_of_memory():
    case = scores()[["problem", "mock", "competitor", "label"]]
    costs = case.assign(seconds=case["mock"] + 1.0, memory_mib=10.0 * case["mock"])
    table = tables.summary(scores(), measures=MEASURES)
    row = of(tables.cost_table(costs, table, measure="sic_10"), "bump", "other")
    assert row["seconds"] == pytest.approx(2)
    assert row["memory_mib"] == 20
    assert row["sic"] == of(table, "bump", "other")["sic_10"]
    assert row["background"] == 98
