"""A run of global batches in jobs: streams by group, sums by piece, checkpoints as prefixes.

A run of R batches is cut into jobs, and a job into pieces, one of which ends at every
checkpoint. Sums of batches are exact (:mod:`localizer.estimators.batches`): how a run is cut
changes no result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import accumulate
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

from localizer.base.randomness import stream
from localizer.estimators.batch_sums import BatchSums


def group_streams(seed: int, m: int) -> Callable[[int], np.random.Generator]:
    """Return the stream of each group of batches of size m."""
    return partial(stream, seed, "experiment3", "batches", m)


def pieces_as_arrays(pieces: Mapping[int, BatchSums]) -> dict[str, npt.NDArray[Any]]:
    """Return the sums of the pieces of a job, by the batch where each ends, for ``np.savez``."""
    return {
        f"{stop}.{name}": values
        for stop, sums in pieces.items()
        for name, values in sums.as_dict().items()
    }


def pieces_from_arrays(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[int, BatchSums]:
    """Return what :func:`pieces_as_arrays` was given."""
    parts: dict[int, dict[str, npt.NDArray[Any]]] = {}
    for key, values in arrays.items():
        stop, name = key.split(".")
        parts.setdefault(int(stop), {})[name] = values
    return {stop: BatchSums.from_dict(part) for stop, part in sorted(parts.items())}


def checkpoints(pieces: Mapping[int, BatchSums], R: Iterable[int]) -> dict[int, BatchSums]:
    """Return the sums of the leading batches up to each R, from the pieces of one run."""
    ends = sorted(pieces)
    sums = dict(zip(ends, accumulate((pieces[end] for end in ends), add), strict=True))
    for end, total in sums.items():
        if total.batches != end:
            raise ValueError(f"pieces must cover all batches up to {end}, they hold some only")
    missing = sorted(set(R) - set(ends))
    if missing:
        raise ValueError(f"pieces must end at R = {missing[0]}, they end at {ends}")
    return {number: sums[number] for number in sorted(R)}
