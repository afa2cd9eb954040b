"""The scripts of Experiment III in a chain on a few events: what each hands to the next."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from localizer.base import metrics, sic
from localizer.base.copula import BackgroundCDF, median_distance
from localizer.base.randomness import stream
from localizer.estimators import batch_sums, batches, pair_forms, sweeps
from localizer.experiments import (
    convergence,
    disjoint_references,
    experiment3,
    predicted_references,
    scaling_law,
    surrogate_references,
    weighted_pool,
    witness_draws,
)
from localizer.kernels import feature_products
from localizer.kernels.features import FourierFeatures, fourier_features
from localizer.lhco import surrogate as surrogates
from localizer.theory import scaling

ROOT = Path(__file__).resolve().parents[2]
SURROGATE = (ROOT / "resources" / "lhco" / "surrogate" / "parameters.json").read_text()
SEED = 6
D_MED = 0.8
EDITION = {"name": "tiny"}
BANDWIDTHS = [0.5, 2.0]
BANK = {"bandwidths": BANDWIDTHS, "features_per_bandwidth": 8, "rff_form": "offset"}
COMMON = {"seed": SEED, "max_events": 1000, **BANK}
DRAWS = {"rows": "csv", "heads": "npz"}
GRID = {5: [40, 80, 160], 9: [40]}
NAMES = ("mixed", "labels", "reference", "evaluation_background", "evaluation_signal")


def bank(*key, h=BANDWIDTHS, form="offset", d_med=D_MED):
    kernel = experiment3.kernel_bank(d_med, h)
    return fourier_features(kernel, 4, stream(SEED, *key), n_per_bandwidth=8, form=form)


@pytest.fixture(scope="module")
def arrays():
    """Return all samples of different sizes, the signal in one corner."""
    rng = stream(SEED, "arrays")
    sizes = {"reference": 50, "evaluation_background": 30, "evaluation_signal": 14}
    made = {name: rng.uniform(size=(n, 4)) for name, n in sizes.items()}
    made["evaluation_signal"] *= 0.4
    mixed = np.concatenate([rng.uniform(size=(36, 4)), 0.4 * rng.uniform(size=(9, 4))])
    return {"mixed": mixed, "labels": np.arange(45) >= 36, **made}


@pytest.fixture(scope="module")
def sample(arrays):
    return experiment3.Coordinates(*(arrays[name] for name in NAMES))


@pytest.fixture(scope="module")
def made(run_on, arrays):
    arrays_of = ("features", "compressed", "targets", "evaluation")
    kinds = {**dict.fromkeys(arrays_of, "npz"), "numbers": "json"}
    return run_on(
        "exp3_features",
        edition=EDITION,
        scale={"value": D_MED},
        coordinates=arrays,
        output=kinds,
        params={**COMMON, "replacement": True, "target": "loo", "noise_lost": 1e-6},
    )


@pytest.fixture(scope="module")
def parts(run_on, made):
    """Return the jobs of each batch size; the one of m = 5 is cut in two."""
    ends = {5: [[0, 40, 80], [80, 160]], 9: [[0, 40]]}
    params = {"seed": SEED, "group_size": 20, "replacement": True}
    return {
        m: [
            run_on(
                "exp3_batches_part",
                compressed=made.compressed,
                output="npz",
                params={**params, "m": m, "ends": job},
            )
            for job in jobs
        ]
        for m, jobs in ends.items()
    }


@pytest.fixture(scope="module")
def swept(run_on, made, parts):
    return {
        m: run_on(
            "exp3_sweep",
            numbers=made.numbers,
            targets=made.targets,
            compressed=made.compressed,
            parts=parts[m],
            output={"table": "csv", "scores": "npz"},
            params={"seed": SEED, "m": m, "R": R, "target": "loo", "sic_floor": 2},
        )
        for m, R in GRID.items()
    }


def witness_of(features, sample):
    return experiment3.DirectWitness.of(features, sample.mixed, sample.reference)


def summed(z, m, R):
    return batches.run(
        pair_forms.RoundedPairs(z),
        m=m,
        groups=range(R // 20),
        group_size=20,
        streams=sweeps.group_streams(SEED, m),
        replacement=True,
    )


def test_features_targets_and_numbers(made, sample):
    features = bank("experiment3", "features", 0)
    assert np.array_equal(made.features["frequencies"], features.frequencies)
    assert np.array_equal(made.features["offsets"], features.offsets)
    witness = witness_of(features, sample)
    assert np.array_equal(made.features["mean_background"], witness.mean_background)
    for name, values in witness.targets(sample.mixed).items():
        assert np.array_equal(made.targets[name], values)
    assert np.array_equal(made.targets["labels"], sample.labels)
    z = made.compressed["z"]
    # the compression keeps the witness, but for a constant
    limit = z.astype(float) @ z.astype(float).mean(axis=0)
    apart = limit - made.targets["self_inclusive"]
    assert apart == pytest.approx(np.full(45, apart.mean()), abs=1e-5)
    numbers = made.numbers
    assert numbers["edition"] == "tiny"
    assert numbers["d_med"] == D_MED
    assert numbers["dimension"] == features.D
    assert numbers["reference_events"] == 50
    moments = scaling.moments_of_features(z, replacement=True)
    assert scaling.PairMoments(**numbers["moments"]) == moments
    assert numbers["C"] == moments.C
    rho = metrics.correlation(limit, made.targets["loo"])
    assert numbers["rho_limit"] == pytest.approx(rho, abs=1e-6)
    assert rho < 0.9999
    assert numbers["compression"]["rank"] == z.shape[1]


@pytest.fixture(scope="module")
def scanned(run_on, arrays):
    return run_on(
        "exp3_bandwidths",
        scale={"value": D_MED},
        coordinates=arrays,
        output=DRAWS,
        params={**COMMON, "bandwidth_scan": [0.5, 1.5], "draws": 2},
    )


@pytest.fixture(scope="module")
def referred(run_on, arrays, made):
    return run_on(
        "exp3_references",
        coordinates=arrays,
        features=made.features,
        compressed=made.compressed,
        surrogate=SURROGATE,
        output={**DRAWS, "closed": "json"},
        params={**COMMON, "copula": "uniform", "parts": 4, "gaussians": 3},
    )


#: a score without sampling noise: two signals at rank 1 and 4 of six
PORTRAIT = {
    "real.score": np.array([6.0, 5, 4, 3, 2, 1]),
    "real.labels": np.array([True, False, False, True, False, False]),
}


@pytest.fixture(scope="module")
def performed(run_on, made, scanned, referred):
    tables = ("witness", "bandwidth_rows", "bandwidths", "reference_rows", "references")
    return run_on(
        "exp3_performance",
        edition=EDITION,
        targets=made.targets,
        evaluation=made.evaluation,
        bandwidths=scanned.rows,
        heads_of_bandwidths=scanned.heads,
        references=referred.rows,
        heads_of_references=referred.heads,
        closed=referred.closed,
        portrait=PORTRAIT,
        output=dict.fromkeys((*tables, "curves", "surrogate"), "csv"),
        params={"sic_floor": 2},
    )


def test_the_portrait_is_judged(performed):
    assert performed.surrogate.to_dict("records") == [
        {
            **{"edition": "tiny", "source": "real", "background": 4, "signal": 2},
            **{"auc": 6 / 8, "sic": pytest.approx(np.sqrt(2)), "sic_background": 2},
        }
    ]
    assert (performed.curves["source"] == "real").all()


def test_the_witness_table_judges_both_samples(performed, made, sample):
    table = performed.witness.set_index(["sample", "witness"])
    assert (table["edition"] == "tiny").all()
    assert table["background"].tolist() == [36, 36, 36, 30]
    assert table["signal"].tolist() == [9, 9, 9, 14]
    x, labels = sample.evaluation
    scores = {
        ("mixed", "self-inclusive"): (made.targets["self_inclusive"], sample.labels),
        ("mixed", "leave-one-out"): (made.targets["loo"], sample.labels),
        ("evaluation", "direct"): (
            witness_of(bank("experiment3", "features", 0), sample)(x),
            labels,
        ),
    }
    for name, (score, y) in scores.items():
        assert table.loc[name, "auc"] == pytest.approx(metrics.auc(score, y), abs=1e-3)
        assert table.loc[name, "standard_deviation"] == pytest.approx(score.std(), rel=1e-4)
    difference = made.targets["self_inclusive"] - made.targets["loo"]
    row = table.loc[("mixed", "difference")]
    assert row["standard_deviation"] == pytest.approx(difference.std(), rel=1e-6)
    assert np.isnan(row["auc"])


def test_the_jobs_make_the_batches_of_one_run(made, parts):
    pieces = {}
    for part in parts[5]:
        pieces |= sweeps.pieces_from_arrays(part)
    assert list(pieces) == [40, 80, 160]
    for R, sums in sweeps.checkpoints(pieces, GRID[5]).items():
        for name, values in summed(made.compressed["z"], 5, R).as_dict().items():
            assert np.array_equal(sums.as_dict()[name], values)


def test_the_sweep_is_judged_against_the_configured_target(made, swept, sample):
    z, target = made.compressed["z"], made.targets["loo"]
    for m, R in ((5, 80), (9, 40)):
        scores = batch_sums.scores(summed(z, m, R))
        rows = swept[m].table
        assert sorted(rows["R"].unique()) == GRID[m]
        rows = rows[rows["R"] == R].set_index("estimator")
        assert (rows["m"] == m).all()
        assert (rows["exposure"] == R * m**2).all()
        direct = experiment3.performance(target, sample.labels, sic_floor=2)
        assert (rows["auc_witness"] - direct["auc"]).abs().max() < 1e-12
        assert (rows["sic_witness"] - direct["sic"]).abs().max() < 1e-12
        moments = scaling.moments_of_features(z, replacement=True)
        rng = stream(SEED, "experiment3", "expected", m)
        expected = convergence.Expectation(z, target, sample.labels, rng, draws=8)
        for estimator in ("raw", "marginal", "pair"):
            row = rows.loc[estimator]
            values = getattr(scores, estimator)
            assert row["auc"] == pytest.approx(metrics.auc(values, sample.labels), rel=1e-12)
            assert row["rho"] == pytest.approx(metrics.correlation(values, target), rel=1e-9)
            assert row["q"] == pytest.approx(row["rho"] ** -2 - 1, rel=1e-6)
            q = moments.q(estimator, m=m, R=R)
            limit = (1 + q) / made.numbers["rho_limit"] ** 2
            assert row["q_predicted"] == pytest.approx(limit - 1, rel=1e-9)
            assert row["rho_predicted"] == pytest.approx(limit**-0.5, rel=1e-9)
            line = np.polyfit(target, values, 1)[0]
            assert row["slope_over_2_m"] == pytest.approx(line * m / 2, rel=1e-6)
            point = expected(experiment3.Point(estimator, m, R), sic_floor=2)
            for name, value in point.items():
                assert row[name] == pytest.approx(value, rel=1e-9)


def test_the_scores_kept_are_those_of_the_last_checkpoint(made, swept):
    scores = batch_sums.scores(summed(made.compressed["z"], 5, 160))
    assert set(swept[5].scores) == {"raw", "marginal", "pair"}
    for name, values in swept[5].scores.items():
        assert np.array_equal(values, getattr(scores, name))


def test_further_runs_at_the_lowest_exposure(run_on, made):
    """Their batches come after those of the sweep, whose largest R here is 80."""
    params = {"runs": 3, "m": 5, "R": 40, "after": 80, "group_size": 20}
    found = run_on(
        "exp3_lowest",
        **{name: getattr(made, name) for name in ("compressed", "targets", "numbers")},
        params={"seed": SEED, "replacement": True, "target": "loo", **params},
    )
    z = made.compressed["z"]
    sums = [summed(z, 5, R) for R in (80, 120, 160, 200)]
    for one, less, more in zip(found["q"], sums[:-1], sums[1:], strict=True):
        values = batch_sums.scores(more - less).pair
        rho = metrics.correlation(values, made.targets["loo"])
        assert one == pytest.approx(rho**-2 - 1, rel=1e-9)
    q = scaling.moments_of_features(z, replacement=True).q("pair", m=5, R=40)
    limit = (1 + q) / made.numbers["rho_limit"] ** 2
    assert found["q_predicted"].tolist() == pytest.approx([limit - 1] * 3, rel=1e-9)
    assert found["exposure"].tolist() == [1000] * 3


def test_the_scaling_law_of_all_sizes(run_on, same, made, swept):
    kinds = dict.fromkeys(
        ("sweep", "curves", "by_m", "by_R", "repeated", "fits", "table_m", "table_R"), "csv"
    )
    found = run_on(
        "exp3_scaling",
        numbers=made.numbers,
        sweeps=[swept[9].table, swept[5].table],
        compressed=made.compressed,
        output={**kinds, "numbers": "json"},
        params={"seed": SEED, "fit_minimum": 2000, "fit_draws": 3, "m_scan_R": 40, "r_scan_m": 5},
    )
    sweep = found.sweep
    assert sweep.columns[0] == "edition"
    assert list(zip(sweep["m"], sweep["R"], strict=True))[::3] == [
        (9, 40),
        (5, 40),
        (5, 80),
        (5, 160),
    ]
    moments = scaling.PairMoments(**made.numbers["moments"])
    V = scaling.log_q_covariance(made.compressed["z"], m=[9, 5, 5, 5], R=[40, 40, 80, 160])
    error = np.sqrt(np.diag(V))
    for estimator in ("pair", "marginal"):
        part = sweep[sweep["estimator"] == estimator]
        assert part["log_q_error"].tolist() == pytest.approx(error.tolist(), rel=1e-9)
    # the scans of Figs. 7 and 8, and their tables
    assert set(zip(found.by_m["m"], found.by_m["R"], strict=True)) == {(9, 40), (5, 40)}
    assert set(zip(found.by_R["m"], found.by_R["R"], strict=True)) == {(5, 40), (5, 80), (5, 160)}
    assert found.table_m[["m", "R"]].to_numpy().tolist() == [[5, 40], [9, 40]]
    assert found.table_R[["m", "R"]].to_numpy().tolist() == [[5, 40], [5, 80], [5, 160]]
    for table, rows in ((found.table_m, found.by_m), (found.table_R, found.by_R)):
        for name in ("rho", "rho_predicted", "auc", "sic"):
            for estimator in ("raw", "marginal", "pair"):
                own = rows[rows["estimator"] == estimator].sort_values(["m", "R"])[name]
                assert table[f"{name}_{estimator}"].tolist() == pytest.approx(own.tolist())
        raw = rows[rows["estimator"] == "raw"].sort_values(["m", "R"])
        for name in ("slope_over_2_m", "slope_error"):
            assert table[name].tolist() == pytest.approx(raw[name].tolist())
    # exposures 3240, 1000, 2000 and 4000: one is too small for the fit
    pair = sweep[sweep["estimator"] == "pair"]
    used = (pair["exposure"] >= 2000).to_numpy()
    x, y = np.log(pair["exposure"][used]), np.log(pair["q"][used])
    line = np.polyfit(x, y, 1)
    plain = found.fits.query("estimator == 'pair' and form == 'plain'").set_index("alpha_is")
    assert plain.loc["free", "alpha"] == pytest.approx(-line[0], rel=1e-9)
    assert plain.loc["free", "C"] == pytest.approx(np.exp(line[1]), rel=1e-9)
    design = np.linalg.pinv(np.column_stack([np.ones(3), -x]))
    errors = np.sqrt(np.diag(design @ V[np.ix_(used, used)] @ design.T))
    assert plain.loc["free", "alpha_error"] == pytest.approx(errors[1], rel=1e-9)
    assert plain.loc["free", "C_error"] == pytest.approx(np.exp(line[1]) * errors[0], rel=1e-9)
    assert plain.loc["fixed", "C"] == pytest.approx(np.exp(np.mean(x + y)), rel=1e-9)
    assert (found.fits["points"] == 3).all()
    assert (found.fits["C_predicted"] / moments.C - 1).abs().max() < 1e-12
    assert (found.fits["C_over_predicted"] * moments.C / found.fits["C"] - 1).abs().max() < 1e-12
    assert set(found.fits["estimator"]) == {"pair", "marginal"}
    # all points of this small grid are shown
    law = found.numbers
    assert law["points_shown"] == 3
    assert law["alpha_shown"] == pytest.approx(-line[0], rel=1e-9)
    assert law["scatter_shown"] == pytest.approx(np.std(y - np.polyval(line, x)), rel=1e-9)
    assert found.repeated["points"].tolist() == ["all"] * 3 + ["shown"] * 3
    repeated = scaling_law.fit_realizations(
        stream(SEED, "experiment3", "fit", "all"), pair[used], V[np.ix_(used, used)], draws=3
    )
    assert found.repeated["alpha"][:3].tolist() == pytest.approx(repeated["alpha"].tolist())
    limit = made.numbers["rho_limit"]
    columns = found.curves.drop(columns="edition")
    same(columns, scaling_law.law_curves(moments, sweep, rho_limit=limit))


def chosen(run_on, *, samples, targets, **contents):
    """Run the two scripts of the choices, one after the other."""
    drawn = run_on(
        "exp3_variants",
        samples=samples,
        targets=targets,
        output=DRAWS,
        params={**COMMON, "copula": "uniform"},
    )
    floors = contents.pop("floors")
    return run_on(
        "exp3_choices",
        edition=EDITION,
        targets=targets,
        variants=drawn.rows,
        heads=drawn.heads,
        output={"table": "csv", "floors": "csv"},
        params={"sic_floor": 2, "sic_floors": floors},
        **contents,
    )


def test_floors_of_every_score(run_on):
    """SIC by hand: of ten events the exact kernel has the two signals at rank 1 and 4."""
    labels = np.array([True] * 2 + [False] * 8)
    exact = np.array([10, 7, 9, 8, 6, 5, 4, 3, 2, 1.0])
    up, down = np.arange(10.0), -np.arange(10.0)
    samples = {
        name: stream(SEED, "floors", name).normal(size=(10, 4))
        for name in ("mixed", "reference", "evaluation_background", "evaluation_signal")
    }
    found = chosen(
        run_on,
        samples={**samples, "labels": labels},
        targets={"labels": labels, "self_inclusive": down, "loo": up},
        within={"sums": 10 * exact},
        across=[{"sums": np.zeros(10), "events": np.array(1)}],
        scores={"raw": up, "marginal": exact, "pair": down},
        seeds=pd.DataFrame({"draw": [0, 1], "auc_witness": [0.6, 0.8], "C": [10.0, 40.0]}),
        floors=[1, 4, 9],
    ).floors
    assert (found["edition"] == "tiny").all()
    table = found.pivot(index="floor", columns="score", values="sic")
    # a floor above the eight background events has no row
    assert table.index.tolist() == [1, 4]
    best = {"direct witness": 1 / np.sqrt(1 / 8), "exact kernel": 1 / np.sqrt(2 / 8), "raw": 1.0}
    best |= {"marginal": best["exact kernel"], "pair": best["direct witness"]}
    assert table.loc[1].to_dict() == pytest.approx(best)
    assert table.loc[4, "direct witness"] == pytest.approx(np.sqrt(2))


def test_the_exact_witness_from_its_parts(run_on, arrays, sample):
    """The bank's kernel is the mean over the bandwidths; by brute force."""
    sums = {
        part: run_on(
            "exp3_exact_part",
            scale={"value": D_MED},
            coordinates=arrays,
            output="npz",
            params={"part": part, "parts": 3, "max_events": 1000, "bandwidths": BANDWIDTHS},
        )
        for part in ("within", "0", "1", "2")
    }
    assert [int(part["events"]) for part in sums.values()] == [45, 17, 17, 16]
    across = sum(sums[part]["sums"] for part in "012")
    found = experiment3.exact_witness(sums["within"]["sums"], across, 50)

    def kernel(y):
        square = ((sample.mixed[:, None] - y[None]) ** 2).sum(axis=2)
        return np.mean([np.exp(-square / (2 * (D_MED * h) ** 2)) for h in BANDWIDTHS], axis=0)

    expected = kernel(sample.mixed).mean(axis=1) - kernel(sample.reference).mean(axis=1)
    assert found == pytest.approx(expected, abs=1e-5)


def test_bandwidths_share_their_frequencies(same, scanned, performed, sample):
    x, labels = sample.evaluation
    rows = []
    for draw in range(2):
        for h in (0.5, 1.5):
            features = bank("experiment3", "bandwidths", draw, h=[h])
            score = witness_of(features, sample)(x)
            found = experiment3.performance(score, labels, sic_floor=2)
            found.pop("sic_background")
            rows.append({"edition": "tiny", "bandwidth": h, "draw": draw, **found})
    same(performed.bandwidth_rows, pd.DataFrame(rows))
    assert "sic" not in scanned.rows
    table = performed.bandwidths.set_index("bandwidth")
    for h in (0.5, 1.5):
        one, other = (row for row in rows if row["bandwidth"] == h)
        for name in ("auc", "sic"):
            assert table.loc[h, name] == pytest.approx((one[name] + other[name]) / 2)
            spread = abs(one[name] - other[name]) / np.sqrt(2)
            assert table.loc[h, f"{name}_spread"] == pytest.approx(spread)
    assert (table["draws"] == 2).all()


POINT = {"estimator": "pair", "m": 5, "R": 100}


def test_seeds_are_draws_of_the_features(run_on, same, arrays, sample):
    found = run_on(
        "exp3_seeds_part",
        scale={"value": D_MED},
        coordinates=arrays,
        output=DRAWS,
        params={**COMMON, "numbers": [4, 2], "points": [POINT]},
    )
    draws = []
    for number in (4, 2):
        features = bank("experiment3", "features", number)
        drawn = witness_draws.draws_of_means(
            features,
            sample,
            feature_products.plain_mean(features, sample.reference)[None],
            stream(SEED, "experiment3", "seeds", number),
            points=[experiment3.Point(**POINT)],
            bandwidths=2,
        )
        draws.append(drawn.labelled(draw=number))
    is_drawn(same, found, witness_draws.Draws.joined(draws))


def is_drawn(same, found, expected):
    """Check what a script left against the draws that it should have made."""
    same(found.rows, expected.rows)
    heads = witness_draws.Draws.read(found.rows, found.heads)
    judged = (witness_draws.judged(one, sic_floor=2, floors=[1]) for one in (heads, expected))
    same(*judged)


def heads_of(*scores):
    """Return the heads of scores in which the second and fourth of six events are signal."""
    labels = np.array([False, True, False, True, False, False])
    heads = sic.Heads.of([sic.Standing.of(np.array(score), labels) for score in scores])
    return heads.arrays("witness")


def test_scatter_of_the_published_quantities(run_on, same):
    columns = {"auc_witness": [0.90, 0.91, 0.93, 0.95], "C": [5e9, 6e9, 7e9, 9e9], "variance": 1.0}
    draws = pd.DataFrame({"sample_number": [0, 0, 1, 1], **columns})
    seeds = pd.DataFrame({"auc_witness": [0.80, 0.82], "C": [1e9, 3e9], "variance": 2.0})
    published = pd.read_csv(ROOT / "resources" / "published.csv", dtype=str)
    first, second = [3.0, 9, 4, 8, 2, 1], [9.0, 1, 8, 7, 3, 2]
    made = run_on(
        "exp3_scatter",
        edition=EDITION,
        surrogates=[draws[:1], draws[1:]],
        heads_of_surrogates=[heads_of(first), heads_of(second, first, second)],
        seeds=[seeds[:1], seeds[1:]],
        heads_of_seeds=[heads_of(second), heads_of(first)],
        published=published,
        output=dict.fromkeys(("surrogates", "seeds", "table"), "csv"),
        params={"sic_floor": 1, "floors": [2]},
    )
    # both signals on top: 1/sqrt(1/4) with one background event, 1/sqrt(2/4) with two
    one, two = (2.0, np.sqrt(2)), (1.0, 1.0)
    for name, column in (("sic_witness", 0), ("sic_witness_floor_2", 1)):
        expected = [floors[column] for floors in (one, two, one, two)]
        assert made.surrogates[name].tolist() == pytest.approx(expected)
    assert made.seeds["sic_witness"].tolist() == pytest.approx([1, 2])
    plain = [name for name in made.surrogates if not name.startswith("sic_")]
    same(made.surrogates[plain], draws)
    same(made.seeds.drop(columns="sic_witness"), seeds)
    found = made.table.set_index("quantity")
    assert set(found.index) == {"auc_witness", "sic_witness", "C"}
    printed = published.set_index("id")["value"]
    row = found.loc["C"]
    assert row["published"] == float(printed["e3.C"])
    assert row["mean"] == pytest.approx(6.75e9)
    assert row["spread"] == pytest.approx(np.std(columns["C"], ddof=1))
    assert row["median"] == pytest.approx(6.5e9)
    assert row["quantile_16"] == pytest.approx(5.48e9)
    assert row["quantile_84"] == pytest.approx(8.04e9)
    below = np.mean(np.array(columns["C"]) < float(printed["e3.C"]))
    assert row["share_below_published"] == below
    assert (row["mean_here"], row["spread_here"]) == pytest.approx((2e9, np.sqrt(2) * 1e9))
    assert (row["draws"], row["draws_of_features_here"]) == (4, 2)


def test_references_of_the_sample_and_of_a_surrogate(same, made, referred, performed, sample):
    features = FourierFeatures(made.features["frequencies"], made.features["offsets"])
    pool = np.concatenate([sample.reference, sample.evaluation_background])
    sizes = {"mixed_background": 36, "mixed_signal": 9, "reference": 50}
    drawn = surrogate_references.draw_surrogate(
        surrogates.parse(SURROGATE),
        partial(stream, SEED, "experiment3", "references"),
        sizes={**sizes, "evaluation_background": 30, "evaluation_signal": 14},
        pool=80,
        copula="uniform",
    )
    tables = [
        disjoint_references.disjoint_references(
            features,
            mixed,
            background,
            stream(SEED, "experiment3", "references", "gaussian", source),
            parts=4,
            draws=3,
        ).labelled(source=source)
        for source, mixed, background in (
            ("sample", sample, pool),
            ("surrogate", drawn.sample, drawn.pool),
        )
    ]
    joined = witness_draws.Draws.joined(tables)
    is_drawn(same, referred, joined)
    rows = witness_draws.judged(joined, sic_floor=2)
    same(performed.reference_rows.drop(columns="edition"), rows)
    # the closed form, from the features as they are: u of the pool, tau = 1/20 - 1/80
    z = features.transform(sample.mixed, dtype=np.float64)
    u = z.mean(axis=0) - features.transform(pool, dtype=np.float64).mean(axis=0)
    S, tau = np.cov(z.T, bias=True), 1 / 20 - 1 / 80
    table = performed.references.set_index(["source", "references"])
    names = ["part", "gaussian", "closed form"]
    assert performed.references["references"].tolist() == [*names, "part", "gaussian"]
    closed = table.loc[("sample", "closed form")]
    mean = u @ S @ u + tau * np.trace(S @ S)
    variance = 4 * tau * u @ S @ S @ S @ u + 2 * tau**2 * np.trace(S @ S @ S @ S)
    assert closed["variance"] == pytest.approx(mean, rel=1e-3)
    assert closed["variance_spread"] == pytest.approx(np.sqrt(variance), rel=1e-3)
    for (source, kind), part in rows.groupby(["source", "kind"]):
        row = table.loc[(source, kind)]
        assert (row["count"], row["events"]) == (len(part), 20)
        for name in ("auc", "sic", "variance", "C"):
            assert row[name] == pytest.approx(part[name].mean())
            assert row[f"{name}_spread"] == pytest.approx(part[name].std(ddof=1))


def scattered(run_on, edition, **options):
    """Run the script on small samples; which of its inputs it uses depends on the edition."""
    rng = stream(SEED, "scattered")
    shapes = {"mixed": 50, "reference": 40, "evaluation_background": 30, "evaluation_signal": 20}
    samples = {name: rng.uniform(size=(n, 4)) for name, n in shapes.items()}
    samples["labels"] = np.arange(50) >= 42
    params = {
        **COMMON,
        **{"max_events": 60, "copula": "uniform", "numbers": [3], "references": 2},
        **{"predicted": 2, "predicted_per_map": 1, "points": [POINT], **options},
    }
    inputs = {"samples": samples, "scale": {"value": 0.7}, "edition": {"name": edition}}
    found = run_on("exp3_scatter_part", surrogate=SURROGATE, **inputs, output=DRAWS, params=params)
    assert found.rows["sample_number"].tolist() == [3, 3]
    assert found.rows["draw"].tolist() == [0, 1]
    found.rows = found.rows.drop(columns=["sample_number", "draw"])
    return found, samples


def test_scatter_over_predicted_references(run_on, same):
    found, samples = scattered(run_on, "subset")
    assert set(found.rows.pop("source")) == {"predicted"}
    assert found.rows["map_number"].tolist() == [0, 1]
    sizes = {"reference": 60, "evaluation_background": 60}
    draws = predicted_references.draws_of_predictions(
        predicted_references.in_coordinates_of_the_pool(samples, copula="uniform", max_events=60),
        0.7,
        partial(stream, SEED, "experiment3", "predicted", 3),
        sizes=sizes,
        draws=2,
        draws_per_map=1,
        bandwidths=BANDWIDTHS,
        features_per_bandwidth=8,
        rff_form="offset",
        points=[experiment3.Point(**POINT)],
    )
    is_drawn(same, found, draws)
    again, _ = scattered(run_on, "subset", predicted_per_map=2, references=5)
    assert again.rows["map_number"].tolist() == [0, 0]


def test_scatter_over_surrogate_samples(run_on, same):
    """The sizes are the paper's, thinned."""
    found, _ = scattered(run_on, "surrogate")
    assert set(found.rows.pop("source")) == {"scatter"}
    # of the paper's 121352 + 772 mixed events; at least two of each class stay
    sizes = {"mixed_background": 60, "mixed_signal": 2, "reference": 60}
    drawn = surrogate_references.draw_surrogate(
        surrogates.parse(SURROGATE),
        partial(stream, SEED, "experiment3", "scatter", 3),
        sizes={**sizes, "evaluation_background": 60, "evaluation_signal": 60},
        pool=120,
        copula="uniform",
    )
    rng = stream(SEED, "experiment3", "scatter", 3, "features and references")
    kernel = experiment3.kernel_bank(drawn.d_med, BANDWIDTHS)
    features = fourier_features(kernel, 4, rng, n_per_bandwidth=8, form="offset")
    means = weighted_pool.reference_means(features, drawn.pool, rng, n=60, draws=2)
    draws = witness_draws.draws_of_means(
        features,
        drawn.sample,
        means,
        rng,
        points=[experiment3.Point(**POINT)],
        bandwidths=2,
    )
    is_drawn(same, found, draws.labelled(map_number=0))


def test_choices_stand_beside_their_names(run_on):
    rng = stream(SEED, "choices")
    shapes = {"mixed": 45, "reference": 50, "evaluation_background": 30, "evaluation_signal": 14}
    samples = {name: rng.normal(size=(n, 4)) for name, n in shapes.items()}
    labels = np.arange(45) >= 36
    base, loo, exact = rng.normal(size=(3, 45))
    seeds = pd.DataFrame({"draw": [0, 1], "auc_witness": [0.6, 0.8], "C": [10.0, 40.0]})
    # the exact witness comes in the sums of which it is made
    across = [{"sums": rng.normal(size=45), "events": np.array(events)} for events in (20, 17, 13)]
    within = 45 * (exact + sum(part["sums"] for part in across) / 50)
    found = chosen(
        run_on,
        samples={**samples, "labels": labels},
        targets={"labels": labels, "self_inclusive": base, "loo": loo},
        within={"sums": within},
        across=across,
        scores={"raw": base, "marginal": loo, "pair": exact},
        seeds=seeds,
        floors=[1, 8, 37],
    ).table
    rows = found.fillna({"is": ""}).set_index(["choice", "is"])
    assert (rows["edition"] == "tiny").all()

    def check(name, score):
        row = rows.loc[name]
        assert row["correlation"] == pytest.approx(metrics.correlation(score, base), abs=1e-6)
        assert row["auc_witness"] == pytest.approx(metrics.auc(score, labels), abs=1e-3)
        return row

    cdf = BackgroundCDF.of(samples["reference"])
    for name, copula, form in (
        (("as configured", ""), "uniform", "offset"),
        (("copula", "normal"), "normal", "offset"),
        (("rff_form", "paired"), "uniform", "paired"),
    ):
        made = {key: cdf.transform(samples[key], scores=copula) for key in shapes}
        sample = experiment3.Coordinates(labels=labels, **made)
        d_med = median_distance(sample.reference, stream(SEED, "lhco", "d_med")).value
        features = bank("experiment3", "features", 0, form=form, d_med=d_med)
        check(
            name,
            witness_of(features, sample)(sample.mixed),
        )
    for name, score in (("target", "loo"), loo), (("kernel", "exact, no RFF"), exact):
        row = check(name, score)
        assert row["sic_witness"] == metrics.max_sic(score, labels, floor=2)
    # no row for a floor above the 36 background events
    assert rows.loc["sic_floor"].index.tolist() == ["1", "8"]
    for floor in (1, 8):
        row = check(("sic_floor", str(floor)), base)
        assert row["sic_witness"] == metrics.max_sic(base, labels, floor=floor)
    drawn = rows.loc["RFF seed, 2 draws"]
    assert drawn.loc["mean", "auc_witness"] == pytest.approx(0.7)
    assert drawn.loc["standard deviation", "C"] == pytest.approx(15.0)
