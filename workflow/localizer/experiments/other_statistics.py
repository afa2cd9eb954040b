"""What each statistic localizes on the benchmark of Experiment I, how well and at what cost.

The paper claims its localization for any symmetric statistic and shows it for MMD (secs.
marginal-principle, influence). Here the same toys, events and contexts serve several
statistics, all against the same reference sample; the likelihood ratio is the best order
of events that there is (sec. fully-specified-iid).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from localizer.base import metrics
from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.base.vocabulary import MATCHED_ESTIMATORS
from localizer.estimators import energy, localize, witness
from localizer.estimators.batch_statistic import Prepared
from localizer.estimators.energy import EnergyBackground
from localizer.estimators.localize import EVALUATIONS
from localizer.kernels.bank import EmpiricalBackground, GaussianBank
from localizer.models import toys
from localizer.models.gaussian import GaussianBenchmark


def toy(seed: int, number: int, *, model: GaussianBenchmark, N: int) -> toys.Sample:
    """Return a pseudoexperiment of the study, background first."""
    return toys.fixed_alternative(stream(seed, "statistics", "toy", number), N, model)


def large_sample(seed: int, *, model: GaussianBenchmark, N: int) -> toys.Sample:
    """Return a sample so large that a map shows the population's localizer, not a toy's noise."""
    return toys.fixed_alternative(stream(seed, "statistics", "large sample"), N, model)


def reference(seed: int, *, model: GaussianBenchmark, events: int) -> Array:
    """Return the background sample that stands for B, the same for all toys and statistics."""
    return toys.background(stream(seed, "statistics", "reference"), events, model.d)


def contexts(m: int, *, occurrences: int) -> int:
    """Return the contexts in which an event meets so many companions; 2 make an error."""
    return max(2, occurrences // m)


def exact_target(
    name: str, background: Array, bandwidths: Sequence[float]
) -> Callable[[Array], Array]:
    """Return the pair target of a statistic that has one (mmd, energy), and NaN of others.

    It is a function of the events: what depends on the background alone is computed once.
    """
    if name == "mmd":
        bank = GaussianBank(tuple(bandwidths))
        empirical = EmpiricalBackground(bank, background)
        return lambda x: witness.pair_target(x, bank, empirical)
    if name == "energy":
        distances = EnergyBackground(background)
        return lambda x: energy.pair_target(x, distances)
    return lambda x: np.full(len(x), np.nan)


def score_table(
    seed: int,
    number: int,
    sample: toys.Sample,
    statistic: Prepared,
    target: Array,
    *,
    model: GaussianBenchmark,
    m: int,
    R: int,
    signal: int,
    background: int,
    replacement: bool,
) -> pd.DataFrame:
    """Score some events of one toy; one row for each.

    The contexts depend on toy, event, m and R alone: they are the same for every
    statistic. ``exact`` is the localizer that the estimates converge to, where it has a
    closed form; ``<estimator>_variance`` is the variance over contexts.
    """
    N = len(sample.x)
    n_signal = int(sample.labels.sum())
    if signal > n_signal or background > N - n_signal:
        raise ValueError(
            f"a toy of {N} events has {n_signal} of signal and {N - n_signal} of background, "
            f"too few to score {signal} and {background}"
        )
    events = np.r_[0:background, N - signal : N]
    scores = localize.localize(
        statistic,
        sample.x,
        m=m,
        R=R,
        seed=seed,
        key=("statistics", "toy", number, "m", m),
        probes=[int(i) for i in events],
        replacement=replacement,
    )
    columns: dict[str, Any] = {
        **{"statistic": statistic.name, "m": m, "contexts": R, "toy": number, "event": events},
        "signal": sample.labels[events],
        "log_likelihood_ratio": model.log_likelihood_ratio(sample.x[events]),
        "exact": localize.pair_localization(target, m=m)[events]
        if np.isfinite(target).all()
        else np.nan,
    }
    for name in MATCHED_ESTIMATORS:
        columns[name] = scores[name].mean
        columns[f"{name}_variance"] = scores[name].variance
    return pd.DataFrame(columns)


def score_map(
    seed: int,
    sample: toys.Sample,
    statistic: Prepared,
    *,
    model: GaussianBenchmark,
    m: int,
    R: int,
    half_width: float,
    cells: int,
) -> pd.DataFrame:
    """Return L_{T,m} over the plane, by replacement in contexts that all points share."""
    axis = np.linspace(-half_width, half_width, cells)
    plane = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    scores = localize.field(
        statistic, sample.x, plane, m=m, R=R, seed=seed, key=("statistics", "map", m)
    )
    return pd.DataFrame(
        {
            **{"statistic": statistic.name, "x": plane[:, 0], "y": plane[:, 1]},
            "log_likelihood_ratio": model.log_likelihood_ratio(plane),
            "localizer": scores["replacement"].mean,
            "error": scores["replacement"].standard_error,
        }
    )


def summary(scores: pd.DataFrame) -> pd.DataFrame:
    """Return how well each statistic ranks the events, by m: one row for each of the two.

    ``auc`` is of the addition scores, ``auc_<estimator>`` of the others, ``auc_exact`` of
    the closed form and ``auc_bayes`` of the likelihood ratio, all means over toys with the
    error from their spread. ``rank_correlation`` is with the likelihood ratio.
    ``noise_share`` is the part of the variance of the addition scores between events that
    the finite number of contexts makes. ``gain_<estimator>`` is the variance of raw over
    that of the estimator in one context.
    """
    rows = []
    for (name, m), part in scores.groupby(["statistic", "m"], sort=False):
        toys_of = [one for _, one in part.groupby("toy")]
        R = int(part["contexts"].iloc[0])
        row: dict[str, Any] = {
            **{"statistic": name, "m": int(m), "contexts": R, "toys": len(toys_of)},
            "events": len(part),
            "evaluations_per_event": EVALUATIONS * R,
        }
        for column, score in (
            ("auc", "addition"),
            ("auc_replacement", "replacement"),
            ("auc_raw", "raw"),
            ("auc_exact", "exact"),
            ("auc_bayes", "log_likelihood_ratio"),
        ):
            if part[score].isna().any():
                row[column] = row[f"{column}_error"] = np.nan
                continue
            row[column], row[f"{column}_error"] = _mean(
                [metrics.auc(one[score], one["signal"]) for one in toys_of]
            )
        row["rank_correlation"], row["rank_correlation_error"] = _mean(
            [
                metrics.correlation(
                    metrics.average_ranks(one["addition"]),
                    metrics.average_ranks(one["log_likelihood_ratio"]),
                )
                for one in toys_of
            ]
        )
        between = np.mean([one["addition"].var(ddof=1) for one in toys_of])
        row["noise_share"] = float(part["addition_variance"].mean() / R / between)
        for estimator in ("addition", "replacement"):
            ratios = [
                one["raw_variance"].mean() / one[f"{estimator}_variance"].mean() for one in toys_of
            ]
            row[f"gain_{estimator}"], row[f"gain_{estimator}_error"] = _mean(ratios)
        rows.append(row)
    return pd.DataFrame(rows)


def drawn_points(
    scores: pd.DataFrame, maps: pd.DataFrame, table: pd.DataFrame, *, model: GaussianBenchmark
) -> pd.DataFrame:
    """Return what the figure shows, in one table.

    ``panel`` is ``map`` (a score over the plane), ``roc`` (at the largest m, all toys
    together), ``auc`` or ``gain`` (by m); a map's score is ``value`` at (x, y), in the
    other panels ``value`` is y against x.
    """
    parts = [
        pd.DataFrame({"panel": "map", **maps[["statistic", "x", "y"]], "value": maps["localizer"]})
    ]
    plane = maps[maps["statistic"] == maps["statistic"].iloc[0]]
    ratio = {"panel": "map", "statistic": "bayes", **plane[["x", "y"]]}
    # a bounded form of the same order: the posterior probability of signal
    odds = model.epsilon / (1 - model.epsilon) * np.exp(plane["log_likelihood_ratio"])
    parts.insert(0, pd.DataFrame({**ratio, "value": odds / (1 + odds)}))
    largest = scores[scores["m"] == scores["m"].max()]
    first = largest[largest["statistic"] == largest["statistic"].iloc[0]]
    curves = [("bayes", first, "log_likelihood_ratio")]
    curves += [(name, part, "addition") for name, part in largest.groupby("statistic", sort=False)]
    for name, part, score in curves:
        false, true = metrics.ranking(part[score], part["signal"]).roc()
        parts.append(pd.DataFrame({"panel": "roc", "statistic": name, "x": false, "value": true}))
    for panel, column in (("auc", "auc"), ("gain", "gain_addition")):
        shown = {"x": table["m"], "value": table[column], "error": table[f"{column}_error"]}
        parts.append(pd.DataFrame({"panel": panel, "statistic": table["statistic"], **shown}))
    bayes = table.drop_duplicates("m")
    shown = {"x": bayes["m"], "value": bayes["auc_bayes"], "error": bayes["auc_bayes_error"]}
    parts.append(pd.DataFrame({"panel": "auc", "statistic": "bayes", **shown}))
    columns = ["panel", "statistic", "x", "y", "value", "error"]
    return pd.concat([part.reindex(columns=columns).astype({"x": float}) for part in parts])


def _mean(values: npt.ArrayLike) -> tuple[float, float]:
    """Return the mean over toys and its standard error."""
    array = np.asarray(values, dtype=np.float64)
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(array.size))
