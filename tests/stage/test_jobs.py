"""How the work is cut into jobs: each number is in one, a piece ends at each checkpoint."""

import copy
from pathlib import Path

import pytest
import yaml
from stage.configuration import check
from stage.configuration.jobs import Cut, Sweep

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("total", "size"), [(10, 5), (11, 5), (1, 5), (5, 1)])
def test_every_number_is_in_one_job(total, size):
    cut = Cut("", total, size)
    assert len(cut) == len(cut.parts)
    assert [number for part in cut.parts.values() for number in part] == list(range(total))
    assert all(int(name) == part[0] for name, part in cut.parts.items())
    assert max(map(len, cut.parts.values())) <= size


def test_jobs_of_batches_by_hand():
    """Groups of 10 in jobs of 20: a checkpoint at 30 and one at 100."""
    sweep = Sweep([30, 100], 10, 29)
    assert sweep.parts == {
        "00000000": [0, 20],
        "00000020": [20, 30],
        "00000030": [30, 50],
        "00000050": [50, 70],
        "00000070": [70, 90],
        "00000090": [90, 100],
    }
    assert len(sweep.parts) <= len(sweep) == 7
    # one job may hold several checkpoints, and never less than a group
    assert Sweep([10, 20], 10, 50).parts == {"00000000": [0, 10, 20]}
    assert Sweep([20], 10, 1).parts == {"00000000": [0, 10], "00000010": [10, 20]}


def plan(**changes):
    config = copy.deepcopy(SHIPPED)
    for section, keys in changes.items():
        config["experiment3"][section].update(keys)
    return check.resolved(config)[1]


def test_the_sweeps_of_both_scans():
    """Each m has its own groups and the checkpoints of its scan; an m of both has those of both."""
    third = SHIPPED["experiment3"]
    scan, run = third["m_scan"], third["r_scan"]
    most = third["occurrences_per_job"]
    sweeps = plan().sweeps
    assert list(sweeps) == list(dict.fromkeys([*scan["m"], run["m"]]))
    early = [R for R in run["R"] if R < scan["R"]]
    for m, size in zip(scan["m"], scan["group_size"], strict=True):
        expected = sorted({*early, scan["R"], *(run["R"] if m == run["m"] else ())})
        assert sweeps[m] == Sweep(expected, size, most // m)
    # an m of the scan in R alone
    alone = plan(r_scan={"m": 999, "group_size": 50}).sweeps[999]
    assert alone == Sweep(run["R"], 50, most // 999)


def test_the_points_are_those_of_the_author():
    third = SHIPPED["experiment3"]
    run, scan = third["r_scan"], third["m_scan"]
    assert plan().points == [
        *({"estimator": "pair", "m": run["m"], "R": R} for R in run["R"]),
        {"estimator": "marginal", "m": run["m"], "R": run["R"][-1]},
        {"estimator": "raw", "m": run["m"], "R": run["R"][-1]},
        {"estimator": "pair", "m": scan["m"][0], "R": scan["R"]},
    ]
