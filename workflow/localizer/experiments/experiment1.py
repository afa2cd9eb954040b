"""Experiment I: the studies behind its numbers and figures (sec. exp-known-signal).

Each function makes one study's table from parameters and streams, or condenses tables
into numbers. Exact and simulated values are in the same table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from localizer.base import checks, metrics
from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.estimators import witness
from localizer.kernels.bank import GaussianBank, NormalBackground
from localizer.models import toys
from localizer.models.gaussian import GaussianBenchmark

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
        # the profile is that of a toy without the extreme event: its kernel leaves the sums
        others, mean = x[:-1], background.mean_embedding(x[:-1])
        planted = bank(others, x[-1:])[:, 0]
        inclusive = (N * (inclusive[:-1] + mean) - planted) / (N - 1) - mean
        without = ((N - 1) * (without[:-1] + mean) - planted) / (N - 2) - mean
        radius = np.linalg.norm(others, axis=1)
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
