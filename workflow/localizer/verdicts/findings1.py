"""What Experiment I found, for the scoreboard: one finding for each published row.

A finding gives numbers; resources/published.csv defines when a claim holds.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.experiments import experiment1
from localizer.models.gaussian import GaussianBenchmark
from localizer.verdicts.board import Finding, ensemble, pulled, realization, statement


def of_targets(
    model: GaussianBenchmark, m: int, *, seed: int, N: int = 1000, samples: int = 20_000
) -> list[Finding]:
    """Return the closed forms, and what fixed numbers of events do to the fluctuations."""
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
    return [
        Finding("e1.mmd2_sb", model.D_SB, 0.0),
        Finding("e1.delta_g", model.class_separation(m), 0.0),
        pulled(
            "e1.fixed_counts",
            removed / error,
            off=(removed - share) / error,
            note=f"fixed numbers of events take away {removed:.4f} +- {error:.4f} of the variance "
            f"of the empirical witness at the signal's centre, {samples} samples of {N} events; "
            f"exact {share:.4f}",
        ),
    ]


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


def of_toys(
    toys: pd.DataFrame, model: GaussianBenchmark, *, m: int, loo_toys: int, seed: int
) -> list[Finding]:
    """Return what the pseudoexperiments say."""
    ratio = toys["delta_G"] / model.class_separation(m)
    n = len(ratio)
    rms = float(ratio.std(ddof=1))
    lr_mmd = toys["auc_lr"] - toys["auc_mmd"]
    mmd_loo = toys["auc_mmd"] - toys["auc_loo"]
    smallest = experiment1.minima(
        toys["auc_loo"], loo_toys, stream(seed, "experiment1", "minima"), draws=1000
    )
    loss, gap = float(mmd_loo.mean()), float(lr_mmd.mean())
    varies = float(mmd_loo.std(ddof=1)) / loss
    ratio_error = float((mmd_loo - loss / gap * lr_mmd).std(ddof=1)) / math.sqrt(n) / abs(gap)
    return [
        ensemble(
            "e1.delta_g_toys",
            toys["delta_G"],
            note=f"{ratio.mean():.5f} +- {rms / math.sqrt(n):.5f} of theory",
        ),
        Finding(
            "e1.delta_g_rms",
            rms,
            rms / math.sqrt(2 * n),
            n,
            spread=rms / math.sqrt(2),
            note="error of a standard deviation of normal toys",
        ),
        realization("e1.auc_lr_one", toys["auc_lr"]),
        realization("e1.auc_mmd_one", toys["auc_mmd"]),
        realization("e1.auc_loo_one", toys["auc_loo"]),
        ensemble("e1.auc_lr", toys["auc_lr"]),
        ensemble("e1.auc_mmd", toys["auc_mmd"]),
        ensemble("e1.auc_lr_minus_mmd", lr_mmd),
        statement(
            "e1.mmd_near_optimal",
            gap,
            error=float(lr_mmd.std(ddof=1)) / math.sqrt(n),
            note="mean AUC lost to the likelihood ratio",
        ),
        ensemble("e1.auc_loo", toys["auc_loo"], note="exact LOO in every toy"),
        ensemble("e1.auc_mmd_minus_loo", mmd_loo, note="exact LOO in every toy"),
        statement(
            "e1.loo_loss_larger",
            loss / gap,
            error=ratio_error,
            note="mean loss of the LOO witness over that of the population witness",
        ),
        statement(
            "e1.loo_loss_varies",
            varies,
            error=abs(varies) / math.sqrt(2 * n),
            note="standard deviation of the loss over its mean",
        ),
        realization(
            "e1.auc_loo_extreme",
            smallest,
            note=f"among the smallest of {loo_toys} toys, drawn 1000 times from {n}",
        ),
    ]


def of_field(field: pd.DataFrame, model: GaussianBenchmark) -> list[Finding]:
    """Return what the worst toy's residual field looks like."""
    at_signal, opposite = experiment1.field_contrast(field, model)
    near, across = (_field_correlation(model, at) for at in ((-0.5, 0.0), (-3.0, 0.0)))
    return [
        statement(
            "e1.correlated_field",
            near,
            note="exact correlation of the empirical witness at the signal's centre and half a "
            f"unit from it; on the opposite side of the background it is {across:.2f}",
        ),
        statement(
            "e1.extreme_field",
            at_signal,
            opposite=opposite,
            note="mean residual of the worst toy at the signal; on the opposite side it is "
            f"{opposite:.2e}",
        ),
    ]


def of_resampling(scores: pd.DataFrame, scaling: pd.DataFrame) -> list[Finding]:
    """Return how explicit resampling compares with the analytic score."""
    pulls = (scores["raw"] - scores["G"]) / np.sqrt(scores["raw_variance"] / scores["contexts"])
    classes = [pulls[scores["signal"] == label] for label in (True, False)]
    by_class = [float(np.mean(some**2)) for some in classes]
    fit = np.polyfit(np.log(scaling["contexts"]), np.log(scaling["rms"]), 1)
    decades = math.log10(scaling["contexts"].max() / scaling["contexts"].min())
    # prefixes of one run are correlated; the largest pull is judged for one of them
    worst = float(scaling["pull"].abs().max())
    excess = [(np.mean(some**2) - 1) * math.sqrt(some.size / 2) for some in classes]
    offset = max(abs(some.mean()) * math.sqrt(some.size) for some in classes)
    return [
        pulled(
            "e1.resampled_is_analytic",
            max(excess, key=abs),
            offset=offset,
            note="excess of the chi-square of a class about the analytic line in standard "
            f"deviations; mean squared pulls: signal {by_class[0]:.2f}, background "
            f"{by_class[1]:.2f}; offset: the largest mean pull of a class in its errors",
        ),
        statement(
            "e1.residual_scaling",
            worst,
            error=1.0,
            decades=decades,
            note="largest distance of a point from the exact R^(-1/2) line in standard errors; "
            f"fitted exponent {fit[0]:.3f}",
        ),
    ]


def of_null_probe(replicas: pd.DataFrame, contexts: int) -> list[Finding]:
    """Return the extreme event among background companions; the first replica is the result."""
    first = replicas.iloc[0]
    exact = float(first["exact_standard_error"])
    together = float(replicas["score"].mean()) / exact * math.sqrt(len(replicas))
    return [
        Finding(
            "e1.null_probe",
            float(first["score"]),
            exact,
            contexts,
            note="its error is exact; the sample errors of "
            f"{len(replicas)} replicas are {replicas['standard_error'].mean():.4e} +- "
            f"{replicas['standard_error'].std(ddof=1):.0e}",
        ),
        pulled(
            "e1.null_probe_is_zero",
            together,
            note=f"mean score of {len(replicas)} replicas over its exact standard error, "
            f"{exact / math.sqrt(len(replicas)):.1e}: a score of three of these would be seen",
        ),
    ]


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


def of_self_influence(probe: pd.DataFrame) -> list[Finding]:
    """Return how both witnesses score the extreme event at the exact null."""
    pulls = {
        name: float(probe[name].mean() / (probe[name].std(ddof=1) / math.sqrt(len(probe))))
        for name in ("self_inclusive", "loo")
    }
    rounding = float(probe["difference"].max())
    return [
        statement(
            "e1.self_inclusive_tail",
            pulls["self_inclusive"],
            error=1.0,
            loo=(pulls["loo"], 1.0),
            distance=rounding,
            note=f"mean score at the extreme event over its error; LOO {pulls['loo']:.2f}; the two "
            f"differ as eq. self-difference says to {rounding:.0e}",
        )
    ]
