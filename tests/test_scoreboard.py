"""Verdicts are computed by the rule of each kind, and bad tables are refused."""

import numpy as np
import pandas as pd
import pytest
from localizer import scoreboard
from localizer.randomness import stream
from localizer.scoreboard import Finding, Published


def published(kind="ensemble", value="0.50", error="", toys=None):
    return Published("a", "I", "sec. x", "a number", kind, value, error, toys)


def judged(row, finding):
    return scoreboard.judge(row, finding)


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(0.460855, "agrees"), (0.460865, "agrees"), (0.46087, "disagrees"), (0.46, "disagrees")],
)
def test_exact_means_the_published_digits(value, verdict):
    assert judged(published("exact", "0.46086"), Finding("a", value, 0.0))["verdict"] == verdict


@pytest.mark.parametrize(
    ("shift", "verdict"),
    [(0.0, "agrees"), (2.9, "agrees"), (-3.1, "tension"), (4.9, "tension"), (-5.1, "disagrees")],
)
def test_pull_combines_both_errors(shift, verdict):
    row = published(error="0.03")
    found = judged(row, Finding("a", 0.5 + shift * 0.05, 0.04, 100))
    assert found["value"] == pytest.approx(shift)
    assert found["verdict"] == verdict
    assert found["published_error_from"] == "printed"


def test_error_of_a_value_without_one():
    finding = Finding("a", 0.5, 0.01, 100, spread=0.3)
    assert scoreboard.published_error(published(toys=100), finding) == (0.03, "inferred")
    assert scoreboard.published_error(published(toys=10**6), finding) == (0.005, "rounding")
    assert scoreboard.published_error(published(), finding) == (0.005, "rounding")
    assert published(value="9.2172e-4").rounding == pytest.approx(0.5e-8)
    assert published(value="100").rounding == 0.5


def test_rank_among_draws():
    draws = np.linspace(0, 1, 999)
    middle = judged(published("realization", "0.50"), scoreboard.realization("a", draws))
    assert (middle["measure"], middle["verdict"]) == ("rank p", "agrees")
    assert middle["value"] == pytest.approx(1.0, abs=0.01)
    edge = judged(published("realization", "1.001"), scoreboard.realization("a", draws))
    assert edge["value"] == pytest.approx(2 / 1000)
    assert edge["verdict"] == "tension"
    far = judged(published("realization", "9"), scoreboard.realization("a", draws))
    assert far["verdict"] == "disagrees"


def test_rank_is_uniform_under_the_null():
    """The p of a value drawn like the others is at most 0.1 in a tenth of all cases.

    400 values: |z| < 5, a false alarm once in 1.7 million seeds.
    """
    rng = stream(1, "test_scoreboard")
    draws = rng.standard_normal(1000)
    row = "realization"
    small = [
        judged(published(row, f"{rng.standard_normal():.6f}"), scoreboard.realization("a", draws))[
            "value"
        ]
        <= 0.1
        for _ in range(400)
    ]
    assert abs(np.mean(small) - 0.1) / np.sqrt(0.09 / 400 + 0.02**2 / 4) < 5


def test_few_draws_give_a_pull_and_say_so():
    found = judged(published("realization", "0.50"), scoreboard.realization("a", [0.4, 0.5, 0.6]))
    assert found["measure"] == "pull"
    assert "only 3 draws" in found["note"]
    assert found["verdict"] == "agrees"


def test_statements_hold_or_not():
    row = published("statement", "")
    assert judged(row, scoreboard.statement("a", True, value=2.0))["verdict"] == "agrees"
    assert judged(row, scoreboard.statement("a", False))["verdict"] == "disagrees"
    with pytest.raises(ValueError, match="must hold or not"):
        judged(row, Finding("a", 1.0))


def test_not_comparable_with_its_reason():
    found = judged(published(), Finding("a", 0.7, 0.1, not_comparable="surrogate events"))
    assert (found["verdict"], found["note"]) == ("not comparable", "surrogate events")


def test_board_tally_and_deviations():
    rows = [published(), Published("b", "I", "", "", "ensemble", "1.0", "0.1", None)]
    scores = scoreboard.board(rows, [Finding("a", 0.5, 0.01, 10), Finding("b", 2.0, 0.0, 10)])
    assert list(scores.columns) == list(scoreboard.COLUMNS)
    assert scores["verdict"].tolist() == ["agrees", "disagrees"]
    counted = scoreboard.tally(scores)
    assert (counted["agrees"], counted["disagrees"], counted["not comparable"]) == (1, 1, 0)
    assert counted["tensions_by_chance"] == pytest.approx(2 * 0.0027)
    assert scoreboard.largest_deviations(scores)["id"].tolist() == ["b", "a"]
    smoke = scoreboard.board(rows, [], not_comparable="smoke: not the paper's statistics")
    assert (smoke["verdict"] == "not comparable").all()


def test_ensemble_gives_mean_error_and_spread():
    finding = scoreboard.ensemble("a", [1.0, 2.0, 3.0, 4.0])
    assert finding.value == 2.5
    assert finding.spread == pytest.approx(np.std([1, 2, 3, 4], ddof=1))
    assert finding.error == pytest.approx(finding.spread / 2)


def table(**changes):
    row = {
        **{"id": "a", "experiment": "I", "where": "s", "quantity": "q", "kind": "exact"},
        **{"value": "0.5", "error": "", "toys": ""},
    }
    return pd.DataFrame([{**row, **changes}])


def test_published_keeps_the_printed_digits():
    (row,) = scoreboard.read_published(table(value="0.500", toys="50"))
    assert (row.value, row.toys) == ("0.500", 50)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (table(kind="guess"), "line 2 .a.: kind is 'guess'"),
        (table(value="half"), "line 2 .a.: value is 'half'"),
        (table(value=""), "value is ''"),
        (table(value="nan"), "value is 'nan'"),
        (table(error="±1"), "error is"),
        (table(toys="many"), "toys is 'many'"),
        (table(id=""), "id must not be empty"),
        (pd.concat([table(), table()]), "the id a stands twice"),
        (table().drop(columns="kind"), "the columns must be"),
    ],
)
def test_a_bad_table_is_refused(bad, says):
    with pytest.raises(ValueError, match=says):
        scoreboard.read_published(bad)


def test_findings_must_be_finite_and_unique():
    with pytest.raises(ValueError, match="value must be finite"):
        Finding("a", float("nan"))
    with pytest.raises(ValueError, match="draws must be finite"):
        Finding("a", 1.0, draws=(1.0, float("inf")))
    with pytest.raises(ValueError, match="stands twice"):
        scoreboard.board([], [Finding("a", 1.0), Finding("a", 1.0)])


def test_a_run_of_other_statistics_is_not_judged():
    rows = pd.DataFrame([dict.fromkeys(scoreboard.COLUMNS, "")] * 3)
    said = scoreboard.summary(rows, not_comparable="smoke: not the paper's statistics")
    assert "smoke: not the paper's statistics" in said
    assert "3 rows" in said
    assert "agrees" not in said
