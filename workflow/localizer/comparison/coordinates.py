"""The coordinates that the witness and the neighbours share: those of the paper (sec. exp-lhco)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from localizer.base.checks import Array
from localizer.base.copula import BackgroundCDF, median_distance

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""The paper's bandwidths in units of the background's median distance."""

_PAIRS = 200_000


def copula(sample: Array, reference: Array) -> tuple[Array, Array]:
    """Return both in copula coordinates, from the reference's CDF of each feature."""
    cdf = BackgroundCDF.of(reference)
    return cdf.transform(sample), cdf.transform(reference)


def bandwidths(
    reference: Array, rng: np.random.Generator, factors: Sequence[float] = FACTORS
) -> tuple[float, ...]:
    """Return multiples of the median distance of a reference in copula coordinates."""
    d_med = median_distance(reference, rng, pairs=_PAIRS).value
    return tuple(d_med * factor for factor in factors)
