"""A reference that is wrong: what profiling buys, on the LHC Olympics sample and on the benchmark.

Sec. global-local of the paper names a wrong background as the next difficulty. Here the
reference of Experiment III is made wrong on purpose (:func:`scanned`), replaced by samples of a
learned background (:func:`learned`), and null p-values with a wrong reference are collected on
the Gaussian benchmark (:func:`null_p_values`). Random features throughout, cosines and sines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from localizer.base import metrics
from localizer.base.checks import Array, BoolArray
from localizer.base.copula import BackgroundCDF, CopulaScores
from localizer.estimators import profiled, profiled_null, templates
from localizer.estimators.profiled_null import Streams
from localizer.estimators.templates import Problem, Template
from localizer.experiments.experiment3 import Coordinates
from localizer.kernels.bank import GaussianBank
from localizer.kernels.feature_products import plain_mean, projections
from localizer.kernels.features import FourierFeatures, fourier_features

#: The variations of the study: relative size of both masses, and both tau21.
VARIATIONS = ("masses", "tau21")


@dataclass(frozen=True)
class Scaling:
    """What is done to the four features mJmin, mJmax - mJmin, tau21, tau21.

    Parameters
    ----------
    mass
        Both masses are multiplied by 1 + mass.
    tau21
        What is added to both tau21.
    """

    mass: float
    tau21: float

    def __call__(self, x: Array) -> Array:
        """Return events with their features scaled."""
        return np.concatenate([(1 + self.mass) * x[:, :2], x[:, 2:4] + self.tau21], axis=1)


@dataclass(frozen=True, eq=False)
class Setting:
    """What the parts of the study have in common.

    Parameters
    ----------
    features
        The feature map, in copula coordinates.
    copula
        Which ones; the background whose CDF it is is always the nominal reference.
    sic_floor
        Background events that a threshold of SIC keeps.
    """

    features: FourierFeatures
    copula: CopulaScores
    sic_floor: int

    def problem(self, sample: Array, nominal: Array, variations: Sequence[Template]) -> Problem:
        """Return templates in the coordinates of a nominal reference."""
        cdf = BackgroundCDF.of(nominal)

        def mapped(x: Array) -> Array:
            return cdf.transform(x, scores=self.copula)

        return templates.problem(
            Template(mapped(sample)),
            Template(mapped(nominal)),
            [Template(mapped(v.events), same_events=v.same_events) for v in variations],
        )

    def ranked(self, scores: Array, labels: BoolArray) -> dict[str, float]:
        """Return AUC and largest SIC."""
        found = metrics.ranking(scores, labels)
        return {"auc": found.auc, "sic": found.sic(floor=self.sic_floor)[0]}


def setting(
    d_med: float,
    bandwidths: Sequence[float],
    streams: Streams,
    *,
    features_per_bandwidth: int,
    copula: CopulaScores,
    sic_floor: int,
) -> Setting:
    """Return a setting with random features of the bank of Experiment III."""
    bank = GaussianBank(tuple(d_med * h for h in bandwidths))
    drawn = fourier_features(
        bank, 4, streams("features"), n_per_bandwidth=features_per_bandwidth, form="paired"
    )
    return Setting(drawn, copula, sic_floor)


def scanned(
    sample: Coordinates,
    here: Setting,
    streams: Streams,
    *,
    number: int,
    amount: float,
    wrong: Scaling,
    step: Scaling,
    test_events: int,
    draws: int,
) -> dict[str, Any]:
    """Return what is found with a reference that is wrong by an amount.

    Parameters
    ----------
    sample
        The samples of Experiment III, in their own units.
    number, amount
        The number of the amount, for its random streams, and the amount in units of ``wrong``;
        0 is the right reference.
    step
        The variations, each by itself and about the wrong nominal reference.
    test_events
        P-values are those of disjoint parts of so many events of the mixed sample without its
        signal, each against as many reference events of its own.
    draws
        Of the multiplier bootstrap.
    """
    move = Scaling(amount * wrong.mass, amount * wrong.tau21)
    nominal = move(sample.reference)
    problem = here.problem(sample.mixed, nominal, _varied(nominal, step))
    embeddings = templates.by_features(problem, here.features)
    found = profiled.profile(embeddings)
    background = sample.mixed[~sample.labels]
    size = min(test_events, len(background), len(sample.reference))
    p_values = [
        _p_values(here, x, move(y), step, _keyed(streams, number, part), draws=draws)
        for part, (x, y) in enumerate(_parts(background, sample.reference, size))
    ]
    row = {"amount": amount, "mass": move.mass, "tau21": move.tau21}
    both = (embeddings.at[0][:, 1], profiled.scores(embeddings, found).loo)
    for name, scores, p in zip(("plain", "profiled"), both, np.transpose(p_values), strict=True):
        row |= {f"{name}_{key}": x for key, x in here.ranked(scores, sample.labels).items()}
        row |= {f"{name}_p": float(np.median(p)), f"{name}_p_least": float(p.min())}
        row[f"{name}_p_largest"] = float(p.max())
    for name, theta, error in zip(VARIATIONS, found.theta, found.errors, strict=True):
        row |= {f"theta_{name}": theta, f"theta_{name}_error": error}
    signal = BackgroundCDF.of(nominal).transform(sample.evaluation_signal, scores=here.copula)
    lost = _lost(embeddings, plain_mean(here.features, signal))
    row |= {"share": found.share, "before": found.before, "after": found.after}
    return {**row, "signal_lost": lost, "parts": len(p_values)}


def _varied(nominal: Array, step: Scaling) -> list[Template]:
    """Return the nominal events with the masses, and with tau21, moved by a step."""
    steps = (Scaling(step.mass, 0.0), Scaling(0.0, step.tau21))
    return [Template(move(nominal), same_events=True) for move in steps]


def _parts(sample: Array, reference: Array, size: int) -> Iterator[tuple[Array, Array]]:
    """Yield disjoint parts of both, each spread over the whole of its file."""
    count = min(len(sample), len(reference)) // size
    for part in range(count):
        yield sample[part::count][:size], reference[part::count][:size]


def _keyed(streams: Streams, *first: int) -> Streams:
    return lambda *key: streams("null", *first, *key)


def _p_values(
    here: Setting, sample: Array, nominal: Array, step: Scaling, streams: Streams, *, draws: int
) -> tuple[float, float]:
    """Return the p-values of the discrepancy, without and with profiling."""
    problem = here.problem(sample, nominal, _varied(nominal, step))
    return (
        _tested(problem[:2], here.features, streams, draws=draws),
        _tested(problem, here.features, streams, draws=draws),
    )


def _tested(problem: Problem, features: FourierFeatures, streams: Streams, *, draws: int) -> float:
    embeddings = templates.by_features(problem, features)
    found = profiled.profile(embeddings)
    null = profiled_null.null_draws(
        embeddings, found, features, streams, draws=draws, largest=False
    )
    data = profiled_null.observed(embeddings, found)
    return profiled_null.p_value(data.discrepancy, null.discrepancy)


def _lost(embeddings: templates.Embeddings, signal: Array) -> float:
    """Return the part of the signal's squared length that lies along the nuisances."""
    assert embeddings.means is not None
    means = np.concatenate([[signal], embeddings.means[1:]])
    products = templates.as_differences(means @ means.T)
    return 1 - float(profiled.squared_distance(products)) / float(products[0, 0])


# --- learned backgrounds -------------------------------------------------------------------


def learned(sample: Coordinates, fits: Mapping[str, Array], here: Setting) -> pd.DataFrame:
    """Return how well the signal ranks with learned references, and with the right one.

    Each fit stands alone, and profiled over the five that follow it and over all others; their
    mixture stands alone, and profiled over all.

    Parameters
    ----------
    sample
        In its own units; all its independent background is the reference that the fits stand for.
    fits
        Samples of learned backgrounds, by name.
    """
    names = list(fits)
    rows = [{"reference": "true background", **_nearest(sample, sample.background, [], here)}]
    for k, name in enumerate(names):
        others = [fits[other] for other in names[k + 1 :] + names[:k]]
        for count in sorted({0, min(5, len(others)), len(others)}):
            found = _nearest(sample, fits[name], others[:count], here)
            rows.append({"reference": name, "profiled_over": count, **found})
    pooled = np.concatenate(list(fits.values()))
    for count in (0, len(names)):
        found = _nearest(sample, pooled, list(fits.values())[:count], here)
        rows.append({"reference": "mixture", "profiled_over": count, **found})
    table = pd.DataFrame(rows).fillna({"profiled_over": 0}).astype({"profiled_over": int})
    for name in ("auc", "sic"):
        table[f"{name}_over_true"] = table[name] / table[name].iloc[0]
    return table


def _nearest(
    sample: Coordinates, nominal: Array, others: Sequence[Array], here: Setting
) -> dict[str, float]:
    """Return AUC and SIC against the mixture of templates that is nearest to the sample."""
    problem = here.problem(sample.mixed, nominal, [Template(other) for other in others])
    means = np.array([plain_mean(here.features, template.events) for template in problem])
    delta, D = means[0] - means[1], (means[2:] - means[1]).T
    direction = delta - D @ np.linalg.lstsq(D, delta, rcond=None)[0] if others else delta
    # with z(x).z(x) = 1 an event's own term is the same for all
    scores = projections(here.features, problem[0].events, direction[None])[:, 0]
    return here.ranked(scores.astype(np.float64), sample.labels)


# --- null p-values -------------------------------------------------------------------------


def null_p_values(
    streams: Streams, *, thetas: Sequence[float], shift: float, N: int, toys: int, draws: int
) -> pd.DataFrame:
    """Return p-values of samples without signal, with and without profiling.

    The reference is N(0, I) and its one variation is shifted along the first feature, event by
    event; of the sample a part theta is shifted.
    """
    features = fourier_features(
        GaussianBank((1.0,)), 2, streams("features"), n_per_bandwidth=128, form="paired"
    )
    move, rows = np.array([shift, 0.0]), []
    for toy in range(toys):
        y, x = (streams(name, toy).standard_normal((N, 2)) for name in ("reference", "sample"))
        uniform = streams("theta", toy).random(N)
        for number, theta in enumerate(thetas):
            problem = templates.problem(
                Template(x + np.outer(uniform < theta, move)),
                Template(y),
                [Template(y + move, same_events=True)],
            )
            keyed = _keyed(streams, toy, number)
            for profiling in (False, True):
                p = _tested(problem if profiling else problem[:2], features, keyed, draws=draws)
                rows.append({"theta": theta, "toy": toy, "profiled": profiling, "p": p})
    return pd.DataFrame(rows)
