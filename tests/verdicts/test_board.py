"""Verdicts are computed by the rule of each kind, and bad tables are refused."""

import numpy as np
import pandas as pd
import pytest
from localizer.base.randomness import stream
from localizer.verdicts import board
from localizer.verdicts.board import Finding, Published


def published(kind="ensemble", value="0.50", error="", toys=None, claim=""):
    return Published("a", "I", "sec. x", "a number", kind, value, error, toys, claim)


def judged(row, finding):
    return board.judge(row, finding)


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
    assert board.published_error(published(toys=100), finding) == (0.03, "inferred")
    assert board.published_error(published(toys=10**6), finding) == (0.005, "rounding")
    assert board.published_error(published(), finding) == (0.005, "rounding")
    assert published(value="9.2172e-4").rounding == pytest.approx(0.5e-8)
    assert published(value="100").rounding == 0.5


def test_rank_among_draws():
    draws = np.linspace(0, 1, 999)
    middle = judged(published("realization", "0.50"), board.realization(draws))
    assert (middle["measure"], middle["verdict"]) == ("rank p", "agrees")
    assert middle["value"] == pytest.approx(1.0, abs=0.01)
    edge = judged(published("realization", "1.001"), board.realization(draws))
    assert edge["value"] == pytest.approx(2 / 1000)
    assert edge["verdict"] == "tension"
    far = judged(published("realization", "9"), board.realization(draws))
    assert far["verdict"] == "disagrees"


def test_rank_is_uniform_under_the_null():
    """The p of a value drawn like the others is at most 0.1 in a tenth of all cases.

    400 values: |z| < 5, a false alarm once in 1.7 million seeds.
    """
    rng = stream(1, "test_scoreboard")
    draws = rng.standard_normal(1000)
    row = "realization"
    small = [
        judged(published(row, f"{rng.standard_normal():.6f}"), board.realization(draws))["value"]
        <= 0.1
        for _ in range(400)
    ]
    assert abs(np.mean(small) - 0.1) / np.sqrt(0.09 / 400 + 0.02**2 / 4) < 5


def test_few_draws_give_a_pull_and_say_so():
    found = judged(published("realization", "0.50"), board.realization([0.4, 0.5, 0.6]))
    assert found["measure"] == "pull"
    assert "only 3 independent draws" in found["note"]
    assert found["verdict"] == "agrees"


def stated(claim, value, error=None, *, kind="statement", **also):
    """Return whether a claim holds of a number, and the verdict."""
    row = published(kind, "", claim=claim)
    found = judged(row, board.statement(value, error=error, **also))
    assert (found["measure"], found["reproduced"]) == ("computed", value)
    assert found["note"] == f"true if {claim}"
    return found["value"], found["verdict"]


AGREES, BORDER = (True, "agrees"), ((True, "borderline"), (False, "borderline"))
DISAGREES = (False, "disagrees")


@pytest.mark.parametrize(
    ("claim", "value", "error", "expected"),
    [
        # one-sided and exact: no tolerance, no border
        ("x < 1", 0.999, None, AGREES),
        ("x < 1", 1.0, None, DISAGREES),
        ("x > -1.5e-3", -1.4e-3, None, AGREES),
        ("x > -1.5e-3", -1.6e-3, None, DISAGREES),
        # exact with a tolerance: a tenth of it, on both sides of both thresholds
        ("x = -1 +- 0.1", -1.0891, None, AGREES),
        ("x = -1 +- 0.1", -1.0909, None, BORDER[0]),
        ("x = -1 +- 0.1", -1.1091, None, BORDER[1]),
        ("x = -1 +- 0.1", -1.1109, None, DISAGREES),
        ("x = -1 +- 0.1", -0.9109, None, AGREES),
        ("x = -1 +- 0.1", -0.9091, None, BORDER[0]),
        ("x = -1 +- 0.1", -0.8909, None, BORDER[1]),
        ("x = -1 +- 0.1", -0.8889, None, DISAGREES),
        # with an error: one of it, however large the tolerance
        ("x < 1", 0.79, 0.2, AGREES),
        ("x < 1", 0.81, 0.2, BORDER[0]),
        ("x < 1", 1.19, 0.2, BORDER[1]),
        ("x < 1", 1.21, 0.2, DISAGREES),
        ("x > 1", 0.79, 0.2, DISAGREES),
        ("x = 0 +- 3", 1.9, 1.0, AGREES),
        ("x = 0 +- 3", -2.1, 1.0, BORDER[0]),
        ("x = 0 +- 3", 4.1, 1.0, DISAGREES),
        # an error of zero is that of an exact number
        ("x = 0 +- 3", 2.71, 0.0, BORDER[0]),
        ("x = 0 +- 3", 2.69, 0.0, AGREES),
    ],
)
def test_a_statement_by_its_claim(claim, value, error, expected):
    assert stated(claim, value, error) == expected


def test_an_identity_is_never_borderline():
    assert stated("x < 5", 4.9, 1.0, kind="identity") == AGREES
    assert stated("x < 5", 5.1, 1.0, kind="identity") == DISAGREES


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (0.5, (2.0, 0.1), AGREES),
        (0.95, (2.0, 0.1), AGREES),
        (0.5, (1.05, 0.1), BORDER[0]),
        (0.5, (0.95, 0.1), BORDER[1]),
        # a clear failure is not made up for by a near one
        (1.5, (0.95, 0.1), DISAGREES),
        (1.5, (1.05, 0.1), DISAGREES),
        (0.5, 0.9, DISAGREES),
    ],
)
def test_every_condition_must_hold(x, y, expected):
    assert stated("x < 1; y > 1", x, y=y) == expected


def test_a_claim_and_its_numbers_must_fit():
    for also in ({}, {"z": 1.0}, {"y": 1.0, "z": 1.0}):
        with pytest.raises(ValueError, match=r"its numbers are .* beside the first"):
            stated("x < 1; y > 1", 0.5, **also)
    with pytest.raises(ValueError, match="finding a: it has no value"):
        judged(published("statement", "", claim="x < 1"), Finding("a"))
    with pytest.raises(ValueError, match="y must be finite, it is nan"):
        board.statement(1.0, y=float("nan"))


def test_distances_in_errors_have_an_error_of_one():
    found = board.pulled(2.0, y=3.0, note="why")
    assert (found.value, found.error, found.also["y"], found.note) == (2.0, 1.0, (3.0, 1.0), "why")


def test_a_condition_reads_its_text():
    assert board.Condition.of("x < 1e-12") == board.Condition("x", -np.inf, 1e-12)
    assert board.Condition.of("by_R > -2.5") == board.Condition("by_R", -2.5, np.inf)
    assert board.Condition.of("x = 2 +- 0.5") == board.Condition("x", 1.5, 2.5)
    for text in (
        "x",
        "x < ",
        "x << 1",
        "x = 1",
        "1 < x",
        "x < y",
        "x = 1 +- ",
        "x < 1 ",
        "x = 1 +- 0",
        "x = 1 +- -2",
    ):
        with pytest.raises(ValueError, match="is no condition"):
            board.Condition.of(text)


def test_an_identity_with_printed_digits_meets_them():
    row = published("identity", "2000")
    assert judged(row, Finding("a", 2000.4, 0.0))["verdict"] == "agrees"
    found = judged(row, Finding("a", 2000.6, 0.0))
    assert (found["measure"], found["verdict"]) == ("relative difference", "disagrees")


def test_what_a_law_carried_over_does_not_count():
    """Ours is shown, and the pull of what was carried over beside it: (0.6 - 0.5) / 0.05."""
    own = Finding("a", 0.9, 0.01, carried=(0.6, 0.03), not_comparable="another sample")
    found = judged(published("realization", error="0.04"), own)
    assert (found["reproduced"], found["verdict"]) == (0.9, "not comparable")
    assert (found["measure"], found["value"]) == ("carried over: pull", pytest.approx(2.0))
    counted = board.tally(pd.DataFrame([found]))
    assert (counted["agrees"], counted["tensions_by_chance"]) == (0, 0.0)
    # where it is compared, it is our own that is
    compared = judged(published("realization", error="0.04"), board.realization([0.4, 0.6]))
    assert compared["measure"] == "pull"


def test_not_comparable_with_its_reason():
    found = judged(published(), Finding("a", 0.7, 0.1, not_comparable="surrogate events"))
    assert (found["verdict"], found["note"]) == ("not comparable", "surrogate events")


def test_board_tally_and_deviations():
    rows = [published(), Published("b", "I", "", "", "ensemble", "1.0", "0.1", None)]
    scores = board.board(rows, [Finding("a", 0.5, 0.01, 10), Finding("b", 2.0, 0.0, 10)])
    assert list(scores.columns) == list(board.COLUMNS)
    assert scores["verdict"].tolist() == ["agrees", "disagrees"]
    counted = board.tally(scores)
    assert (counted["agrees"], counted["disagrees"], counted["not comparable"]) == (1, 1, 0)
    assert counted["tensions_by_chance"] == pytest.approx(2 * 0.0027)
    assert board.largest_deviations(scores)["id"].tolist() == ["b", "a"]
    smoke = board.board(rows, [], not_comparable="smoke: not the paper's statistics")
    assert (smoke["verdict"] == "not comparable").all()


def test_ensemble_gives_mean_error_and_spread():
    finding = board.ensemble([1.0, 2.0, 3.0, 4.0])
    assert finding.value == 2.5
    assert finding.spread == pytest.approx(np.std([1, 2, 3, 4], ddof=1))
    assert finding.error == pytest.approx(finding.spread / 2)


def table(**changes):
    row = {
        **{"id": "a", "experiment": "I", "where": "s", "quantity": "q", "kind": "exact"},
        **{"value": "0.5", "error": "", "toys": "", "claim": ""},
    }
    return pd.DataFrame([{**row, **changes}])


def test_published_keeps_the_printed_digits():
    (row,) = board.read_published(table(value="0.500", toys="50"))
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
        board.read_published(bad)


def test_findings_must_be_finite_and_unique():
    with pytest.raises(ValueError, match="value must be finite"):
        Finding("a", float("nan"))
    with pytest.raises(ValueError, match="draws must be finite"):
        Finding("a", 1.0, draws=(1.0, float("inf")))
    with pytest.raises(ValueError, match="stands twice"):
        board.board([], [Finding("a", 1.0), Finding("a", 1.0)])


def test_a_run_of_other_sizes_is_not_judged():
    rows = pd.DataFrame([dict.fromkeys(board.COLUMNS, "")] * 3)
    said = board.summary(rows, not_comparable="smoke: not the paper's statistics")
    assert "smoke: not the paper's statistics" in said
    assert "3 rows" in said
    assert "agrees" not in said


# --- by hand ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pull", "verdict"),
    [
        *((2.999, "agrees"), (3.0, "tension"), (5.0, "tension"), (5.001, "disagrees")),
        *((-2.999, "agrees"), (-3.0, "tension"), (-5.0, "tension"), (-5.001, "disagrees")),
    ],
)
def test_borders_of_the_verdicts(pull, verdict):
    # both errors 3 and 4 in units of the last digit, so that the pull is exact
    row = published(value="0", error="3")
    found = judged(row, Finding("a", 5 * pull, 4.0, 10))
    assert (found["value"], found["verdict"]) == (pytest.approx(pull, rel=1e-15), verdict)


@pytest.mark.parametrize("kind", ["ensemble", "fit"])
def test_a_pull_is_ours_less_theirs_over_both_errors(kind):
    found = judged(published(kind, "0.50", "0.3"), Finding("a", 0.9, 0.4, 100, spread=7.0, toys=2))
    assert (found["measure"], found["value"]) == ("pull", pytest.approx(0.4 / 0.5))
    assert (found["published"], found["published_error"]) == ("0.50", 0.3)
    assert (found["reproduced"], found["reproduced_error"], found["n"]) == (0.9, 0.4, 100)
    # only a realization needs to say why it has a pull, and only if it has one
    assert found["note"] == ""
    assert judged(published("realization"), draws(400, 200, 0))["note"] == ""


@pytest.mark.parametrize(
    ("row", "finding", "error"),
    [
        # printed before inferred before rounding; the configuration's toys before the paper's
        ({"error": "0.2", "toys": 4}, {"spread": 3.0, "toys": 9}, (0.2, "printed")),
        ({"toys": 4}, {"spread": 3.0, "toys": 9}, (1.0, "inferred")),
        ({"toys": 4}, {"spread": 3.0}, (1.5, "inferred")),
        ({}, {"spread": 3.0, "toys": 9}, (1.0, "inferred")),
        ({"toys": 4}, {}, (0.005, "rounding")),
        # a value of two digits is known to 0.005 at best
        ({"toys": 4}, {"spread": 0.0101}, (0.00505, "inferred")),
        ({"toys": 4}, {"spread": 0.0099}, (0.005, "rounding")),
        ({"kind": "statement", "value": "", "error": "0.2", "claim": "x < 1"}, {}, (None, "")),
    ],
)
def test_where_a_published_error_comes_from(row, finding, error):
    found = board.published_error(published(**row), Finding("a", 0.5, **finding))
    assert found == (error[0] and pytest.approx(error[0]), error[1])


@pytest.mark.parametrize(
    ("value", "ours", "relative", "verdict"),
    [
        ("-0.50", -0.504, -0.008, "agrees"),
        ("-0.50", -0.506, -0.012, "disagrees"),
        ("2e1", 25.0, 0.25, "agrees"),
        ("2e1", 25.001, 0.25005, "disagrees"),
        ("0.0", 0.04, 0.04, "agrees"),
    ],
)
def test_exact_values_by_hand(value, ours, relative, verdict):
    found = judged(published("exact", value), Finding("a", ours, 0.0))
    assert found["value"] == pytest.approx(relative)
    assert (found["measure"], found["verdict"]) == ("relative difference", verdict)


def draws(n, below, inside, *, side=1):
    """Return draws of which some lie below, some within the rounding of, 0.50; the rest above."""
    values = [0.4] * below + [0.496, 0.504, 0.5, 0.498][:inside] + [0.6] * (n - below - inside)
    return board.realization(0.5 + side * (np.array(values) - 0.5))


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize(
    ("below", "inside", "k", "verdict"),
    [(3, 4, 5, "agrees"), (0, 3, 1.5, "agrees"), (0, 2, 1, "disagrees"), (200, 0, 200, "agrees")],
)
def test_rank_by_hand(below, inside, k, verdict, side):
    """Of 400 draws k lie below, those within the printed digit count half; rare is 4.01 / 401."""
    row = published("realization", "0.50")
    found = judged(row, draws(400, below, inside, side=side))
    assert found["measure"] == "rank p"
    assert found["value"] == pytest.approx(min(1.0, 2 * min(k + 1, 401 - k) / 401))
    # where it is rare, nearly all draws are 0.1 away, 20 of their standard deviations
    assert found["verdict"] == verdict


@pytest.mark.parametrize(("far", "verdict"), [(4.999, "tension"), (5.001, "disagrees")])
@pytest.mark.parametrize("side", [1, -1])
def test_a_rare_value_disagrees_beyond_five_spreads(far, verdict, side):
    # +- 1 has a spread of sqrt(400 / 399)
    values = side * (far * np.sqrt(400 / 399) + np.resize([1.0, -1.0], 400))
    found = judged(published("realization", "0.00"), board.realization(values))
    assert found["value"] == pytest.approx(2 / 401)
    assert found["verdict"] == verdict


def test_fewer_than_400_draws_give_a_pull():
    assert judged(published("realization"), draws(400, 0, 4))["measure"] == "rank p"
    assert judged(published("realization"), draws(399, 0, 4))["measure"] == "pull"


def test_pull_of_one_realization_by_hand():
    """A further draw: the spread of one and the error of our mean, and the printed digits."""
    ours = board.realization([0.4, 0.5, 0.6], note="why")
    assert (ours.value, ours.error, ours.spread, ours.n) == (
        *(pytest.approx(0.5), pytest.approx(0.1)),
        *(pytest.approx(0.1), 3),
    )
    found = judged(published("realization", "0.80", "0.3", 7), ours)
    assert found["value"] == pytest.approx(-0.3 / np.hypot(0.1 * np.sqrt(4 / 3), 0.005))
    assert found["note"] == "a pull, because there are only 3 independent draws; why"
    # a value without a number of draws counts as one
    alone = judged(published("realization", "0.80"), Finding("a", 0.5, 0.1))
    assert alone["value"] == pytest.approx(-0.3 / np.hypot(0.1 * np.sqrt(2), 0.005))


def test_a_number_needs_a_value_and_a_mean_two_toys():
    with pytest.raises(ValueError, match="finding a: it has no value"):
        judged(published(), Finding("a"))
    with pytest.raises(ValueError, match="at least 2 toys, it has 1"):
        board.ensemble([1.0])
    assert board.ensemble([1.0, 3.0]).n == 2
    with pytest.raises(ValueError, match="error must be finite, it is inf"):
        Finding("a", 1.0, float("inf"))


def scored(*rows):
    """Return a scoreboard of (id, verdict, measure, value)."""
    names = ["id", "verdict", "measure", "value"]
    table = pd.DataFrame(rows, columns=names, dtype=object)
    kind = ["identity" if name.startswith("same") else "fit" for name in table["id"]]
    return table.assign(published="1.0", reproduced=2.0, kind=kind)


SCORES = scored(
    ("agreed", "agrees", "pull", 2.9),
    ("closer", "agrees", "pull", -1.0),
    ("rank", "agrees", "rank p", 0.0455),  # two standard deviations
    ("tense", "tension", "pull", -3.1),
    ("rare", "tension", "rank p", 0.0005),  # 3.5 of them
    ("said", "disagrees", "computed", False),
    ("far", "disagrees", "pull", 6.0),
    ("apart", "not comparable", "pull", 99.0),
    ("nowhere", "not comparable", "rank p", 0.0),
    ("near", "borderline", "computed", True),
    ("same", "agrees", "computed", True),
    ("same too", "agrees", "computed", True),
    ("same not", "disagrees", "computed", False),
)


def test_tally_by_hand():
    """Four pulls and two ranks are compared; identities are counted apart."""
    assert board.tally(SCORES) == {
        **{"agrees": 3, "borderline": 1, "tension": 2, "disagrees": 2, "not comparable": 2},
        **{"identities": 2, "identities_failed": 1},
        "tensions_by_chance": pytest.approx(4 * 0.0027 + 2 * 0.01),
    }


def test_the_largest_deviations_come_first():
    order = ["far", "said", "same not", "rare", "tense", "near", "agreed", "rank", "closer"]
    assert board.largest_deviations(SCORES)["id"].tolist() == order
    assert board.largest_deviations(SCORES, 3)["id"].tolist() == order[:3]
    assert list(board.largest_deviations(SCORES).columns) == list(SCORES.columns)
    many = pd.concat([SCORES] * 2)
    assert len(board.largest_deviations(many)) == 10


def test_a_rank_in_standard_deviations():
    for p, sigmas in ((0.3173, 1.0), (0.0455, 2.0), (0.0027, 3.0)):
        row = pd.Series({"measure": "rank p", "value": p})
        assert board.sigmas(row) == pytest.approx(sigmas, abs=1e-3)
    assert board.sigmas(pd.Series({"measure": "pull", "value": -4.0})) == 4.0
    assert board.sigmas(pd.Series({"measure": "computed", "value": True})) == 0.0


def test_summary_says_counts_and_deviations():
    first, apart, second, *rest = board.summary(SCORES).splitlines()
    assert first == (
        "Scoreboard: 3 agrees, 1 borderline, 2 tension, 2 disagrees, 2 not comparable "
        "(chance alone predicts 0.0 tensions)."
    )
    assert apart == "Counted apart: 3 identities, 1 of which fail."
    assert "Counted apart" not in board.summary(SCORES[:9])
    assert second == "The largest deviations:"
    assert [line.split()[1] for line in rest][:2] == ["far", "said"]
    assert rest[0].endswith("published 1.0, reproduced 2, pull 6")
    assert rest[1].endswith("computed false")


def test_what_was_not_computed_is_not_comparable():
    own = Finding("a", 0.7, 0.1, note="noted", not_comparable="other events")
    rows = [published(), Published("b", "I", "", "", "ensemble", "1.0", "", None)]
    scores = board.board(rows, [own], not_comparable="").set_index("id")
    assert scores["note"].to_dict() == {"a": "other events; noted", "b": "not computed in this run"}
    # a reason of its own is kept, a reason for all is given to the others
    scores = board.board(rows[:1], [own], not_comparable="smoke")
    assert scores["note"].tolist() == ["other events; noted"]
    scores = board.board(rows[:1], [Finding("a", 0.7, 0.1)], not_comparable="smoke")
    assert scores["note"].tolist() == ["smoke"]


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        *((table(error=error), "error is .*it must be positive") for error in ("0", "-0.1", "0.0")),
        *(
            (table(toys=toys), "toys is .*whole number of at least 1")
            for toys in ("0", "1.5", "-1")
        ),
        *(
            (table(value=value), "value is .*it must be a number as printed")
            for value in ("1e999", "1e-999", "٣", "0x1", "1_0", "1e")
        ),
        (table(kind="statement", value="true"), "value is 'true'"),
        (table(kind="statement", value=""), "claim is ''; it must be conditions"),
        (table(kind="statement", value="", claim="x = 1"), "claim is 'x = 1'"),
        (table(kind="identity", value="", claim="x < 1;y < 1"), "claim is 'x < 1;y < 1'"),
        (table(claim="x < 1"), "claim is 'x < 1'; it must be empty"),
        (table(kind="identity", claim="x < 1"), "it must be empty where there is a number"),
        (pd.concat([table(), table(id="b", kind="x")]), r"line 3 \(b\): kind is 'x'"),
        (table(id=""), r"line 2 \(no id\): id must"),
        (table()[["kind", *table().columns.drop("kind")]], "columns must be id, experiment, where"),
    ],
)
def test_each_refusal_says_what_is_wrong(bad, says):
    with pytest.raises(ValueError, match=says):
        board.read_published(bad)


def test_what_is_printed_is_accepted():
    for value in ("0", "0.0", "-1.", ".5", "+2", "9.2172e-4", " 0.5 "):
        (row,) = board.read_published(table(value=value))
        assert row.number == float(value)
    (row,) = board.read_published(table(kind="statement", value=None, claim="x < 1; y = 0 +- 2"))
    assert (row.value, row.toys) == ("", None)
    assert row.conditions == [
        board.Condition("x", -np.inf, 1.0),
        board.Condition("y", -2.0, 2.0),
    ]
    (row,) = board.read_published(table(kind="identity"))
    assert row.value == "0.5"
