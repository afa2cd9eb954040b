"""The scripts of the comparison with other scores."""

import numpy as np
import pandas as pd
import pytest
from localizer.base.randomness import stream
from localizer.comparison import objective, problems, tables

SEED, FLOORS = 5, [1, 5]
MODEL = {"mean": [1.5, 0.0], "sigma_s": 0.5, "epsilon": 0.05, "h": 1.0}
GIVEN = {
    "lhco_1": {
        "mocks": 2,
        "kind": "lhco",
        "sizes": {"background": 200, "reference": 220, "fraction": 4.0},
    },
    "gaussian": {"mocks": 3, "kind": "gaussian", "sizes": {**MODEL, "N": 200, "reference": 150}},
}
PARAMS = {"seed": SEED, "problems": GIVEN, "sic_floors": FLOORS}


def samples():
    rng = stream(SEED, "tests", "events")
    return {
        "mixed": rng.random((300, 4)),
        "labels": np.arange(300) >= 280,
        "reference": rng.random((100, 4)),
        "evaluation_background": rng.random((60, 4)),
        "evaluation_signal": 0.5 + 0.1 * rng.random((60, 4)),
    }


@pytest.fixture(scope="module")
def parts(run_on):
    """Return what each of three competitors leaves."""
    return {
        name: run_on(
            "comparison_scores",
            wildcards={"version": "small", "part": "all", "competitor": name},
            output={"scores": "csv", "costs": "csv"},
            params=PARAMS,
            samples=samples(),
        )
        for name in ("witness_rff", "quadratic", "supervised")
    }


@pytest.mark.parametrize("name", ["witness_rff", "quadratic", "supervised"])
def test_every_mock_is_scored_and_judged(parts, name, same):
    one, rows = objective.competitor(name), []
    for problem, given in GIVEN.items():
        for mock in range(given["mocks"]):
            pool = problems.Pool.of(samples())
            made = problems.realization(given["kind"], SEED, mock, pool, given["sizes"])
            found = objective.scores(one, made, objective.generator(SEED, problem, mock, name))
            case = {"problem": problem, "mock": mock, "competitor": name, "label": one.LABEL}
            rows.append({**case, **objective.judged(found, made.labels, floors=FLOORS)})
    expected = pd.DataFrame(rows)
    same(parts[name].scores[expected.columns], expected)


def test_the_sizes_are_those_of_the_problem(parts):
    first = parts["quadratic"].scores.iloc[0]
    assert (first["background"], first["reference"], first["signal"]) == (200, 220, 5)
    assert first["fraction"] == 4.0
    # no signal fraction in units of the paper's: a toy
    assert parts["quadratic"].scores["fraction"].isna().sum() == 3


def test_costs_are_measured_in_a_file_of_their_own(parts):
    costs = parts["supervised"].costs
    assert list(zip(costs["problem"], costs["mock"], strict=True)) == [
        *(("lhco_1", mock) for mock in range(2)),
        *(("gaussian", mock) for mock in range(3)),
    ]
    assert (costs["seconds"] > 0).all()
    assert not {"seconds", "memory_mib"} & set(parts["supervised"].scores)


def summary(run_on, parts):
    return run_on(
        "comparison_summary",
        output={"table": "csv", "points": "csv", "cost": "csv"},
        params={"problems": list(GIVEN), "sic_floor": 5, "sic_floors": FLOORS},
        scores=[part.scores for part in parts],
        costs=[part.costs for part in parts],
        edition={"name": "subset"},
    )


def test_the_summary_is_of_all_competitors(run_on, parts, same):
    made = summary(run_on, parts.values())
    measures = ["auc", "sic_1", "sic_5"]
    together = pd.concat([part.scores for part in parts.values()])
    table = tables.summary(together, measures=measures)
    by = ["problem", "competitor"]
    expected = table.drop(columns="label").assign(edition="subset")
    same(made.table.sort_values(by), expected.sort_values(by))
    assert list(made.table["problem"].unique()) == list(GIVEN)
    assert set(made.points["panel"]) == {"scan", "auc_gain", "sic_5_gain"}
    cost = made.cost[made.cost["problem"] == "gaussian"].set_index("competitor")
    means = table[table["problem"] == "gaussian"].set_index("competitor")["sic_5"]
    assert cost["sic"].to_dict() == pytest.approx(means.to_dict())


def test_the_summary_does_not_depend_on_how_the_work_was_cut(run_on, parts):
    one, other = (summary(run_on, order) for order in (parts.values(), [*parts.values()][::-1]))
    pd.testing.assert_frame_equal(one.table, other.table)
    pd.testing.assert_frame_equal(one.points, other.points)
