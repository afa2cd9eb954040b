"""The batch estimators of the paper for any sample and reference (sec. algorithm)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from operator import add

import numpy as np
import numpy.typing as npt
from numba import get_num_threads

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.randomness import subsample
from localizer.estimators import batch_sums, batches, pair_forms
from localizer.kernels import compression
from localizer.kernels.bank import EmpiricalBackground, q_B
from localizer.kernels.feature_means import feature_mean
from localizer.own.random_features import draw_features
from localizer.own.recipe import Choices, Recipe, Streams, both, choose

# A matrix of pair kernels of this many events takes half a gigabyte.
_LARGEST_MATRIX = 8192

# Parts of the batches whose scatter gives the errors of their estimates.
_PARTS = 20

# Events from which the basis of compressed features is found.
_FOR_BASIS = 20_000


@dataclass(frozen=True, eq=False)
class BatchEstimates:
    """The batch estimators of each event, and how faithful their pair kernel is.

    Attributes
    ----------
    scores
        ``raw``, ``marginal`` and ``pair``, and ``witness``, the pair score in the witness's
        normalisation.
    errors
        The standard errors of ``raw``, ``marginal`` and ``pair`` from the finite number of
        batches; that of the data comes on top, see :class:`EventScores`.
    target_correlation
        The correlation over events (at most 20000) of what the pair score converges to with its
        form in compressed features; 1 where the pair kernel is exact.
    """

    scores: batch_sums.BatchScores
    errors: dict[str, Array]
    target_correlation: float


def batch_estimates(
    sample: npt.ArrayLike,
    reference: npt.ArrayLike,
    recipe: Recipe,
    streams: Streams,
    *,
    m: int,
    R: int,
    group_size: int,
    replacement: bool = False,
    rank: int = 512,
    choices: Choices | None = None,
) -> BatchEstimates:
    """Return the raw, marginal and pair estimates from R global batches (sec. algorithm).

    The pair kernel is exact for up to 8192 events, unless ``method`` is ``rff``; otherwise it is
    that of random features, rotated onto ``rank`` directions that keep the witness as it is and
    nearly all of the noise.

    Parameters
    ----------
    m, R, group_size, replacement
        See :func:`localizer.estimators.batches.run`; R is a multiple of ``group_size``, at least
        twice it.
    rank
        Numbers an event takes: N = 10^6 and 512 need 4 GB.
    streams
        As for :func:`score_events`, and ``batches`` with the number of a group, and ``basis``.
    """
    x, y = both(sample, reference)
    chosen = choices or choose(x, y, recipe, streams)
    x, y = chosen.transform(x), chosen.transform(y)
    pairs: pair_forms.Pairs
    if recipe.method != "rff" and len(x) <= _LARGEST_MATRIX:
        pairs = pair_forms.KernelPairs(q_B(x, x, chosen.bank, EmpiricalBackground(chosen.bank, y)))
        correlation = 1.0
    else:
        z = draw_features(chosen.bank, x.shape[1], recipe, streams)
        centre = feature_mean(z, y)
        few = x[subsample(streams("basis"), len(x), _FOR_BASIS)]
        moments = compression.centred_moments(few, z, centre)
        # the batches converge to a product with the mean of all events, not of these few
        basis = compression.compress(
            moments,
            rank=min(checks.integer(rank, "rank"), z.D),
            target=feature_mean(z, x) - centre,
        )
        pairs = pair_forms.FeaturePairs(
            z.transform(x, centre=centre, basis=basis.basis).astype(np.float32, copy=False)
        )
        correlation = basis.target_correlation(few, z, centre, N=len(x), replacement=replacement)
    groups = batches.group_range(R, group_size=group_size)
    ends = np.linspace(0, len(groups), min(_PARTS, len(groups)) + 1).astype(int).tolist()
    parts = [
        batches.run(
            pairs,
            m=m,
            groups=groups[start:end],
            group_size=group_size,
            streams=partial(streams, "batches"),
            replacement=replacement,
            threads=get_num_threads(),
        )
        for start, end in pairwise(ends)
    ]
    errors = batch_sums.standard_errors(parts)
    return BatchEstimates(batch_sums.scores(reduce(add, parts)), errors, correlation)
