"""The studies of Experiment II, small: brute force, closed forms, and what must not depend on what.

z-tests with |z| < 5: each a false alarm once in 1.7 million seeds.
"""

import numpy as np
import oracles
import pandas as pd
import pytest
from claims import PUBLISHED, Found, holds
from localizer.base import metrics
from localizer.base.randomness import stream
from localizer.estimators import batches, mmd
from localizer.experiments import experiment2
from localizer.experiments.experiment2 import LatentModel
from localizer.kernels import bank
from localizer.models.toys import mixture
from localizer.theory import information, posterior
from localizer.verdicts import findings2, findings2_information, findings2_recovery, registry
from sklearn.ensemble import HistGradientBoostingClassifier

MODEL = LatentModel(d=2, sigma_s=0.5, epsilon=0.1, h=1.0)
SEED = 5


@pytest.fixture(scope="module")
def toys():
    """Return 30 toys at two sizes."""
    return pd.DataFrame(
        [experiment2.toy_row(SEED, toy, model=MODEL, N=N) for N in (200, 800) for toy in range(30)]
    )


@pytest.fixture(scope="module")
def recovery():
    """Return targets and batch runs of 6 small toys."""
    targets, runs = [], []
    for toy in range(6):
        for construction in experiment2.CONSTRUCTIONS:
            sample, mu = experiment2.recovery_sample(
                SEED, toy, construction, model=MODEL, N=300, mu_norm=0.8
            )
            exact = experiment2.recovery_targets(sample, mu, model=MODEL, m=20, R=2000, tol=1e-8)
            targets.append({"construction": construction, "toy": toy, **exact})
            runs.append(
                experiment2.recovery_run(
                    SEED,
                    toy,
                    construction,
                    sample,
                    model=MODEL,
                    m=20,
                    R=[200, 2000],
                    replacement=False,
                    group_size=100,
                    tol=1e-8,
                )
            )
    return pd.DataFrame(targets), pd.concat(runs, ignore_index=True)


def test_mu_is_the_same_at_every_size(toys):
    norms = toys.pivot(index="toy", columns="N", values="mu_norm")
    assert (norms[200] == norms[800]).all()


def test_the_control_is_at_chance_and_the_shared_witness_is_not(toys):
    large = toys[toys["N"] == 800]
    control = large["auc_independent"] - 0.5
    assert abs(control.mean() / (control.std() / np.sqrt(len(control)))) < 5
    gain = large["auc_loo"] - large["auc_independent"]
    assert gain.mean() / (gain.std() / np.sqrt(len(gain))) > 5


def test_n_scan_is_what_it_says(toys):
    scan = experiment2.n_scan(toys)
    part = toys[toys["N"] == 800]
    row = scan[scan["N"] == 800].iloc[0]
    assert row["auc_loo"] == pytest.approx(part["auc_loo"].mean())
    assert row["gap"] == pytest.approx((part["auc_mmd"] - part["auc_loo"]).mean())
    expected = (part["auc_loo"].mean() - 0.5) / (part["auc_mmd"].mean() - 0.5)
    assert row["f_rec"] == pytest.approx(expected)


def aucs():
    """Return three toys at one size, and one at another, with AUCs made by hand."""
    return pd.DataFrame(
        {
            "toy": [0, 1, 2],
            "N": 100,
            "auc_lr": [0.90, 0.94, 0.95],
            "auc_mmd": [0.90, 0.80, 0.70],
            "auc_loo": [0.70, 0.60, 0.65],
            "auc_independent": [0.50, 0.53, 0.44],
        }
    )


def error_of_three(values):
    """Return the standard error of a mean of three, from its definition."""
    values = np.array(values)
    return np.sqrt(np.sum((values - values.mean()) ** 2) / 2 / 3)


def test_errors_of_the_scan_by_hand():
    """Means and errors of each column; f_rec = 0.15 / 0.3, its jackknife leaving one out."""
    (row,) = experiment2.n_scan(aucs()).to_dict("records")
    table = aucs()
    columns = {name: table[name] for name in ("auc_lr", "auc_mmd", "auc_loo", "auc_independent")}
    columns |= {"gap": [0.20, 0.20, 0.05], "f_rec_mean_of_ratios": [0.5, 1 / 3, 0.75]}
    for name, values in columns.items():
        assert row[name] == pytest.approx(np.mean(values), rel=1e-12)
        assert row[f"{name}_error"] == pytest.approx(error_of_three(values), rel=1e-9)
    assert (row["N"], row["toys"]) == (100, 3)
    assert row["f_rec"] == pytest.approx(0.5)
    without = np.array([0.25 / 0.5, 0.35 / 0.6, 0.30 / 0.7])
    jackknife = np.sqrt(2 / 3 * np.sum((without - without.mean()) ** 2))
    assert row["f_rec_error"] == pytest.approx(jackknife, rel=1e-9)


def test_errors_of_the_context_table_by_hand():
    """A toy that only one of the two tables has does not count."""
    names = ("oracle", "contextual", "expected", "gap")
    values = {f"information_{name}": [1.0 + i, 2.0, 4.0 + i] for i, name in enumerate(names)}
    values |= {"fixed_contextual": [1.0, 3.0, 8.0], "fixed_oracle": [2.0, 3.0, 7.0]}
    values |= {"auc_context": [0.6, 0.7, 0.9]}
    context = pd.DataFrame({"toy": [2, 1, 0], "N": 100, **values})
    other = pd.DataFrame({"toy": [7], "N": [100], **{name: [9.0] for name in values}})
    table = experiment2.context_table(pd.concat([context, other]), aucs(), {"oracle": 0.123})
    (row,) = table.to_dict("records")
    assert (row["N"], row["toys"]) == (100, 3)
    for name in values:
        assert row[name] == pytest.approx(np.mean(values[name]), rel=1e-12)
        assert row[f"{name}_error"] == pytest.approx(error_of_three(values[name]), rel=1e-9)
    for name in ("auc_lr", "auc_mmd", "auc_loo"):
        assert row[name] == pytest.approx(aucs()[name].mean(), rel=1e-12)
        assert row[f"{name}_error"] == pytest.approx(error_of_three(aucs()[name]), rel=1e-9)
    assert row["information_oracle_exact"] == 0.123
    # contextual 2, 2, 5 over oracle 1, 2, 4: 9/7, and the scatter of 2 - 9/7, 2 - 18/7, 5 - 36/7
    assert row["f_information"] == pytest.approx(9 / 7, rel=1e-12)
    scatter = error_of_three([5 / 7, -4 / 7, -1 / 7])
    assert row["f_information_error"] == pytest.approx(scatter / (7 / 3), rel=1e-9)
    assert row["f_rec"] == pytest.approx(0.5)
    assert row["f_rec_error"] == pytest.approx(
        experiment2.n_scan(aucs())["f_rec_error"].iloc[0], rel=1e-9
    )


def test_a_toy_row_scores_the_right_sample():
    row = experiment2.toy_row(SEED, 3, model=MODEL, N=60)
    mu = experiment2.latent(SEED, 3, MODEL)
    shared, control = (
        experiment2.toy_sample(SEED, 3, kind, model=MODEL, N=60)
        for kind in ("shared", "independent")
    )
    known = MODEL.given(mu)
    assert row == {
        **{"toy": 3, "N": 60, "mu_norm": np.linalg.norm(mu)},
        "auc_lr": metrics.auc(known.log_likelihood_ratio(shared.x), shared.labels),
        "auc_mmd": metrics.auc(known.witness(shared.x), shared.labels),
        "auc_loo": metrics.auc(MODEL.loo(shared.x), shared.labels),
        "auc_independent": metrics.auc(MODEL.loo(control.x), control.labels),
    }


def test_a_context_row_names_its_samples():
    """AUC and ``fixed_*`` are of the toy itself, ``information_*`` of independent labels."""
    row = experiment2.context_row(SEED, 3, model=MODEL, N=30)
    mu, options = experiment2.latent(SEED, 3, MODEL), {"epsilon": 0.1, "sigma_s": 0.5}
    sample = experiment2.toy_sample(SEED, 3, "shared", model=MODEL, N=30)
    score = posterior.contextual_log_ratio(sample.x, **options)
    assert row["auc_context"] == metrics.auc(score, sample.labels)
    rng = stream(SEED, "experiment2", "independent labels", 3, 30)
    free = mixture(rng, 30, MODEL.given(mu))
    for prefix, x in (("information", free), ("fixed", sample.x)):
        for name, value in information.information_row(x, mu, **options).items():
            assert row[f"{prefix}_{name}"] == value


def test_jackknife_of_a_ratio():
    """Against the delta method, for a ratio whose denominator hardly varies."""
    rng = stream(SEED, "ratio")
    top, bottom = rng.normal(2, 0.3, 400), rng.normal(4, 0.01, 400)
    value, error = experiment2.ratio_of_means(top, bottom)
    assert value == pytest.approx(top.mean() / bottom.mean())
    assert error == pytest.approx(top.std() / np.sqrt(400) / 4, rel=0.02)


def test_the_location_has_the_given_length():
    sample, mu = experiment2.recovery_sample(SEED, 3, "shared", model=MODEL, N=200, mu_norm=0.7723)
    assert np.linalg.norm(mu) == pytest.approx(0.7723)
    assert sample.labels.sum() == 20


def test_pair_features_are_the_centred_kernel():
    sample, _ = experiment2.recovery_sample(SEED, 0, "shared", model=MODEL, N=120, mu_norm=0.8)
    features = experiment2.pair_features(sample.x, MODEL, tol=1e-9)
    q = bank.q_B(sample.x, sample.x, MODEL.bank, MODEL.background)
    assert features @ features.T == pytest.approx(q, abs=2e-9)


def test_targets_by_brute_force():
    sample, mu = experiment2.recovery_sample(SEED, 1, "shared", model=MODEL, N=80, mu_norm=0.8)
    row = experiment2.recovery_targets(sample, mu, model=MODEL, m=10, R=1000, tol=1e-9)
    q = bank.q_B(sample.x, sample.x, MODEL.bank, MODEL.background)
    np.fill_diagonal(q, 0.0)
    target = q.sum(axis=1) / 79
    assert row["auc_pair_target"] == metrics.auc(target, sample.labels)
    assert row["variance_of_witness"] == pytest.approx(target.var())
    # the pair estimator's noise: Var over j of q_ij, for partners drawn among the others
    others = q[~np.eye(80, dtype=bool)].reshape(80, 79)
    assert row["C"] == pytest.approx(80 * others.var(axis=1).mean() / target.var(), rel=1e-6)
    loo = MODEL.loo(sample.x)
    assert row["auc_loo"] == metrics.auc(loo, sample.labels)
    assert row["auc_mmd"] == metrics.auc(MODEL.given(mu).witness(sample.x), sample.labels)
    rho = metrics.correlation(target, loo)
    assert row["rho_pair_target"] == pytest.approx(rho, rel=1e-9)
    # each estimator's own law, and the target's own distance from the witness
    moments = oracles.moments_of_kernel(bank.q_B(sample.x, sample.x, MODEL.bank, MODEL.background))
    for estimator in ("raw", "marginal", "pair"):
        predicted = rho / np.sqrt(1 + moments.q(estimator, m=10, R=1000))
        assert row[f"rho_{estimator}"] == pytest.approx(predicted, rel=1e-6)


def test_runs_agree_with_the_plain_engine():
    sample, _ = experiment2.recovery_sample(SEED, 2, "shared", model=MODEL, N=60, mu_norm=0.8)
    table = experiment2.recovery_run(
        SEED,
        2,
        "shared",
        sample,
        model=MODEL,
        m=6,
        R=[40],
        replacement=False,
        group_size=20,
        tol=1e-10,
    )
    q = bank.q_B(sample.x, sample.x, MODEL.bank, MODEL.background)
    sums = np.zeros(60)
    count = np.zeros(60)
    for group in range(2):
        rng = stream(SEED, "experiment2", "batches", "shared", 2, group)
        for batch in batches.draw(rng, N=60, m=6, batches=20, replacement=False):
            sums[batch] += mmd.pair_contributions(q[np.ix_(batch, batch)])
            count[batch] += 1
    drawn = count > 0
    scores = np.full(60, (sums[drawn] / count[drawn]).mean())
    scores[drawn] = sums[drawn] / count[drawn]
    row = table[table["estimator"] == "pair"].iloc[0]
    target = (q.sum(axis=1) - np.diag(q)) / 59
    # features of 16 bits: 1e-4 of the scatter of one occurrence
    assert row["rho_pair_target"] == pytest.approx(metrics.correlation(scores, target), abs=1e-4)
    assert row["auc"] == pytest.approx(metrics.auc(scores, sample.labels))
    assert row["rho"] == pytest.approx(metrics.correlation(scores, MODEL.loo(sample.x)), abs=1e-4)


def test_measured_correlation_is_the_predicted_one(recovery):
    """In mean log q over 12 toys, within 5 standard errors of the toys' scatter."""
    both = experiment2.predicted_and_measured(*recovery)
    assert len(both) == 12
    q = {name: np.log(both[name] ** -2 - 1) for name in ("predicted", "measured")}
    difference = q["measured"] - q["predicted"]
    assert abs(difference.mean() / (difference.std(ddof=1) / np.sqrt(12))) < 5


def test_probability_of_order_counts_pairs():
    made = pd.DataFrame(
        {
            "construction": ["shared", "shared", "independent", "independent"],
            "rho_pair": [0.1, 0.5, 0.3, 0.9],
        }
    )
    assert experiment2.probability_of_order(made) == 0.75


def test_most_typical_is_nearest_to_the_median():
    made = pd.DataFrame(
        {
            "construction": ["shared"] * 5 + ["independent"],
            "toy": [0, 1, 2, 3, 4, 0],
            "auc_loo": [0.6, 0.7, 0.9, 0.79, 0.81, 0.5],
        }
    )
    assert experiment2.most_typical(made, 3) == 1
    assert experiment2.most_typical(made, 5) == 3


def test_no_isolated_event_classifier_beats_chance():
    """A boosted-tree classifier, trained on half of the toys and judged on the other half.

    One event of each class from each toy, so that the events are independent: the AUC of
    n + n events scatters by sqrt((2n + 1) / (12 n^2)) about 1/2.
    """
    signal, background = [], []
    for toy in range(3000):
        rng = stream(SEED, "isolated", toy)
        mu = experiment2.latent(SEED, toy, MODEL)
        signal.append(mu + MODEL.sigma_s * rng.standard_normal(2))
        background.append(rng.standard_normal(2))
    x = np.concatenate([signal, background])
    y = np.repeat([1, 0], 3000)
    train = np.tile(np.arange(3000) < 1500, 2)
    model = HistGradientBoostingClassifier(max_iter=50, random_state=0).fit(x[train], y[train])
    area = metrics.auc(model.predict_proba(x[~train])[:, 1], y[~train])
    assert abs(area - 0.5) / np.sqrt(3001 / (12 * 1500**2)) < 5


def test_findings_of_the_identities():
    pairs = findings2_information.signal_pairs(SEED, MODEL, draws=4000)
    found = Found(findings2_information, pairs=pairs, model=MODEL)
    names = ("auc_single", "cross_covariance", "predictive_mean", "predictive_variance")
    assert all(holds(found[f"e2.{name}"]) for name in (*names, "average_witness"))


def test_oracle_at_the_origin_is_not_at_chance():
    """Signal of another width is told from background even at mu = 0: AUC 1/(1 + sigma_s^2)."""
    known = MODEL.given((0.0, 0.0))
    found = oracles.population_auc(known, known.log_likelihood_ratio)
    assert found == pytest.approx(1 / (1 + MODEL.sigma_s**2), abs=1e-5)


def test_findings_of_the_studies(toys, recovery):
    scan = experiment2.n_scan(toys)
    found = registry.findings(
        findings2_recovery,
        targets=recovery[0],
        runs=recovery[1],
        recovery_m=20,
        recovery_N=300,
        published=PUBLISHED,
    )
    assert {finding.id for finding in found} == set(registry.makers(findings2_recovery))
    found = Found(findings2, toys=toys, scan=scan, N=800, published_toys=50)
    assert found["e2.large_mu"]
    level = found["e2.scan_level_lr"]
    assert level.toys == 50
    assert level.value == pytest.approx(toys["auc_lr"].mean())
