"""What Experiment II found, for the scoreboard: one finding for each published row.

A finding gives numbers; resources/published.csv defines when a claim holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from localizer.base import metrics
from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.experiments import experiment2
from localizer.models.toys import latent_location
from localizer.verdicts.board import Finding, ensemble, pulled, realization, statement


def of_toys(toys: pd.DataFrame, *, N: int) -> list[Finding]:
    """Return what the toys at one size say."""
    part = toys[toys["N"] == N]
    difference = part["auc_loo"] - part["auc_independent"]
    gain = _pull(difference)
    control = _pull(part["auc_independent"] - 0.5)
    by_size = part.sort_values("mu_norm")
    fifth = max(2, len(by_size) // 5)
    near, far = by_size.iloc[:fifth], by_size.iloc[-fifth:]
    gaps = [ensemble("", some["auc_mmd"] - some["auc_loo"]) for some in (near, far)]
    values, errors = zip(*((gap.value or 0.0, gap.error or 0.0) for gap in gaps), strict=True)
    follows = float(stats.spearmanr(part["mu_norm"], part["auc_lr"]).statistic)
    return [
        statement(
            "e2.varies_with_mu",
            follows,
            error=(1 - follows**2) / math.sqrt(len(part)),
            note="rank correlation of |mu| and the oracle's AUC over toys; the AUC has a standard "
            f"deviation of {part['auc_lr'].std(ddof=1):.3f}",
        ),
        ensemble("e2.auc_lr", part["auc_lr"]),
        ensemble("e2.auc_mmd", part["auc_mmd"]),
        ensemble("e2.auc_loo_shared", part["auc_loo"], note="exact LOO in every toy"),
        ensemble("e2.auc_loo_independent", part["auc_independent"], note="exact LOO in every toy"),
        ensemble("e2.auc_difference", difference, note="exact LOO in every toy"),
        pulled(
            "e2.gain_needs_sharing",
            gain,
            control=control,
            note=f"shared minus independent over its error; the control is {control:.1f} errors "
            "from 1/2",
        ),
        statement(
            "e2.large_mu",
            values[0] - values[1],
            error=math.hypot(*errors),
            note=f"fall of the mean gap to the known-mu witness from the fifth of toys with the "
            f"smallest mu, {values[0]:.3f}, to that with the largest, {values[1]:.3f}",
        ),
    ]


def of_origin(
    seed: int, *, model: experiment2.LatentModel, sizes: Sequence[int], toys: int = 25
) -> list[Finding]:
    """Return the limit of a small mu: the AUC at mu = 0, of the oracle and of the LOO witness."""
    origin = np.zeros(model.d)
    means = {}
    for N in sizes:
        samples = (
            model.sample(stream(seed, "experiment2", "origin", toy, N), N, origin)
            for toy in range(toys)
        )
        means[N] = ensemble(
            "", (metrics.auc(model.loo(sample.x), sample.labels) for sample in samples)
        )
    largest = means[max(sizes)]
    listed = ", ".join(f"{found.value:.3f} at N = {N}" for N, found in means.items())
    return [
        statement(
            "e2.small_mu_oracle",
            # two centred normals of the plane: |x|^2 is exponential, and one exponential beats
            # another
            1 / (1 + model.sigma_s**2),
            note="exact AUC of the oracle at mu = 0: signal and background still differ in width, "
            "so that it tends to 1/(1 + sigma_s^2)",
        ),
        statement(
            "e2.small_mu_empirical",
            largest.value or 0.0,
            error=largest.error,
            note=f"mean AUC of the LOO witness at mu = 0 over {toys} toys: {listed}; it grows with "
            "N, because the narrower signal can be learned",
        ),
    ]


def of_fixed_scores(
    seed: int, *, model: experiment2.LatentModel, N: int, toys: int = 300
) -> list[Finding]:
    """Return how fixed event scores do on average over toys with a shared mu."""
    guess = model.given([1.0] + [0.0] * (model.d - 1))
    scores: dict[str, Callable[[Array], Array]] = {
        "a coordinate": lambda x: x[:, 0],
        "the distance": lambda x: np.linalg.norm(x, axis=1),
        "the likelihood ratio of mu = (1, 0)": guess.log_likelihood_ratio,
        "its witness": guess.witness,
    }
    aucs: dict[str, list[float]] = {name: [] for name in scores}
    for toy in range(toys):
        sample = experiment2.toy_sample(seed, toy, "shared", model=model, N=N)
        for name, score in scores.items():
            aucs[name].append(metrics.auc(score(sample.x), sample.labels))
    found = {name: ensemble("", values) for name, values in aucs.items()}
    worst = max(found.values(), key=lambda each: abs((each.value or 0.0) - 0.5))
    listed = ", ".join(
        f"{name} {each.value:.3f} +- {each.error:.3f} (spread {each.spread:.2f})"
        for name, each in found.items()
    )
    return [
        statement(
            "e2.no_fixed_score",
            worst.value or 0.0,
            error=worst.error,
            note=f"mean AUC, farthest from 1/2, of fixed scores over {toys} toys with a mu of "
            f"their own: {listed}",
        )
    ]


def of_n_scan(toys: pd.DataFrame, scan: pd.DataFrame, *, published_toys: int) -> list[Finding]:
    """Return the growth with N; the author's number of toys is inferred, not printed."""
    paired = toys[(toys["toy"] < scan["toys"].max()) & toys["N"].isin(scan["N"])]
    by_toy = {
        name: paired.pivot(index="toy", columns="N", values=name)
        for name in ("auc_lr", "auc_mmd", "auc_loo", "auc_independent")
    }
    rows = scan.set_index("N")
    smallest, largest = int(scan["N"].min()), int(scan["N"].max())
    found = []
    for name, column in (("e2.scan_level_lr", "auc_lr"), ("e2.scan_level_mmd", "auc_mmd")):
        levels = by_toy[column].mean(axis=1)
        found.append(_inferred(name, levels, published_toys, "mean over all N"))
    for N in scan["N"]:
        values = by_toy["auc_loo"][N]
        found.append(_inferred(f"e2.auc_loo_{int(N)}", values, published_toys, ""))
    steps = {name: ensemble("", t[largest] - t[smallest]) for name, t in by_toy.items()}
    changes = {name: (step.value or 0.0) / (step.error or 1.0) for name, step in steps.items()}
    controls = [_pull(by_toy["auc_independent"][N] - 0.5) for N in scan["N"]]
    worst = max(abs(pull) for pull in controls)
    loss = by_toy["auc_mmd"] - by_toy["auc_loo"]
    closing = _pull(loss[smallest] - loss[largest])
    order = sorted(int(N) for N in scan["N"])
    rises = [_pull(loss[b] - loss[a]) for a, b in pairwise(order)]
    for N in (500, 20000):
        if N in rows.index:
            gap = by_toy["auc_mmd"][N] - by_toy["auc_loo"][N]
            found.append(ensemble(f"e2.gap_{N}", gap))
    if 20000 in rows.index:
        last = rows.loc[20000]
        found.append(
            Finding(
                "e2.f_rec_20000",
                float(last["f_rec_mean_of_ratios"]),
                float(last["f_rec_mean_of_ratios_error"]),
                int(last["toys"]),
                note="mean over toys of their ratios, as the printed AUC, gap and fraction imply; "
                f"the ratio of means is {last['f_rec']:.4f} +- {last['f_rec_error']:.4f}",
            )
        )
    return [
        *found,
        statement(
            "e2.scan_constant",
            steps["auc_lr"].value or 0.0,
            error=steps["auc_lr"].error,
            mmd=(steps["auc_mmd"].value or 0.0, steps["auc_mmd"].error),
            note=f"change of the mean AUC from N = {smallest} to {largest}, likelihood ratio; "
            f"MMD {steps['auc_mmd'].value:+.4f}",
        ),
        pulled(
            "e2.scan_control",
            worst,
            note=f"largest distance from 1/2 in standard errors among {len(controls)} sizes",
        ),
        pulled(
            "e2.gap_closes",
            closing,
            rise=max(rises),
            note=f"fall of the gap to the known-mu witness from N = {smallest} to {largest} over "
            "its error; rise is the largest of a step, over its error",
        ),
        pulled(
            "e2.scan_only_shared_improves",
            changes["auc_loo"],
            **{name.removeprefix("auc_"): changes[name] for name in changes if name != "auc_loo"},
            note="change of the LOO witness over its error, and of the others: "
            + ", ".join(f"{n} {c:.1f}" for n, c in changes.items() if n != "auc_loo"),
        ),
    ]


def of_recovery(
    targets: pd.DataFrame,
    runs: pd.DataFrame,
    *,
    m: int,
    N: int,
    published: Mapping[str, float],
) -> list[Finding]:
    """Return the one-toy values by their rank, and what the ensemble shows of their order.

    Parameters
    ----------
    targets, runs
        One row for each toy, and for each toy, R and estimator.
    m, N
        The sizes of a batch and of a toy.
    published
        The printed values, by the names of their rows.
    """
    largest = int(runs["R"].max())
    pairs = largest * m * (m - 1) / (N * (N - 1))
    found = [
        Finding("e2.exposure", largest * m / N, 0.0),
        statement(
            "e2.direct_cost",
            pairs,
            note=f"kernel values in R = {largest} batches of m = {m} over those of the exact LOO "
            f"witness of {N} events: counted, not timed",
        ),
    ]
    excursions, differences, final, early, alike = [], [], [], [], []
    order = experiment2.probability_of_order(targets)
    for construction, prefix in (("shared", "e2.one"), ("independent", "e2.control")):
        exact = targets[targets["construction"] == construction]
        run = runs[runs["construction"] == construction]
        last = run[run["R"] == largest].pivot(index="toy", columns="estimator")
        first = run[run["R"] == run["R"].min()].pivot(index="toy", columns="estimator")
        alike.append(float(exact["rho_pair_target"].min()))
        if construction == "shared":
            found.append(realization("e2.one_auc_mmd", exact["auc_mmd"]))
            loss = exact["auc_mmd"] - exact["auc_loo"]
        found += [
            realization(f"{prefix}_auc_loo", exact["auc_loo"]),
            realization(f"{prefix}_auc_pair_target", exact["auc_pair_target"]),
            realization(f"{prefix}_rho_pair_target", exact["rho_pair_target"]),
        ]
        for estimator in ("marginal", "pair"):
            found += [
                realization(f"{prefix}_auc_{estimator}", last["auc"][estimator]),
                realization(
                    f"{prefix}_rho_{estimator}",
                    exact[f"rho_{estimator}"],
                    note="predicted for every toy from its own spread of the witness; the "
                    f"independent toy has the higher one with probability {order:.2f}",
                ),
            ]
            target = exact.set_index("toy")["auc_pair_target"].loc[last.index]
            excursions.append((last["auc"][estimator] - target).to_numpy())
            final.append(float(last["rho"][estimator].median()))
            early.append(float(first["rho"][estimator].median()))
        noise = {name: np.sqrt(last["rho"][name] ** -2 - 1) for name in ("marginal", "pair")}
        differences.append(float((noise["marginal"] / noise["pair"] - 1).abs().median()))
    shared = np.concatenate(excursions[:2])
    spread = float(np.sqrt(np.mean(shared**2)))
    seen = {
        name: published[f"e2.one_auc_{name}"] - published["e2.one_auc_pair_target"]
        for name in ("marginal", "pair")
    }
    return [
        *found,
        pulled(
            "e2.excursion",
            max(seen.values()) / spread,
            note="larger published excess of an estimator's AUC over its exact target, in root "
            f"mean square distances of ours over toys, {spread:.4f}; the published excesses are "
            + " and ".join(f"{value:.4f} ({name})" for name, value in seen.items()),
        ),
        pulled(
            "e2.remaining_loss",
            _pull(loss),
            note=f"mean AUC of the known-mu witness less that of the exact LOO target, "
            f"{loss.mean():.4f}, which no number of batches regains, over its error, {len(loss)} "
            "toys of the same |mu|",
        ),
        statement(
            "e2.target_is_loo",
            min(alike),
            note="smallest correlation of pair target and LOO witness over all toys",
        ),
        statement(
            "e2.converge_to_target",
            min(final),
            gain=min(late - soon for late, soon in zip(final, early, strict=True)),
            note="smallest median correlation with the LOO witness at the largest R; at the "
            f"smallest R it is {min(early):.2f}",
        ),
        statement(
            "e2.indistinguishable",
            max(differences),
            note="median over toys of the relative difference of their errors, the root of q_rho, "
            "at the largest R, in the construction where it is larger",
        ),
    ]


def of_model(seed: int, *, model: experiment2.LatentModel, draws: int = 20000) -> list[Finding]:
    """Return the identities of sec. zero-info, over draws of mu with two signal events each."""
    rng = stream(seed, "experiment2", "identities")
    gamma = 1 - model.sigma_s**2
    mu = np.array([latent_location(rng, d=model.d, sigma_s=model.sigma_s) for _ in range(draws)])
    one = mu + model.sigma_s * rng.standard_normal(mu.shape)
    other = mu + model.sigma_s * rng.standard_normal(mu.shape)
    covariance = _pull((one * other).ravel() - gamma)
    residual = _pull(((other - gamma * one) * one).ravel())
    narrow = _pull(((other - gamma * one) ** 2).ravel() - (1 - gamma**2))
    at = np.array([[0.0, 0.0], [1.0, 0.5], [2.5, 0.0]])
    witnesses = np.array([model.given(each).witness(at) for each in mu])
    average = max((_pull(values) for values in witnesses.T), key=abs)
    largest = float(np.abs(witnesses.mean(axis=0) / witnesses.std(axis=0)).max())
    # one signal event of each draw: events of one toy share mu and are not independent
    background = rng.standard_normal(one.shape)
    columns = [*zip(one.T, background.T, strict=True)]
    columns.append((np.linalg.norm(one, axis=1), np.linalg.norm(background, axis=1)))
    tests = [stats.ks_2samp(signal, other) for signal, other in columns]
    p = min(1.0, len(tests) * min(float(test.pvalue) for test in tests))
    distance = max(float(test.statistic) for test in tests)
    return [
        statement(
            "e2.auc_single",
            p,
            note=f"p of Kolmogorov-Smirnov tests in {len(tests)} projections, {draws} independent "
            f"events of each class; the largest distance is {distance:.4f}",
        ),
        pulled(
            "e2.cross_covariance",
            covariance,
            note=f"simulated minus {gamma:g} over its error, {draws} pairs",
        ),
        pulled(
            "e2.predictive_mean",
            residual,
            note="covariance of the residual with the first event over its error",
        ),
        pulled(
            "e2.predictive_variance",
            narrow,
            note=f"variance of the residual less {1 - gamma**2:g} over its error",
        ),
        pulled(
            "e2.average_witness",
            average,
            note=f"mean over {draws} draws of mu over its error, the largest of three points; it "
            f"is {largest:.1e} of the witness's own spread",
        ),
    ]


def of_context(context: pd.DataFrame, numbers: Mapping[str, Any]) -> list[Finding]:
    """Return the information of sec. information in nats.

    Parameters
    ----------
    context
        One row for each toy and N: what the ensemble and the oracle know.
    numbers
        What :func:`localizer.experiments.experiment2.context_numbers` returns.
    """
    largest = context[context["N"] == context["N"].max()]
    pull = _pull(largest["information_contextual"])
    # what the ensemble is expected to know and what is missing of the oracle's, by Monte Carlo,
    # against all that the oracle knows, by quadrature
    both = context.assign(total=context["information_expected"] + context["information_gap"])
    sums = {int(N): _pull(some["total"] - numbers["oracle"]) for N, some in both.groupby("N")}
    farthest = max(sums.values(), key=abs)
    shares = both.groupby("N")["information_expected"].mean() / numbers["oracle"]
    return [
        statement(
            "e2.oracle_gap",
            farthest,
            error=1.0,
            share=float(shares.max()),
            note="what the ensemble knows plus what it lacks, simulated, less the oracle's "
            f"information by quadrature, over its error, {len(sums)} sizes; the ensemble has "
            f"{shares.iloc[0]:.2f} of it at N = {shares.index[0]} and {shares.iloc[-1]:.2f} at "
            f"N = {shares.index[-1]}",
        ),
        statement(
            "e2.companion_information",
            float(numbers["companion_shared"]),
            note="nats from one companion, by quadrature",
        ),
        statement(
            "e2.context_information",
            pull,
            error=1.0,
            grid=float(numbers["grid_error"]),
            note=f"{largest['information_contextual'].mean():.4f} nats an event at the largest N "
            "over their error: the gain in log-loss of the contextual posterior over the prior, "
            "averaged over the label given the true mu; grid is the error of the quadrature over "
            "mu",
        ),
    ]


def _pull(values: Any) -> float:
    """Return a mean over its standard error."""
    array = np.asarray(values, dtype=float)
    return float(array.mean() / (array.std(ddof=1) / math.sqrt(array.size)))


def _inferred(name: str, values: Any, toys: int, note: str) -> Finding:
    """Return an ensemble finding whose published error is inferred from ``toys`` toys."""
    found = ensemble(name, values, note=note)
    return Finding(**{**found.as_dict(), "toys": toys})
