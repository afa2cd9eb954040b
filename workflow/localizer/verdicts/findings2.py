"""What Experiment II found, for the scoreboard: one finding for each published row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from localizer.base.randomness import stream
from localizer.experiments import experiment2
from localizer.models.toys import latent_location
from localizer.verdicts.board import Finding, ensemble, realization, statement


def of_toys(toys: pd.DataFrame, *, model: experiment2.LatentModel, N: int) -> list[Finding]:
    """Return what the toys at one size say."""
    # two centred normals of the plane: |x|^2 is exponential, so one exponential beats another
    at_origin = 1 / (1 + model.sigma_s**2)
    part = toys[toys["N"] == N]
    difference = part["auc_loo"] - part["auc_independent"]
    gain = _pull(difference)
    control = _pull(part["auc_independent"] - 0.5)
    by_size = part.sort_values("mu_norm")
    fifth = max(2, len(by_size) // 5)
    near, far = by_size.iloc[:fifth], by_size.iloc[-fifth:]
    small = {name: float(near[name].mean()) for name in ("auc_lr", "auc_loo")}
    large = {name: float(far[name].mean()) for name in ("auc_lr", "auc_loo")}
    gaps = [float((some["auc_mmd"] - some["auc_loo"]).mean()) for some in (near, far)]
    follows = float(stats.spearmanr(part["mu_norm"], part["auc_lr"]).statistic)
    return [
        realization("e2.one_mu_norm", part["mu_norm"], note="among draws from the prior"),
        statement(
            "e2.varies_with_mu",
            follows > 0.5,
            value=follows,
            note="rank correlation of |mu| and the oracle's AUC over toys; the AUC has a standard "
            f"deviation of {part['auc_lr'].std(ddof=1):.3f}",
        ),
        ensemble("e2.auc_lr", part["auc_lr"]),
        ensemble("e2.auc_mmd", part["auc_mmd"]),
        ensemble("e2.auc_loo_shared", part["auc_loo"], note="exact LOO in every toy"),
        ensemble("e2.auc_loo_independent", part["auc_independent"], note="exact LOO in every toy"),
        ensemble("e2.auc_difference", difference, note="exact LOO in every toy"),
        statement(
            "e2.gain_needs_sharing",
            gain > 5 > abs(control),
            value=gain,
            note=f"shared minus independent over its error; the control is {control:.1f} errors "
            "from 1/2",
        ),
        statement(
            "e2.small_mu",
            at_origin < 0.55,
            value=at_origin,
            note="exact AUC of the oracle at mu = 0: signal and background still differ in width, "
            f"so it tends to 1/(1 + sigma_s^2); in the fifth of toys with the smallest mu the "
            f"oracle has {small['auc_lr']:.3f} and LOO {small['auc_loo']:.3f}, with the largest "
            f"{large['auc_lr']:.3f} and {large['auc_loo']:.3f}",
        ),
        statement(
            "e2.large_mu",
            gaps[1] < gaps[0],
            value=gaps[1],
            note=f"mean gap in the fifth with the largest mu; with the smallest {gaps[0]:.3f}",
        ),
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
    changes = {name: _pull(table[largest] - table[smallest]) for name, table in by_toy.items()}
    steps = {name: float((t[largest] - t[smallest]).mean()) for name, t in by_toy.items()}
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
            all(abs(steps[name]) < 0.02 for name in ("auc_lr", "auc_mmd")),
            value=steps["auc_lr"],
            note=f"change of the mean AUC from N = {smallest} to {largest}; "
            f"MMD {steps['auc_mmd']:+.4f}",
        ),
        statement(
            "e2.scan_control",
            worst < 4,
            value=worst,
            note=f"largest distance from 1/2 in standard errors among {len(controls)} sizes",
        ),
        statement(
            "e2.gap_closes",
            closing > 5 and max(rises) < 3,
            value=closing,
            note=f"fall of the gap to the known-mu witness from N = {smallest} to {largest} over "
            f"its error; the smallest fall of a step is {-max(rises):.1f} of its errors",
        ),
        statement(
            "e2.scan_only_shared_improves",
            changes["auc_loo"] > 5
            and all(abs(changes[name]) < 5 for name in ("auc_lr", "auc_mmd", "auc_independent")),
            value=changes["auc_loo"],
            note="change of the LOO witness over its error; of the others "
            + ", ".join(f"{n} {c:.1f}" for n, c in changes.items() if n != "auc_loo"),
        ),
    ]


def of_recovery(
    targets: pd.DataFrame,
    runs: pd.DataFrame,
    *,
    m: int,
    N: int,
    nearly: float,
    published: Mapping[str, float],
) -> list[Finding]:
    """Return the one-toy values by their rank, and what the ensemble shows of their order.

    Parameters
    ----------
    targets, runs
        One row for each toy, and for each toy, R and estimator.
    m, N
        The sizes of a batch and of a toy.
    nearly
        Which relative difference of two errors counts as nearly none.
    published
        The printed values, by the names of their rows.
    """
    largest = int(runs["R"].max())
    pairs = largest * m * (m - 1) / (N * (N - 1))
    found = [
        Finding("e2.exposure", largest * m / N, 0.0),
        statement(
            "e2.direct_cost",
            pairs > 1,
            value=pairs,
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
        statement(
            "e2.excursion",
            3 * spread > max(seen.values()),
            value=spread,
            note="root mean square distance of an estimator's AUC from its exact target over toys; "
            "the published excursions are "
            + " and ".join(f"{value:.4f} ({name})" for name, value in seen.items()),
        ),
        statement(
            "e2.remaining_loss",
            _pull(loss) > 5,
            value=float(loss.mean()),
            note="mean AUC of the known-mu witness less that of the exact LOO target, which no "
            f"number of batches regains, over {len(loss)} toys of the same |mu|",
        ),
        statement(
            "e2.target_is_loo",
            min(alike) > 0.999,
            value=min(alike),
            note="smallest correlation of pair target and LOO witness over all toys; effectively "
            "identical means above 0.999",
        ),
        statement(
            "e2.converge_to_target",
            all(late > soon for late, soon in zip(final, early, strict=True)) and min(final) > 0.8,
            value=min(final),
            note="smallest median correlation with the LOO witness at the largest R; at the "
            f"smallest R it is {min(early):.2f}",
        ),
        statement(
            "e2.indistinguishable",
            max(differences) < nearly,
            value=max(differences),
            note="median over toys of the relative difference of their errors, the root of q_rho, "
            f"at the largest R, in the construction where it is larger; nearly means {nearly:g}",
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
            p > 0.001,
            value=p,
            note=f"p of Kolmogorov-Smirnov tests in {len(tests)} projections, {draws} independent "
            f"events of each class; the largest distance is {distance:.4f}",
        ),
        statement(
            "e2.cross_covariance",
            abs(covariance) < 5,
            value=covariance,
            note=f"simulated minus {gamma:g} over its error, {draws} pairs",
        ),
        statement(
            "e2.predictive_mean",
            abs(residual) < 5,
            value=residual,
            note="covariance of the residual with the first event over its error",
        ),
        statement(
            "e2.predictive_variance",
            abs(narrow) < 5,
            value=narrow,
            note=f"variance of the residual less {1 - gamma**2:g} over its error",
        ),
        statement(
            "e2.average_witness",
            abs(average) < 5,
            value=average,
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
            abs(farthest) < 5 and float(shares.max()) < 1,
            value=farthest,
            note="what the ensemble knows plus what it lacks, simulated, less the oracle's "
            f"information by quadrature, over its error, {len(sums)} sizes; the ensemble has "
            f"{shares.iloc[0]:.2f} of it at N = {shares.index[0]} and {shares.iloc[-1]:.2f} at "
            f"N = {shares.index[-1]}",
        ),
        statement(
            "e2.companion_information",
            numbers["companion_shared"] > 0,
            value=float(numbers["companion_shared"]),
            note="nats from one companion, by quadrature",
        ),
        statement(
            "e2.context_information",
            pull > 5 and numbers["grid_error"] < 1e-8,
            value=float(largest["information_contextual"].mean()),
            note=f"nats at the largest N, measured with the true labels, {pull:.0f} standard "
            "errors from zero",
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
