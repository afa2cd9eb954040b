r"""Score the events of any sample against any reference: the witness, its error, the evidence.

Sec. algorithm of the paper, with the mean embedding mu_B the mean over a reference.

In the coordinates and with the kernel of a :mod:`localizer.own.recipe`, :func:`score_events`
gives every event its empirical witness and its leave-one-out witness, with standard errors, and
its studentized witness (:mod:`localizer.estimators.studentized`).

At a fixed point x and for fixed choices the leave-one-out witness is the difference of two means
of independent kernel values, over the N - 1 other events and over the M reference events. It is
unbiased for w_P(x) (eq. loo-unbiased) and its variance is

    Var_P[k(x, X)] / (N - 1) + Var_B[k(x, Y)] / M,

in which the two sample variances, the event left out, stand for the unknown ones. It takes the
sums of k^2 beside those of k, which one pass over the pairs gives. Events with weights count by
these; the variances are then those of ratios of weighted sums.

Random features add an error of their own (:mod:`localizer.own.random_features`). Both parts are
errors given the choices: how the choices themselves would have scattered is a matter for
:mod:`localizer.own.significance`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from localizer.base.checks import Array, IntArray
from localizer.base.metrics import average_ranks
from localizer.base.randomness import subsample
from localizer.estimators.studentized import rff_studentized
from localizer.estimators.studentized import studentized as studentized_of
from localizer.estimators.weights import Weights
from localizer.kernels import feature_means
from localizer.kernels.bank import GaussianBank
from localizer.kernels.feature_means import mean_of
from localizer.kernels.features import FourierFeatures
from localizer.kernels.moments import KernelMoments, kernel_moments, precision
from localizer.kernels.sums import Precision
from localizer.own.defaults import RankedBy
from localizer.own.exact import mean_and_variance
from localizer.own.progress import Advance, unseen
from localizer.own.random_features import draw_features, evidence_features, rff_scores
from localizer.own.recipe import Choices, Recipe, Streams, Used, both, choose

Sums: TypeAlias = dict[str, Array]
"""Sums of random features over chunks of the sample and the reference, see :func:`feature_sums`."""

# Rows that are scored between two steps of a progress bar.
_STEP = 8192


@dataclass(frozen=True, eq=False)
class EventScores:
    """The scores of events, in their order.

    Attributes
    ----------
    witness
        The empirical witness, the event itself included: eq. empirical-witness.
    loo
        The leave-one-out witness: eq. loo-witness, or eq. rff-loo.
    error_data
        The standard error of ``loo`` from the finite sample and the finite reference.
    error_features
        Its standard error from the draw of random features, 0 if there are none.
    studentized
        The evidence; empty if there is no ladder of bandwidths for it.
    method
        ``exact`` or ``rff``.
    """

    witness: Array
    loo: Array
    error_data: Array
    error_features: Array
    studentized: Array
    method: Used

    @property
    def standard_error(self) -> Array:
        """The standard error of ``loo`` as an estimate of the population's witness w_P(x)."""
        return np.hypot(self.error_data, self.error_features)

    @property
    def rank(self) -> Array:
        """The place of each event, 1 for the largest ``loo``; ties share an average."""
        return average_ranks(-self.loo)

    @classmethod
    def joined(cls, parts: Sequence[EventScores]) -> EventScores:
        """Return the scores of events that several jobs have scored, in their order."""
        names = ("witness", "loo", "error_data", "error_features", "studentized")
        arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return cls(**arrays, method=parts[0].method)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as arrays, for ``np.savez``."""
        return {name: np.asarray(getattr(self, name)) for name in self.__dataclass_fields__}

    @classmethod
    def from_dict(cls, arrays: Mapping[str, Any]) -> EventScores:
        """Return what :meth:`as_dict` wrote."""
        return cls(**{**arrays, "method": str(arrays["method"])})

    def ranked(self, by: RankedBy) -> Array:
        """Return the numbers that events are ranked by."""
        return self.loo if by == "contribution" else self.studentized


def score_events(
    sample: npt.ArrayLike,
    reference: npt.ArrayLike,
    recipe: Recipe,
    streams: Streams,
    *,
    weights: Weights | None = None,
    choices: Choices | None = None,
    rows: slice = slice(None),
    sums: Sums | None = None,
    advance: Advance = unseen,
) -> EventScores:
    """Return the scores of the events of the sample.

    Parameters
    ----------
    sample, reference
        Of shapes (N, d) and (M, d), in the user's own units.
    streams
        For ``pairs`` of the median distance, ``features``, ``ladder`` and ``companions``.
    weights
        Those of the events; left out, every event counts once.
    choices
        What :func:`choose` returned for these data; left out, it is asked.
    rows
        Which events are scored, beginning and ending with a chunk; all of them by default.
    sums
        What :func:`feature_sums` returned for all chunks; left out, it is asked.
    advance
        Is told how many events were scored.

    Notes
    -----
    Work is shared out over ``numba.get_num_threads()`` threads; the result does not depend on
    their number (with one thread of BLAS).
    """
    x, y = both(sample, reference)
    chosen = choices or choose(x, y, recipe, streams)
    x, y = chosen.transform(x), chosen.transform(y)
    return scores_among(
        *(x[rows], x, y, np.arange(len(x))[rows], chosen.bank, recipe, streams),
        weights=weights,
        ladder=chosen.ladder,
        sums=sums,
        advance=advance,
    )


def scores_among(
    at: Array,
    among: Array,
    reference: Array,
    own: IntArray | None,
    bank: GaussianBank,
    recipe: Recipe,
    streams: Streams,
    *,
    weights: Weights | None = None,
    ladder: tuple[float, ...] = (),
    sums: Sums | None = None,
    advance: Advance = unseen,
) -> EventScores:
    """Return the scores of events against the witness of a sample, in the kernel's coordinates.

    Parameters
    ----------
    at
        The events to be scored.
    among
        The sample whose witness they are scored with.
    reference
        The reference.
    own
        Where in ``among`` each event of ``at`` is found, to be left out; None if it is not there,
        in which case witness and leave-one-out witness are the same.
    weights
        Those of ``among`` and ``reference``.
    ladder
        The bandwidths of the evidence. Without it there is none; it needs ``own``.
    sums
        As in :func:`score_events`.
    """
    w = weights or Weights.none(len(among), len(reference))
    exact = recipe.for_scores(len(among), len(reference)).method == "exact"
    if not len(at):
        # more jobs than chunks of events
        nobody = np.empty(0)
        return EventScores(nobody, nobody, nobody, nobody, nobody, "exact" if exact else "rff")
    own_weight = np.zeros(len(at)) if own is None else w.sample[own]
    if exact:
        return _exact(at, among, reference, own, bank, ladder, w, weights, advance)
    z = draw_features(bank, at.shape[1], recipe, streams)
    added = sums or _sums_of(among, reference, z, w, "")
    mean, mean_reference = (
        mean_of(added[which], v) for which, v in (("sample", w.sample), ("reference", w.reference))
    )
    left = own_weight / (w.sample.sum() - own_weight)
    # with one number for all there is one direction less to multiply with
    left_out = left if weights else float(left[0])
    loo, witness, error_features = rff_scores(z, at, mean, mean_reference, left_out, bank=bank)
    advance(len(at))
    variance = np.zeros(len(at))
    rng = streams("companions")
    for events, v, place in ((among, w.sample, own), (reference, w.reference, None)):
        few = subsample(rng, len(events), recipe.companions)
        there = np.zeros(len(at), dtype=bool) if place is None else np.isin(place, few)
        own_part = np.where(there, own_weight, 0.0)
        first, squares = _sums(at, events[few], v[few], bank, (), weights)
        of_few = mean_and_variance(first, squares, v[few], own_part)[1]
        # an event may be its own companion
        variance += of_few * (len(few) - there) / (len(events) - (place is not None))
    studentized = np.empty(0)
    if ladder:
        features = evidence_features(ladder, among, reference, recipe, streams, weights)
        added = sums or _sums_of(among, reference, features.z, w, "evidence_")
        mean, mean_reference = (
            mean_of(added[f"evidence_{which}"], v)
            for which, v in (("sample", w.sample), ("reference", w.reference))
        )
        studentized = rff_studentized(features, at, mean, mean_reference, w, own)
    return EventScores(witness, loo, np.sqrt(variance), error_features, studentized, "rff")


def feature_sums(
    sample: npt.ArrayLike,
    reference: npt.ArrayLike,
    recipe: Recipe,
    streams: Streams,
    *,
    weights: Weights | None = None,
    part: int = 0,
    parts: int = 1,
) -> Sums:
    """Return what random features need of all events, for some chunks of them.

    Joined by :func:`joined_sums` they are what :func:`score_events` takes, whatever the number of
    parts. Where scores are exact there are none.
    """
    x, y = both(sample, reference)
    if recipe.for_scores(len(x), len(y)).method == "exact":
        return {}
    chosen = choose(x, y, recipe, streams)
    x, y = chosen.transform(x), chosen.transform(y)
    w = weights or Weights.none(len(x), len(y))
    of_x, of_y = (rows_of(len(events), part, parts) for events in (x, y))
    some = Weights(w.sample[of_x], w.reference[of_y])
    z = draw_features(chosen.bank, x.shape[1], recipe, streams)
    found = _sums_of(x[of_x], y[of_y], z, some, "")
    if chosen.ladder:
        evidence = evidence_features(chosen.ladder, x, y, recipe, streams, weights)
        found |= _sums_of(x[of_x], y[of_y], evidence.z, some, "evidence_")
    return found


def _sums_of(x: Array, y: Array, z: FourierFeatures, w: Weights, prefix: str) -> Sums:
    return {
        f"{prefix}sample": feature_means.feature_sums(z, x, w.sample),
        f"{prefix}reference": feature_means.feature_sums(z, y, w.reference),
    }


def joined_sums(parts: Sequence[Sums]) -> Sums | None:
    """Return the sums of all chunks from those of the parts, in their order."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} or None


def rows_of(events: int, part: int, parts: int) -> slice:
    """Return the events of one of several parts: whole chunks, so that none is cut.

    Examples
    --------
    >>> rows_of(40_000, 0, 2), rows_of(40_000, 1, 2), rows_of(40_000, 3, 4)
    (slice(0, 32768, None), slice(32768, 40000, None), slice(40000, 40000, None))
    """
    size = feature_means.CHUNK
    ends = np.cumsum([0, *(len(some) for some in np.array_split(range(-(-events // size)), parts))])
    return slice(min(int(ends[part]) * size, events), min(int(ends[part + 1]) * size, events))


def _exact(
    at: Array,
    among: Array,
    reference: Array,
    own: IntArray | None,
    bank: GaussianBank,
    ladder: tuple[float, ...],
    w: Weights,
    weights: Weights | None,
    advance: Advance,
) -> EventScores:
    place = np.empty(0, dtype=int) if own is None else own
    own_weight = np.zeros(len(at)) if own is None else w.sample[own]
    # that of the whole problem, also where some of its events are scored
    events = among if own is not None else np.concatenate([at, among])
    dtype = precision(events, reference, (*bank.bandwidths, *ladder))
    loo, witness, variance = np.empty((3, len(at)))
    studentized = np.empty(len(at) if ladder else 0)
    for start in range(0, len(at), _STEP):
        rows = slice(start, min(start + _STEP, len(at)))
        inside, inside_squares = _sums(at[rows], among, w.sample, bank, ladder, weights, dtype)
        outside, outside_squares = _sums(
            at[rows], reference, w.reference, bank, ladder, weights, dtype
        )
        mean, of_sample = mean_and_variance(inside, inside_squares, w.sample, own_weight[rows])
        mu, of_reference = mean_and_variance(outside, outside_squares, w.reference, 0.0)
        loo[rows], variance[rows] = mean - mu, of_sample + of_reference
        witness[rows] = inside.first / w.sample.sum() - mu
        if ladder:
            studentized[rows] = studentized_of(inside, outside, w, place[rows])
        advance(rows.stop - start)
    nothing = np.zeros(len(at))
    return EventScores(witness, loo, np.sqrt(variance), nothing, studentized, "exact")


def _sums(
    at: Array,
    events: Array,
    of_events: Array,
    bank: GaussianBank,
    ladder: tuple[float, ...],
    weights: Weights | None,
    dtype: Precision = np.float64,
) -> tuple[KernelMoments, KernelMoments]:
    """Return the sums with the weights of the events, and those with their squares."""
    h = bank.bandwidths
    if weights is None:
        sums = kernel_moments(at, events, h, each=ladder, dtype=dtype)
        return sums, sums
    return (
        kernel_moments(at, events, h, each=ladder, weights=of_events, dtype=dtype),
        kernel_moments(at, events, h, weights=of_events**2, dtype=dtype),
    )
