"""The rules themselves: simulated papers go through the board, and fail as often as promised.

The author's role is played by toys of our own, with the author's number of toys and digits. What
is found is drawn from the same toys, so that every tension is a false alarm.
"""

from dataclasses import replace
from decimal import Decimal

import golden
import numpy as np
import pandas as pd
import pytest
from claims import PUBLISHED
from localizer.base.randomness import stream
from localizer.verdicts import board
from scipy.stats import t

PAPERS = 300
#: by row: the table of toys and its column (or the difference of two), and the author's toys
MEANS = {
    "e1.delta_g_toys": ("experiment1/toys", "delta_G", 500),
    "e1.auc_lr": ("experiment1/toys", "auc_lr", 500),
    "e1.auc_mmd": ("experiment1/toys", "auc_mmd", 500),
    "e1.auc_lr_minus_mmd": ("experiment1/toys", "auc_lr - auc_mmd", 500),
    "e1.auc_loo": ("experiment1/toys", "auc_loo", 100),
    "e1.auc_mmd_minus_loo": ("experiment1/toys", "auc_mmd - auc_loo", 100),
    "e2.auc_lr": ("experiment2/toys", "auc_lr", 500),
    "e2.auc_mmd": ("experiment2/toys", "auc_mmd", 500),
    "e2.auc_loo_shared": ("experiment2/toys", "auc_loo", 50),
    "e2.auc_loo_independent": ("experiment2/toys", "auc_independent", 50),
    "e2.auc_difference": ("experiment2/toys", "auc_loo - auc_independent", 50),
    # without a printed error: inferred from our own spread
    "e2.auc_loo_5000": ("experiment2/toys", "auc_loo", 50),
}
#: by row: the table, its column, and how many draws of it are ours
REALIZATIONS = {
    "e1.auc_lr_one": ("experiment1/toys", "auc_lr", 500),
    "e1.auc_mmd_one": ("experiment1/toys", "auc_mmd", 500),
    "e1.auc_loo_one": ("experiment1/toys", "auc_loo", 500),
    "e2.one_auc_mmd": ("experiment2/recovery_targets", "auc_mmd", 400),
    "e2.one_auc_loo": ("experiment2/recovery_targets", "auc_loo", 400),
    "e2.one_rho_pair": ("experiment2/recovery_targets", "rho_pair", 400),
    "e2.one_auc_pair": ("experiment2/recovery_targets", "auc_loo", 50),
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Return the toys of a full run, by row."""
    run = tmp_path_factory.mktemp("run")
    golden.unpack("subset", run)

    def column(file, name):
        table = pd.read_csv(run / f"{file}.csv")
        if "N" in table:
            table = table[table["N"] == 5000]
        if "construction" in table:
            table = table[table["construction"] == "shared"]
        return table.eval(name).to_numpy()

    return {name: column(*where[:2]) for name, where in {**MEANS, **REALIZATIONS}.items()}


def as_printed(value, example):
    """Return a number with as many digits after the point as another has."""
    exponent = Decimal(example).as_tuple().exponent
    return str(Decimal(float(value)).quantize(Decimal(1).scaleb(exponent)))


def simulated_mean(name, draw):
    """Return a row whose author has toys of his own, and what we find with 500."""
    row, toys = PUBLISHED[name], MEANS[name][2]
    theirs = draw(toys)
    error = theirs.std(ddof=1) / np.sqrt(toys)
    row = replace(
        row,
        value=as_printed(theirs.mean(), row.value),
        error=row.error and as_printed(error, row.error),
    )
    return row, replace(board.ensemble(draw(500)), toys=None if row.error else toys)


def simulated_draw(name, draw):
    """Return a row whose author has one draw, and our own draws."""
    (theirs,), ours = draw(1), draw(REALIZATIONS[name][2])
    row = PUBLISHED[name]
    return replace(row, value=as_printed(theirs, row.value)), board.realization(ours)


def boards(names, simulated, draw):
    """Return the scoreboards of many simulated papers as one table."""
    rng = stream(20, "calibration", len(names))
    made = [
        simulated(name, lambda n, name=name: draw(rng, name, n))
        for _ in range(PAPERS)
        for name in names
    ]
    return pd.DataFrame([board.judge(*each) for each in made])


def normal(rng, name, n, tables):
    return rng.normal(tables[name].mean(), tables[name].std(), n)


def again(rng, name, n, tables):
    return rng.choice(tables[name], n)


def off(number, expected):
    """Return how far a count is from its expectation in standard deviations."""
    return abs(number - expected) / np.sqrt(expected)


def test_pulls_of_normal_toys_are_in_tension_as_often_as_promised(tables):
    """3600 rows; a pull of n toys of the author's has the tails of Student's t.

    |z| < 5 of a Poisson count of 12: a false alarm in fewer than 10^5 seeds.
    """
    scores = boards(MEANS, simulated_mean, lambda *a: normal(*a, tables))
    assert set(scores["measure"]) == {"pull"}
    expected = PAPERS * sum(2 * t.sf(board.AGREES, toys - 1) for *_, toys in MEANS.values())
    assert expected == pytest.approx(12, abs=1)
    assert off((scores["verdict"] != "agrees").sum(), expected) < 5
    assert not (scores["verdict"] == "disagrees").any()
    assert scores["value"].astype(float).std() == pytest.approx(1, abs=5 * 0.7 / np.sqrt(3600))


def test_pulls_of_the_toys_themselves_are_in_tension_rarely(tables):
    """Skewed toys, 50 of them, have wider tails: still below 1 %, and none disagrees by chance.

    The rate is about 0.5 %: 36 rows of 3600 would be seen in fewer than 1 of 10^3 seeds.
    """
    scores = boards(MEANS, simulated_mean, lambda *a: again(*a, tables))
    assert (scores["verdict"] != "agrees").mean() < 0.01
    assert (scores["verdict"] == "disagrees").mean() < 0.001


def test_ranks_are_rare_as_often_as_promised(tables):
    """1800 ranks: p below 0.01 has the probability of 4 places of 401, or 4 of 501.

    |z| < 5 of a Poisson count of 16: a false alarm in about 10^5 seeds.
    """
    names = [name for name, (*_, n) in REALIZATIONS.items() if n >= board.RANKED]
    scores = boards(names, simulated_draw, lambda *a: normal(*a, tables))
    assert set(scores["measure"]) == {"rank p"}
    expected = PAPERS * sum(4 / (REALIZATIONS[name][2] + 1) for name in names)
    assert expected == pytest.approx(16, abs=1)
    assert off((scores["verdict"] != "agrees").sum(), expected) < 5
    p = np.sort(scores["value"].astype(float))
    assert np.abs(p - np.arange(1, p.size + 1) / p.size).max() < 2.6 / np.sqrt(p.size)


def test_a_pull_of_few_draws_is_in_tension_as_often_as_promised(tables):
    """One row in 300 papers with 50 draws: 1.3 are expected, 9 would be seen in 10^5 seeds."""
    scores = boards(["e2.one_auc_pair"], simulated_draw, lambda *a: normal(*a, tables))
    assert set(scores["measure"]) == {"pull"}
    assert (scores["verdict"] != "agrees").sum() < 9
    assert scores["value"].astype(float).std() == pytest.approx(1, abs=5 * 0.75 / np.sqrt(PAPERS))


def test_a_biased_paper_is_found_out(tables):
    """An author whose toys are off by six combined errors is never agreed with."""

    def shifted(name, draw):
        row, found = simulated_mean(name, draw)
        error = np.hypot(float(row.error or 0.0) or found.spread / np.sqrt(50), found.error)
        return row, replace(found, value=found.value + 6 * error)

    scores = boards(MEANS, shifted, lambda *a: normal(*a, tables))
    assert (scores["verdict"] != "agrees").mean() > 0.99
    assert (scores["verdict"] == "disagrees").mean() > 0.75
