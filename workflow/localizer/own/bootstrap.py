r"""Draws without a departure for events with weights: a multiplier bootstrap.

Permutations mix two samples up, which is valid only if both follow one law under the null
hypothesis. Events with weights do not: those of a generator have densities of their own, which the
weights make up for. What can be drawn are the fluctuations of the two weighted mean embeddings,

    delta* = sum_j (g_j n_j - g m_j) k(., z_j),  n_j from a Poisson distribution with mean l_j,

one such sum for each of two parts. g is the sum of the g_j n_j and the m_j, which add up to 1, are
proportional to g_j l_j: the fluctuations are about what there is.

- The reference is taken again: every event counts n_j times, l_j = 1, with its weight over the sum
  of the weights, of either sign.
- The sample is drawn again from the pooled events, as permutations do. Without weights g_j = 1/N,
  and l_j is N times the part of the event in the pooled mean. With weights, g_j is the event's own
  part of the sample or, for an event of the reference, that of the sample's events about it; and
  an event of the reference whose neighbours have negative weights is drawn as seldom as the mean
  sign about it says. "About" is as near as the kernel sees.

The statistics of a draw are |delta*|^2 less its mean over the n_j, as MMD^2 is without bias, and
delta* at the events that were drawn for the sample, each without its own term; for the evidence
with the errors of the data. They approach those under the null as the samples grow, whatever the
weights are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.threads import in_threads
from localizer.estimators.studentized import inverse_errors, kernel_rows, pooled_moments
from localizer.estimators.weights import Weights, worth
from localizer.kernels import feature_products
from localizer.kernels.feature_means import chunks, feature_mean, feature_sums
from localizer.kernels.features import FourierFeatures, feature_rows
from localizer.kernels.moments import kernel_moments
from localizer.own.progress import Advance, unseen
from localizer.own.random_features import draw_features, evidence_features
from localizer.own.recipe import Choices, Recipe, Streams, both, choose
from localizer.own.significance import NullDraws
from localizer.own.splits import (
    GROUP,
    ROWS,
    Extremes,
    extremes,
    plain_rows,
    slices,
)


def bootstrap(
    sample: npt.ArrayLike,
    reference: npt.ArrayLike,
    recipe: Recipe,
    streams: Streams,
    *,
    numbers: range,
    top: int = 100,
    weights: Weights | None = None,
    advance: Advance = unseen,
) -> NullDraws:
    """Return the statistics of fluctuations about the weighted samples.

    Coordinates and bandwidths are those of the data in every draw.

    Parameters
    ----------
    numbers
        Which draws; the numbers key their streams.
    top, advance
        As in :func:`localizer.own.significance.permutations`.
    weights
        Those of the events; left out, every event counts once.
    """
    x, y = both(sample, reference)
    chosen = choose(x, y, recipe, streams)
    x, y = chosen.transform(x), chosen.transform(y)
    w = weights or Weights.none(len(x), len(y))
    first = numbers.start // GROUP * GROUP
    columns = -(-(numbers.stop - first) // GROUP) * GROUP
    decided = recipe.for_calibration(len(x), len(y))
    parts = _parts(x, y, w, chosen, decided, streams, columns)

    def draw(p: int) -> None:
        for name, part in zip(("sample", "reference"), parts, strict=True):
            rng = streams("bootstrap", name, p)
            part.counts[:, p - first] = np.minimum(rng.poisson(part.mean), 255)

    for _ in in_threads(draw, numbers):
        pass
    # columns that were not asked for hold a draw that was
    empty = [c for c in range(columns) if c + first not in numbers]
    for part in parts:
        part.counts[:, empty] = part.counts[:, [numbers.start - first]]
    keep = min(checks.integer(top, "top"), len(x))
    form = _exact if decided.method == "exact" else _rff
    found = form(x, y, _Fluctuations(parts), w, chosen, recipe, streams, keep, advance)
    wanted = np.asarray(numbers) - first
    return NullDraws(np.asarray(numbers), *(values[wanted] for values in found))


@dataclass(frozen=True, eq=False)
class _Part:
    """One of the sums: g_j and l_j of every pooled event, and n_j, a column for each draw."""

    weight: Array
    mean: Array
    counts: npt.NDArray[np.uint8]

    @property
    def measure(self) -> Array:
        """The m_j."""
        expected = self.weight * self.mean
        return np.asarray(expected / expected.sum())

    @property
    def variances(self) -> Array:
        """The variance of each g_j n_j."""
        return np.asarray(self.weight**2 * self.mean)


def _parts(
    x: Array,
    y: Array,
    w: Weights,
    chosen: Choices,
    recipe: Recipe,
    streams: Streams,
    columns: int,
) -> tuple[_Part, _Part]:
    """Return the part of the sample and that of the reference, without the n_j."""
    u, v, local = w.sample, w.reference, partial(_local, chosen, recipe, streams)
    a, U = w.share_of_sample, u.sum()
    nothing = np.zeros(len(x)), np.zeros(len(y))
    sizes = np.abs(v)
    drawn = sizes if v.min() >= 0 else sizes * np.maximum(local(y, y, v, sizes), 0)
    weight = np.ones(len(y)) if np.ptp(u) == 0 else local(y, x, u * u, u) / u.mean()
    # weights for all, and means that add up to the worth of the sample
    g = np.concatenate([u / U, weight / len(x)])
    mean = np.concatenate([np.full(len(x), a), (1 - a) * drawn / drawn.sum() / g[len(x) :]])
    of_reference = -v / v.sum() / np.sqrt(1 - 1 / worth(v))
    parts = (
        (g, mean),
        (np.concatenate([nothing[0], of_reference]), np.concatenate([nothing[0], nothing[1] + 1])),
    )
    sample, reference = (
        _Part(*part, np.zeros((len(g), columns), dtype=np.uint8)) for part in parts
    )
    return sample, reference


def _local(
    chosen: Choices,
    recipe: Recipe,
    streams: Streams,
    at: Array,
    events: Array,
    above: Array,
    below: Array,
) -> Array:
    """Return sum_j above_j k over sum_j below_j k: the mean of above / below about some points."""
    tops = above, below
    if recipe.method == "exact":
        h = chosen.bank.bandwidths
        sums = np.array([kernel_moments(at, events, h, weights=v).first for v in tops])
    else:
        z = draw_features(chosen.bank, at.shape[1], recipe, streams)
        of_all = np.array([feature_sums(z, events, v).sum(axis=0) for v in tops])
        sums = feature_products.projections(z, at, of_all).T.astype(np.float64)
    everywhere = np.full(len(at), above.sum() / below.sum())
    found = np.divide(sums[0], sums[1], out=everywhere, where=sums[1] > 0)
    single = above / below
    return np.asarray(np.clip(found, single.min(), single.max()))


class _Fluctuations:
    """The coefficients of the pooled events in delta*, a column for each draw."""

    def __init__(self, parts: tuple[_Part, _Part]) -> None:
        self.parts = parts
        self.columns = parts[0].counts.shape[1]
        self._measures = [part.measure for part in parts]
        self._sums = [
            sum(part.weight[k] @ part.counts[k] for k in chunks(part.weight)) for part in parts
        ]

    def own(self, rows: slice) -> Array:
        """Return what each event adds to the sum of the sample's part, which centres the others."""
        part = self.parts[0]
        return np.asarray(part.weight[rows, None] * part.counts[rows])

    def drawn(self, rows: slice) -> npt.NDArray[np.bool_]:
        """Return which of some events were drawn for the sample."""
        return self.parts[0].counts[rows] > 0

    def __getitem__(self, rows: slice) -> Array:
        """Return some rows of the coefficients."""
        return np.asarray(
            sum(
                part.weight[rows, None] * part.counts[rows] - measure[rows, None] * total
                for part, measure, total in zip(self.parts, self._measures, self._sums, strict=True)
            )
        )


def _exact(
    x: Array,
    y: Array,
    c: _Fluctuations,
    w: Weights,
    chosen: Choices,
    recipe: Recipe,
    _: Streams,
    top: int,
    advance: Advance,
) -> tuple[Array, Array, Array]:
    pooled = np.concatenate([x, y])
    all_c = c[:]
    per_error = _per_error(pooled, x, y, w, chosen.ladder) if recipe.ranking == "evidence" else None
    of_means = np.stack([part.measure for part in c.parts])

    def times(k: Array) -> Array:
        return np.concatenate([k @ all_c[:, s] for s in slices(c.parts[0].counts)], axis=1)

    def work(start: int) -> tuple[Array, Array, tuple[Array, Array]]:
        rows = slice(start, min(start + ROWS, len(pooled)))
        k = chosen.bank.rows(pooled[rows], pooled)
        delta = times(k)
        square = (all_c[rows] * delta).sum(axis=0)
        itself: Array | float = 1.0
        means = k @ of_means.T
        at = means[:, :1]
        if per_error is not None:
            errors = per_error[:, rows]
            k = kernel_rows(pooled[rows], pooled, chosen.ladder, errors)
            delta, at = times(k), k @ of_means[0][:, None]
            itself = errors.mean(axis=0)[:, None]
        scores = delta - itself * all_c[rows] + at * c.own(rows)
        return square, means, extremes(scores, c.drawn(rows), top)

    total, found, embedding = np.zeros(c.columns), Extremes(c.columns, top), []
    for square, means, some in in_threads(work, range(0, len(pooled), ROWS)):
        total += square
        embedding.append(means)
        found.add(some)
        advance(ROWS)
    means = np.concatenate(embedding)
    for part, of_part, at in zip(c.parts, of_means, means.T, strict=True):
        # |k(., z_j) - mean|^2
        total -= part.variances @ (1 - 2 * at + of_part @ at)
    return total, *_of_few(found)


def _of_few(found: Extremes) -> tuple[Array, Array]:
    """Return the extremes; where fewer events were drawn than are kept, the lowest fills up."""
    return np.maximum(found.largest, found.lowest).T, found.lowest


def _per_error(pooled: Array, x: Array, y: Array, w: Weights, ladder: tuple[float, ...]) -> Array:
    """Return 1 / se_h at every pooled event."""
    inside = kernel_moments(pooled, x, ladder[:1], each=ladder, weights=w.sample)
    outside = kernel_moments(pooled, y, ladder[:1], each=ladder, weights=w.reference)
    share, scale = _everywhere(w.own_share, len(y)), _everywhere(w.scale, len(y))
    # an event of the reference stands for one of the sample: in the pooled moments too
    change = share - w.pooled
    first, second = pooled_moments(inside, outside, w)
    return inverse_errors(first + change, second + change, share, scale)


def _everywhere(of_sample: Array, M: int) -> Array:
    """Return what the events of the sample have; those of the reference have its mean."""
    return np.concatenate([of_sample, np.full(M, of_sample.mean())])


def _rff(
    x: Array,
    y: Array,
    c: _Fluctuations,
    w: Weights,
    chosen: Choices,
    recipe: Recipe,
    streams: Streams,
    top: int,
    advance: Advance,
) -> tuple[Array, Array, Array]:
    pooled = np.concatenate([x, y])
    z = draw_features(chosen.bank, x.shape[1], recipe, streams)
    delta = _delta(pooled, z, c)
    value = np.sum(delta**2, axis=1) - sum(_mean_square(pooled, z, part) for part in c.parts)
    advance(len(pooled) // 2)
    features = None
    if recipe.ranking == "evidence":
        features = evidence_features(chosen.ladder, x, y, recipe, streams, w)
        delta = _delta(pooled, features.z, c)
    mean = feature_mean(z if features is None else features.z, pooled, c.parts[0].measure)
    directions, embedding = delta.astype(np.float32), mean.astype(np.float32)
    share, scale = _everywhere(w.own_share, len(y)), _everywhere(w.scale, len(y))

    def work(rows: slice) -> tuple[Array, Array]:
        scores = np.empty((rows.stop - rows.start, len(directions)), dtype=np.float32)
        blocks = (
            features.rows(pooled[rows], share[rows], scale[rows])
            if features
            else plain_rows(z, pooled[rows])
        )
        for place, block, itself in blocks:
            for s in slices(c.parts[0].counts):
                scores[place, s] = block @ directions[s].T
            there = slice(rows.start + place.start, rows.start + place.stop)
            own = (block @ embedding)[:, None] * c.own(there) - itself[:, None] * c[there]
            scores[place] += own.astype(np.float32)
        largest, lowest = extremes(scores, c.drawn(rows), top)
        return largest.astype(np.float64), lowest.astype(np.float64)

    found = Extremes(len(directions), top)
    for part, some in zip(chunks(pooled), in_threads(work, chunks(pooled)), strict=True):
        found.add(some)
        advance((part.stop - part.start) // 2)
    return value, *_of_few(found)


def _delta(pooled: Array, z: FourierFeatures, c: _Fluctuations) -> Array:
    """Return delta* in features, a row for each draw."""

    def work(rows: slice) -> Array:
        total = np.zeros((c.columns, z.D))
        for place, block in feature_rows(z, pooled[rows], rows=ROWS):
            part = c[rows.start + place.start : rows.start + place.stop].astype(np.float32)
            for s in slices(c.parts[0].counts):
                total[s] += part[:, s].T @ block
        return total

    total = np.zeros((c.columns, z.D))
    for part in in_threads(work, chunks(pooled)):
        total += part
    return total


def _mean_square(pooled: Array, z: FourierFeatures, part: _Part) -> float:
    """Return the mean of |delta*|^2 of one part: the sum of the variances times |z_j - mean|^2."""
    mean = feature_mean(z, pooled, part.measure)

    def work(rows: slice) -> float:
        at = feature_products.projections(z, pooled[rows], mean[None])[:, 0].astype(np.float64)
        return float(part.variances[rows] @ (1 - 2 * at + mean @ mean))

    return sum(in_threads(work, chunks(pooled)))
