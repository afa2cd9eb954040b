"""The exact witness of the problems, in the precision that a ranking needs."""

from __future__ import annotations

import numpy as np

from localizer.base.checks import Array
from localizer.comparison.coordinates import FACTORS
from localizer.estimators.witness import loo_witness
from localizer.kernels import sums
from localizer.kernels.bank import EmpiricalBackground, GaussianBank, SumMethod


def exact_witness(x: Array, y: Array, bandwidths: tuple[float, ...]) -> Array:
    """Return the leave-one-out witness of a sample against a reference (eq. loo-witness).

    By the cosine series for one or two features, pair by pair in float32 for more.
    """
    method: SumMethod = "auto" if x.shape[1] <= 2 else "pairwise32"
    bank = GaussianBank(bandwidths)
    return loo_witness(x, bank, EmpiricalBackground(bank, y, method), method=method)


def compile_kernels() -> None:
    """Compile the sums for the ten features of the problem ``bump``, for a cache of many jobs."""
    x = np.linspace(0.0, 1.0, 40).reshape(-1, 10)
    for others in (None, x):
        sums.pairwise(x, others, FACTORS, dtype=np.float32)
