"""What each choice that the paper leaves open changes in Experiment III, one at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from localizer.base import metrics
from localizer.base.checks import Array, BoolArray
from localizer.base.copula import BackgroundCDF, CopulaScores, median_distance
from localizer.base.randomness import stream
from localizer.experiments.experiment3 import (
    Coordinates,
    DirectWitness,
    draw_bank,
    performance,
)
from localizer.experiments.witness_draws import Draws, draws_of_means, judged
from localizer.kernels.features import Form

_SAMPLES = ("mixed", "reference", "evaluation_background", "evaluation_signal")


@dataclass(frozen=True)
class Fixed:
    """What all variants have in common.

    Attributes
    ----------
    seed
        The seed of the configuration: each variant sees the same frequencies.
    bandwidths
        In units of the background's median distance.
    features_per_bandwidth
        Random features of each bandwidth.
    max_events
        Samples are thinned to so many events.
    """

    seed: int
    bandwidths: Sequence[float]
    features_per_bandwidth: int
    max_events: int


def made_anew(
    samples: Mapping[str, Array], base: Array, fixed: Fixed, *, copula: CopulaScores, form: Form
) -> Draws:
    """Return AUC, SIC and C with these choices, and the correlation with the witness ``base``.

    Parameters
    ----------
    samples
        The events in their own units, by the names of :class:`Coordinates`.
    copula, form
        The copula coordinates, and the form of the random features.
    """
    cdf = BackgroundCDF.of(samples["reference"])
    arrays = {name: cdf.transform(samples[name], scores=copula) for name in _SAMPLES}
    arrays["labels"] = samples["labels"]
    distance = median_distance(arrays["reference"], stream(fixed.seed, "lhco", "d_med"))
    sample = Coordinates.of(arrays, max_events=fixed.max_events)
    features = draw_bank(
        distance.value,
        fixed.bandwidths,
        stream(fixed.seed, "experiment3", "features", 0),
        features_per_bandwidth=fixed.features_per_bandwidth,
        rff_form=form,
    )
    witness = DirectWitness.of(features, sample.mixed, sample.reference)
    found = draws_of_means(
        features,
        sample,
        witness.mean_background[None],
        stream(fixed.seed, "experiment3", "choices"),
        points=(),
        bandwidths=1,
    )
    same = metrics.correlation(witness(sample.mixed), base)
    return Draws(found.rows.drop(columns="auc_single").assign(correlation=same), found.heads)


def variants(
    samples: Mapping[str, Array], base: Array, fixed: Fixed, *, copula: CopulaScores, form: Form
) -> Draws:
    """Return a row for each witness that has to be made anew: as configured, and the other way.

    The arguments are those of :func:`made_anew`, ``copula`` and ``form`` as configured.
    """
    other_copula: CopulaScores = "normal" if copula == "uniform" else "uniform"
    other_form: Form = "paired" if form == "offset" else "offset"
    parts = [
        made_anew(samples, base, fixed, copula=c, form=f).labelled(choice=choice, **{"is": name})
        for choice, name, c, f in (
            ("as configured", "", copula, form),
            ("copula", other_copula, other_copula, form),
            ("rff_form", other_form, copula, other_form),
        )
    ]
    return Draws.joined(parts)


def same_features(
    score: Array, base: Array, labels: BoolArray, *, sic_floor: int
) -> dict[str, float]:
    """Return AUC and SIC of another score, and its correlation with the witness ``base``."""
    found = performance(score, labels, sic_floor=sic_floor)
    shown = {f"{name}_witness": found[name] for name in ("auc", "sic")}
    return {**shown, "correlation": metrics.correlation(score, base)}


def table(
    made: Draws,
    targets: Mapping[str, Any],
    exact: Array,
    seeds: pd.DataFrame,
    *,
    sic_floor: int,
    sic_floors: Sequence[int],
) -> pd.DataFrame:
    """Return a row for each choice: as configured, the other way, and over draws of features.

    Parameters
    ----------
    made
        Of :func:`variants`.
    targets
        The witness ``self_inclusive`` and ``loo``, and the ``labels``.
    exact
        The witness of the exact kernel.
    seeds
        One row for each draw of features on the same sample.
    sic_floor
        Background events that a SIC threshold must keep.
    sic_floors
        Further floors; one above the number of background events has no row.
    """
    base, labels = targets["self_inclusive"], targets["labels"]
    rows: list[dict[str, Any]] = judged(made, sic_floor=sic_floor).to_dict("records")
    scores = [
        ("target", "loo", targets["loo"], sic_floor),
        ("kernel", "exact, no RFF", exact, sic_floor),
        *(("sic_floor", str(n), base, n) for n in sic_floors if n <= int((~labels).sum())),
    ]
    rows += [
        {"choice": choice, "is": name, **same_features(score, base, labels, sic_floor=floor)}
        for choice, name, score, floor in scores
    ]
    for name, statistic in (("mean", np.mean), ("standard deviation", np.std)):
        columns = {column: float(statistic(seeds[column])) for column in rows[0] if column in seeds}
        rows.append({"choice": f"RFF seed, {len(seeds)} draws", "is": name, **columns})
    return pd.DataFrame(rows)
