r"""The global-batch engine: raw, marginal and pair scores from one pass.

Sec. algorithm-localization: R batches of size m are drawn from the N events of a sample, and
the statistic of each batch is credited to the events that it contains. With the centred pair
kernel q_B (eq. mmd-U-kernel), the sum d_i of q_B(x_i, x_j) over the other members j of a batch,
and the sum U of the d_i over the batch,

    T_m = U / (m (m-1)),    J_i = 2 d_i / (m (m-1)),
    T_{m-1}^{(-i)} = (U - 2 d_i) / ((m-1) (m-2)) = m (T_m - J_i) / (m-2),

so that the matched marginal T_m - T_{m-1}^{(-i)} = J_i - (2/m) T_{m-1}^{(-i)} is
(m J_i - 2 T_m) / (m-2). All three estimators follow from a count, a sum of T and a sum of
J for each event (:mod:`localizer.estimators.batch_sums`).

Drawn with replacement (Experiment III), an event can meet its twin: each occurrence pairs
with every other occurrence, twins included, and m J_i / 2 converges to the self-inclusive
mean over j of q_B(x_i, x_j). Without replacement (Experiment II) it converges to the pair
target, the mean over j != i.

Batches come in groups. A group is the unit of random numbers and of work: its result
depends on its own stream only. Sums of groups are the same to the byte in any order, for any
number of threads and for any division into jobs, and a checkpoint in R is a sum of leading
groups.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add

import numpy as np

from localizer.base import checks
from localizer.estimators import batch_loops
from localizer.estimators.batch_sums import LARGEST_GROUP, BatchSums, sum_batches
from localizer.estimators.pair_forms import Draws, Pairs


def draw(rng: np.random.Generator, *, N: int, m: int, batches: int, replacement: bool) -> Draws:
    """Return the events of each batch, uniform among the N, of shape (batches, m).

    Without replacement, a batch takes events from a uniform sequence and passes over those
    that it has already, which gives every subset (and order) the same probability.
    """
    size = (checks.integer(batches, "batches"), checks.integer(m, "m"))
    highest = checks.integer(N, "N", maximum=2**32)
    if replacement:
        return rng.integers(highest, size=size, dtype=np.uint32)
    if m > N:
        raise ValueError(f"m must be at most N = {N} without replacement, it is {m}")
    drawn = np.empty(size, dtype=np.uint32)
    last_batch = np.full(N, -1, dtype=np.int64)
    filled = 0
    while filled < drawn.size:
        # a batch that is almost all of the sample waits long for its last events
        wanted = drawn.size - filled + N // 8
        filled = batch_loops.take_new(
            rng.integers(highest, size=wanted, dtype=np.uint32), last_batch, filled, drawn
        )
    return drawn


def run(
    pairs: Pairs,
    *,
    m: int,
    groups: range,
    group_size: int,
    streams: Callable[[int], np.random.Generator],
    replacement: bool,
    threads: int = 1,
) -> BatchSums:
    """Draw the batches of some groups and return their sums.

    Parameters
    ----------
    pairs
        The sample.
    m
        The batch size.
    groups
        Which groups to run, for example from :func:`group_range`.
    group_size
        Batches a group; a part of the content, since the random numbers are keyed by group.
        The fast form reads all features twice a group, which 10 to 30 occurrences of an event
        (group_size * m / N) make up for.
    streams
        The generator of a group, for example
        ``functools.partial(stream, seed, "experiment2", toy, "group")``.
    replacement
        Whether a batch may hold an event twice (Experiment III) or not (Experiment II).
    threads
        Work on as many groups at a time; the result is the same to the byte.

    Examples
    --------
    >>> from functools import partial
    >>> from localizer.base.randomness import stream
    >>> from localizer.estimators.batch_sums import scores
    >>> from localizer.estimators.pair_forms import FeaturePairs
    >>> z = stream(1, "sample").normal(size=(50, 3))
    >>> sums = run(FeaturePairs(z), m=10, groups=group_range(2000, group_size=500),
    ...            group_size=500, streams=partial(stream, 1, "group"), replacement=False)
    >>> target = (z @ z.sum(axis=0) - (z**2).sum(axis=1)) / 49
    >>> float(np.corrcoef(scores(sums).witness, target)[0, 1]) > 0.8
    True
    """
    size = checks.integer(group_size, "group_size", maximum=LARGEST_GROUP)
    checks.integer(m, "m", minimum=2, maximum=None if replacement else pairs.N)
    workers = checks.integer(threads, "threads")
    if groups.step != 1 or groups.start < 0 or len(groups) == 0:
        raise ValueError(f"groups must be a range of consecutive groups from 0 on, not {groups}")

    def part(some: range) -> BatchSums:
        return reduce(add, (one(g) for g in some))

    def one(g: int) -> BatchSums:
        drawn = draw(streams(g), N=pairs.N, m=m, batches=size, replacement=replacement)
        return sum_batches(pairs, drawn, replacement=replacement)

    if workers == 1:
        return part(groups)
    ends = np.linspace(groups.start, groups.stop, min(workers, len(groups)) + 1).astype(int)
    shares = [range(a, b) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
    with ThreadPoolExecutor(workers) as pool:
        return reduce(add, pool.map(part, shares))


def group_range(stop: int, *, start: int = 0, group_size: int) -> range:
    """Return the groups that hold the batches from ``start`` up to ``stop``.

    Examples
    --------
    The increment from R = 1e4 to R = 3e4, in groups of 1000:

    >>> group_range(30_000, start=10_000, group_size=1000)
    range(10, 30)
    """
    size = checks.integer(group_size, "group_size", maximum=LARGEST_GROUP)
    ends = {"start": checks.integer(start, "start", minimum=0)}
    ends["stop"] = checks.integer(stop, "stop", minimum=ends["start"] + 1)
    for name, value in ends.items():
        if value % size:
            raise ValueError(f"{name} must be a multiple of group_size = {size}, it is {value}")
    return range(ends["start"] // size, ends["stop"] // size)
