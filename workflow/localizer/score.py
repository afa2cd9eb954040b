r"""Score the events of any sample against any reference: the witness and its error.

Sec. algorithm of the paper, with the mean embedding mu_B the mean over a reference.

A :class:`Recipe` says how coordinates and bandwidths are to be chosen, :func:`choose` chooses
them on data, and :func:`score_events` gives every event its empirical witness and its
leave-one-out witness, with standard errors.

At a fixed point x and for fixed choices the leave-one-out witness is the difference of two means
of independent kernel values, over the N - 1 other events and over the M reference events. It is
unbiased for w_P(x) (eq. loo-unbiased) and its variance is

    Var_P[k(x, X)] / (N - 1) + Var_B[k(x, Y)] / M,

in which the two sample variances, the event left out, stand for the unknown ones. It takes the
sums of k^2 beside those of k.

Random features add an error of their own. Each frequency w gives, with the cosine and the sine
side by side, an unbiased estimate of the witness by itself; the n frequencies of a bandwidth are
independent, and the scatter of their estimates is the error of the mean. Both parts are errors
given the choices: how the choices themselves would have scattered is a matter for
:mod:`localizer.significance`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import pairwise
from operator import add
from typing import Literal, TypeAlias, TypeVar, get_args

import numpy as np
import numpy.typing as npt
from numba import get_num_threads
from scipy.spatial.distance import cdist, pdist

from localizer import batches, checks, features, linear
from localizer.checks import Array, IntArray
from localizer.copula import BackgroundCDF, median_distance
from localizer.features import FourierFeatures
from localizer.kernels import EmpiricalBackground, GaussianBank, kernel_sums, q_B
from localizer.metrics import average_ranks
from localizer.sums import ladders

Coordinates: TypeAlias = Literal["as_is", "standardized", "uniform", "normal"]
Source: TypeAlias = Literal["pooled", "reference"]
Method: TypeAlias = Literal["auto", "exact", "rff"]
Used: TypeAlias = Literal["exact", "rff"]
Streams: TypeAlias = Callable[..., np.random.Generator]
"""The generator that belongs to a key, for example ``partial(stream, seed, "score")``."""

_One = TypeVar("_One")
_Other = TypeVar("_Other")

# Rows that a thread takes at a time. Sums over them are added in order: a part of the content.
_CHUNK = 16_384

# Kernels that a thread holds at a time: 4 MB.
_ENTRIES = 1 << 19

# A matrix of pair kernels of this many events takes half a gigabyte.
_LARGEST_MATRIX = 8192

# Parts of the batches whose scatter gives the errors of their estimates.
_PARTS = 20

# Events from which the basis of compressed features is found.
_FOR_BASIS = 20_000


@dataclass(frozen=True)
class Recipe:
    """How events are seen and compared, before any data are looked at.

    Parameters
    ----------
    coordinates
        ``as_is``; ``standardized``: each feature less its mean, over its standard deviation;
        ``uniform`` or ``normal``: copula coordinates, see :mod:`localizer.copula`.
    source
        Whose events fix coordinates and d_med: ``pooled``, those of sample and reference
        together, whose choices do not change when the two are mixed up; or ``reference``.
    factors
        The bandwidths in units of d_med, the median distance between two events.
    method
        ``exact`` visits all pairs of events. ``rff`` takes random Fourier features. ``auto``
        is ``exact`` where at most ``exact_limit`` kernels are needed: N (N + M) for the
        witness, (N + M)^2 for the global MMD^2.
    exact_limit
        See ``method``.
    n_per_bandwidth
        Features of each bandwidth, cosines and sines together.
    companions
        With ``rff``, the kernel's spread is estimated from this many events of either sample.
    pairs
        The median distance is that of this many random pairs, or of all if there are no more.
    """

    coordinates: Coordinates = "standardized"
    source: Source = "pooled"
    factors: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0)
    method: Method = "auto"
    exact_limit: int = 10**9
    n_per_bandwidth: int = 512
    companions: int = 512
    pairs: int = 500_000

    def __post_init__(self) -> None:
        named = {"coordinates": Coordinates, "source": Source, "method": Method}
        for name, kind in named.items():
            if (value := getattr(self, name)) not in get_args(kind):
                raise ValueError(
                    f"{name} must be one of {', '.join(get_args(kind))}, not {value!r}"
                )
        object.__setattr__(self, "factors", checks.bandwidths(self.factors, "factors"))
        checks.integer(self.exact_limit, "exact_limit", minimum=0)
        checks.integer(self.companions, "companions", minimum=10)
        checks.integer(self.pairs, "pairs", minimum=100)
        if checks.integer(self.n_per_bandwidth, "n_per_bandwidth", minimum=4) % 2:
            raise ValueError(f"n_per_bandwidth must be even, it is {self.n_per_bandwidth}")

    def used(self, kernels: int) -> Used:
        """Return the method for a task that needs so many kernels, if it is done exactly."""
        if self.method == "auto":
            return "exact" if kernels <= self.exact_limit else "rff"
        return self.method

    def decided(self, N: int, M: int) -> Recipe:
        """Return the recipe with one method for scores, p-value and band, by the costliest."""
        return replace(self, method=self.used((N + M) ** 2))


@dataclass(frozen=True, eq=False)
class Choices:
    """What a recipe comes to on data.

    Parameters
    ----------
    transform
        Takes events into the coordinates in which the kernel compares them.
    d_med
        The median distance between two events in these coordinates.
    bank
        The kernel.
    """

    transform: Callable[[npt.ArrayLike], Array]
    d_med: float
    bank: GaussianBank


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
    method
        ``exact`` or ``rff``.
    """

    witness: Array
    loo: Array
    error_data: Array
    error_features: Array
    method: Used

    @property
    def standard_error(self) -> Array:
        """The standard error of ``loo`` as an estimate of the population's witness w_P(x)."""
        return np.hypot(self.error_data, self.error_features)

    @property
    def rank(self) -> Array:
        """The place of each event, 1 for the largest ``loo``; ties share an average."""
        return average_ranks(-self.loo)


# --- the choices -------------------------------------------------------------------------


def choose(
    sample: npt.ArrayLike, reference: npt.ArrayLike, recipe: Recipe, streams: Streams
) -> Choices:
    """Return coordinates and kernel for a sample and a reference.

    With ``source="pooled"`` they depend on the two together only, not on which event belongs
    to which.

    Parameters
    ----------
    streams
        For the random pairs of d_med, under the key ``pairs``.

    Examples
    --------
    >>> from functools import partial
    >>> from localizer.randomness import stream
    >>> sample, reference = [[0.0], [1.0], [2.0]], [[3.0], [4.0], [5.0]]
    >>> recipe = Recipe("as_is", factors=(0.5, 1.0))
    >>> choose(sample, reference, recipe, partial(stream, 1)).bank.bandwidths
    (1.0, 2.0)
    """
    x, y = both(sample, reference)
    events = y if recipe.source == "reference" else np.concatenate([x, y])
    transform = _coordinates(recipe.coordinates, events)
    d_med = _median(transform(events), recipe.pairs, streams)
    return Choices(transform, d_med, GaussianBank(tuple(f * d_med for f in recipe.factors)))


def _coordinates(kind: Coordinates, events: Array) -> Callable[[npt.ArrayLike], Array]:
    if kind == "uniform" or kind == "normal":
        return partial(BackgroundCDF.of(events).transform, scores=kind)
    # the kernel knows differences only, and single precision wants small numbers
    shift = events.mean(axis=0)
    scale = np.ones_like(shift)
    if kind == "standardized":
        # what is constant among these events (a permutation's reference, a fold) stays as it is;
        # the mean of equal numbers can miss them in the last digit, so that std tells nothing
        scale = events.std(axis=0)
        scale[np.ptp(events, axis=0) == 0] = 1.0
    return partial(_affine, shift=shift, scale=scale)


def _affine(x: npt.ArrayLike, *, shift: Array, scale: Array) -> Array:
    return (checks.points(x, "x", d=shift.size) - shift) / scale


def _median(x: Array, pairs: int, streams: Streams) -> float:
    if len(x) * (len(x) - 1) // 2 <= pairs:
        value = float(np.median(pdist(x)))
    else:
        value = median_distance(x, streams("pairs"), pairs=pairs).value
    if not value > 0:
        raise ValueError(
            "d_med must be positive: more than half of the pairs of events are equal, so that "
            "there is no length to measure bandwidths in"
        )
    return value


# --- the scores --------------------------------------------------------------------------


def score_events(
    sample: npt.ArrayLike,
    reference: npt.ArrayLike,
    recipe: Recipe,
    streams: Streams,
    *,
    choices: Choices | None = None,
) -> EventScores:
    """Return the scores of all events of the sample.

    Parameters
    ----------
    sample, reference
        Of shapes (N, d) and (M, d), in the user's own units.
    streams
        For ``pairs`` of the median distance, ``features`` and ``companions``.
    choices
        What :func:`choose` returned for these data; left out, it is asked.

    Notes
    -----
    Work is shared out over ``numba.get_num_threads()`` threads; the result does not depend on
    their number (with one thread of BLAS).
    """
    x, y = both(sample, reference)
    chosen = choices or choose(x, y, recipe, streams)
    x, y = chosen.transform(x), chosen.transform(y)
    return scores_among(x, x, y, np.arange(len(x)), chosen.bank, recipe, streams)


def scores_among(
    at: Array,
    among: Array,
    reference: Array,
    own: IntArray | None,
    bank: GaussianBank,
    recipe: Recipe,
    streams: Streams,
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
    """
    of_sample, of_reference = len(among), len(reference)
    method = recipe.used(len(at) * (of_sample + of_reference))
    others = of_sample - (own is not None)
    if method == "exact":
        inside, spread = _means_and_variances(at, among, own, bank)
        outside, spread_reference = _means_and_variances(at, reference, None, bank)
        loo, error_features = inside - outside, np.zeros(len(at))
        witness = loo if own is None else loo + (1 - inside) / of_sample
    else:
        z = draw_features(bank, at.shape[1], recipe, streams)
        mean, mean_reference = feature_mean(z, among), feature_mean(z, reference)
        loo, witness, error_features = _rff(
            z, at, mean, mean_reference, N=None if own is None else of_sample, bank=bank
        )
        rng = streams("companions")
        few = _some(rng, of_sample, recipe.companions)
        spread = _means_and_variances(at, among[few], _places(few, own, of_sample), bank)[1]
        few = _some(rng, of_reference, recipe.companions)
        spread_reference = _means_and_variances(at, reference[few], None, bank)[1]
    error = np.sqrt(spread / others + spread_reference / of_reference)
    return EventScores(witness, loo, error, error_features, method)


def _some(rng: np.random.Generator, n: int, most: int) -> IntArray:
    """Return the numbers of at most so many events, in order."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, size=most, replace=False))


def _places(few: IntArray, own: IntArray | None, n: int) -> IntArray | None:
    """Return where among ``few`` each event of ``own`` is found, -1 for nowhere."""
    if own is None:
        return None
    place = np.full(n, -1)
    place[few] = np.arange(len(few))
    return place[own]


def _means_and_variances(
    at: Array, among: Array, own: IntArray | None, bank: GaussianBank
) -> tuple[Array, Array]:
    """Return mean and sample variance of k(x_i, y_j) over j, the event itself left out."""
    first, second = np.empty(len(at)), np.empty(len(at))
    step = max(1, _ENTRIES // len(among))

    def work(start: int) -> None:
        rows = slice(start, start + step)
        k = kernel_rows(at[rows], among, bank)
        first[rows] = k.sum(axis=1)
        second[rows] = np.einsum("ij,ij->i", k, k)

    for _ in in_threads(work, range(0, len(at), step)):
        pass
    # k(x, x) = 1
    itself = 0.0 if own is None else (own >= 0).astype(np.float64)
    count = len(among) - itself
    mean = (first - itself) / count
    return mean, np.maximum(second - itself - count * mean**2, 0) / (count - 1)


def kernel_rows(x: Array, y: Array, bank: GaussianBank) -> Array:
    """Return the matrix k(x_i, y_j), with one exponential for bandwidths in ratio 2."""
    square = cdist(x, y, "sqeuclidean")
    total = np.zeros_like(square)
    for top, rungs in ladders(bank.bandwidths):
        k = np.exp(square / (-2 * top * top))
        total += k
        for _ in range(1, rungs):
            k *= k
            k *= k
            total += k
    return np.asarray(total / len(bank.bandwidths))


def both(sample: npt.ArrayLike, reference: npt.ArrayLike) -> tuple[Array, Array]:
    """Return sample and reference as tables of the same features, with events enough."""
    x = checks.points(sample, "sample", minimum=3)
    return x, checks.points(reference, "reference", d=x.shape[1], minimum=3)


# --- random features ---------------------------------------------------------------------


def draw_features(bank: GaussianBank, d: int, recipe: Recipe, streams: Streams) -> FourierFeatures:
    """Return the random features of a bank, cosines and sines: z(x).z(x) = 1.

    Another bank gets the same directions, in other units.
    """
    return features.fourier_features(
        bank, d, streams("features"), n_per_bandwidth=recipe.n_per_bandwidth, form="paired"
    )


def feature_mean(z: FourierFeatures, x: Array) -> Array:
    """Return the mean of the features over events, by all threads."""
    total = np.zeros(z.D)
    for part in in_threads(lambda rows: linear.plain_mean(z, x[rows]) * len(x[rows]), chunks(x)):
        total += part
    return total / len(x)


def chunks(x: Array) -> list[slice]:
    """Return the rows that threads take, in order."""
    return [slice(a, min(a + _CHUNK, len(x))) for a in range(0, len(x), _CHUNK)]


def in_threads(work: Callable[[_One], _Other], tasks: Iterable[_One]) -> Iterable[_Other]:
    """Yield the results of tasks in their order, worked on by numba's number of threads."""
    with ThreadPoolExecutor(get_num_threads()) as pool:
        yield from pool.map(work, tasks)


def _rff(
    z: FourierFeatures,
    at: Array,
    mean: Array,
    mean_reference: Array,
    *,
    N: int | None,
    bank: GaussianBank,
) -> tuple[Array, Array, Array]:
    """Return eq. rff-loo, eq. rff-witness and the error of the features.

    With z(x).z(x) = 1 the first is z(x).v - 1/(N-1), v = N/(N-1) mean - mean_reference, and the
    frequencies differ in z(x).v only.
    """
    left_out = 0.0 if N is None else 1 / (N - 1)
    v = ((1 + left_out) * mean - mean_reference).astype(np.float32)
    of_sample = mean.astype(np.float32)
    per_bandwidth = z.D // len(bank.bandwidths)
    shape = (len(bank.bandwidths), 2, per_bandwidth // 2)

    def work(rows: slice) -> tuple[Array, Array, Array]:
        loo, own, variance = (np.empty(len(at[rows])) for _ in range(3))
        for place, block in linear.feature_rows(z, at[rows]):
            own[place] = block @ of_sample
            parts = np.multiply(block, v).reshape(len(block), *shape)
            one = parts[:, :, 0] + parts[:, :, 1]
            total = one.sum(axis=2, dtype=np.float64)
            square = np.einsum("ibf,ibf->ib", one, one, dtype=np.float64)
            n = shape[2]
            scatter = np.maximum(square - total**2 / n, 0) * n / (n - 1)
            loo[place], variance[place] = total.sum(axis=1), scatter.sum(axis=1)
        return loo - left_out, own, variance

    parts = zip(*in_threads(work, chunks(at)), strict=True)
    loo, own, variance = (np.concatenate(part) for part in parts)
    return loo, loo + left_out * (1 - own), np.sqrt(variance)


# --- the global statistic, and batches ----------------------------------------------------


def mmd2(
    sample: npt.ArrayLike,
    reference: npt.ArrayLike,
    recipe: Recipe,
    streams: Streams,
    *,
    choices: Choices | None = None,
) -> tuple[float, Used]:
    """Return the unbiased MMD^2 of sample and reference, and how it was found.

    The mean of k over pairs of different events of the sample, plus that of the reference, less
    twice that over pairs of one of each: eq. mmd-u-pair with the reference's own U-statistic in
    place of K_BB, so that its mean is 0 under the null although the reference is finite.
    """
    x, y = both(sample, reference)
    chosen = choices or choose(x, y, recipe, streams)
    x, y = chosen.transform(x), chosen.transform(y)
    N, M = len(x), len(y)
    method = recipe.used((N + M) ** 2)
    if method == "exact":
        inside = kernel_sums(x, chosen.bank).sum()
        outside = kernel_sums(y, chosen.bank).sum()
        across = kernel_sums(x, chosen.bank, sample=y).sum()
        return float(mmd2_of_sums(inside, outside, across, N=N, M=M)), method
    z = draw_features(chosen.bank, x.shape[1], recipe, streams)
    return float(mmd2_of_means(feature_mean(z, x), feature_mean(z, y), N=N, M=M)), method


def mmd2_of_sums(
    inside: npt.ArrayLike, outside: npt.ArrayLike, across: npt.ArrayLike, *, N: int, M: int
) -> Array:
    """Return MMD^2 from sums of k over all pairs, those of an event with itself included."""
    first = (np.asarray(inside) - N) / (N * (N - 1))
    second = (np.asarray(outside) - M) / (M * (M - 1))
    return np.asarray(first + second - 2 * np.asarray(across) / (N * M))


def mmd2_of_means(mean: Array, mean_reference: Array, *, N: int, M: int) -> Array:
    """Return MMD^2 from the mean features with z(x).z(x) = 1, by the last axis."""
    biased = np.sum((mean - mean_reference) ** 2, axis=-1)
    own = (1 - np.sum(mean**2, axis=-1)) / (N - 1)
    own_reference = (1 - np.sum(mean_reference**2, axis=-1)) / (M - 1)
    return np.asarray(biased - own - own_reference)


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

    scores: batches.Scores
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
        See :func:`localizer.batches.run`; R is a multiple of ``group_size``, at least twice it.
    rank
        Numbers an event takes: N = 10^6 and 512 need 4 GB.
    streams
        As for :func:`score_events`, and ``batches`` with the number of a group, and ``basis``.
    """
    x, y = both(sample, reference)
    chosen = choices or choose(x, y, recipe, streams)
    x, y = chosen.transform(x), chosen.transform(y)
    pairs: batches.Pairs
    if recipe.method != "rff" and len(x) <= _LARGEST_MATRIX:
        pairs = batches.KernelPairs(q_B(x, x, chosen.bank, EmpiricalBackground(chosen.bank, y)))
        correlation = 1.0
    else:
        z = draw_features(chosen.bank, x.shape[1], recipe, streams)
        centre = feature_mean(z, y)
        few = x[_some(streams("basis"), len(x), _FOR_BASIS)]
        moments = features.centred_moments(few, z, centre)
        # the batches converge to a product with the mean of all events, not of these few
        basis = features.compress(
            moments,
            rank=min(checks.integer(rank, "rank"), z.D),
            target=feature_mean(z, x) - centre,
        )
        pairs = batches.FeaturePairs(
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
    errors = batches.standard_errors(parts)
    return BatchEstimates(batches.scores(reduce(add, parts)), errors, correlation)
