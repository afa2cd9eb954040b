"""The study of a wrong reference, on a small sample whose answer is known."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from localizer.base.randomness import stream
from localizer.experiments import nuisances
from localizer.experiments.experiment3 import Coordinates
from localizer.experiments.nuisances import Scaling
from localizer.figures import nuisances as figures
from localizer.figures import nuisances_lhco

streams = partial(stream, 37, "test_nuisances")


def features_of(key, n):
    """Return masses and tau21 with tails, as a stand-in for the LHC Olympics features."""
    rng = streams(key)
    masses = 0.1 * rng.lognormal(0.0, 0.5, size=(n, 2))
    return np.concatenate([masses, rng.beta(4.0, 4.0, size=(n, 2))], axis=1)


def sample():
    signal = np.array([0.3, 0.25, 0.2, 0.2]) + 0.02 * streams("signal").normal(size=(400, 4))
    mixed = np.concatenate([features_of("mixed", 4000), signal[:100]])
    return Coordinates(
        mixed=mixed,
        labels=np.arange(4100) >= 4000,
        reference=features_of("reference", 4000),
        evaluation_background=features_of("evaluation", 1000),
        evaluation_signal=signal[100:],
    )


def here():
    return nuisances.setting(
        0.77, [0.25, 0.5, 1.0], streams, features_per_bandwidth=64, copula="uniform", sic_floor=10
    )


def scanned(amount, **options):
    sizes = {"test_events": 2000, "draws": 50, **options}
    return nuisances.scanned(
        sample(),
        here(),
        streams,
        number=0,
        amount=amount,
        wrong=Scaling(0.1, -0.04),
        step=Scaling(0.08, 0.04),
        **sizes,
    )


def test_a_scaling_moves_masses_and_tau21():
    x = np.array([[1.0, 2.0, 0.5, 0.6]])
    np.testing.assert_allclose(Scaling(0.1, -0.2)(x), [[1.1, 2.2, 0.3, 0.4]])


def test_profiling_takes_back_what_was_done_to_the_reference():
    right, wrong = scanned(0.0), scanned(1.0)
    assert wrong["mass"] == 0.1
    assert wrong["tau21"] == -0.04
    # the variations lead back: 1.1 (1 + 0.08 theta) = 1 and -0.04 + 0.04 theta = 0
    for name, theta in (("masses", -1.0 / 0.88), ("tau21", 1.0)):
        assert abs(right[f"theta_{name}"]) < 5 * right[f"theta_{name}_error"]
        assert wrong[f"theta_{name}"] == pytest.approx(theta, abs=0.35)
    assert wrong["plain_p"] < 0.05 < wrong["profiled_p"]
    assert right["plain_p"] > 0.05
    assert wrong["profiled_auc"] > wrong["plain_auc"]
    assert abs(wrong["profiled_auc"] - right["profiled_auc"]) < 0.1
    assert 0 < wrong["signal_lost"] < 1
    assert wrong["after"] < 0.3 * wrong["before"]
    assert wrong["parts"] == 2


def test_a_scan_is_drawn():
    rows = pd.DataFrame([scanned(amount, draws=20) for amount in (-1.0, 1.0)])
    with nuisances_lhco.nuisances(rows) as figure:
        (auc, _), (_, theta) = np.reshape(figure.axes, (2, 2))
        assert auc.lines[0].get_ydata().tolist() == rows["plain_auc"].tolist()
        assert auc.lines[1].get_ydata().tolist() == rows["profiled_auc"].tolist()
        assert len(theta.containers) == 2


def test_learned_backgrounds_profiled_over_each_other():
    """Each fit is wrong in one way; together they hold the right one."""
    background = features_of("fit", 12000)
    fits = {
        "up": Scaling(0.2, 0.0)(background[:4000]),
        "down": Scaling(-0.2, 0.0)(background[4000:8000]),
        "tau": Scaling(0.0, 0.05)(background[8000:]),
    }
    table = nuisances.learned(sample(), fits, here()).set_index(["reference", "profiled_over"])
    true = table.loc[("true background", 0), "auc"]
    assert table.index.tolist() == [
        ("true background", 0),
        *((name, count) for name in fits for count in (0, 2)),
        *(("mixture", count) for count in (0, 3)),
    ]
    np.testing.assert_allclose(table["auc_over_true"], table["auc"] / true)
    for name in fits:
        assert table.loc[(name, 2), "auc"] > 0.8 * true
    assert min(table.loc[(name, 0), "auc"] for name in fits) < 0.8 * true
    with nuisances_lhco.learned(table.reset_index()) as figure:
        drawn = {line.get_label(): line.get_xdata() for line in figure.axes[0].lines}
        alone = table.loc[[(name, 0) for name in [*fits, "mixture"]], "auc"]
        np.testing.assert_array_equal(drawn["alone"], alone)


def test_null_p_values_are_one_for_each_toy_and_way():
    table = nuisances.null_p_values(streams, thetas=[0.0, 1.0], shift=0.6, N=300, toys=12, draws=40)
    assert len(table) == 2 * 2 * 12
    mean = table.groupby(["theta", "profiled"])["p"].mean()
    assert mean[1.0, False] < 0.05
    assert min(mean[0.0, False], mean[0.0, True], mean[1.0, True]) > 0.25
    with figures.null_p_values(table) as figure:
        assert [panel.get_title()[-1] for panel in figure.axes] == ["0", "1"]
        stairs = figure.axes[1].patches
        assert stairs[0].get_data().values.sum() == stairs[1].get_data().values.sum() == 12
        assert stairs[0].get_data().values[0] >= 11
