"""What is said of Experiment III: each statement on both sides of its boundary, by its id."""

import math

import numpy as np
import pandas as pd
import pytest
from localizer.theory.scaling import PairMoments
from localizer.verdicts import findings3, findings3_batches
from localizer.verdicts.board import Published

BANDWIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def published(**values):
    """Return published realizations, by id."""
    return {
        f"e3.{name}": Published(f"e3.{name}", "III", "", "", "realization", value, "", None)
        for name, value in values.items()
    }


# --- one small valid table for each study; what a case changes is an argument -------------


def samples(background=12, *, edition="full"):
    counts = pd.DataFrame({"sample": ["mixed_background", "mixed_signal", "reference"]})
    counts = counts.assign(events=[background, 10, 500], in_the_paper=[12, 10, 500])
    return findings3.of_samples(counts.assign(edition=edition), 10)


def bandwidths(auc=(0.5, 0.6, 0.65, 0.7, 0.68, 0.66, 0.6), *, bank=0.7, **changes):
    """Return the findings of AUCs with errors of 0.01; ``changes`` are by number, as ``h0``."""
    values = [changes.get(f"h{i}", value) for i, value in enumerate(auc)]
    h = BANDWIDTHS[: len(values)]
    scan = pd.DataFrame({"bandwidth": h, "auc": values, "auc_spread": 0.02, "draws": 4})
    return findings3.of_bandwidths(scan, bank, close=0.01)


def peak(number):
    """Return those of AUCs that fall off to both sides of one."""
    return bandwidths(0.7 - 0.05 * np.abs(np.arange(7) - number))


def convergence(*changes):
    """Return those of runs with m = 100 and of others with R = 20.

    A change is (estimator, m, R, column, value). The witness has an AUC of 0.8 and a SIC of 10.
    """
    rows = []
    for m, R, rho, auc, sic in (
        *((100, 10, 0.8, 0.70, 5.0), (100, 20, 0.9, 0.795, 8.0), (100, 40, 0.95, 0.799, 9.0)),
        *((20, 20, 0.5, 0.9, 1.0), (50, 20, 0.7, 0.9, 1.0)),
    ):
        common = {"m": m, "R": R, "rho": rho, "auc": auc, "sic": sic, "q": 1.0}
        rows += [{"estimator": name, **common} for name in ("pair", "marginal")]
        rows.append({"estimator": "raw", **common, "rho": rho - 0.6, "auc": 0.9, "q": 20.0})
    sweep = pd.DataFrame(rows).assign(auc_witness=0.8, sic_witness=10.0, slope_error=0.01)
    raw = sweep["estimator"] == "raw"
    sweep = sweep.assign(slope_over_2_m=np.where(raw, 1.0, 9.0), auc_predicted_spread=0.001)
    for estimator, m, R, column, value in changes:
        at = (sweep["estimator"] == estimator) & (sweep["m"] == m) & (sweep["R"] == R)
        assert at.sum() == 1
        sweep.loc[at, column] = value
    return findings3_batches.of_convergence(
        sweep, m=100, m_scan_R=20, identical=0.01, essentially=0.02
    )


def scaling(*, alpha=1.0, rarer=5, deviation=1.0):
    """Return those of one fit; ``rarer`` of 999 repetitions scatter as much or more."""
    fits = pd.DataFrame({"estimator": ["raw", "pair", "pair", "pair"], "form": "plain"})
    fits = fits.assign(alpha_is=["free", "fixed", "free", "free"], scatter=[9.0, 9.0, 0.5, 9.0])
    fits.loc[3, "form"] = "finite"
    fits = fits.assign(alpha=1.5, alpha_error=0.1, points=30, C_predicted=2.0)
    sweep = pd.DataFrame({"estimator": "pair", "exposure": [4.0, 2.0, 8.0], "q_predicted": 1.0})
    sweep["log_q_error"] = [0.1, 9.0, 0.3]
    every = np.full(999, 0.4)
    every[:rarer] = 0.5
    repeated = pd.DataFrame({"points": "all", "alpha": 7.0, "scatter": every})
    shown = pd.DataFrame({"points": "shown", "alpha": [0.9, 1.0, 1.4], "scatter": [1.0, 2.0, 6.0]})
    law = {"alpha_shown": alpha, "points_shown": 13.0, "scatter_shown": 0.1}
    law |= {"deviation": deviation, "deviation_error": 0.1}
    return findings3_batches.of_scaling(
        sweep, fits, pd.concat([repeated, shown]), law, fit_minimum=4.0, alpha_tolerance=0.01
    )


# --- statements: (id, what is found, whether it holds, its value) -------------------------

PAIR, MARGINAL, RAW = "pair", "marginal", "raw"
BULK = 1 - (np.array([0.70, 0.795, 0.799]) - 0.5) / 0.3

STATEMENTS = [
    ("e3.rff_cost", lambda: samples(12), True, 21 / 20),
    ("e3.rff_cost", lambda: samples(10), False, 19 / 20),
    ("e3.bandwidth_maximum", lambda: peak(2), True, 0.5),
    ("e3.bandwidth_maximum", lambda: peak(4), True, 2.0),
    ("e3.bandwidth_maximum", lambda: peak(1), False, 0.25),
    ("e3.bandwidth_maximum", lambda: peak(5), False, 4.0),
    ("e3.bandwidth_small", lambda: bandwidths(h0=0.599), True, -0.101),
    ("e3.bandwidth_small", lambda: bandwidths(h0=0.601), False, -0.099),
    ("e3.bandwidth_small", lambda: bandwidths(h2=0.599), False, -0.2),
    ("e3.bandwidth_small", lambda: peak(0), False, 0.0),
    ("e3.bandwidth_large", lambda: bandwidths(h6=0.719), True, 0.019),
    ("e3.bandwidth_large", lambda: bandwidths(h6=0.721), False, 0.021),
    ("e3.bandwidth_large", lambda: bandwidths((0.5, 0.6, 0.65, 0.7)), True, None),
    # two errors of a difference are 0.0283
    ("e3.bandwidth_brackets", lambda: bandwidths(h0=0.628), True, 1.0),
    ("e3.bandwidth_brackets", lambda: bandwidths(h0=0.629), False, 1.0),
    ("e3.bandwidth_brackets", lambda: bandwidths(h6=0.688), True, 1.0),
    ("e3.bandwidth_brackets", lambda: bandwidths(h6=0.689), False, 1.0),
    ("e3.bandwidth_brackets", lambda: bandwidths(h0=0.701, h1=0.699), False, 0.125),
    ("e3.bank_near_best", lambda: bandwidths(bank=0.691), True, 0.009),
    ("e3.bank_near_best", lambda: bandwidths(bank=0.689), False, 0.011),
    ("e3.bank_near_best", lambda: bandwidths(bank=0.711), False, -0.011),
    *(
        ("e3.raw_slope", lambda s=s: convergence((RAW, 20, 20, "slope_over_2_m", s)), holds, pull)
        for s, holds, pull in ((1.049, True, 4.9), (1.051, False, 5.1), (0.949, False, 5.1))
    ),
    ("e3.raw_slow", lambda: convergence((RAW, 100, 40, "rho", 0.79)), True, 0.79),
    ("e3.raw_slow", lambda: convergence((RAW, 100, 40, "rho", 0.81)), False, 0.81),
    *(
        (
            "e3.improves_with_m",
            lambda name=name, rho=rho: convergence((name, 50, 20, "rho", rho)),
            holds,
            0.9,
        )
        for name in (PAIR, MARGINAL)
        for rho, holds in ((0.51, True), (0.49, False), (0.91, False))
    ),
    *(
        (
            "e3.marginal_is_pair",
            lambda error=error: convergence((MARGINAL, 100, 40, "q", error**2)),
            holds,
            error - 1,
        )
        for error, holds in ((1.019, True), (0.981, True), (1.021, False), (0.979, False))
    ),
    *(
        ("e3.auc_saturated", lambda auc=auc: convergence((PAIR, 100, 20, "auc", auc)), holds, far)
        for auc, holds, far in ((0.791, True, 0.009), (0.789, False, 0.011), (0.811, False, 0.011))
    ),
    # deficits in SIC of 0.2 and 0.1, in correlation of 0.35 together
    ("e3.sic_slower", lambda: convergence((PAIR, 100, 10, "sic", 9.4)), True, 0.01 / 3),
    ("e3.sic_slower", lambda: convergence((PAIR, 100, 10, "sic", 9.6)), False, -0.01 / 3),
    *(
        (
            "e3.tail_slower",
            lambda R=R, sic=sic: convergence((PAIR, 100, R, "sic", sic)),
            holds,
            (deficits - BULK.sum()) / 3,
        )
        for R, sic, holds, deficits in (
            *((10, 9.4, True, 0.36), (10, 9.5, False, 0.35)),
            *((20, 9.83, True, 0.617), (20, 9.84, False, 0.616)),
        )
    ),
    *(
        (
            "e3.approach",
            lambda name=name, R=R, rho=rho: convergence((name, 100, R, "rho", rho)),
            holds,
            0.95,
        )
        for name, R, rho, holds in (
            *((PAIR, 20, 0.81, True), (PAIR, 20, 0.79, False), (PAIR, 20, 0.96, False)),
            *((MARGINAL, 20, 0.81, True), (MARGINAL, 20, 0.79, False)),
            *((RAW, 10, 0.79, True), (RAW, 10, 0.81, False), (RAW, 40, 0.96, False)),
        )
    ),
    *(
        (
            "e3.excursions",
            lambda name=name, R=R, z=z: convergence((name, 100, R, "auc", 0.8 + 0.001 * z)),
            z < 5,
            z,
        )
        for name, R in ((PAIR, 20), (MARGINAL, 10))
        for z in (4.9, 5.1)
    ),
    *(
        ("e3.auc_identical", lambda d=d: convergence((PAIR, 100, 40, "auc", 0.8 + d)), holds, d)
        for d, holds in ((-0.009, True), (-0.011, False), (0.011, False))
    ),
    ("e3.efficiency", lambda: convergence((RAW, 100, 40, "q", 10.1)), True, 10.1),
    ("e3.efficiency", lambda: convergence((RAW, 100, 40, "q", 9.9)), False, 9.9),
    # 1 and 2 of 1000, one of which is the fit itself
    ("e3.collapse", lambda: scaling(rarer=1), True, 0.5),
    ("e3.collapse", lambda: scaling(rarer=0), False, 0.5),
    ("e3.alpha_is_one", lambda: scaling(alpha=0.991), True, -0.009),
    ("e3.alpha_is_one", lambda: scaling(alpha=0.989), False, -0.011),
    ("e3.alpha_is_one", lambda: scaling(alpha=1.011), False, 0.011),
    ("e3.pre_asymptotic", lambda: scaling(deviation=1.29), True, 1.29),
    ("e3.pre_asymptotic", lambda: scaling(deviation=1.31), False, 1.31),
    ("e3.pre_asymptotic", lambda: scaling(deviation=0.69), False, 0.69),
]


@pytest.mark.parametrize(("name", "find", "holds", "value"), STATEMENTS)
def test_a_statement_holds_on_its_side_of_the_boundary(name, find, holds, value):
    found = {finding.id: finding for finding in find()}[name]
    assert found.holds is holds
    assert found.value == (None if value is None else pytest.approx(value))


def test_every_statement_has_a_case_for_and_one_against():
    table = pd.read_csv("resources/published.csv", dtype=str)
    wanted = table[(table["experiment"] == "III") & (table["kind"] == "statement")]["id"]
    cases = {(name, holds) for name, _, holds, _ in STATEMENTS}
    assert cases == {(name, holds) for name in wanted for holds in (True, False)}


# --- findings with numbers ----------------------------------------------------------------


def test_sizes_of_another_edition_are_not_comparable():
    def of(found):
        return {f.id: (f.value, bool(f.not_comparable)) for f in found if f.holds is None}

    same = {"e3.mixed_signal": (10, False), "e3.reference": (500, False)}
    same["e3.dimension"] = (10, False)
    assert of(samples(12)) == {**same, "e3.mixed_background": (12, False)}
    # only the size that differs, but any of a surrogate
    assert of(samples(13)) == {**same, "e3.mixed_background": (13, True)}
    drawn = of(samples(12, edition="surrogate"))
    assert {name: reason for name, (_, reason) in drawn.items()} == {
        **dict.fromkeys(same, True),
        **{"e3.mixed_background": True, "e3.dimension": False},
    }


def draws(edition):
    surrogates = pd.DataFrame({"sample_number": [0, 0, 1, 1], "auc_witness": [0.1, 0.3, 0.5, 0.7]})
    seeds = pd.DataFrame({"auc_witness": [0.6, 0.7, 1.1], "C": [1.0, 1.0, 1.0]})
    (found,) = findings3.of_draws(
        {"auc_witness": 0.75},
        surrogates.assign(other=1.0),
        seeds,
        published(auc_witness="0.80", C="1.0"),
        edition=edition,
    )
    assert found.id == "e3.auc_witness"
    return found


def test_a_draw_of_features_on_the_papers_sample_is_compared():
    found = draws("full")
    assert list(found.draws) == [0.6, 0.7, 1.1]
    assert (found.value, found.spread) == (pytest.approx(0.8), pytest.approx(math.sqrt(0.07)))
    assert not found.not_comparable
    assert "with the sweeps' own 0.75" in found.note


@pytest.mark.parametrize("edition", ["subset", "zenodo", "surrogate"])
def test_a_draw_on_another_sample_is_not_compared(edition):
    """It has its rank among surrogate draws, of mean 0.4 and variance 0.2 / 3."""
    found = draws(edition)
    assert found.not_comparable == f"edition {edition}: another reference sample"
    assert (found.value, found.error, found.n) == (0.75, pytest.approx(math.sqrt(0.07)), 3)
    assert list(found.draws) == []
    # 4 draws: a pull, with the rounding and the mean's own error
    pull = (0.4 - 0.8) / math.hypot(math.sqrt(0.2 / 3 * 5 / 4), 0.005)
    assert f"pull {pull:.3g} among 4 surrogate draws, 2 samples" in found.note
    assert "2 references each, worth about 2 independent" in found.note


def test_draws_of_one_sample_are_worth_less():
    """Means of 2 and 6 with 1 of noise: a correlation of 7/9 within a sample."""
    table = pd.DataFrame({"sample_number": [0, 0, 1, 1], "C": [1.0, 3.0, 5.0, 7.0]})
    assert findings3._independent(table, "C") == pytest.approx(4 / (1 + 7 / 9))
    # no spread between the samples, one draw a sample, and one sample alone
    assert findings3._independent(table.assign(C=[1.0, 3, 1, 3]), "C") == 4
    assert findings3._independent(table.assign(sample_number=range(4)), "C") == 4
    assert findings3._independent(table.assign(sample_number=0), "C") == 4


def test_correlations_are_carried_over_to_the_published_constant():
    """Four times the constant, and half of it for an exponent above 1 at an exposure of 1024."""
    moments = PairMoments(10**6, True, 1.0, 50.0, 0.0)
    rows = published(C=f"{4 * 50e6}", alpha="1.1", rho_pair_m10_R100000000="0.9")
    sweep = pd.DataFrame({"estimator": [PAIR, RAW], "m": 10, "R": 10**8, "exposure": 1024.0})
    sweep = sweep.assign(q=0.2, log_q_error=0.1, rho=0.9, rho_predicted=0.9)
    (found,) = findings3_batches.of_correlations(sweep, moments, rows)
    assert found.id == "e3.rho_pair_m10_R100000000"
    rho = 1 / math.sqrt(1.4)
    assert found.value == pytest.approx(rho, rel=1e-4)
    # of (1 + q)^(-1/2): half of rho^3 dq
    assert found.error == pytest.approx(rho**3 / 2 * 0.4 * 0.1, rel=1e-3)
    assert (found.spread, found.toys, found.n) == (found.error, 1, 1)
    (same,) = findings3_batches.of_correlations(
        sweep, moments, {**rows, **published(C="5e7", alpha="1")}
    )
    assert same.value == pytest.approx(1 / math.sqrt(1.2), rel=1e-12)


def test_exponent_and_scatter_of_the_points_that_the_paper_shows():
    alpha, scatter = scaling(alpha=1.02)[:2]
    # 0.9, 1.0 and 1.4 are -0.2, -0.1 and 0.3 from their mean
    error = pytest.approx(math.sqrt(0.14 / 2))
    assert (alpha.id, alpha.value, alpha.n, alpha.toys) == ("e3.alpha", 1.02, 13, 1)
    assert (alpha.error, alpha.spread) == (error, error)
    assert (scatter.id, list(scatter.draws)) == ("e3.scatter", [1.0, 2.0, 6.0])
    assert (scatter.value, scatter.spread) == (3.0, pytest.approx(math.sqrt(7)))


def test_notes_of_the_law():
    notes = {finding.id: finding.note for finding in scaling()}
    # q R m^2 = 2 at the lowest exposure, where C is 2; the typical error lies within the fit
    assert "predicted are 0 %" in notes["e3.pre_asymptotic"]
    assert "own error is 0.2" in notes["e3.collapse"]
    assert "probability 0.006" in notes["e3.collapse"]


def test_measured_values_by_the_names_of_the_draws():
    witness = pd.DataFrame({"witness": ["loo", "self-inclusive", "self-inclusive"]})
    witness = witness.assign(sample=["mixed", "mixed", "evaluation"], auc=[0.1, 0.2, 0.3])
    witness["sic"] = [1.0, 2.0, 3.0]
    fits = pd.DataFrame({"estimator": ["raw", "pair", "pair", "pair"], "C": [1.0, 2.0, 3.0, 4.0]})
    fits = fits.assign(form=["plain", "plain", "plain", "finite"])
    fits["alpha_is"] = ["fixed", "free", "fixed", "fixed"]
    sweep = pd.DataFrame({"estimator": [PAIR], "m": 5, "R": 7, "auc": 0.8, "sic": 9.0})
    bandwidths = pd.DataFrame({"auc": [0.4, 0.6, 0.5]})
    assert findings3.measured_values(witness, bandwidths, sweep, fits) == {
        **{"auc_witness": 0.2, "sic_witness": 2.0, "auc_evaluation": 0.3, "sic_evaluation": 3.0},
        **{"auc_single": 0.6, "C": 3.0, "auc_pair_m5_R7": 0.8, "sic_pair_m5_R7": 9.0},
    }
