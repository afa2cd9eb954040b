"""Experiment I, forced inclusion: how precise the estimators are, by batch size.

Exact and simulated values are in the same table (sec. exp-known-signal).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from localizer.base.checks import Array, BoolArray
from localizer.base.randomness import stream
from localizer.base.vocabulary import FORCED_ESTIMATORS
from localizer.estimators import forced
from localizer.estimators.context_moments import ForcedScores
from localizer.models import toys
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory.variance import ContextVariance


def probes(
    seed: int, study: str, *, model: GaussianBenchmark, signal: int, background: int
) -> tuple[Array, BoolArray]:
    """Return the probe events of a study, signal first, and their classes."""
    rng = stream(seed, "experiment1", study, "probes")
    x = np.concatenate([toys.signal(rng, signal, model), toys.background(rng, background, model.d)])
    return x, np.arange(signal + background) < signal


def forced_table(
    seed: int,
    study: str,
    x: Array,
    labels: BoolArray,
    *,
    model: GaussianBenchmark,
    m: int,
    contexts: Sequence[int],
) -> pd.DataFrame:
    """Force each probe into contexts from P; one row for each probe and number of contexts.

    The numbers of contexts are prefixes of one run. ``<estimator>`` is the estimate,
    ``<estimator>_variance`` its variance over contexts; ``G`` and ``L`` are what raw, and
    what the other estimators without their constants, estimate exactly.
    """
    sampler = forced.fresh(forced.population(model))
    total: ForcedScores | None = None
    tables = []
    for step, (before, R) in enumerate(zip([0, *contexts], contexts, strict=False)):
        rngs = [stream(seed, "experiment1", study, m, step, i) for i in range(len(x))]
        more = forced.mmd_scores(x, m=m, R=R - before, h=model.h, contexts=sampler, rngs=rngs)
        total = more if total is None else total.merge(more)
        columns: dict[str, Any] = {
            **{"m": m, "contexts": R, "probe": np.arange(len(x)), "signal": labels},
            **{"x": x[:, 0], "y": x[:, 1], "G": model.G(x, m)},
        }
        for estimator in FORCED_ESTIMATORS:
            columns[estimator] = total[estimator].mean
            columns[f"{estimator}_variance"] = total[estimator].variance
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def resampling_summary(table: pd.DataFrame, model: GaussianBenchmark) -> pd.DataFrame:
    """Return the RMS residual of raw against G by R, beside the exact expectation.

    ``pull`` is how far the mean square lies from its expectation in standard errors
    (for normal residuals; each probe has contexts of its own).
    """
    rows = []
    for (m, R), part in table.groupby(["m", "contexts"], sort=True):
        square = (part["raw"] - part["G"]) ** 2
        expected = ContextVariance(model).of("raw", m=int(m))(part[["x", "y"]]) / R
        error = np.sqrt(2 * np.sum(expected**2)) / len(part)
        rows.append(
            {
                "m": int(m),
                "contexts": int(R),
                "rms": float(np.sqrt(square.mean())),
                "rms_error": float(error / (2 * np.sqrt(square.mean()))),
                "rms_exact": float(np.sqrt(expected.mean())),
                "pull": float((square.mean() - expected.mean()) / error),
            }
        )
    return pd.DataFrame(rows)


def precision(table: pd.DataFrame, model: GaussianBenchmark) -> pd.DataFrame:
    """Return the class separation and relative RMS error of each estimator by m.

    The error is that of the estimate from all contexts, sqrt(mean variance / R), over
    the class separation. ``exact`` averages over the populations of probes, half signal
    and half background; ``exact_at_probes`` is for the very probes of the table;
    ``error`` is the standard error of the measurement, from the scatter of the probes'
    variances within each class (other probes and other contexts would give other values).
    ``separation`` is the exact class separation plus what the measured scores of the two classes
    are apart beyond their exact ones: free of the draw of the probes.
    """
    variance = ContextVariance(model)
    rows = []
    for m, part in table.groupby("m", sort=True):
        R = int(part["contexts"].iloc[0])
        share = float(part["signal"].mean())
        x = part[["x", "y"]].to_numpy()
        for estimator in FORCED_ESTIMATORS:
            options: dict[str, Any] = {"m": int(m), "R": R}
            variances = part[f"{estimator}_variance"]
            classes = [variances[part["signal"] == label] for label in (True, False)]
            mean_error = np.sqrt(sum(len(v) * v.var(ddof=1) for v in classes)) / len(part)
            separation = model.class_separation(int(m))
            measured = np.sqrt(variances.mean() / R) / separation
            # all estimators differ from G by a constant, which the difference of classes drops
            rest = part[estimator] - part["G"]
            apart = [rest[part["signal"] == label].mean() for label in (True, False)]
            rows.append(
                {
                    "m": int(m),
                    "contexts": R,
                    "probes": len(part),
                    "estimator": estimator,
                    "relative_rms": float(measured),
                    "error": float(measured * mean_error / (2 * variances.mean())),
                    "exact": variance.relative_rms(estimator, **options, signal_share=share),
                    "exact_at_probes": variance.relative_rms_at(estimator, x, **options),
                    "separation": separation + float(apart[0] - apart[1]),
                    "separation_error": float(np.sqrt(sum(v.mean() / R / len(v) for v in classes))),
                    "separation_exact": separation,
                }
            )
    return pd.DataFrame(rows)


def precision_curve(
    model: GaussianBenchmark, sizes: Iterable[int], *, R: int, signal_share: float = 0.5
) -> pd.DataFrame:
    """Return the exact relative RMS error on a fine grid of m, and the parts of raw.

    ``raw_second`` is the near-degenerate part of raw, ``raw_first`` the first-order part.
    """
    variance = ContextVariance(model)
    population = replace(model, epsilon=signal_share).components
    rows = []
    for m in sizes:
        row: dict[str, float] = {"m": m}
        for estimator in FORCED_ESTIMATORS:
            row[estimator] = variance.relative_rms(estimator, m=m, R=R, signal_share=signal_share)
        for name, part in variance.raw_parts(m=m).items():
            if name != "cross":
                mean = max(part.mean(population), 0.0)
                row[f"raw_{name}"] = float(np.sqrt(mean / R) / model.class_separation(m))
        rows.append(row)
    return pd.DataFrame(rows)


def fitted_slope(table: pd.DataFrame, columns: Sequence[str]) -> tuple[float, float]:
    """Return the slope of log(mean over probes) against log m, with its standard error.

    ``columns`` names a per-probe quantity, or two whose ratio of means is fitted. The
    same probes serve at every m, so the error is a jackknife over probes, by class.
    """
    sizes = np.sort(table["m"].unique())
    pivots = [table.pivot(index="m", columns="probe", values=name) for name in columns]
    arrays = [pivot.loc[sizes].to_numpy() for pivot in pivots]
    labels = table.drop_duplicates("probe").set_index("probe")["signal"]
    is_signal = labels.loc[pivots[0].columns].to_numpy(dtype=bool)

    def slope(keep: BoolArray) -> float:
        logs = [np.log(array[:, keep].mean(axis=1)) for array in arrays]
        y = logs[0] if len(logs) == 1 else logs[0] - logs[1]
        return float(np.polyfit(np.log(sizes), y, 1)[0])

    everything = np.ones(is_signal.size, dtype=bool)
    variance = 0.0
    for members in (np.flatnonzero(is_signal), np.flatnonzero(~is_signal)):
        left_out = []
        for probe in members:
            keep = everything.copy()
            keep[probe] = False
            left_out.append(slope(keep))
        if len(left_out) > 1:
            variance += (len(left_out) - 1) * float(np.var(left_out))
    return slope(everything), float(np.sqrt(variance))


def crossing(model: GaussianBenchmark, sizes: Iterable[int]) -> int | None:
    """Return the first m at which addition is more precise than pair, if there is one."""
    variance = ContextVariance(model)
    for m in sizes:
        of_addition = variance.relative_rms("addition", m=m, R=1)
        if of_addition < variance.relative_rms("pair", m=m, R=1):
            return m
    return None


def generic_curve(model: GaussianBenchmark, sizes: Sequence[int]) -> pd.DataFrame:
    """Return the exact variance ratios to raw for a signal fraction, by m.

    ``slope`` is the local exponent of the ratio of addition: -1 in the near-degenerate
    regime, -2 in the generic one; ``constant`` is m^2 times that ratio over its limit.
    """
    variance = ContextVariance(model)
    probes_of = replace(model, epsilon=0.5).components
    rows = []
    for m in sizes:
        raw = variance.of("raw", m=m).mean(probes_of)
        row: dict[str, float] = {"epsilon": model.epsilon, "m": m, "crossover": variance.crossover}
        for estimator in ("addition", "replacement", "pair"):
            row[f"{estimator}_ratio"] = variance.of(estimator, m=m).mean(probes_of) / raw
        row["linear_ratio"] = 1 / (m - 1) ** 2
        row["limit_constant"] = variance.ratio_constants("addition")[1]
        rows.append(row)
    table = pd.DataFrame(rows)
    table["slope"] = np.gradient(np.log(table["addition_ratio"]), np.log(table["m"]))
    return table


def linear_statistic_ratio(rng: np.random.Generator, *, m: int, contexts: int) -> float:
    """Return the simulated variance ratio of addition to raw for a linear statistic.

    T_m is the mean of the events' first coordinate: here eq. variance-reduction-factor,
    1 / (m - 1)^2, is exact, for every m and every probe.
    """
    companions = rng.standard_normal((contexts, m - 1))
    raw = companions.sum(axis=1) / m
    addition = raw - companions.mean(axis=1)
    return float(addition.var(ddof=1) / raw.var(ddof=1))
