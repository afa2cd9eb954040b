"""A million events with ten features against a million reference events, by random features.

Each study runs in a process of its own, so that the peak of its memory is its own.
"""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter, process_time
from typing import Any

import numba
import numpy as np
from localizer.base.randomness import stream
from localizer.own.recipe import Recipe
from localizer.own.score import score_events
from localizer.own.significance import observe, p_value, permutations
from threadpoolctl import threadpool_limits

SEED = 7
Row = dict[str, Any]


def million(N: int = 1_000_000, M: int = 1_000_000, d: int = 10, draws: int = 200) -> Iterator[Row]:
    """Time the scores of all events with their errors, and the p-value from permutations."""
    for what, work in (("scores and their errors", _scores), (f"{draws} permutations", _p_value)):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            measured = pool.apply(_measured, (work, N, M, d, draws))
        what += f", d = {d}, 2560 features, {M} reference events, 2 threads"
        yield {"what": what, "size": N, **measured}


def _measured(
    work: Callable[[np.ndarray, np.ndarray, int], float], N: int, M: int, d: int, draws: int
) -> Row:
    """Return the error that a study states, its times and its peak memory."""
    rng = stream(SEED, "bench_score")
    x, y = rng.standard_normal((N, d)), rng.standard_normal((M, d))
    x[: N // 1000, :2] += 2
    numba.set_num_threads(2)
    with threadpool_limits(1, user_api="blas"):
        # what numba compiles is not timed
        work(x[:3000], y[:3000], 1)
        start, before = perf_counter(), process_time()
        error = work(x, y, draws)
        seconds, of_processors = perf_counter() - start, process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"error": error, "ours_s": seconds, "cpu_s": of_processors, "peak_GB": peak}


_RECIPE = Recipe(method="rff")
_STREAMS = partial(stream, SEED, "score")


def _scores(x: np.ndarray, y: np.ndarray, draws: int) -> float:  # noqa: ARG001
    """Return the typical error of a score in units of the spread of the scores."""
    found = score_events(x, y, _RECIPE, _STREAMS)
    return float(np.median(found.standard_error) / np.std(found.loo))


def _p_value(x: np.ndarray, y: np.ndarray, draws: int) -> float:
    """Return the p-value."""
    null = permutations(x, y, _RECIPE, _STREAMS, numbers=range(draws))
    return p_value(observe(x, y, _RECIPE, _STREAMS).mmd2[0], null.mmd2)


if __name__ == "__main__":
    for row in million():
        print(row, flush=True)
