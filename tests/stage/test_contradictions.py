"""Keys that are sound alone and contradict each other: one sentence for each pair."""

import copy
from pathlib import Path

import pytest
import yaml
from stage.configuration import check

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
OWN = {"sample": "results/a.csv", "reference": "results/b.csv"}
TOO_LARGE = "a group must hold at most 2147483647 occurrences, it holds"


def changed(changes):
    """Return the shipped configuration with values at dotted keys, and tables of one's own."""
    config, _ = check.resolved({**copy.deepcopy(SHIPPED), "score": OWN})
    for key, value in changes.items():
        *above, last = key.split(".")
        section = config
        for name in above:
            section = section[name]
        assert last in section
        section[last] = value
    return config


#: the changes, and all that is said of them
REFUSED = {
    "no signal in I": (
        {"experiment1.N": 24, "experiment1.m": 10},
        "experiment1.N is 24, of which experiment1.model.epsilon = 0.02 makes 0 signal events; "
        "it must leave at least one event of each class.",
    ),
    "no background in I": (
        {"experiment1.model.epsilon": 0.99995},
        "experiment1.N is 5000, of which experiment1.model.epsilon = 0.99995 makes 5000 signal "
        "events; it must leave at least one event of each class.",
    ),
    "no signal in II": (
        {"experiment2.N": 20},
        "experiment2.N is 20, of which experiment2.model.epsilon = 0.02 makes 0 signal events; "
        "it must leave at least one event of each class.",
    ),
    "no signal in the recovery": (
        {"experiment2.recovery.N": 20, "experiment2.recovery.m": 10},
        "experiment2.recovery.N is 20, of which experiment2.model.epsilon = 0.02 makes 0 signal "
        "events; it must leave at least one event of each class.",
    ),
    "no signal in the scan": (
        {"experiment2.n_scan.N": [500, 20]},
        "experiment2.n_scan.N is 20, of which experiment2.model.epsilon = 0.02 makes 0 signal "
        "events; it must leave at least one event of each class.",
    ),
    "batch of I": (
        {"experiment1.m": 5001},
        "experiment1.m is 5001; a batch cannot be larger than the sample, experiment1.N = 5000.",
    ),
    "batch of II": (
        {"experiment2.recovery.m": 5001},
        "experiment2.recovery.m is 5001; a batch cannot be larger than the sample, "
        "experiment2.recovery.N = 5000.",
    ),
    "groups of the recovery": (
        {"experiment2.recovery.R": [1000, 1500, 3000]},
        "experiment2.recovery.R holds 1500; it must be a multiple of "
        "experiment2.recovery.group_size = 1000.",
    ),
    "context toys": (
        {"experiment2.n_scan.context_toys": 201},
        "experiment2.n_scan.context_toys is 201; it must be at most experiment2.n_scan.toys = 200.",
    ),
    "batch toys": (
        {"experiment2.recovery.batch_toys": 401},
        "experiment2.recovery.batch_toys is 401; it must be at most "
        "experiment2.recovery.target_toys = 400.",
    ),
    "sizes of groups": (
        {"experiment3.m_scan.group_size": [20000]},
        "experiment3.m_scan.group_size has 1 entries; it must have one for each of the 6 entries "
        "of experiment3.m_scan.m.",
    ),
    "shared groups": (
        {"experiment3.r_scan.group_size": 1000},
        "experiment3.r_scan.group_size is 1000; it must be 2000 as in experiment3.m_scan, because "
        "the batches of m = 1000 are the same.",
    ),
    "batches of the scan": (
        {"experiment3.m_scan.R": 6000000},
        "experiment3.m_scan.R is 6000000; it must be at most the last of experiment3.r_scan.R, "
        "5000000.",
    ),
    "batch of the scan in R": (
        {
            "experiment3.replacement": False,
            "experiment3.max_events": 2000,
            "experiment3.r_scan.m": 2001,
        },
        "experiment3.r_scan.m is 2001; a batch cannot be larger than the sample, "
        "experiment3.max_events = 2000.",
    ),
    "batch of the scan in m": (
        {
            "experiment3.replacement": False,
            "experiment3.max_events": 2000,
            "experiment3.m_scan.m": [20, 50, 100, 200, 3000, 1000],
        },
        "experiment3.m_scan.m is 3000; a batch cannot be larger than the sample, "
        "experiment3.max_events = 2000.",
    ),
    "events of III in a group": (
        {"experiment3.max_events": 1000, "experiment3.r_scan.m": 20000},
        "experiment3.r_scan.group_size is 2000; with experiment3.r_scan.m = 20000 each of at most "
        "experiment3.max_events = 1000 events is in a group 40000 times, and at most 32768 are "
        "allowed.",
    ),
    "sums of a batch of II": (
        {"experiment2.recovery.N": 10**6, "experiment2.recovery.m": 65537},
        "experiment2.recovery.m is 65537; it must be at most 65536.",
    ),
    "sums of a batch of III": (
        {"experiment3.r_scan.m": 65537},
        "experiment3.r_scan.m is 65537; it must be at most 65536.",
    ),
    "groups of the scan in m": (
        {"experiment3.m_scan.group_size": [30000, 10000, 10000, 5000, 4000, 2000]},
        "experiment3.m_scan.group_size holds 30000; it must divide every number of batches in "
        "experiment3.m_scan.R and experiment3.r_scan.R, and 1000000 is not a multiple of it.",
    ),
    "groups of the scan in R": (
        {"experiment3.r_scan.m": 300, "experiment3.r_scan.group_size": 3000},
        "experiment3.r_scan.group_size holds 3000; it must divide every number of batches in "
        "experiment3.m_scan.R and experiment3.r_scan.R, and 1000000 is not a multiple of it.",
    ),
    "points of the fit": (
        {"experiment3.fit_minimum": 2.0e12},
        "experiment3.fit_minimum is 2e+12; it must leave at least 3 of the 26 points (m, R) of "
        "experiment3.m_scan and experiment3.r_scan to fit, it leaves 2.",
    ),
    "features of III": (
        {"experiment3.features_per_bandwidth": 511},
        "experiment3.features_per_bandwidth is 511; it must be even, for cosines and sines in "
        "pairs.",
    ),
    "floor of the comparison": (
        {"comparison.sic_floor": 20},
        "comparison.sic_floor is 20; it must be one of comparison.sic_floors, [10, 100, 300].",
    ),
    "features of the comparison": (
        {"comparison.bump.informative": 11},
        "comparison.bump.informative is 11; it must be at most comparison.bump.features = 10.",
    ),
    "the paper's witness left out": (
        {"comparison.small.without": ["quadratic", "witness_rff"]},
        "comparison.small.without holds witness_rff; all others are compared with it: it must "
        "stay.",
    ),
    "no signal in the comparison": (
        {"comparison.full.whole.background": 70},
        "comparison.full.whole.background is 70; with 1 of the paper's signal fraction it holds no "
        "signal event.",
    ),
    "nothing to draw in the comparison": (
        {"comparison.small.toys.mocks": 0},
        "comparison.small.toys.mocks is 0; the figures need at least 2.",
    ),
    "no signal in a toy of the comparison": (
        {"comparison.full.toys.N": 24, "comparison.bump.epsilon": 0.5},
        "comparison.full.toys.N is 24, of which experiment1.model.epsilon = 0.02 makes 0 signal "
        "events; it must leave at least one event of each class.",
    ),
    "sample of the statistics": (
        {"statistics.m": [20, 5000]},
        "statistics.m holds 5000; it must be below experiment1.N = 5000.",
    ),
    "map of the statistics": (
        {"statistics.map.N": 400},
        "statistics.map.N is 400; it must be above statistics.m, 400.",
    ),
    "signal of the statistics": (
        {"statistics.signal_events": 101},
        "statistics.signal_events is 101; it must be at most 100, as many as a toy of "
        "experiment1.N = 5000 events has.",
    ),
    "background of the statistics": (
        {"statistics.background_events": 4901},
        "statistics.background_events is 4901; it must be at most 4900, as many as a toy of "
        "experiment1.N = 5000 events has.",
    ),
    "mirror": (
        {"lhco.mirror": "../mirror"},
        'lhco.mirror is "../mirror"; a directory outside the project must be given by its full '
        "path.",
    ),
    "sample outside": (
        {"score.sample": "../x.csv"},
        'score.sample is "../x.csv"; a file outside the project must be given by its full path.',
    ),
    "reference outside": (
        {"score.reference": "../x.npz::name"},
        'score.reference is "../x.npz::name"; a file outside the project must be given by its '
        "full path.",
    ),
    "reference not there": (
        {"score.reference": "none.npz::name"},
        'score.reference is "none.npz::name"; there is no such file.',
    ),
    "one fold": ({"score.folds": 1}, "score.folds is 1; it must be 0, for none, or at least 2."),
    "folds of the reference": (
        {"score.folds": 2, "score.source": "reference"},
        "score.folds is 2; with score.source = reference nothing is decided from the sample, and "
        "there is nothing to cross-fit: it must be 0.",
    ),
    "features of one's own data": (
        {"score.features_per_bandwidth": 13},
        "score.features_per_bandwidth is 13; it must be even, for cosines and sines in pairs.",
    ),
    "one group of one's own data": (
        {"score.batches.R": 1000},
        "score.batches.R is 1000; it must be two or more times score.batches.group_size = 1000, "
        "a whole number of groups.",
    ),
    "group of one's own data": (
        {"score.batches.m": 2147484},
        f"score.batches.group_size is 1000; with score.batches.m = 2147484 {TOO_LARGE} 2147484000.",
    ),
    "group of the recovery": (
        {
            "experiment2.recovery.N": 50000,
            "experiment2.recovery.m": 50000,
            "experiment2.recovery.group_size": 50000,
            "experiment2.recovery.R": [50000, 100000],
        },
        "experiment2.recovery.group_size is 50000; with experiment2.recovery.m = 50000 "
        f"{TOO_LARGE} 2500000000.",
    ),
    "group of the scan in R": (
        {"experiment3.r_scan.m": 50000, "experiment3.r_scan.group_size": 50000},
        f"experiment3.r_scan.group_size is 50000; with experiment3.r_scan.m = 50000 {TOO_LARGE} "
        "2500000000.",
    ),
    "group of the scan in m": (
        {
            "experiment3.m_scan.m": [20, 50, 100, 200, 50000, 1000],
            "experiment3.m_scan.group_size": [20000, 10000, 10000, 5000, 50000, 2000],
        },
        f"experiment3.m_scan.group_size is 50000; with experiment3.m_scan.m = 50000 {TOO_LARGE} "
        "2500000000.",
    ),
    "order in I": (
        {"experiment1.resampling.contexts": [20, 10]},
        "experiment1.resampling.contexts is [20, 10]; it must be in increasing order.",
    ),
    "order of the recovery": (
        {"experiment2.recovery.R": [3000, 1000]},
        "experiment2.recovery.R is [3000, 1000]; it must be in increasing order.",
    ),
    "order in III": (
        {"experiment3.r_scan.R": [200000, 100000, 5000000]},
        "experiment3.r_scan.R is [200000, 100000, 5000000]; it must be in increasing order.",
    ),
    "order of the floors": (
        {"experiment3.sic_floors": [3, 1]},
        "experiment3.sic_floors is [3, 1]; it must be in increasing order.",
    ),
    "memory of the recovery": (
        {"experiment2.recovery.N": 10**8},
        "experiment2.recovery.N is 100000000; one job would take 1.53e+03 GiB of memory, and at "
        "most 256 GiB are allowed.",
    ),
    "memory of the features": (
        {"experiment3.features_per_bandwidth": 10**5},
        "experiment3.features_per_bandwidth is 100000; one job would take 3.73e+03 GiB of memory, "
        "and at most 256 GiB are allowed.",
    ),
    "too many jobs": (
        {"experiment2.n_scan.toys": 2000, "experiment2.n_scan.toys_per_job": 1},
        "experiment2.n_scan.toys_per_job is too small for the sizes in experiment2.n_scan: it "
        "cuts them into 12000 jobs, and a run must have at most 10000.",
    ),
}


#: a toy without a class has no event of it for the study of statistics, which says so too
TOLD_TWICE = ("no signal in I", "no background in I", "no signal in a toy of the comparison")


@pytest.mark.parametrize("case", REFUSED)
def test_a_contradiction_is_one_sentence(case):
    changes, says = REFUSED[case]
    first, *more = check.problems(changed(changes))
    assert first == says
    assert bool(more) == (case in TOLD_TWICE)


@pytest.mark.parametrize(
    "changes",
    [
        {"experiment1.m": 5000},
        {"experiment2.n_scan.context_toys": 200},
        {"experiment2.recovery.batch_toys": 400},
        {"experiment3.m_scan.R": 5000000},
        {"statistics.m": [20, 4999]},
        {"statistics.map.N": 401},
        {"statistics.signal_events": 100, "statistics.background_events": 4900},
        {"comparison.bump.informative": 10, "comparison.sic_floor": 300},
        {"comparison.full.whole.background": 80, "comparison.small.whole.mocks": 2},
        {"comparison.full.toys.N": 26},
        {"experiment3.replacement": False, "experiment3.max_events": 1000},
        {"experiment3.max_events": 1000, "experiment3.r_scan.m": 16384},
        {
            "experiment2.recovery.N": 10**5,
            "experiment2.recovery.m": 65536,
            "experiment2.recovery.group_size": 1000,
        },
        {"score.folds": 2},
        {"score.folds": 0, "score.source": "reference"},
        {"score.batches.R": 2000},
        {"score.batches.m": 2147483},
        {"lhco.mirror": "mirror"},
        {"score.sample": "results/not/yet.npz::there"},
    ],
    ids=lambda changes: ", ".join(changes),
)
def test_what_just_fits_is_let_pass(changes):
    assert check.problems(changed(changes)) == []


@pytest.mark.parametrize("epsilon", [0.0002, 0.9998])
def test_one_event_of_a_class_is_enough(epsilon):
    events = {"statistics.signal_events": 1, "statistics.background_events": 1}
    config = changed({"experiment1.model.epsilon": epsilon, **events})
    assert config["experiment1"]["N"] == 5000
    assert check.problems(config) == []


def test_how_toys_are_cut_into_jobs_makes_no_other_experiment(tmp_path):
    shipped = tmp_path / "shipped.yaml"
    shipped.write_text(yaml.safe_dump(SHIPPED))
    assert not check.differs(changed({"experiment1.toys_per_job": 7, "seed": 3}), shipped)
    assert check.differs(changed({"experiment1.N": 1000}), shipped)
    assert check.differs(changed({"experiment3.m_scan.R": 5}), shipped)
