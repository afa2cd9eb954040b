"""What Experiment II found on information (secs. zero-info, information), one function an id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.experiments import experiment2
from localizer.models.toys import latent_location
from localizer.verdicts.board import Finding, in_errors, pulled, statement
from localizer.verdicts.registry import finding

# --- the identities of sec. zero-info, simulated -------------------------------------------


class Pairs(NamedTuple):
    """Two signal events for each of many draws of mu, and one background event."""

    mu: Array
    one: Array
    other: Array
    background: Array
    gamma: float


def signal_pairs(seed: int, model: experiment2.LatentModel, *, draws: int = 20000) -> Pairs:
    """Return draws of mu with two signal events each."""
    rng = stream(seed, "experiment2", "identities")
    mu = np.array([latent_location(rng, d=model.d, sigma_s=model.sigma_s) for _ in range(draws)])
    one, other = (mu + model.sigma_s * rng.standard_normal(mu.shape) for _ in range(2))
    return Pairs(mu, one, other, rng.standard_normal(mu.shape), 1 - model.sigma_s**2)


@finding("e2.auc_single")
def auc_single(pairs: Pairs) -> Finding:
    """Return whether a single event's distribution tells signal from background.

    One signal event of each draw: events of one toy share mu and are not independent.
    """
    columns = [*zip(pairs.one.T, pairs.background.T, strict=True)]
    columns.append((np.linalg.norm(pairs.one, axis=1), np.linalg.norm(pairs.background, axis=1)))
    tests = [stats.ks_2samp(signal, other) for signal, other in columns]
    return statement(
        min(1.0, len(tests) * min(float(test.pvalue) for test in tests)),
        note=f"p of Kolmogorov-Smirnov tests in {len(tests)} projections, {len(pairs.one)} "
        "independent events of each class; the largest distance is "
        f"{max(float(test.statistic) for test in tests):.4f}",
    )


@finding("e2.cross_covariance")
def cross_covariance(pairs: Pairs) -> Finding:
    """Return how far the covariance of two signal events is from gamma."""
    return pulled(
        in_errors((pairs.one * pairs.other).ravel() - pairs.gamma),
        note=f"simulated minus {pairs.gamma:g} over its error, {len(pairs.one)} pairs",
    )


@finding("e2.predictive_mean")
def predictive_mean(pairs: Pairs) -> Finding:
    """Return how far the mean of another signal event is from gamma times the first."""
    return pulled(
        in_errors(((pairs.other - pairs.gamma * pairs.one) * pairs.one).ravel()),
        note="covariance of the residual with the first event over its error",
    )


@finding("e2.predictive_variance")
def predictive_variance(pairs: Pairs) -> Finding:
    """Return how far the variance about that mean is from 1 - gamma^2."""
    exact = 1 - pairs.gamma**2
    return pulled(
        in_errors(((pairs.other - pairs.gamma * pairs.one) ** 2).ravel() - exact),
        note=f"variance of the residual less {exact:g} over its error",
    )


@finding("e2.average_witness")
def average_witness(pairs: Pairs, model: experiment2.LatentModel) -> Finding:
    """Return how far the mean witness over mu is from zero."""
    at = np.array([[0.0, 0.0], [1.0, 0.5], [2.5, 0.0]])
    witnesses = np.array([model.given(each).witness(at) for each in pairs.mu])
    largest = float(np.abs(witnesses.mean(axis=0) / witnesses.std(axis=0)).max())
    return pulled(
        max((in_errors(values) for values in witnesses.T), key=abs),
        note=f"mean over {len(pairs.mu)} draws of mu over its error, the largest of three points; "
        f"it is {largest:.1e} of the witness's own spread",
    )


# --- nats ----------------------------------------------------------------------------------


@finding("e2.oracle_gap")
def oracle_gap(context: pd.DataFrame, numbers: Mapping[str, Any]) -> Finding:
    """Return what the ensemble knows of what the oracle does, and whether both add up.

    What the ensemble is expected to know and what is missing of the oracle's, by Monte Carlo,
    against all that the oracle knows, by quadrature.
    """
    both = context.assign(total=context["information_expected"] + context["information_gap"])
    sums = {int(N): in_errors(part["total"] - numbers["oracle"]) for N, part in both.groupby("N")}
    shares = both.groupby("N")["information_expected"].mean() / numbers["oracle"]
    return statement(
        max(sums.values(), key=abs),
        error=1.0,
        share=float(shares.max()),
        note="what the ensemble knows plus what it lacks, simulated, less the oracle's "
        f"information by quadrature, over its error, {len(sums)} sizes; the ensemble has "
        f"{shares.iloc[0]:.2f} of it at N = {shares.index[0]} and {shares.iloc[-1]:.2f} at "
        f"N = {shares.index[-1]}",
    )


@finding("e2.companion_information")
def companion_information(numbers: Mapping[str, Any]) -> Finding:
    """Return what one companion tells."""
    return statement(
        float(numbers["companion_shared"]), note="nats from one companion, by quadrature"
    )


@finding("e2.context_information")
def context_information(context: pd.DataFrame, numbers: Mapping[str, Any]) -> Finding:
    """Return what the whole context tells, over its error."""
    known = context[context["N"] == context["N"].max()]["information_contextual"]
    return statement(
        in_errors(known),
        error=1.0,
        grid=float(numbers["grid_error"]),
        note=f"{known.mean():.4f} nats an event at the largest N over their error: the gain in "
        "log-loss of the contextual posterior over the prior, averaged over the label given the "
        "true mu; grid is the error of the quadrature over mu",
    )
