"""What Experiment II found with toys of all sizes, one function a published id."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy import stats

from localizer.base import metrics
from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.experiments import experiment2
from localizer.verdicts.board import Finding, ensemble, in_errors, pulled, statement
from localizer.verdicts.registry import finding

EXACT_LOO = "exact LOO in every toy"
AUCS = ("auc_lr", "auc_mmd", "auc_loo", "auc_independent")

# --- toys of one size ----------------------------------------------------------------------


@finding("e2.varies_with_mu")
def varies_with_mu(toys: pd.DataFrame, N: int) -> Finding:
    """Return how closely the oracle's AUC follows |mu|."""
    part = _of_size(toys, N)
    follows = float(stats.spearmanr(part["mu_norm"], part["auc_lr"]).statistic)
    return statement(
        follows,
        error=(1 - follows**2) / math.sqrt(len(part)),
        note="rank correlation of |mu| and the oracle's AUC over toys; the AUC has a standard "
        f"deviation of {part['auc_lr'].std(ddof=1):.3f}",
    )


@finding("e2.auc_lr", "e2.auc_mmd")
def auc_known(name: str, toys: pd.DataFrame, N: int) -> Finding:
    """Return the mean AUC of a score that knows mu."""
    return ensemble(_of_size(toys, N)[name.removeprefix("e2.")])


@finding("e2.auc_loo_shared")
def auc_loo_shared(toys: pd.DataFrame, N: int) -> Finding:
    """Return the mean AUC of the LOO witness where the events share mu."""
    return ensemble(_of_size(toys, N)["auc_loo"], note=EXACT_LOO)


@finding("e2.auc_loo_independent")
def auc_loo_independent(toys: pd.DataFrame, N: int) -> Finding:
    """Return the same where each event has a mu of its own."""
    return ensemble(_of_size(toys, N)["auc_independent"], note=EXACT_LOO)


@finding("e2.auc_difference")
def auc_difference(toys: pd.DataFrame, N: int) -> Finding:
    """Return what sharing mu gains."""
    part = _of_size(toys, N)
    return ensemble(part["auc_loo"] - part["auc_independent"], note=EXACT_LOO)


@finding("e2.gain_needs_sharing")
def gain_needs_sharing(toys: pd.DataFrame, N: int) -> Finding:
    """Return the gain of sharing mu over its error, and how far the control is from 1/2."""
    part = _of_size(toys, N)
    control = in_errors(part["auc_independent"] - 0.5)
    return pulled(
        in_errors(part["auc_loo"] - part["auc_independent"]),
        control=control,
        note=f"shared minus independent over its error; the control is {control:.1f} errors "
        "from 1/2",
    )


@finding("e2.large_mu")
def large_mu(toys: pd.DataFrame, N: int) -> Finding:
    """Return how the gap to the known-mu witness closes from small to large mu."""
    by_size = _of_size(toys, N).sort_values("mu_norm")
    fifth = max(2, len(by_size) // 5)
    near, far = by_size.iloc[:fifth], by_size.iloc[-fifth:]
    (small, error), (large, other) = (
        _mean(some["auc_mmd"] - some["auc_loo"]) for some in (near, far)
    )
    return statement(
        small - large,
        error=math.hypot(error, other),
        note=f"fall of the mean gap to the known-mu witness from the fifth of toys with the "
        f"smallest mu, {small:.3f}, to that with the largest, {large:.3f}",
    )


# --- a small mu, and scores that do not know it --------------------------------------------


@finding("e2.small_mu_oracle")
def small_mu_oracle(model: experiment2.LatentModel) -> Finding:
    """Return the oracle's AUC at mu = 0."""
    return statement(
        # two centred normals of the plane: |x|^2 is exponential, and one exponential beats another
        1 / (1 + model.sigma_s**2),
        note="exact AUC of the oracle at mu = 0: signal and background still differ in width, "
        "so that it tends to 1/(1 + sigma_s^2)",
    )


@finding("e2.small_mu_empirical")
def small_mu_empirical(
    model: experiment2.LatentModel,
    seed: int,
    N: int,
    sizes: Sequence[int],
    *,
    origin_toys: int = 25,
) -> Finding:
    """Return the AUC of the LOO witness at mu = 0: at the smallest size, N, and the largest."""
    origin = np.zeros(model.d)
    means = {}
    for size in sorted({min(sizes), N, max(sizes)}):
        samples = (
            model.sample(stream(seed, "experiment2", "origin", toy, size), size, origin)
            for toy in range(origin_toys)
        )
        means[size] = _mean(metrics.auc(model.loo(sample.x), sample.labels) for sample in samples)
    largest, error = means[max(means)]
    listed = ", ".join(f"{auc:.3f} at N = {size}" for size, (auc, _) in means.items())
    return statement(
        largest,
        error=error,
        note=f"mean AUC of the LOO witness at mu = 0 over {origin_toys} toys: {listed}; it grows "
        "with N, because the narrower signal can be learned",
    )


@finding("e2.no_fixed_score")
def no_fixed_score(
    model: experiment2.LatentModel, seed: int, N: int, *, scored_toys: int = 300
) -> Finding:
    """Return how fixed event scores do on average over toys with a shared mu."""
    guess = model.given([1.0] + [0.0] * (model.d - 1))
    scores: dict[str, Callable[[Array], Array]] = {
        "a coordinate": lambda x: x[:, 0],
        "the distance": lambda x: np.linalg.norm(x, axis=1),
        "the likelihood ratio of mu = (1, 0)": guess.log_likelihood_ratio,
        "its witness": guess.witness,
    }
    aucs: dict[str, list[float]] = {name: [] for name in scores}
    for toy in range(scored_toys):
        sample = experiment2.toy_sample(seed, toy, "shared", model=model, N=N)
        for name, score in scores.items():
            aucs[name].append(metrics.auc(score(sample.x), sample.labels))
    found = {name: ensemble(values) for name, values in aucs.items()}
    worst = max(found.values(), key=lambda each: abs((each.value or 0.0) - 0.5))
    listed = ", ".join(
        f"{name} {each.value:.3f} +- {each.error:.3f} (spread {each.spread:.2f})"
        for name, each in found.items()
    )
    return statement(
        worst.value or 0.0,
        error=worst.error,
        note=f"mean AUC, farthest from 1/2, of fixed scores over {scored_toys} toys with a mu of "
        f"their own: {listed}",
    )


# --- the scan of N -------------------------------------------------------------------------


@finding("e2.scan_level_lr", "e2.scan_level_mmd")
def scan_level(name: str, toys: pd.DataFrame, scan: pd.DataFrame, published_toys: int) -> Finding:
    """Return the AUC of a score that knows mu, over all N."""
    levels = _by_toy(toys, scan)[name.replace("e2.scan_level", "auc")].mean(axis=1)
    return replace(ensemble(levels, note="mean over all N"), toys=published_toys)


@finding("e2.scan_constant")
def scan_constant(toys: pd.DataFrame, scan: pd.DataFrame) -> Finding:
    """Return how the AUC of the scores that know mu changes with N."""
    steps = _steps(toys, scan)
    mmd, error = _mean(steps["auc_mmd"])
    level, level_error = _mean(steps["auc_lr"])
    return statement(
        level,
        error=level_error,
        mmd=(mmd, error),
        note=f"change of the mean AUC from N = {scan['N'].min()} to {scan['N'].max()}, likelihood "
        f"ratio; MMD {mmd:+.4f}",
    )


@finding("e2.scan_control")
def scan_control(toys: pd.DataFrame, scan: pd.DataFrame) -> Finding:
    """Return how far the independent control is from 1/2 at any N."""
    control = _by_toy(toys, scan)["auc_independent"]
    return pulled(
        max(abs(in_errors(control[N] - 0.5)) for N in scan["N"]),
        note=f"largest distance from 1/2 in standard errors among {len(scan)} sizes",
    )


@finding(*(f"e2.auc_loo_{N}" for N in (500, 1000, 2000, 5000, 10000, 20000)))
def scan_auc_loo(
    name: str, toys: pd.DataFrame, scan: pd.DataFrame, published_toys: int
) -> Finding | None:
    """Return the mean AUC of the LOO witness at one N; the author's number of toys is inferred."""
    values = _by_toy(toys, scan)["auc_loo"]
    N = int(name.removeprefix("e2.auc_loo_"))
    return replace(ensemble(values[N]), toys=published_toys) if N in values else None


@finding("e2.scan_only_shared_improves")
def scan_only_shared_improves(toys: pd.DataFrame, scan: pd.DataFrame) -> Finding:
    """Return how each AUC changes with N, over its error."""
    changes = {name.removeprefix("auc_"): in_errors(x) for name, x in _steps(toys, scan).items()}
    loo = changes.pop("loo")
    return pulled(
        loo,
        **changes,
        note="change of the LOO witness over its error, and of the others: "
        + ", ".join(f"auc_{name} {change:.1f}" for name, change in changes.items()),
    )


@finding("e2.gap_500", "e2.gap_20000")
def scan_gap(name: str, toys: pd.DataFrame, scan: pd.DataFrame) -> Finding | None:
    """Return the gap to the known-mu witness at one N."""
    gap = _gap(toys, scan)
    N = int(name.removeprefix("e2.gap_"))
    return ensemble(gap[N]) if N in gap else None


@finding("e2.gap_closes")
def gap_closes(toys: pd.DataFrame, scan: pd.DataFrame) -> Finding:
    """Return how the gap to the known-mu witness falls with N, and whether it ever rises."""
    gap = _gap(toys, scan)
    rises = [in_errors(gap[b] - gap[a]) for a, b in pairwise(sorted(scan["N"]))]
    smallest, largest = scan["N"].min(), scan["N"].max()
    return pulled(
        in_errors(gap[smallest] - gap[largest]),
        rise=max(rises),
        note=f"fall of the gap to the known-mu witness from N = {smallest} to {largest} over "
        "its error; rise is the largest of a step, over its error",
    )


@finding("e2.f_rec_20000")
def f_rec_20000(scan: pd.DataFrame) -> Finding | None:
    """Return the recovered fraction."""
    rows = scan.set_index("N")
    if 20000 not in rows.index:
        return None
    last = rows.loc[20000]
    return Finding(
        value=float(last["f_rec_mean_of_ratios"]),
        error=float(last["f_rec_mean_of_ratios_error"]),
        n=int(last["toys"]),
        note="mean over toys of their ratios, as the printed AUC, gap and fraction imply; "
        f"the ratio of means is {last['f_rec']:.4f} +- {last['f_rec_error']:.4f}",
    )


# --- helpers -------------------------------------------------------------------------------


def _of_size(toys: pd.DataFrame, N: int) -> pd.DataFrame:
    return toys[toys["N"] == N]


def _mean(values: Iterable[float]) -> tuple[float, float]:
    """Return a mean over toys and its error."""
    found = ensemble(values)
    return found.value or 0.0, found.error or 0.0


def _by_toy(toys: pd.DataFrame, scan: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return each AUC by toy and N, of the toys that every N of the scan has."""
    paired = toys[(toys["toy"] < scan["toys"].max()) & toys["N"].isin(scan["N"])]
    return {name: paired.pivot(index="toy", columns="N", values=name) for name in AUCS}


def _gap(toys: pd.DataFrame, scan: pd.DataFrame) -> pd.DataFrame:
    """Return what the LOO witness loses to the known-mu witness, by toy and N."""
    by_toy = _by_toy(toys, scan)
    return by_toy["auc_mmd"] - by_toy["auc_loo"]


def _steps(toys: pd.DataFrame, scan: pd.DataFrame) -> dict[str, pd.Series[float]]:
    """Return the change of each AUC from the smallest to the largest N, by toy."""
    smallest, largest = scan["N"].min(), scan["N"].max()
    return {name: table[largest] - table[smallest] for name, table in _by_toy(toys, scan).items()}
