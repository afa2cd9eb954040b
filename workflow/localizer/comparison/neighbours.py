"""The nearest neighbours of events."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy.spatial import KDTree

from localizer.base.checks import Array

# Rows that are asked for at a time: 512 neighbours of each take 64 MB.
_ROWS = 8192


def neighbours(
    x: Array, among: Array, k: int
) -> Iterator[tuple[slice, Array, npt.NDArray[np.int64]]]:
    """Yield, a few rows at a time, the distances and numbers of the k nearest of ``among``."""
    tree = KDTree(among, balanced_tree=False, compact_nodes=False)
    for start in range(0, len(x), _ROWS):
        rows = slice(start, start + _ROWS)
        distances, numbers = tree.query(x[rows], k=np.arange(1, k + 1))
        yield rows, distances, numbers


def root_of(n: int) -> int:
    """Return the square root of a number of events, at least 1: a usual choice of k."""
    return max(1, round(float(np.sqrt(n))))
