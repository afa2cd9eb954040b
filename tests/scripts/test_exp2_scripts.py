"""The scripts of Experiment II."""

import pandas as pd
from localizer.experiments import experiment2

GIVEN = {"d": 2, "sigma_s": 0.5, "epsilon": 0.1, "h": 1.0}
MODEL = experiment2.LatentModel(**GIVEN)
SEED = 4


def test_toys_are_those_of_the_numbers(run_on, same):
    params = {"seed": SEED, "model": GIVEN, "N": 50, "numbers": [6, 1]}
    found = run_on("exp2_toys_part", params=params)
    same(found, pd.DataFrame([experiment2.toy_row(SEED, t, model=MODEL, N=50) for t in (6, 1)]))


def test_the_scan_takes_the_paired_toys(run_on, same):
    """Toys beyond the paired ones, and sizes outside of the scan, are other studies'."""
    rows = [
        {
            **{"toy": toy, "N": N, "auc_lr": 0.9, "auc_mmd": 0.8 + 0.01 * toy},
            **{"auc_loo": 0.6 + 0.001 * N + 0.02 * toy, "auc_independent": 0.5},
        }
        for toy in range(5)
        for N in (20, 40, 80)
    ]
    table = pd.DataFrame(rows)
    found = run_on(
        "exp2_toys",
        parts=[table[:4], table[4:]],
        params={"N": [20, 80], "toys": 3},
        output={"toys": "csv", "scan": "csv"},
    )
    same(found.toys, table)
    found = found.scan
    assert found["N"].tolist() == [20, 80]
    assert found["toys"].tolist() == [3, 3]
    same(found, experiment2.n_scan(table[table["N"].ne(40) & table["toy"].lt(3)]))


def test_context_of_all_sizes(run_on, same):
    """The numbers are of the given N; the AUCs join the toys of the same number and size."""
    parts = [
        run_on("exp2_context_part", params={"seed": SEED, "model": GIVEN, "N": N, "toys": 2})
        for N in (20, 30)
    ]
    rows = [
        experiment2.context_row(SEED, toy, model=MODEL, N=N) for N in (20, 30) for toy in range(2)
    ]
    context = pd.DataFrame(rows)
    toys = pd.DataFrame(
        [experiment2.toy_row(SEED, toy, model=MODEL, N=N) for toy in range(3) for N in (20, 30)]
    )
    found = run_on(
        "exp2_context",
        parts=parts,
        toys=toys,
        output={"toys": "csv", "numbers": "json", "table": "csv"},
        params={"seed": SEED, "model": GIVEN, "N": 30},
    )
    numbers = experiment2.context_numbers(SEED, model=MODEL, N=30)
    same(found.toys, context)
    assert found.numbers == numbers
    same(found.table, experiment2.context_table(context, toys, numbers))


OPTIONS = {"N": 40, "mu_norm": 0.8}


def test_targets_and_runs_of_every_toy_in_both_constructions(run_on, same):
    params = {"seed": SEED, "model": GIVEN, "m": 6, "tolerance": 1e-8, "numbers": [3, 0], **OPTIONS}
    targets = run_on("exp2_recovery_targets", params={**params, "R": 200})
    run = {"R": [20, 60], "replacement": True, "group_size": 20}
    runs = run_on("exp2_recovery_runs", params={**params, **run})
    rows, tables = [], []
    for toy in (3, 0):
        for kind in ("shared", "independent"):
            sample, mu = experiment2.recovery_sample(SEED, toy, kind, model=MODEL, **OPTIONS)
            exact = experiment2.recovery_targets(sample, mu, model=MODEL, m=6, R=200, tol=1e-8)
            rows.append({"construction": kind, "toy": toy, **exact})
            tables.append(
                experiment2.recovery_run(SEED, toy, kind, sample, model=MODEL, m=6, tol=1e-8, **run)
            )
    same(targets, pd.DataFrame(rows))
    same(runs, pd.concat(tables))


def test_the_typical_toy_stands_beside_its_own_targets(run_on, same):
    """Toy 1 is the nearest to the median among those with a run; toy 2 has none."""
    targets = pd.DataFrame(
        {
            "construction": ["shared", "independent"] * 3,
            "toy": [0, 0, 1, 1, 2, 2],
            "auc_loo": [0.60, 0.51, 0.72, 0.52, 0.70, 0.53],
            "rho_pair": [0.91, 0.92, 0.93, 0.94, 0.95, 0.96],
            "variance_of_witness": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        }
    )
    runs = pd.DataFrame(
        [
            {
                **{"construction": kind, "toy": toy, "R": R, "estimator": estimator},
                **{"auc": 0.5 + 0.1 * toy + 0.01 * (kind == "shared"), "rho": R / 100},
            }
            for toy in range(2)
            for kind in ("shared", "independent")
            for R in (10, 20)
            for estimator in ("raw", "pair")
        ]
    )
    found = run_on(
        "exp2_recovery",
        targets=[targets[:2], targets[2:]],
        runs=[runs[:4], runs[4:]],
        output=dict.fromkeys(("targets", "runs", "typical", "correlations"), "csv"),
    )
    same(found.targets, targets)
    same(found.runs, runs)
    typical = found.typical
    assert len(typical) == 8
    assert (typical["toy"] == 1).all()
    assert not {"construction_exact", "toy_exact"} & set(typical.columns)
    exact = typical.groupby("construction")["auc_loo_exact"].unique().map(list).to_dict()
    assert exact == {"shared": [0.72], "independent": [0.52]}
    rows = found.correlations.set_index(["construction", "toy"])
    assert len(rows) == 4
    assert (rows["measured"] == 0.2).all()
    assert rows.loc[("independent", 0), "predicted"] == 0.92
    assert rows.loc[("shared", 1), "variance_of_witness"] == 3.0
