"""The study of other statistics, small: what is scored, what is summarised, what is drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import oracles
import pandas as pd
import pytest
import yaml
from localizer.base import metrics
from localizer.estimators import energy, statistics, witness
from localizer.estimators.own_statistic import Own
from localizer.estimators.statistics import Energy
from localizer.experiments import other_statistics
from localizer.figures import statistics as figures
from localizer.kernels.bank import EmpiricalBackground, GaussianBank
from localizer.models.gaussian import GaussianBenchmark
from stage import files
from stage.configuration import check

CONFIG = Path(__file__).parents[2] / "config" / "config.yaml"
MODEL = GaussianBenchmark(mean=(1.5, 0.0), sigma_s=0.5, epsilon=0.1, h=1.0)
SIZES = {"m": 10, "R": 40, "signal": 5, "background": 6, "replacement": False}


@pytest.fixture(scope="module")
def reference() -> np.ndarray:
    return other_statistics.reference(1, model=MODEL, events=300)


@pytest.fixture(scope="module")
def sample():
    return other_statistics.toy(1, 0, model=MODEL, N=100)


def scored(statistic, sample, target=None, **changes) -> pd.DataFrame:
    values = np.full(len(sample.x), np.nan) if target is None else target
    options = {**SIZES, **changes}
    return other_statistics.score_table(1, 0, sample, statistic, values, model=MODEL, **options)


def test_both_classes_are_scored(sample, reference):
    table = scored(Energy().prepare(reference), sample)
    assert table["signal"].sum() == 5
    assert len(table) == 11
    np.testing.assert_array_equal(table["signal"], sample.labels[table["event"]])
    np.testing.assert_array_equal(
        table["log_likelihood_ratio"], MODEL.log_likelihood_ratio(sample.x[table["event"]])
    )


def test_every_statistic_meets_the_same_contexts(sample, reference):
    """Two names for one function get the same scores, m and R being the same."""
    one, other = (
        scored(Own(lambda batch: batch.std(), name).prepare(reference), sample)
        for name in ("mine:one", "mine:other")
    )
    pd.testing.assert_frame_equal(one.drop(columns="statistic"), other.drop(columns="statistic"))


def test_the_scores_estimate_the_exact_column(sample, reference):
    """|z| < 6: Student's t of 39 degrees exceeds it once in 2 million."""
    target = other_statistics.exact_target("energy", reference, [1.0])(sample.x)
    table = scored(Energy().prepare(reference), sample, target)
    for name in ("addition", "replacement"):
        z = (table[name] - table["exact"]) / np.sqrt(table[f"{name}_variance"] / 40)
        assert np.abs(z).max() < 6


def test_exact_targets_are_the_packages_own(sample, reference):
    bank = GaussianBank((1.0,))
    np.testing.assert_array_equal(
        other_statistics.exact_target("mmd", reference, [1.0])(sample.x),
        witness.pair_target(sample.x, bank, EmpiricalBackground(bank, reference)),
    )
    np.testing.assert_array_equal(
        other_statistics.exact_target("energy", reference, [1.0])(sample.x),
        energy.pair_target(sample.x, energy.EnergyBackground(reference)),
    )
    for name in ("ks", "ad", "classifier"):
        assert np.isnan(other_statistics.exact_target(name, reference, [1.0])(sample.x)).all()


@pytest.mark.parametrize("changes", [{"signal": 11}, {"background": 91}])
def test_more_events_than_a_toy_has_are_refused(changes, sample, reference):
    with pytest.raises(ValueError, match="a toy of 100 events has 10 of signal and 90"):
        scored(Energy().prepare(reference), sample, **changes)


def test_the_companions_of_an_event_are_as_many_at_every_m():
    assert [other_statistics.contexts(m, occurrences=8000) for m in (20, 400)] == [400, 20]
    assert other_statistics.contexts(400, occurrences=100) == 2


@pytest.fixture(scope="module")
def scores(reference) -> pd.DataFrame:
    """Return two statistics, two sizes, two toys."""
    tables = []
    for name in ("energy", "ks"):
        statistic = statistics.by_name(name, bandwidths=[1.0]).prepare(reference)
        for m in (5, 10):
            for number in (0, 1):
                toy = other_statistics.toy(1, number, model=MODEL, N=100)
                target = other_statistics.exact_target(name, reference, [1.0])(toy.x)
                tables.append(
                    other_statistics.score_table(
                        1, number, toy, statistic, target, model=MODEL, **{**SIZES, "m": m}
                    )
                )
    return pd.concat(tables, ignore_index=True)


def test_the_summary_is_what_its_columns_say(scores):
    table = other_statistics.summary(scores)
    assert list(zip(table["statistic"], table["m"], strict=True)) == [
        ("energy", 5),
        ("energy", 10),
        ("ks", 5),
        ("ks", 10),
    ]
    part = scores[(scores["statistic"] == "ks") & (scores["m"] == 10)]
    row = table.iloc[3]
    aucs = [metrics.auc(one["addition"], one["signal"]) for _, one in part.groupby("toy")]
    assert row["auc"] == pytest.approx(np.mean(aucs))
    assert row["auc_error"] == pytest.approx(abs(aucs[0] - aucs[1]) / 2)
    assert row["evaluations_per_event"] == 120
    assert row["events"] == 22
    assert np.isnan(row["auc_exact"])
    assert table.loc[0, "auc_exact"] == table.loc[1, "auc_exact"]  # the order does not know m
    assert (table["gain_addition"] > table["gain_replacement"]).all()
    assert table["noise_share"].between(0, 1).all()
    assert table["rank_correlation"].between(-1, 1).all()


def test_a_score_that_is_the_likelihood_ratio_is_as_good_as_it(scores):
    best = scores.assign(addition=np.exp(scores["log_likelihood_ratio"]))
    table = other_statistics.summary(best)
    np.testing.assert_array_equal(table["auc"], table["auc_bayes"])
    np.testing.assert_allclose(table["rank_correlation"], 1)


def test_the_figure_is_drawn_from_its_points(scores, sample, reference, tmp_path):
    maps = pd.concat(
        [
            other_statistics.score_map(
                1,
                sample,
                statistics.by_name(name, bandwidths=[1.0]).prepare(reference),
                model=MODEL,
                m=10,
                R=3,
                half_width=2.0,
                cells=3,
            )
            for name in ("energy", "ks")
        ],
        ignore_index=True,
    )
    table = other_statistics.summary(scores)
    points = other_statistics.drawn_points(scores, maps, table, model=MODEL)
    assert list(points.columns) == ["panel", "statistic", "x", "y", "value", "error"]
    assert set(points["statistic"]) == {"bayes", "energy", "ks"}
    assert set(points["panel"]) == {"map", "roc", "auc", "gain"}
    at_map = points[points["panel"] == "map"]
    assert len(at_map) == 3 * 9
    posterior = at_map[at_map["statistic"] == "bayes"]
    assert posterior["value"].between(0, 1).all()
    assert points[points["panel"] != "map"]["y"].isna().all()
    written = []
    for number in range(2):
        path = tmp_path / f"{number}.png"
        with figures.statistics(points, mean=[1.5, 0.0], sigma_s=0.5) as figure:
            files.write_figure(figure, path)
        written.append(path.read_bytes())
    assert written[0] == written[1]


def test_the_map_has_the_witness_of_the_energy_distance(sample, reference):
    """L = (2/m) [w(x) - mean w], eq. mmd-localization; |z| < 6 for each of 9 cells."""
    table = other_statistics.score_map(
        1,
        sample,
        Energy().prepare(reference),
        model=MODEL,
        m=10,
        R=1000,
        half_width=2.0,
        cells=3,
    )
    at = table[["x", "y"]].to_numpy()
    background = energy.EnergyBackground(reference)
    # contexts without replacement: the level of the sample is that of distinct pairs
    level = oracles.energy_loo_witness(sample.x, background).mean()
    exact = 2 / 10 * (oracles.energy_witness(at, sample.x, background) - level)
    assert np.abs((table["localizer"] - exact) / table["error"]).max() < 6


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"m": [20, 5000]}, "statistics.m holds 5000; it must be below experiment1.N = 5000."),
        (
            {"map": {"N": 400, "half_width": 4.0, "cells": 21, "contexts": 80}},
            "statistics.map.N is 400; it must be above statistics.m, 400.",
        ),
        ({"signal_events": 101}, "statistics.signal_events is 101; it must be at most 100"),
        ({"background_events": 4901}, "statistics.background_events is 4901; it must be at most"),
        ({"names": ["mmd", "mdm"]}, 'statistics.names[1] is "mdm"; it must be one of mmd, energy'),
    ],
)
def test_a_study_that_cannot_be_made_is_refused_before_it_runs(changes, says):
    config = yaml.safe_load(CONFIG.read_text())
    config["statistics"] |= changes
    (sentence,) = check.problems(config)
    assert sentence.startswith(says)


def test_the_study_does_not_decide_what_the_papers_statistics_are():
    """The scoreboard compares the paper's experiments; this study is none of them."""
    config = yaml.safe_load(CONFIG.read_text())
    config["statistics"]["toys"] = 2
    assert not check.differs(config, CONFIG)
