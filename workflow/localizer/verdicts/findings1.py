"""What Experiment I found with toys, resampling and the null, one function a published id."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.experiments import experiment1
from localizer.models.gaussian import GaussianBenchmark
from localizer.verdicts.board import (
    Finding,
    ensemble,
    in_errors,
    pulled,
    realization,
    statement,
)
from localizer.verdicts.registry import finding

EXACT_LOO = "exact LOO in every toy"

# --- closed forms, and what fixed numbers of events do -------------------------------------


@finding("e1.mmd2_sb")
def mmd2_sb(model: GaussianBenchmark) -> Finding:
    """Return MMD^2(S, B) in closed form."""
    return Finding(value=model.D_SB, error=0.0)


@finding("e1.delta_g")
def delta_g(model: GaussianBenchmark, m: int) -> Finding:
    """Return the class separation of G at one m in closed form."""
    return Finding(value=model.class_separation(m), error=0.0)


@finding("e1.fixed_counts")
def fixed_counts(
    model: GaussianBenchmark, seed: int, *, N: int = 1000, samples: int = 20_000
) -> Finding:
    """Return how much of the fluctuation of the empirical witness fixed numbers take away."""
    share = _composition_share(model)
    free, fixed = (
        _variance_at_signal(
            stream(seed, "experiment1", "counts", name), model, N=N, samples=samples, fixed=is_fixed
        )
        for name, is_fixed in (("free", False), ("fixed", True))
    )
    removed = 1 - fixed / free
    # two sample variances of means of many events, which are normal
    error = (1 - share) * math.sqrt(4 / samples)
    return pulled(
        removed / error,
        off=(removed - share) / error,
        note=f"fixed numbers of events take away {removed:.4f} +- {error:.4f} of the variance "
        f"of the empirical witness at the signal's centre, {samples} samples of {N} events; "
        f"exact {share:.4f}",
    )


# --- toys ----------------------------------------------------------------------------------


@finding("e1.delta_g_toys")
def delta_g_toys(toys: pd.DataFrame, model: GaussianBenchmark, m: int) -> Finding:
    """Return the mean class separation over toys."""
    ratio = ensemble(toys["delta_G"] / model.class_separation(m))
    return ensemble(toys["delta_G"], note=f"{ratio.value:.5f} +- {ratio.error:.5f} of theory")


@finding("e1.delta_g_rms")
def delta_g_rms(toys: pd.DataFrame, model: GaussianBenchmark, m: int) -> Finding:
    """Return the spread over toys of the class separation over the exact one."""
    n = len(toys)
    rms = float((toys["delta_G"] / model.class_separation(m)).std(ddof=1))
    return Finding(
        value=rms,
        error=rms / math.sqrt(2 * n),
        n=n,
        spread=rms / math.sqrt(2),
        note="error of a standard deviation of normal toys",
    )


@finding("e1.auc_lr_one", "e1.auc_mmd_one", "e1.auc_loo_one")
def auc_one(name: str, toys: pd.DataFrame) -> Finding:
    """Return the AUC of single toys."""
    return realization(toys[name.removeprefix("e1.").removesuffix("_one")])


@finding("e1.auc_lr", "e1.auc_mmd")
def auc_known(name: str, toys: pd.DataFrame) -> Finding:
    """Return the mean AUC of a score that knows the signal."""
    return ensemble(toys[name.removeprefix("e1.")])


@finding("e1.auc_lr_minus_mmd")
def auc_lr_minus_mmd(toys: pd.DataFrame) -> Finding:
    """Return the mean AUC that the population witness loses to the likelihood ratio."""
    return ensemble(toys["auc_lr"] - toys["auc_mmd"])


@finding("e1.mmd_near_optimal")
def mmd_near_optimal(toys: pd.DataFrame) -> Finding:
    """Return the same as a claim."""
    loss = auc_lr_minus_mmd(toys)
    return statement(
        loss.value or 0.0, error=loss.error, note="mean AUC lost to the likelihood ratio"
    )


@finding("e1.auc_loo")
def auc_loo(toys: pd.DataFrame) -> Finding:
    """Return the mean AUC of the LOO witness."""
    return ensemble(toys["auc_loo"], note=EXACT_LOO)


@finding("e1.auc_mmd_minus_loo")
def auc_mmd_minus_loo(toys: pd.DataFrame) -> Finding:
    """Return the mean AUC that the LOO witness loses to the population witness."""
    return ensemble(toys["auc_mmd"] - toys["auc_loo"], note=EXACT_LOO)


@finding("e1.loo_loss_larger")
def loo_loss_larger(toys: pd.DataFrame) -> Finding:
    """Return the loss of the LOO witness over that of the population witness."""
    gap = toys["auc_lr"] - toys["auc_mmd"]
    loss = toys["auc_mmd"] - toys["auc_loo"]
    ratio = float(loss.mean() / gap.mean())
    return statement(
        ratio,
        error=float((loss - ratio * gap).std(ddof=1)) / math.sqrt(len(toys)) / abs(gap.mean()),
        note="mean loss of the LOO witness over that of the population witness",
    )


@finding("e1.loo_loss_varies")
def loo_loss_varies(toys: pd.DataFrame) -> Finding:
    """Return the spread of the LOO witness's loss over its mean."""
    loss = toys["auc_mmd"] - toys["auc_loo"]
    varies = float(loss.std(ddof=1) / loss.mean())
    return statement(
        varies,
        error=abs(varies) / math.sqrt(2 * len(toys)),
        note="standard deviation of the loss over its mean",
    )


@finding("e1.auc_loo_extreme")
def auc_loo_extreme(toys: pd.DataFrame, loo_toys: int, seed: int) -> Finding:
    """Return the smallest AUC among as many toys as the author had."""
    rng = stream(seed, "experiment1", "minima")
    return realization(
        experiment1.minima(toys["auc_loo"], loo_toys, rng, draws=1000),
        note=f"among the smallest of {loo_toys} toys, drawn 1000 times from {len(toys)}",
    )


# --- the residual field --------------------------------------------------------------------


@finding("e1.correlated_field")
def correlated_field(model: GaussianBenchmark) -> Finding:
    """Return the correlation of the empirical witness at two places."""
    near, across = (_field_correlation(model, at) for at in ((-0.5, 0.0), (-3.0, 0.0)))
    return statement(
        near,
        note="exact correlation of the empirical witness at the signal's centre and half a "
        f"unit from it; on the opposite side of the background it is {across:.2f}",
    )


@finding("e1.extreme_field")
def extreme_field(field: pd.DataFrame, model: GaussianBenchmark) -> Finding:
    """Return the residual of the worst toy's witness at the signal, and across from it."""
    at_signal, opposite = experiment1.field_contrast(field, model)
    return statement(
        at_signal,
        opposite=opposite,
        note="mean residual of the worst toy at the signal; on the opposite side it is "
        f"{opposite:.2e}",
    )


# --- resampling and the null ---------------------------------------------------------------


@finding("e1.resampled_is_analytic")
def resampled_is_analytic(scores: pd.DataFrame) -> Finding:
    """Return how far the resampled scores of each class are from the analytic line."""
    pulls = (scores["raw"] - scores["G"]) / np.sqrt(scores["raw_variance"] / scores["contexts"])
    signal, background = (pulls[scores["signal"] == label] for label in (True, False))
    squares = [float(np.mean(some**2)) for some in (signal, background)]
    excess = [
        (square - 1) * math.sqrt(some.size / 2)
        for square, some in zip(squares, (signal, background), strict=True)
    ]
    return pulled(
        max(excess, key=abs),
        offset=max(abs(some.mean()) * math.sqrt(some.size) for some in (signal, background)),
        note="excess of the chi-square of a class about the analytic line in standard "
        f"deviations; mean squared pulls: signal {squares[0]:.2f}, background "
        f"{squares[1]:.2f}; offset: the largest mean pull of a class in its errors",
    )


@finding("e1.residual_scaling")
def residual_scaling(scaling: pd.DataFrame) -> Finding:
    """Return how far the RMS residual is from R^(-1/2), and over how many decades."""
    exponent = np.polyfit(np.log(scaling["contexts"]), np.log(scaling["rms"]), 1)[0]
    # prefixes of one run are correlated; the largest pull is judged for one of them
    return statement(
        float(scaling["pull"].abs().max()),
        error=1.0,
        decades=math.log10(scaling["contexts"].max() / scaling["contexts"].min()),
        note="largest distance of a point from the exact R^(-1/2) line in standard errors; "
        f"fitted exponent {exponent:.3f}",
    )


@finding("e1.null_probe")
def null_probe_score(null_probe: pd.DataFrame, contexts: int) -> Finding:
    """Return the score of the extreme event among background; the first replica is the result."""
    errors = null_probe["standard_error"]
    return Finding(
        value=float(null_probe["score"].iloc[0]),
        error=float(null_probe["exact_standard_error"].iloc[0]),
        n=contexts,
        note=f"its error is exact; the sample errors of {len(null_probe)} replicas are "
        f"{errors.mean():.4e} +- {errors.std(ddof=1):.0e}",
    )


@finding("e1.null_probe_is_zero")
def null_probe_is_zero(null_probe: pd.DataFrame) -> Finding:
    """Return the mean score of the replicas over its exact error."""
    exact = float(null_probe["exact_standard_error"].iloc[0])
    replicas = len(null_probe)
    return pulled(
        float(null_probe["score"].mean()) / exact * math.sqrt(replicas),
        note=f"mean score of {replicas} replicas over its exact standard error, "
        f"{exact / math.sqrt(replicas):.1e}: a score of three of these would be seen",
    )


@finding("e1.self_inclusive_tail")
def self_inclusive_tail(self_influence: pd.DataFrame) -> Finding:
    """Return how both witnesses score the extreme event at the exact null."""
    inclusive, loo = (in_errors(self_influence[name]) for name in ("self_inclusive", "loo"))
    rounding = float(self_influence["difference"].max())
    return statement(
        inclusive,
        error=1.0,
        loo=(loo, 1.0),
        distance=rounding,
        note=f"mean score at the extreme event over its error; LOO {loo:.2f}; the two "
        f"differ as eq. self-difference says to {rounding:.0e}",
    )


# --- helpers -------------------------------------------------------------------------------


def _variance_at_signal(
    rng: np.random.Generator, model: GaussianBenchmark, *, N: int, samples: int, fixed: bool
) -> float:
    """Return the variance over samples of the mean kernel at the signal's centre."""
    signals = np.full(samples, round(model.epsilon * N))
    if not fixed:
        signals = rng.binomial(N, model.epsilon, samples)
    scale = 2 * model.h**2
    means = np.empty(samples)
    for sample, n in enumerate(signals):
        # the distance from the signal's centre is all that the kernel sees
        x = rng.standard_normal((N, model.d))
        x[:n] *= model.sigma_s
        x[n:] -= model.mean
        means[sample] = np.exp(-np.einsum("ij,ij->i", x, x) / scale).mean()
    return float(means.var(ddof=1))


def _field_correlation(model: GaussianBenchmark, step: tuple[float, float]) -> float:
    """Return the correlation of the empirical witness at the signal's centre and a step away.

    The product of two kernels in X is one of bandwidth h / sqrt(2) about the middle.
    """
    one = np.array([model.mean])
    other = one + np.array([step])
    squared = replace(model, h=model.h / math.sqrt(2))

    def mean(each: GaussianBenchmark, x: Array) -> float:
        return float(each.epsilon * each.a_S(x)[0] + (1 - each.epsilon) * each.a_B(x)[0])

    def covariance(x: Array, y: Array) -> float:
        damping = math.exp(-float(np.sum((x - y) ** 2)) / (4 * model.h**2))
        return damping * mean(squared, (x + y) / 2) - mean(model, x) * mean(model, y)

    return covariance(one, other) / math.sqrt(covariance(one, one) * covariance(other, other))


def _composition_share(model: GaussianBenchmark) -> float:
    """Return what independent labels add to Var k(mu, X), over the whole of it."""
    at = np.array([model.mean])
    # k_h^2 is the kernel of bandwidth h / sqrt(2)
    squared = replace(model, h=model.h / math.sqrt(2))
    epsilon = model.epsilon
    a_S, a_B = float(model.a_S(at)[0]), float(model.a_B(at)[0])
    second = float(epsilon * squared.a_S(at)[0] + (1 - epsilon) * squared.a_B(at)[0])
    first = epsilon * a_S + (1 - epsilon) * a_B
    return epsilon * (1 - epsilon) * (a_S - a_B) ** 2 / (second - first**2)
