"""The scripts of Experiment I: each hands the right things over and writes them where they belong.

Equal within the digits of a table: the same functions, called here with every argument by name.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from localizer.base.randomness import stream
from localizer.estimators import forced
from localizer.experiments import experiment1, precision
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory.variance import ContextVariance

GIVEN = {"mean": [1.5, 0.0], "sigma_s": 0.5, "epsilon": 0.1, "h": 1.0}
MODEL = GaussianBenchmark(**GIVEN)
SEED = 3


def toys():
    """Return AUCs of which toy 4 has the median ones and toy 9 the smallest."""
    return pd.DataFrame(
        {
            "toy": [2, 9, 4, 7, 5],
            "auc_lr": [0.90, 0.70, 0.80, 0.75, 0.85],
            "auc_mmd": [0.90, 0.70, 0.80, 0.75, 0.85],
            "auc_loo": [0.90, 0.50, 0.70, 0.65, 0.75],
        }
    )


def forced_table(study="study", *, m=6, contexts=(10, 30), signal=3, background=5):
    x, labels = precision.probes(SEED, study, model=MODEL, signal=signal, background=background)
    return precision.forced_table(SEED, study, x, labels, model=MODEL, m=m, contexts=list(contexts))


def test_toys_are_those_of_the_numbers(run_on, same):
    params = {"seed": SEED, "model": GIVEN, "N": 60, "m": 8, "numbers": [5, 2]}
    found = run_on("exp1_toys_part", params=params)
    rows = [experiment1.toy_row(SEED, toy, model=MODEL, N=60, m=8) for toy in (5, 2)]
    same(found, pd.DataFrame(rows))


def test_the_roc_is_of_the_typical_toy_and_the_field_of_the_worst(run_on, same):
    found = run_on(
        "exp1_toys",
        parts=[toys()[:2], toys()[2:]],
        params={"seed": SEED, "model": GIVEN, "N": 60},
        output={"toys": "csv", "roc": "csv", "field": "csv"},
    )
    same(found.toys, toys())
    sample = experiment1.toy(SEED, 4, model=MODEL, N=60)
    same(found.roc, experiment1.roc_curves(sample, MODEL).assign(toy=4))
    sample = experiment1.toy(SEED, 9, model=MODEL, N=60)
    same(found.field, experiment1.residual_field(sample, MODEL).assign(toy=9))


def test_targets_are_the_closed_forms(run_on):
    found = run_on(
        "exp1_targets",
        output={"table": "csv", "numbers": "json"},
        params={"model": GIVEN, "m": 20, "m_scan": [40, 5, 20]},
    )
    assert found.table["m"].tolist() == [5, 20, 40]
    # 2 eps D_SB / m, eq. class-separation
    assert found.table["class_separation"].tolist() == pytest.approx(
        [MODEL.class_separation(m) for m in (5, 20, 40)], rel=1e-12
    )
    assert found.numbers["class_separation"] == MODEL.class_separation(20)
    assert found.numbers["K_SS"] == MODEL.K_SS
    assert found.numbers["D_SB"] == pytest.approx(
        MODEL.K_SS - 2 * MODEL.K_SB + MODEL.K_BB, rel=1e-12
    )
    assert found.numbers["mmd2"] == pytest.approx(0.1**2 * found.numbers["D_SB"], rel=1e-12)


def test_probes_are_forced_as_configured(run_on, same):
    params = {"seed": SEED, "model": GIVEN, "study": "study", "m": 6, "contexts": [10, 30]}
    params |= {"signal_probes": 3, "background_probes": 5}
    found = run_on("exp1_forced", params=params)
    assert found["signal"].sum() == 2 * 3
    same(found, forced_table())


def test_resampling_shows_the_most_contexts(run_on, same):
    table = forced_table()
    found = run_on(
        "exp1_resampling",
        forced=table,
        output={"scores": "csv", "scaling": "csv"},
        params={"model": GIVEN},
    )
    same(found.scores, table[table["contexts"] == 30])
    same(found.scaling, precision.resampling_summary(table, MODEL))


def test_precision_of_all_parts(run_on, same):
    parts = [forced_table(m=m, contexts=[12]) for m in (5, 9)]
    found = run_on(
        "exp1_precision",
        parts=parts,
        output={"probes": "csv", "points": "csv", "curve": "csv"},
        params={"model": GIVEN},
    )
    table = pd.concat(parts, ignore_index=True)
    same(found.probes, table)
    same(found.points, precision.precision(table, MODEL))
    # three signal probes of eight, and every size between the smallest and the largest
    curve = precision.precision_curve(MODEL, range(5, 10), R=12, signal_share=3 / 8)
    same(found.curve, curve)


def test_self_influence_of_the_numbers(run_on, same):
    outputs = {"probe": "csv", "profile": "csv"}
    params = {"seed": SEED, "model": GIVEN, "N": 40, "x": [5.0, 0.0]}
    parts = [
        run_on("exp1_self_influence_part", output=outputs, params={**params, "numbers": numbers})
        for numbers in ([1, 2], [3])
    ]
    joined = run_on(
        "exp1_self_influence",
        probe=[part.probe for part in parts],
        profile=[part.profile for part in parts],
        output=outputs,
    )
    probe, profile = experiment1.self_influence(SEED, [1, 2, 3], model=MODEL, N=40, at=(5.0, 0.0))
    same(joined.probe, probe)
    same(joined.profile, experiment1.radial_profile(profile))


def test_the_null_probe_beside_its_exact_error(run_on):
    params = {"seed": SEED, "model": GIVEN, "m": 7, "contexts": 15, "replicas": 2, "x": [5.0, 0.0]}
    found = run_on("exp1_null_probe", params=params)
    null = replace(MODEL, epsilon=0.0)
    exact = ContextVariance(null).of("raw", m=7)([[5.0, 0.0]])[0]
    assert found["exact_standard_error"].tolist() == pytest.approx([np.sqrt(exact / 15)] * 2)
    for replica, row in found.iterrows():
        scores = forced.mmd_scores(
            [[5.0, 0.0]],
            m=7,
            R=15,
            h=1.0,
            contexts=forced.fresh(forced.population(null)),
            rngs=[stream(SEED, "experiment1", "null probe", replica)],
        )["raw"]
        assert row["replica"] == replica
        assert row["score"] == pytest.approx(scores.mean[0], rel=1e-12)
        assert row["standard_error"] == pytest.approx(np.sqrt(scores.variance[0] / 15), rel=1e-12)


def test_the_generic_regime_of_every_fraction(run_on, same):
    params = {"seed": SEED, "model": GIVEN, "m": [5, 8], "m_max": 10, "epsilon": [0.2, 0.4]}
    params |= {"contexts": 20, "signal_probes": 2, "background_probes": 3}
    found = run_on(
        "exp1_generic", output={"curve": "csv", "points": "csv", "linear": "csv"}, params=params
    )
    curves, points = [], []
    for epsilon in (0.2, 0.4):
        model = replace(MODEL, epsilon=epsilon)
        curves.append(precision.generic_curve(model, range(5, 11)))
        study = f"generic {epsilon}"
        x, labels = precision.probes(SEED, study, model=model, signal=2, background=3)
        for m in (5, 8):
            table = precision.forced_table(SEED, study, x, labels, model=model, m=m, contexts=[20])
            points.append(precision.precision(table, model).assign(epsilon=epsilon))
    same(found.curve, pd.concat(curves))
    same(found.points, pd.concat(points))
    assert found.linear["m"].tolist() == [5, 8]
    assert found.linear["ratio"].tolist() == pytest.approx([1 / 16, 1 / 49], rel=1e-9)
