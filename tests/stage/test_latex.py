"""Tables for LaTeX: every special character is escaped, numbers stand to the right."""

import pandas as pd
import pytest
from stage import latex, tables


def test_text_is_escaped_and_what_is_missing_is_empty():
    table = pd.DataFrame({"name": ["a & b", "50 %"], "x": [0.5, None]})
    assert latex.typeset(table).splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"name & x \\",
        r"\midrule",
        r"a \& b & 0.5 \\",
        r"50 \% &  \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_every_special_character_is_escaped():
    for letter in "\\{}&%$#_~^<>|":
        escaped = latex.escape(letter)
        assert escaped.startswith("\\")
        assert len(escaped) > 1


def test_a_long_table_goes_over_pages():
    text = latex.typeset(pd.DataFrame({"m": range(latex.LONG + 1)}))
    assert text.startswith(r"\begin{longtable}{r}")
    assert text.index(r"\endhead") < text.index(r"\endlastfoot") < text.index(r"40 \\")
    assert text.endswith("\\end{longtable}\n")


def test_typeset_rounds_and_names():
    frame = pd.DataFrame({"edition": ["subset"], "rho_raw": [-0.26437], "rho_raw_error": [0.0031]})
    assert latex.typeset(frame).splitlines() == [
        r"\begin{tabular}{r}",
        r"\multicolumn{1}{l}{edition: subset} \\",
        r"\toprule",
        r"$\rho$ raw \\",
        r"\midrule",
        r"\ensuremath{-0.2644(31)} \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_many_columns_are_set_on_their_side():
    frame = pd.DataFrame({f"x{place}": [place, -place] for place in range(12)})
    lines = latex.typeset(frame).splitlines()
    assert lines[:4] == [r"\begin{tabular}{lrr}", r"\toprule", r"x0 & 0 & 0 \\", r"\midrule"]
    assert lines[4] == r"x1 & 1 & \ensuremath{-1} \\"


@pytest.mark.parametrize(("more", "turned"), [(0, False), (1, True)])
def test_a_table_is_set_on_its_side_from_one_column_more_on(more, turned):
    frame = pd.DataFrame({f"x{place}": [place, -place] for place in range(latex.WIDE + more)})
    sides = latex.typeset(frame).splitlines()[0]
    assert sides == rf"\begin{{tabular}}{{{'lrr' if turned else 'r' * latex.WIDE}}}"


def test_a_wide_table_is_cut_and_loses_nothing():
    frame = pd.DataFrame({"which": [f"row {row}" for row in range(20)]})
    for place in range(15):
        frame[f"column_{place}"] = [10.0**9 + row + place / 7 for row in range(20)]
    parts = latex.typeset(frame).split("\\par\\medskip\n")
    assert len(parts) > 1
    for part in parts:
        assert [line.split(" & ")[0] for line in part.splitlines()].count("row 3") == 1
    numbers = [line.count(" & ") for part in parts for line in part.splitlines() if "row 3" in line]
    assert sum(numbers) == 15


def test_macros_have_letters_only_and_a_second_one_for_the_error():
    number = {"value": 0.93662, "error": 0.00031}
    assert latex.macros({"e1.auc_lr-80": number, "e2.none": {"value": None, "error": None}}) == {
        r"\FoundEOneAucLrEighty": r"\ensuremath{0.93662}",
        r"\FoundEOneAucLrEightyUnc": r"\ensuremath{0.00031}",
    }


@pytest.mark.parametrize("letter", ["µ", " ", "\\", "²", "٣"])
def test_a_bad_character_is_named(letter):
    with pytest.raises(ValueError, match="has the character") as caught:
        latex.macro(f"e1.a{letter}b")
    assert repr(letter) in str(caught.value)


@pytest.mark.parametrize(
    ("one", "other"), [("e1.a_b", "e1.a.b"), ("e1.m5", "e1.m05"), ("e1.a", "e1.a_unc")]
)
def test_a_collision_is_an_error(one, other):
    number = {"value": 1.25, "error": 0.5}
    with pytest.raises(ValueError, match="both ask for the macro"):
        latex.macros({one: number, other: number})


def test_spelled_numbers_differ():
    names = [latex.spelled(number) for number in range(20000)]
    assert len(set(names)) == len(names)
    assert all(name.isalpha() and name.isascii() for name in names)


def test_large_numbers_have_names():
    assert latex.spelled(10**9) == "OneBillion"
    assert latex.spelled(2_003_000_100) == "TwoBillionThreeMillionOneHundred"
    assert latex.spelled(999) == "NineHundredNinetyNine"


def test_the_room_of_a_table_on_its_side_by_hand():
    """The widest name, and for each row its widest cell and a space; a power takes 7 letters."""
    cells = (tables.Cell("1.25", -10), tables.Cell("12345678901")), (tables.Cell("x"),) * 2
    columns = [
        tables.Column(name, True, each) for name, each in zip(("abc", "de"), cells, strict=True)
    ]
    assert latex._width_on_its_side(columns) == 3 + (2 + 11) + (2 + 11)
    assert [latex._width(column) for column in columns] == [2 + 11, 2 + 2]


def test_a_minus_sign_of_mathematics_is_wide():
    assert latex._letters(tables.Cell("-1.5")) == 5
    assert latex._letters(tables.Cell("-1.5", 3)) == 5 + 7


def test_an_id_without_a_letter_is_refused():
    with pytest.raises(ValueError, match="has no letter or digit to name a macro after"):
        latex.macro("._-")


def test_a_power_of_ten_takes_room():
    """1.25 and its power take 11 letters of a column, 2 more the space: eight fit into 115.

    No column holds words, so the second part repeats the first column.
    """
    frame = pd.DataFrame({f"c{place}": [1.25e-10] * 41 for place in range(13)})
    parts = latex.typeset(frame).split("\\par\\medskip\n")
    sides = [part.splitlines()[0] for part in parts]
    assert sides == [rf"\begin{{longtable}}{{{'r' * number}}}" for number in (8, 6)]
    assert [line for line in parts[1].splitlines() if "c0" in line] == [
        line for line in parts[1].splitlines() if "c8" in line
    ]
