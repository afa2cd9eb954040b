"""How time and memory grow with N, m, R and D: what is measured, what is expected, the fit.

``make bench`` runs :func:`study`; docs/sizes.md has its figures.

Four ways to a localizer are compared: the global-batch engine, the exact witness pair by pair
and as a cosine series, and the witness from random features. For each, :class:`Way` knows
how to set up a piece of work of a given size, and counts its operations and bytes to leading
order. One size grows at a time and the others stay at the middle of their lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import measure
import numpy as np
import numpy.typing as npt
import pandas as pd
from localizer.base import checks
from localizer.base.randomness import stream
from localizer.estimators import batches, pair_forms, witness
from localizer.kernels.bank import GaussianBank, NormalBackground, SumMethod
from localizer.kernels.feature_products import plain_mean
from localizer.kernels.features import fourier_features
from scipy.stats import theilslopes

Work: TypeAlias = Callable[[], object]

VARIABLES = ("N", "m", "R", "D")
#: the sizes that are measured; while one grows, the others stay at the middle of their lists
SIZES = {
    "N": (2500, 5000, 10000, 20000, 40000),
    "m": (50, 100, 200, 400, 800),
    "R": (2500, 5000, 10000, 20000, 40000),
    "D": (64, 128, 256, 512, 1024),
}
GROUP_SIZE = 500
REPEATS = 3

# As the modules are written: rows of features in a block, of points in a chunk of the series,
# and features of a slice.
_ROWS, _CHUNK, _WIDTH = 4096, 4096, 64
# What can be told apart: resident memory is counted in pages, a few at a time, and a clock ticks.
_LEAST_MEMORY = 2.0**16
_LEAST_TIME = 1e-7


@dataclass(frozen=True)
class Size:
    """The size of a piece of work: events, batch size, batches, features, batches a group."""

    N: int
    m: int
    R: int
    D: int
    group_size: int

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            checks.integer(getattr(self, name), name)


@dataclass(frozen=True)
class Way:
    """A way to a localizer whose growth is measured.

    Attributes
    ----------
    against
        The sizes that it depends on.
    prepare
        Given a size, return the work that is timed; what the work needs is made before.
    operations, memory
        The leading counts of operations (in any unit) and of bytes, input included.
    """

    against: tuple[str, ...]
    prepare: Callable[[Size], Work]
    operations: Callable[[Size], float]
    memory: Callable[[Size], float]


def _engine(size: Size) -> Work:
    rng = stream(0, "growth", "engine")
    pairs = pair_forms.FeaturePairs(rng.standard_normal((size.N, size.D), dtype=np.float32))
    return partial(
        batches.run,
        pairs,
        m=size.m,
        groups=batches.group_range(size.R, group_size=size.group_size),
        group_size=size.group_size,
        streams=partial(stream, 0, "growth", "group"),
        replacement=True,
    )


def _exact(size: Size, *, d: int, bandwidths: tuple[float, ...], method: SumMethod) -> Work:
    bank = GaussianBank(bandwidths)
    x = stream(0, "growth", "exact").standard_normal((size.N, d))
    return partial(witness.loo_witness, x, bank, NormalBackground(bank, d=d), method=method)


def _random_features(size: Size) -> Work:
    rng = stream(0, "growth", "random features")
    features = fourier_features(GaussianBank((1.0,)), 4, rng, n_per_bandwidth=size.D)
    x = rng.standard_normal((size.N, 4))
    nothing = np.zeros(size.D)

    def work() -> list[npt.NDArray[np.float64]]:
        mean = plain_mean(features, x)
        return [witness.rff_loo(z, mean, nothing, N=size.N) for z in features.blocks(x)]

    return work


#: By the name that the table and the figure give it.
WAYS: Mapping[str, Way] = {
    "batch engine": Way(
        VARIABLES,
        _engine,
        # each occurrence once, and twice all features for each group of batches
        lambda s: (s.R * s.m + 2 * s.R / s.group_size * s.N) * s.D,
        # the features as given and in slices, the sums of each event, a group of batches
        lambda s: 8 * s.N * s.D + 80 * s.N + s.group_size * (6 * s.m + 8 * _WIDTH),
    ),
    "exact, pairs": Way(
        ("N",),
        partial(_exact, d=4, bandwidths=(0.25, 0.5, 1.0, 2.0, 4.0), method="pairwise32"),
        lambda s: s.N**2 / 2,
        lambda s: 120 * s.N,
    ),
    "exact, cosine series": Way(
        ("N",),
        partial(_exact, d=2, bandwidths=(1.0,), method="fourier"),
        lambda s: s.N,
        # some 30 orders in each of two features, as complex numbers and as waves
        lambda s: 80 * s.N + 6 * 8 * 60 * min(s.N, _CHUNK),
    ),
    "random features": Way(
        ("N", "D"),
        _random_features,
        lambda s: s.N * s.D,
        # two blocks of rows in single precision, a part of one in double
        lambda s: 80 * s.N + (2 * 4 * min(s.N, _ROWS) + 2 * 8 * 1024) * s.D,
    ),
}


def points(
    sizes: Mapping[str, Sequence[int]], *, group_size: int
) -> Iterator[tuple[str, str, Size]]:
    """Yield every measurement: the way, which size grows, and the size.

    Parameters
    ----------
    sizes
        The values of N, m, R and D.
    group_size
        Batches that share a stream.

    Examples
    --------
    >>> lists = {"N": [10, 20, 40], "m": [3, 4, 5], "R": [6, 8, 10], "D": [1, 2, 3]}
    >>> [size.N for way, grows, size in points(lists, group_size=2) if way == "exact, pairs"]
    [10, 20, 40]
    """
    middle = {name: int(sizes[name][len(sizes[name]) // 2]) for name in VARIABLES}
    base = Size(**middle, group_size=group_size)
    for name, way in WAYS.items():
        for grows in way.against:
            for value in sizes[grows]:
                yield name, grows, replace(base, **{grows: int(value)})


def warm_up(name: str) -> Work:
    """Return the smallest work of a way: what it loads and compiles is then there."""
    return WAYS[name].prepare(Size(N=300, m=3, R=2, D=_WIDTH, group_size=1))


def row(name: str, grows: str, size: Size, *, seconds: float, memory: float) -> dict[str, object]:
    """Return one measurement beside the leading counts of operations and bytes."""
    way = WAYS[name]
    return {
        "way": name,
        "grows": grows,
        **{variable: getattr(size, variable) for variable in VARIABLES},
        "seconds": max(seconds, _LEAST_TIME),
        "memory_mib": max(memory, _LEAST_MEMORY) / 2**20,
        "operations": way.operations(size),
        "counted_mib": way.memory(size) / 2**20,
    }


def exponent(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[float, float, float]:
    """Return the exponent of y = c x^p and its 95 % interval, by the median of all slopes.

    The median of the slopes between any two points (Theil and Sen) is not moved by one
    measurement that another program has disturbed.

    Examples
    --------
    >>> exponent([1, 2, 4, 8, 16], [3, 12, 48, 1000, 768])[0]
    2.0
    """
    sizes, values = checks.vector(x, "x", minimum=3), checks.vector(y, "y", minimum=3)
    if min(sizes.min(), values.min()) <= 0:
        raise ValueError("x and y must be positive for a power law")
    slope, _, low, high = theilslopes(np.log(values), np.log(sizes), alpha=0.95)
    return round(float(slope), 12), float(low), float(high)


def exponents(measured: pd.DataFrame) -> pd.DataFrame:
    """Return the fitted exponents of time and memory beside those of the counts.

    Parameters
    ----------
    measured
        The rows of :func:`row`.
    """
    found = []
    for (way, grows), part in measured.groupby(["way", "grows"], sort=False):
        entry: dict[str, object] = {"way": way, "grows": grows}
        for quantity, column, counted in (
            ("time", "seconds", "operations"),
            ("memory", "memory_mib", "counted_mib"),
        ):
            p, low, high = exponent(part[grows], part[column])
            entry |= {
                f"{quantity}_exponent": p,
                f"{quantity}_low": low,
                f"{quantity}_high": high,
                f"{quantity}_expected": exponent(part[grows], part[counted])[0],
            }
        largest = part.iloc[-1]
        entry |= {f"largest_{name}": largest[name] for name in ("seconds", "memory_mib")}
        found.append(entry)
    return pd.DataFrame(found)


def study() -> pd.DataFrame:
    """Measure every way at every size, and return the fitted exponents."""
    ready = {name: warm_up(name) for name in WAYS}
    for work in ready.values():
        work()
    rows = []
    for name, grows, size in points(SIZES, group_size=GROUP_SIZE):
        prepare = partial(WAYS[name].prepare, size)
        seconds, memory = measure.alone(prepare, warm_up=ready[name], repeats=REPEATS)
        rows.append(row(name, grows, size, seconds=seconds, memory=memory))
    return exponents(pd.DataFrame(rows))
