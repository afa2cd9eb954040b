"""Bad arguments are refused with a sentence that names the argument."""

import numpy as np
import pytest
from localizer.base import checks


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: checks.points([1.0, 2.0], "probes"), r"probes must be a table .* \(2,\)"),
        (lambda: checks.points([[np.nan, 1.0], [np.inf, 1.0]], "x"), "x must be finite, 2 of its"),
        (lambda: checks.points([[1.0]], "x", d=2), "x must have 2 features, it has 1"),
        (lambda: checks.points(np.empty((0, 2)), "x"), "x must hold at least 1 events"),
        (lambda: checks.points(np.empty((3, 0)), "x"), "at least one feature"),
        (lambda: checks.points([["a"]], "x"), "x must hold numbers only"),
        (lambda: checks.vector([[1.0]], "scores"), "scores must be one-dimensional"),
        (lambda: checks.vector([1.0], "scores", size=2), "scores must have 2 entries"),
        (lambda: checks.vector([], "scores"), "scores must have at least 1 entries"),
        (lambda: checks.labels([0, 2]), "labels must be 0"),
        (lambda: checks.labels([0, 0]), "there is no signal"),
        (lambda: checks.labels([1, 1]), "there is no background"),
        (lambda: checks.labels([]), "labels must hold both classes"),
        (lambda: checks.labels([[0, 1]]), "labels must be one-dimensional"),
        (lambda: checks.integer(1.0, "m"), "m must be a whole number, not 1.0"),
        (lambda: checks.integer(True, "m"), "m must be a whole number"),
        (lambda: checks.integer(1, "m", minimum=2), "m must be at least 2, it is 1"),
        (lambda: checks.integer(9, "m", maximum=8), "m must be at most 8, it is 9"),
        (lambda: checks.positive(0, "h"), "h must be positive, it is 0"),
        (lambda: checks.positive(float("nan"), "h"), "h must be finite"),
        (lambda: checks.positive("wide", "h"), "h must be a number, not 'wide'"),
        (lambda: checks.fraction(1.0, "epsilon"), "epsilon must lie between 0 and 1"),
        (lambda: checks.bandwidths([]), "at least one bandwidth"),
        (lambda: checks.bandwidths([1.0, -1.0]), "each of bandwidths must be positive"),
    ],
)
def test_refusal_names_the_argument(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def test_good_values_pass_through():
    assert checks.points([[1, 2]], "x").dtype == np.float64
    assert checks.labels([0, 1]).tolist() == [False, True]
    assert checks.fraction(1.0, "epsilon", closed=True) == 1.0
    assert checks.bandwidths(2) == (2.0,)
    assert checks.integer(np.int64(3), "m") == 3
