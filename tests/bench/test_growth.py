"""Growth: the fit, the counts, and the measurement of a process of its own. No timing is held."""

import os

import growth
import measure
import numpy as np
import pandas as pd
import pytest
from growth import Size
from hypothesis import given, settings
from hypothesis import strategies as st
from localizer.base.randomness import stream

LISTS = {"N": [400, 600, 800], "m": [5, 10, 20], "R": [4, 6, 8], "D": [64, 128, 256]}
MIB = 2**20


@settings(deadline=None)
@given(
    p=st.floats(-3, 3),
    c=st.floats(1e-6, 1e6),
    sizes=st.lists(st.integers(1, 10**6), min_size=3, max_size=8, unique=True),
)
def test_a_power_law_has_its_exponent(p, c, sizes):
    x = np.sort(np.array(sizes, dtype=float))
    found, low, high = growth.exponent(x, c * x**p)
    assert found == pytest.approx(p, abs=1e-6)
    assert low - 1e-6 <= found <= high + 1e-6


def test_one_disturbed_measurement_does_not_move_the_exponent():
    x = 2.0 ** np.arange(5)
    for disturbed in range(5):
        y = x**2
        y[disturbed] *= 30
        assert growth.exponent(x, y)[0] == pytest.approx(2, abs=0.7)
        # least squares follows it
    y = x**2
    y[-1] *= 30
    assert abs(np.polyfit(np.log(x), np.log(y), 1)[0] - 2) > 0.9


@pytest.mark.parametrize(
    ("x", "y", "says"),
    [
        ([1, 2], [1, 2], "at least 3"),
        ([1, 2, 3], [1, 0, 3], "must be positive"),
        ([1, 2, 3], [1, np.nan, 3], "finite"),
    ],
)
def test_what_is_no_power_law_is_refused(x, y, says):
    with pytest.raises(ValueError, match=says):
        growth.exponent(x, y)


def test_one_size_grows_and_the_others_stay():
    seen = list(growth.points(LISTS, group_size=2))
    assert len(seen) == 3 * sum(len(way.against) for way in growth.WAYS.values())
    for _, grows, size in seen:
        for name in growth.VARIABLES:
            expected = LISTS[name] if name == grows else [LISTS[name][1]]
            assert getattr(size, name) in expected


@pytest.mark.parametrize(
    ("way", "grows", "time_exponent", "memory_exponent"),
    [
        ("batch engine", "N", 1, 1),
        ("batch engine", "m", 1, 1),
        ("batch engine", "R", 1, 0),
        ("batch engine", "D", 1, 1),
        ("exact, pairs", "N", 2, 1),
        ("exact, cosine series", "N", 1, 1),
        ("random features", "N", 1, 1),
        ("random features", "D", 1, 1),
    ],
)
def test_the_counts_end_in_the_asymptotic_laws(way, grows, time_exponent, memory_exponent):
    """Far out, each count is a pure power of the size that grows."""
    base = {"N": 10**4, "m": 10**2, "R": 10**4, "D": 10**3}
    sizes = [Size(**{**base, grows: 10**k}, group_size=500) for k in (12, 13, 14)]
    x = [getattr(size, grows) for size in sizes]
    counted = growth.WAYS[way]
    assert growth.exponent(x, [counted.operations(s) for s in sizes])[0] == pytest.approx(
        time_exponent, abs=1e-3
    )
    assert growth.exponent(x, [counted.memory(s) for s in sizes])[0] == pytest.approx(
        memory_exponent, abs=1e-3
    )


def test_with_few_groups_the_engine_does_not_depend_on_N():
    sizes = [Size(N=N, m=1000, R=2000, D=64, group_size=2000) for N in (10, 100, 1000)]
    operations = [growth.WAYS["batch engine"].operations(size) for size in sizes]
    assert growth.exponent([10, 100, 1000], operations)[0] == pytest.approx(0, abs=0.01)


def test_the_work_is_what_it_says():
    """Each way does its work at the size that it is given."""
    size = Size(N=50, m=5, R=8, D=64, group_size=2)
    sums = growth.WAYS["batch engine"].prepare(size)()
    assert (sums.N, sums.m, sums.batches, sums.count.sum()) == (50, 5, 8, 40)
    for way in ("exact, pairs", "exact, cosine series"):
        assert growth.WAYS[way].prepare(size)().shape == (50,)
    assert np.concatenate(growth.WAYS["random features"].prepare(size)()).shape == (50,)


def measured_table():
    rng = stream(9, "growth", "table")
    rows = []
    for name, grows, size in growth.points(LISTS, group_size=2):
        way = growth.WAYS[name]
        noise = float(rng.uniform(0.98, 1.02))
        seconds, memory = 1e-9 * way.operations(size) * noise, way.memory(size)
        rows.append(growth.row(name, grows, size, seconds=seconds, memory=memory))
    return pd.DataFrame(rows)


def test_measurements_that_follow_the_counts_give_the_expected_exponents():
    table = growth.exponents(measured_table())
    assert len(table) == 8
    assert np.allclose(table["time_exponent"], table["time_expected"], atol=0.15)
    # all but what lies below the least memory that can be told apart
    told = table[table["largest_memory_mib"] > 1]
    assert len(told) >= 3
    assert np.allclose(told["memory_exponent"], told["memory_expected"], atol=1e-6)
    assert (table["time_low"] <= table["time_exponent"]).all()
    assert (table["time_exponent"] <= table["time_high"]).all()


def test_memory_below_a_page_is_given_as_the_least_that_can_be_told():
    size = Size(N=50, m=5, R=8, D=64, group_size=2)
    row = growth.row("exact, pairs", "N", size, seconds=1.0, memory=0.0)
    assert row["memory_mib"] == 0.0625


def test_every_size_is_measured(monkeypatch):
    """What ``make bench`` prints, with measurements that follow a law."""

    def alone(prepare, *, warm_up, repeats):  # noqa: ARG001
        assert repeats == growth.REPEATS
        (size,) = prepare.args
        return 1e-2 * size.N * size.D, 2**22 * size.m

    monkeypatch.setattr(measure, "alone", alone)
    monkeypatch.setattr(growth, "SIZES", LISTS)
    monkeypatch.setattr(growth, "GROUP_SIZE", 2)
    table = growth.study().set_index(["way", "grows"])
    assert len(table) == 8
    expected = {"N": 1, "m": 0, "R": 0, "D": 1}
    for (_, grows), found in table["time_exponent"].items():
        assert found == pytest.approx(expected[grows])
    assert table.loc[("batch engine", "m"), "memory_exponent"] == pytest.approx(1)


# The measurement


def test_the_memory_of_a_process_of_its_own_is_what_the_work_takes():
    def prepare():
        held = np.ones(40 * MIB // 8)
        return lambda: np.ones(60 * MIB // 8).sum() + held[0]

    seconds, memory = measure.alone(prepare, warm_up=lambda: None, repeats=2)
    assert seconds > 0
    assert 95 < memory / MIB < 125


def test_the_work_is_done_once_more_than_it_is_timed(tmp_path):
    log = tmp_path / "log"

    def note(letter):
        with log.open("a") as out:
            out.write(letter)

    def prepare():
        note("p")
        return lambda: note("w")

    measure.alone(prepare, warm_up=lambda: note("u"), repeats=3)
    assert log.read_text() == "up" + 4 * "w"


def test_nothing_of_the_work_stays_in_this_process():
    seen = []
    measure.alone(lambda: lambda: seen.append(1), warm_up=lambda: None, repeats=1)
    assert seen == []


def test_a_process_that_dies_is_told():
    with pytest.raises(RuntimeError, match="ended early"):
        measure.alone(lambda: lambda: os._exit(9), warm_up=lambda: None, repeats=1)
