"""The figures of the comparison draw what their tables hold, whoever competes."""

import numpy as np
import pandas as pd
import pytest
from localizer.figures import comparison

NAMES = ["witness_rff", "other", *(f"more_{number:02}" for number in range(12))]


@pytest.fixture
def points():
    rows = []
    for number, name in enumerate(NAMES):
        case = {"competitor": name, "label": f"the {name}", "error": 0.1}
        for x in (0.5, 1.0, 2.0):
            scan = {"panel": "scan", "problem": f"lhco_{x:g}", "x": x, "value": x + number}
            rows.append({**case, **scan})
        for problem in ("lhco_1", "lhco_whole", "bump"):
            for panel in ("auc_gain", "sic_5_gain"):
                if name != "witness_rff":
                    gain = {"panel": panel, "problem": problem, "x": np.nan, "value": number}
                    rows.append({**case, **gain})
    return pd.DataFrame(rows)


def test_every_competitor_is_told_apart(points):
    with comparison.comparison(points) as figure:
        left = figure.axes[0]
        lines = [container.lines[0] for container in left.containers]
        looks = {(line.get_color(), line.get_marker()) for line in lines}
        assert len(lines) == len(looks) == len(NAMES)
        drawn = {container.get_label(): container.lines[0] for container in left.containers}
        expected = points[(points["panel"] == "scan") & (points["competitor"] == "other")]
        np.testing.assert_array_equal(
            drawn["the other"].get_xydata(), expected[["x", "value"]].to_numpy()
        )


def test_gains_stand_at_their_problem(points):
    with comparison.comparison(points) as figure:
        middle = figure.axes[1]
        names = [label.get_text() for label in middle.get_yticklabels()]
        assert names == ["LHCO, x 1", "LHCO, whole", "bump, noise features"]
        for container in middle.containers:
            places = container.lines[0].get_ydata()
            # in the band of their problem, in its order
            np.testing.assert_array_equal(np.round(places), [0, 1, 2])


@pytest.mark.parametrize(("with_whole", "sizes"), [(True, "120000"), (False, "1000")])
def test_the_cost_is_that_of_the_largest_sample(with_whole, sizes):
    rows = [
        {
            **{"problem": problem, "competitor": name, "label": name, "seconds": 2.0},
            **{"memory_mib": 30.0, "sic": sic, "sic_error": 0.1, "background": background},
            "reference": 500,
        }
        for problem, background, sic in (
            *(("lhco_0.5", 1000, 1.0), ("lhco_1", 1000, 2.0), ("bump", 200_000, 3.0)),
            *([("lhco_whole", 120_000, 4.0)] if with_whole else []),
        )
        for name in ("witness_rff", "other")
    ]
    with comparison.comparison_cost(pd.DataFrame(rows)) as figure:
        left, right = figure.axes
        assert left.get_title().startswith(sizes)
        drawn = [container.lines[0].get_xydata().tolist() for container in left.containers]
        assert drawn == [[[2.0, 4.0 if with_whole else 2.0]]] * 2
        assert [container.lines[0].get_xdata()[0] for container in right.containers] == [30, 30]
