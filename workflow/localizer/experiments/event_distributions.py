"""What the events of Experiment III look like, and how well the surrogate copies them.

The four features of both classes before and after the background-CDF transform; quantiles,
rank correlations and the witness without sampling noise of real events beside surrogate ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from localizer.base import checks, metrics
from localizer.base.checks import Array, BoolArray
from localizer.base.copula import BackgroundCDF, CopulaScores, median_distance
from localizer.base.metrics import average_ranks
from localizer.experiments.experiment3 import DirectWitness, draw_bank, performance
from localizer.lhco.surrogate import FEATURES

#: The features of the localizer: all but the resonant mass.
NAMES = FEATURES[1:]
_LEVELS = np.array([0.001, 0.01, *np.linspace(0.05, 0.95, 19), 0.99, 0.999])


def histograms(
    before: Mapping[str, Array], after: Mapping[str, Array], *, bins: int = 50
) -> pd.DataFrame:
    """Return the density of every feature of each class, before and after the transform.

    Parameters
    ----------
    before, after
        The events of each class, of shape (n, 4), as measured and in copula coordinates.
    bins
        The number of bins; before the transform they cover 99.8 % of all classes.
    """
    rows = []
    for space, classes in (("before", before), ("after", after)):
        for k, name in enumerate(NAMES):
            columns = {kind: events[:, k] for kind, events in classes.items()}
            low = min(float(np.quantile(x, 0.001)) for x in columns.values())
            high = max(float(np.quantile(x, 0.999)) for x in columns.values())
            if space == "after" and low >= 0 and high <= 1:
                low, high = 0.0, 1.0
            edges = np.linspace(low, high, bins + 1)
            for kind, x in columns.items():
                counts, _ = np.histogram(x, edges)
                density = counts / (len(x) * np.diff(edges))
                rows += [
                    {
                        **{"space": space, "feature": name, "kind": kind},
                        **{"low": a, "high": b, "density": value},
                    }
                    for a, b, value in zip(edges[:-1], edges[1:], density, strict=True)
                ]
    return pd.DataFrame(rows)


def quantile_table(sources: Mapping[str, Mapping[str, Array]]) -> pd.DataFrame:
    """Return quantiles of every feature, by source (real, surrogate) and class."""
    return pd.DataFrame(
        {**{"source": source, "kind": kind, "feature": name}, "level": level, "value": value}
        for source, classes in sources.items()
        for kind, events in classes.items()
        for k, name in enumerate(NAMES)
        for level, value in zip(_LEVELS, np.quantile(events[:, k], _LEVELS), strict=True)
    )


def correlation_table(sources: Mapping[str, Mapping[str, Array]]) -> pd.DataFrame:
    """Return Spearman's rank correlation of every two features, by source and class."""
    rows = []
    for source, classes in sources.items():
        for kind, events in classes.items():
            ranks = np.column_stack([average_ranks(column) for column in events.T])
            for a, b in combinations(range(len(NAMES)), 2):
                rows.append(
                    {
                        **{"source": source, "kind": kind, "first": NAMES[a], "second": NAMES[b]},
                        "correlation": metrics.correlation(ranks[:, a], ranks[:, b]),
                    }
                )
    return pd.DataFrame(rows)


def noise_free_score(
    background: Array,
    signal: Array,
    rng: np.random.Generator,
    *,
    bandwidths: list[float],
    features_per_bandwidth: int,
    copula: CopulaScores,
) -> tuple[Array, BoolArray]:
    """Return the witness of signal against background on one half, from the other half.

    Without a mixed sample's noise in it, this is the ranking that a witness of ever more
    events would approach: what the classes themselves allow.
    """
    halves = [checks.points(events, "events", minimum=4) for events in (background, signal)]
    cdf = BackgroundCDF.of(halves[0][::2])
    b, s = (cdf.transform(events, scores=copula) for events in halves)
    d_med = median_distance(b[::2], rng, pairs=200_000).value
    features = draw_bank(d_med, bandwidths, rng, features_per_bandwidth=features_per_bandwidth)
    x = np.concatenate([b[1::2], s[1::2]])
    score = DirectWitness.of(features, s[::2], b[::2])(x)
    return score, np.arange(len(x)) >= len(b[1::2])


def sic_curve(score: Array, labels: BoolArray, *, floor: int) -> pd.DataFrame:
    """Return SIC against the background efficiency, on a logarithmic grid."""
    ranked = metrics.ranking(score, labels)
    most = int(ranked.background[-1])
    wanted = np.unique(np.geomspace(min(floor, most), most, 60).astype(int))
    at = np.minimum(np.searchsorted(ranked.background, wanted), ranked.background.size - 1)
    b, s = ranked.background_efficiency[at], ranked.signal_efficiency[at]
    return pd.DataFrame({"background_efficiency": b, "sic": s / np.sqrt(b)})


def summary_row(source: str, score: Array, labels: BoolArray, *, floor: int) -> dict[str, Any]:
    """Return AUC and maximum SIC of the witness without sampling noise."""
    return {
        "source": source,
        "background": int((~labels).sum()),
        "signal": int(labels.sum()),
        **performance(score, labels, sic_floor=floor),
    }
