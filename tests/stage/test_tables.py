"""Numbers as they are printed: rounded to their errors, and nothing lost on the way."""

import math
from decimal import Decimal

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stage import tables

sizes = st.floats(min_value=1e-12, max_value=1e12)
signed = st.builds(math.copysign, sizes, st.sampled_from([-1.0, 1.0]))


@given(signed, sizes)
def test_a_number_is_off_by_at_most_half_a_digit_of_its_error(value, error):
    text, uncertainty, exponent = tables.rounded(value, error)
    unit = Decimal(uncertainty).as_tuple().exponent + exponent
    printed = Decimal(text).scaleb(exponent)
    # the printed error has two digits, so its last one is between 1 % and 10 % of it;
    # a whole number may end in zeros that are not digits
    assert abs(printed - Decimal(repr(value))) <= Decimal(repr(error)) / 20 + Decimal(1).scaleb(-20)
    assert abs(Decimal(uncertainty).scaleb(exponent) / Decimal(repr(error)) - 1) <= Decimal("0.051")
    assert Decimal(text).as_tuple().exponent + exponent == unit


@given(signed)
def test_a_number_without_error_keeps_five_digits(value):
    text, uncertainty, exponent = tables.rounded(value)
    assert uncertainty == ""
    assert abs(float(text) * 10.0**exponent / value - 1) <= 5.1e-5


@given(st.integers(min_value=-(10**9) + 1, max_value=10**9 - 1))
def test_a_count_keeps_all_its_digits(count):
    assert tables.rounded(float(count), 0.0) == (str(count), "", 0)


@pytest.mark.parametrize(
    ("value", "error", "printed"),
    [
        (12345.0, 2100.0, ("12300", "2100", 0)),
        (-0.0001, 0.5, ("0.00", "0.50", 0)),
        (0.99996, 0.0096, ("1.0000", "0.0096", 0)),
        (0.9999, 0.0999, ("1.00", "0.10", 0)),
        (1.7e-4, 1.7e-4, ("1.7", "1.7", -4)),
        (0.0, 3e-5, ("0.0", "3.0", -5)),
        (99999.7, None, ("1.0000", "", 5)),
        (0.5, None, ("0.5", "", 0)),
        (2 / 3 - 0.166662, None, ("0.50000", "", 0)),
    ],
)
def test_rounding(value, error, printed):
    assert tables.rounded(value, error) == printed


@pytest.mark.parametrize(
    ("value", "error", "says"),
    [(math.nan, None, "finite"), (1.0, math.inf, "finite"), (1.0, -0.1, "negative")],
)
def test_what_cannot_be_printed_is_refused(value, error, says):
    with pytest.raises(ValueError, match=says):
        tables.rounded(value, error)


def test_a_table_takes_its_errors_in():
    frame = pd.DataFrame(
        {
            "edition": ["subset"] * 2,
            "N": [500, 1000],
            "auc": [0.65525, 0.69971],
            "auc_error": [0.01468, 0.0127],
            "sic": [9.0186, None],
            "sic_spread": [0.50085, None],
            "published": ["6.80e9", "0.420"],
            "value": [True, -0.25],
            "count": [4.0, math.nan],
            "how": ["a", None],
            "holds": [True, False],
        }
    )
    prepared = tables.prepare(frame)
    assert prepared.common == {"edition": "subset"}
    texts = {column.name: [cell.text for cell in column.cells] for column in prepared.columns}
    assert texts == {
        "N": ["500", "1000"],
        "auc": ["0.655(15)", "0.700(13)"],
        "sic": ["9.02", ""],
        "sic_spread": ["0.50", ""],
        "published": ["6.80", "0.420"],
        "value": ["true", "-0.25"],
        "count": ["4", ""],
        "how": ["a", ""],
        "holds": ["true", "false"],
    }
    assert [column.name for column in prepared.columns if not column.numeric] == ["how", "holds"]
    # a page sorts by the number itself, not by what is printed of it
    assert [cell.sort for cell in prepared.columns[1].cells] == [0.65525, 0.69971]


def test_published_digits_survive_a_file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("quantity,published,mean\na,0.420,0.5\nb,,0.25\n")
    column = tables.prepare(tables.read(path)).columns[1]
    assert [(cell.text, cell.sort) for cell in column.cells] == [("0.420", 0.42), ("", "")]


def test_names_of_a_user_mean_nothing_here():
    foreign = {"flow": [1.5, 2.5], "flow_error": [-0.3, 0.3], "edition": [1.5, 2.5]}
    foreign |= {"published": [0.123456789, 1.0]}
    frame = pd.DataFrame({"event": ["a", "b"], "loo": [0.25, 0.5], "loo_error": [0.1, 0.1]})
    prepared = tables.prepare(frame.assign(**foreign), foreign=list(foreign))
    texts = {column.name: [cell.text for cell in column.cells] for column in prepared.columns}
    assert texts == {
        "event": ["a", "b"],
        "loo": ["0.25(10)", "0.50(10)"],
        "flow": ["1.5", "2.5"],
        "flow_error": ["-0.3", "0.3"],
        "edition": ["1.5", "2.5"],
        "published": ["0.12346", "1"],
    }
    assert prepared.common == {}


def test_two_editions_in_a_table_are_refused():
    with pytest.raises(ValueError, match="one edition"):
        tables.prepare(pd.DataFrame({"edition": ["subset", "full"], "m": [1, 2]}))
