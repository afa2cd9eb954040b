"""References, and all other samples of Experiment III, drawn from the surrogate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from localizer.base.checks import Array
from localizer.base.copula import BackgroundCDF, CopulaScores, median_distance
from localizer.experiments.experiment3 import Coordinates, Point, draw_bank
from localizer.experiments.weighted_pool import reference_means
from localizer.experiments.witness_draws import Draws, draws_of_means
from localizer.lhco.surrogate import Surrogate


@dataclass(frozen=True, eq=False)
class Drawn:
    """Surrogate samples in copula coordinates, and the pool that references come from."""

    sample: Coordinates
    pool: Array
    d_med: float


def draw_surrogate(
    surrogate: Surrogate,
    streams: Callable[[str], np.random.Generator],
    *,
    sizes: Mapping[str, int],
    pool: int,
    copula: CopulaScores,
) -> Drawn:
    """Return surrogate samples of given sizes.

    Parameters
    ----------
    streams
        The generator of each sample, by its name.
    sizes
        Events of mixed_background, mixed_signal, reference, evaluation_background and
        evaluation_signal.
    pool
        Background events of the pool, the reference included.
    copula
        The form of the coordinates, see :mod:`localizer.base.copula`.
    """

    def events(name: str, kind: str, n: int) -> Array:
        return surrogate.sample(streams(name), n, kind)[:, 1:]

    background = events("reference", "qcd", max(pool, sizes["reference"]))
    cdf = BackgroundCDF.of(background[: sizes["reference"]])
    mixed = np.concatenate(
        [
            events("mixed background", "qcd", sizes["mixed_background"]),
            events("mixed signal", "signal", sizes["mixed_signal"]),
        ]
    )
    everything = cdf.transform(background, scores=copula)
    reference = everything[: sizes["reference"]]
    evaluation = {
        "evaluation_background": ("qcd", sizes["evaluation_background"]),
        "evaluation_signal": ("signal", sizes["evaluation_signal"]),
    }
    sample = Coordinates(
        mixed=cdf.transform(mixed, scores=copula),
        labels=np.arange(len(mixed)) >= sizes["mixed_background"],
        reference=reference,
        **{
            name: cdf.transform(events(name, kind, n), scores=copula)
            for name, (kind, n) in evaluation.items()
        },
    )
    distance = median_distance(reference, streams("d_med"), pairs=200_000)
    return Drawn(sample, everything[: max(pool, sizes["reference"])], distance.value)


def draws_of_surrogate(
    surrogate: Surrogate,
    streams: Callable[[str], np.random.Generator],
    *,
    copula: CopulaScores,
    sizes: Mapping[str, int],
    draws: int,
    bandwidths: Sequence[float],
    points: Sequence[Point],
    **features: Any,
) -> Draws:
    """Return AUC, SIC, C and correlations in one surrogate sample for ``draws`` references.

    The arguments are those of :func:`draw_surrogate` and
    :func:`localizer.experiments.witness_draws.draws_of_means`; the mixed sample has one draw of
    features, which all references share.
    """
    drawn = draw_surrogate(
        surrogate, streams, sizes=sizes, pool=2 * sizes["reference"], copula=copula
    )
    rng = streams("features and references")
    bank = draw_bank(drawn.d_med, bandwidths, rng, **features)
    means = reference_means(bank, drawn.pool, rng, n=sizes["reference"], draws=draws)
    found = draws_of_means(
        bank, drawn.sample, means, rng, points=points, bandwidths=len(bandwidths)
    )
    return found.labelled(map_number=0)
