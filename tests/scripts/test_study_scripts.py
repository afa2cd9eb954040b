"""The scripts of the comparison of statistics."""

import pandas as pd
import pytest
from localizer.estimators import statistics
from localizer.experiments import other_statistics
from localizer.models.gaussian import GaussianBenchmark

GIVEN = {"mean": [1.5, 0.0], "sigma_s": 0.5, "epsilon": 0.2, "h": 1.0}
MODEL = GaussianBenchmark(**GIVEN)
SEED = 8
SUMMARY = dict.fromkeys(("table", "points", "cost"), "csv")
COUNTS = {"signal": 2, "background": 3}
COMMON = {"seed": SEED, "model": GIVEN, "N": 30, "reference": 40, "options": {}}


def mmd():
    background = other_statistics.reference(SEED, model=MODEL, events=40)
    return background, statistics.by_name("mmd", bandwidths=[1.0]).prepare(background)


@pytest.fixture(scope="module")
def part(run_on):
    params = {**COMMON, **COUNTS, "toys": [1, 4], "m": [5, 8], "occurrences": 24}
    return run_on(
        "statistics_part",
        wildcards={"statistic": "mmd"},
        output={"scores": "csv", "times": "csv"},
        params={**params, "replacement": False},
    )


@pytest.fixture(scope="module")
def maps(run_on):
    params = {**COMMON, "m": [5, 8], "contexts": 3, "half_width": 2.0, "cells": 3}
    return run_on("statistics_map", params={**params, "names": ["mmd"]})


def test_scores_of_every_toy_and_size(part, same):
    background, statistic = mmd()
    tables = []
    for toy in (1, 4):
        sample = other_statistics.toy(SEED, toy, model=MODEL, N=30)
        target = other_statistics.exact_target("mmd", background, [1.0])(sample.x)
        for m, R in ((5, 4), (8, 3)):
            tables.append(
                other_statistics.score_table(
                    SEED,
                    toy,
                    sample,
                    statistic,
                    target,
                    model=MODEL,
                    m=m,
                    R=R,
                    replacement=False,
                    **COUNTS,
                )
            )
    same(part.scores, pd.concat(tables))


def test_times_are_by_event(part):
    keys = part.times[["toy", "m", "contexts"]].to_numpy().tolist()
    assert keys == [[1, 5, 4], [1, 8, 3], [4, 5, 4], [4, 8, 3]]
    assert (part.times["statistic"] == "mmd").all()
    # milliseconds, of five events
    ratio = part.times["milliseconds_per_event"] / part.times["seconds"]
    assert ratio.tolist() == pytest.approx([200] * 4)


def test_the_cost_is_the_mean_over_toys(run_on, part, maps):
    one = {"statistic": "mmd", "m": 5, "contexts": 4}
    other = {"statistic": "energy", "m": 5, "contexts": 4}
    parts = [
        pd.DataFrame([{**one, "toy": 0, "seconds": 9, "milliseconds_per_event": 1.0}]),
        pd.DataFrame([{**other, "toy": 0, "seconds": 9, "milliseconds_per_event": 7.0}]),
        pd.DataFrame([{**one, "toy": 1, "seconds": 9, "milliseconds_per_event": 2.0}]),
    ]
    found = run_on(
        "statistics_summary",
        scores=[part.scores],
        times=parts,
        maps=maps,
        output=SUMMARY,
        params={"model": GIVEN},
    ).cost
    assert found["statistic"].tolist() == ["mmd", "energy"]
    assert found["milliseconds_per_event"].tolist() == [1.5, 7.0]


def test_the_map_is_at_the_largest_size(maps, same):
    _, statistic = mmd()
    sample = other_statistics.large_sample(SEED, model=MODEL, N=30)
    expected = other_statistics.score_map(
        SEED, sample, statistic, model=MODEL, m=8, R=3, half_width=2.0, cells=3
    )
    same(maps, expected)


def test_the_summary_of_all_parts(run_on, same, part, maps):
    later = part.scores.assign(toy=lambda table: table["toy"] + 10)
    found = run_on(
        "statistics_summary",
        scores=[part.scores, later],
        times=[part.times],
        maps=maps,
        output=SUMMARY,
        params={"model": GIVEN},
    )
    scores = pd.concat([part.scores, later], ignore_index=True)
    table = other_statistics.summary(scores)
    assert found.table["toys"].tolist() == [4, 4]
    same(found.table, table)
    same(found.points, other_statistics.drawn_points(scores, maps, table, model=MODEL))
