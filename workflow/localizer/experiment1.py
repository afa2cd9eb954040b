"""Experiment I: the studies behind its numbers and figures (sec. exp-known-signal).

Each function makes one study's table from parameters and streams, or condenses tables
into numbers. What is exact stands beside what is simulated, in the same table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from localizer import checks, forced, metrics, toys, witness
from localizer.checks import Array, BoolArray
from localizer.gaussian import GaussianBenchmark
from localizer.kernels import GaussianBank, NormalBackground
from localizer.randomness import stream
from localizer.variance import ESTIMATORS, ContextVariance

AUCS = ("auc_lr", "auc_mmd", "auc_loo")


def loo(x: npt.ArrayLike, model: GaussianBenchmark) -> Array:
    """Return the exact leave-one-out witness of every event, eq. loo-witness."""
    bank = GaussianBank((model.h,))
    return witness.loo_witness(x, bank, NormalBackground(bank, model.d))


# --- the pseudoexperiments -------------------------------------------------------------


def toy(seed: int, number: int, *, model: GaussianBenchmark, N: int) -> toys.Sample:
    """Return pseudoexperiment ``number``."""
    return toys.fixed_alternative(stream(seed, "experiment1", "toy", number), N, model)


def toy_row(seed: int, number: int, *, model: GaussianBenchmark, N: int, m: int) -> dict[str, Any]:
    """Return what one pseudoexperiment says: Delta G and the AUC of three scores.

    Delta G is the analytic G_m averaged over the toy's signal events minus over its
    background events.
    """
    sample = toy(seed, number, model=model, N=N)
    scores = model.G(sample.x, m)
    empirical = loo(sample.x, model)
    return {
        "toy": number,
        "delta_G": scores[sample.labels].mean() - scores[~sample.labels].mean(),
        "auc_lr": metrics.auc(model.log_likelihood_ratio(sample.x), sample.labels),
        "auc_mmd": metrics.auc(model.witness(sample.x), sample.labels),
        "auc_loo": metrics.auc(empirical, sample.labels),
    }


def representative(table: pd.DataFrame) -> int:
    """Return the toy nearest to the ensemble's medians of the three AUCs.

    The distance of each AUC is measured in units of its median absolute deviation.
    """
    values = table[list(AUCS)]
    medians = values.median()
    scales = (values - medians).abs().median()
    return int(table.loc[(((values - medians) / scales) ** 2).sum(axis=1).idxmin(), "toy"])


def worst(table: pd.DataFrame) -> int:
    """Return the toy with the smallest AUC of the leave-one-out witness."""
    return int(table.loc[table["auc_loo"].idxmin(), "toy"])


def minima(values: npt.ArrayLike, size: int, rng: np.random.Generator, *, draws: int) -> Array:
    """Return the smallest of ``size`` toys, ``draws`` times, toys drawn with replacement."""
    pool = checks.vector(values, "values")
    chosen = rng.integers(pool.size, size=(draws, checks.integer(size, "size")))
    return np.asarray(pool[chosen].min(axis=1))


def roc_curves(sample: toys.Sample, model: GaussianBenchmark) -> pd.DataFrame:
    """Return the ROC points of the three scores in one pseudoexperiment."""
    scores = {
        "likelihood ratio": model.log_likelihood_ratio(sample.x),
        "population witness": model.witness(sample.x),
        "LOO witness": loo(sample.x, model),
    }
    parts = []
    for name, values in scores.items():
        ranking = metrics.ranking(values, sample.labels)
        false, true = ranking.roc()
        part = pd.DataFrame({"score": name, "auc": ranking.auc, "eps_B": false, "eps_S": true})
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def residual_field(
    sample: toys.Sample, model: GaussianBenchmark, *, half_width: float = 4.0, cells: int = 81
) -> pd.DataFrame:
    """Return the empirical minus the population witness over the plane."""
    axis = np.linspace(-half_width, half_width, cells)
    plane = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    bank = GaussianBank((model.h,))
    background = NormalBackground(bank, model.d)
    empirical = witness.empirical_witness(plane, sample.x, bank, background)
    population = model.witness(plane)
    return pd.DataFrame(
        {"x": plane[:, 0], "y": plane[:, 1], "empirical": empirical, "population": population}
    )


def field_contrast(field: pd.DataFrame, model: GaussianBenchmark) -> tuple[float, float]:
    """Return the mean residual over the signal region and over its mirror image.

    The signal region is the disc of two standard deviations about the signal's mean;
    the mirror image is the same disc on the opposite side of the background.
    """
    residual = (field["empirical"] - field["population"]).to_numpy()
    plane = field[["x", "y"]].to_numpy()
    centre = np.asarray(model.mean)
    means = []
    for at in (centre, -centre):
        inside = np.sum((plane - at) ** 2, axis=1) <= (2 * model.sigma_s) ** 2
        means.append(float(residual[inside].mean()))
    return means[0], means[1]


# --- forced inclusion ------------------------------------------------------------------


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
    total: forced.ForcedScores | None = None
    tables = []
    for step, (before, R) in enumerate(zip([0, *contexts], contexts, strict=False)):
        rngs = [stream(seed, "experiment1", study, m, step, i) for i in range(len(x))]
        more = forced.mmd_scores(x, m=m, R=R - before, h=model.h, contexts=sampler, rngs=rngs)
        total = more if total is None else total.merge(more)
        columns: dict[str, Any] = {
            **{"m": m, "contexts": R, "probe": np.arange(len(x)), "signal": labels},
            **{"x": x[:, 0], "y": x[:, 1], "G": model.G(x, m)},
        }
        for estimator in ESTIMATORS:
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
        for estimator in ESTIMATORS:
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
        for estimator in ESTIMATORS:
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


def leaves_the_line(model: GaussianBenchmark, *, tolerance: float) -> int:
    """Return the first m at which replacement is ``tolerance`` above its m^(-1/2) line.

    The line is that of the small-m limit, where the term of the fresh event Y, which
    falls as 1/m only, is still hidden.
    """
    variance = ContextVariance(model)
    probes_of = replace(model, epsilon=0.5).components
    second = variance.e.mean(probes_of) + variance.zeta_2
    # (1 + tolerance)^2 (second) = second + (m - 1) zeta_1
    return int(np.ceil(1 + ((1 + tolerance) ** 2 - 1) * second / variance.zeta_1))


# --- the generic regime ----------------------------------------------------------------


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


# --- self-influence at the exact null ----------------------------------------------------


def null_toy(seed: int, number: int, *, model: GaussianBenchmark, N: int, at: Array) -> Array:
    """Return a background-only toy whose last event is the extreme one."""
    x = toys.background(stream(seed, "experiment1", "null toy", number), N, model.d)
    x[-1] = at
    return x


def self_influence(
    seed: int, numbers: Iterable[int], *, model: GaussianBenchmark, N: int, at: Sequence[float]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the scores of the extreme event by toy, and the sums of both scores by |x|.

    ``difference`` is the largest deviation of self-inclusive minus leave-one-out witness
    from eq. self-difference, over the events of the toy.
    """
    bank = GaussianBank((model.h,))
    background = NormalBackground(bank, model.d)
    edges = np.arange(0, 4.51, 0.25)
    rows, profiles = [], []
    for number in numbers:
        x = null_toy(seed, number, model=model, N=N, at=np.asarray(at, dtype=float))
        inclusive = witness.empirical_witness(x, x, bank, background)
        without = witness.loo_witness(x, bank, background)
        expected = witness.self_difference(x, bank)
        rows.append(
            {
                "toy": number,
                "self_inclusive": inclusive[-1],
                "loo": without[-1],
                "difference": np.abs(inclusive - without - expected).max(),
            }
        )
        radius = np.linalg.norm(x[:-1], axis=1)
        which = np.digitize(radius, edges) - 1
        for one in range(len(edges) - 1):
            inside = np.flatnonzero(which == one)
            if inside.size:
                profiles.append(
                    {
                        "toy": number,
                        "radius": 0.5 * (edges[one] + edges[one + 1]),
                        "events": inside.size,
                        "self_inclusive": inclusive[inside].mean(),
                        "loo": without[inside].mean(),
                    }
                )
    return pd.DataFrame(rows), pd.DataFrame(profiles)


def radial_profile(profiles: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of both scores by |x| over toys, with standard errors over toys."""
    rows = []
    for radius, part in profiles.groupby("radius", sort=True):
        if len(part) < 2:  # one toy has no error
            continue
        row: dict[str, float] = {"radius": float(radius), "toys": len(part)}
        for score in ("self_inclusive", "loo"):
            row[score] = float(part[score].mean())
            row[f"{score}_error"] = float(part[score].std(ddof=1) / np.sqrt(len(part)))
        rows.append(row)
    return pd.DataFrame(rows)
