"""The logarithm of a density ratio, from the distances to the k-th nearest neighbours.

In d features log p/b = d log(r_reference / r_sample) + log(M / (N - 1)), where r is the distance
to the k-th neighbour in either sample, the event itself left out; k is the square root of the
size of the smaller one.
"""

from __future__ import annotations

import numpy as np

from localizer.base.checks import Array
from localizer.comparison.coordinates import copula
from localizer.comparison.neighbours import neighbours, root_of

LABEL = "density ratio, nearest neighbours"


def score(sample: Array, reference: Array, rng: np.random.Generator) -> Array:
    """Return the estimated log of the density ratio at every event."""
    x, y = copula(sample, reference)
    k = root_of(min(len(x), len(y)))
    # the nearest neighbour of an event in its own sample is the event
    inside, outside = _distances(x, x, k + 1), _distances(x, y, k)
    smallest = np.finfo(np.float64).tiny
    ratio = np.log(np.maximum(outside, smallest)) - np.log(np.maximum(inside, smallest))
    return np.asarray(x.shape[1] * ratio + np.log(len(y) / (len(x) - 1)))


def _distances(x: Array, among: Array, k: int) -> Array:
    """Return the distance of each event to its k-th neighbour."""
    return np.concatenate([distances[:, -1] for _, distances, _ in neighbours(x, among, k)])
