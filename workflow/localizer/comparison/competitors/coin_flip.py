"""Coin flips: the significance of the local excess among the nearest neighbours, largest over k.

Where sample and reference agree, the neighbours of an event, of both, belong to the sample like
flips of a coin with p = N / (N + M). For every k up to the largest, the number of sample events
among the k nearest has a binomial tail; the score is the smallest tail probability as -log p, and
negative where that is a deficit. The idea is that of arXiv 2503.23927; the code is not.
"""

from __future__ import annotations

import numpy as np
from scipy.special import bdtr, bdtrc

from localizer.base.checks import Array
from localizer.comparison.coordinates import copula
from localizer.comparison.neighbours import neighbours

LABEL = "coin flips, nearest neighbours"
LARGEST = 500
"""Of the numbers of neighbours; at most a twentieth of the smaller sample."""


def score(sample: Array, reference: Array, rng: np.random.Generator) -> Array:
    """Return the most significant excess or deficit around every event, with its sign."""
    x, y = copula(sample, reference)
    largest = max(1, min(LARGEST, min(len(x), len(y)) // 20))
    flips = _signed_significance(largest, (len(x) - 1) / (len(x) + len(y) - 1))
    first = np.arange(1, largest + 1)
    out = np.empty(len(x))
    # the nearest of all is the event itself: it is no flip
    for rows, _, numbers in neighbours(x, np.concatenate([x, y]), largest + 1):
        itself = numbers == np.arange(rows.start, rows.start + len(numbers))[:, None]
        # an event with more than `largest` twins may not be among its own neighbours
        itself[~itself.any(axis=1), -1] = True
        others = numbers[~itself].reshape(len(numbers), largest)
        heads = np.cumsum(others < len(x), axis=1)
        found = flips[first, heads]
        best = np.argmax(np.abs(found), axis=1)
        out[rows] = found[np.arange(len(found)), best]
    return out


def _signed_significance(largest: int, p: float) -> Array:
    """Return -log of the binomial tail for k flips (rows) with so many heads (columns)."""
    k = np.arange(largest + 1)[:, None]
    heads = np.minimum(np.arange(largest + 1)[None], k)
    excess = np.where(heads > 0, bdtrc(heads - 1.0, k, p), 1.0)
    deficit = bdtr(heads.astype(float), k, p)
    tail = np.maximum(np.minimum(excess, deficit), np.finfo(np.float64).tiny)
    return np.asarray(np.where(excess <= deficit, -np.log(tail), np.log(tail)))
