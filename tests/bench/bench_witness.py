"""Time the exact witness sums against KeOps and scikit-learn, side by side in one run.

A peer that is not installed is reported as missing. Compilation (numba's and KeOps's) is not
timed: every call is made once before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from localizer.base.randomness import stream
from localizer.estimators.witness import loo_witness
from localizer.kernels import moments
from localizer.kernels.bank import GaussianBank, NormalBackground, SumMethod, kernel_sums
from localizer.own.recipe import Recipe, choose
from localizer.own.score import score_events
from threadpoolctl import threadpool_limits

Row = dict[str, Any]


def fourier_loo(N: int = 20_000) -> list[Row]:
    """Compare the LOO witness in two dimensions, float64: a cosine series against pairs.

    The error is the largest absolute difference from the pairwise witness.
    """
    x = stream(1, "bench_witness", "fourier").normal(size=(N, 2))
    bank = GaussianBank((1.0,))
    background = NormalBackground(bank, 2)
    # as in the workflow: two threads of BLAS would only wait for each other here
    with threadpool_limits(1, user_api="blas"):
        ours, found = best(lambda: loo_witness(x, bank, background, method="fourier"), 7)
    pairs, exact = best(lambda: loo_witness(x, bank, background, method="pairwise"), 3)
    error = float(np.max(np.abs(found - exact)))
    mu = background.mean_embedding(x)

    def keops(lazy: Any) -> Callable[[], np.ndarray]:
        xi, xj = lazy(x[:, None, :]), lazy(x[None, :, :])
        return lambda: ((-((xi - xj) ** 2).sum(-1) / 2).exp().sum(1).ravel() - 1) / (N - 1) - mu

    def sklearn() -> tuple[float, float]:
        rbf_kernel = sklearn_kernel()
        parts = np.array_split(x, N // 1000)

        def loo() -> np.ndarray:
            sums = [rbf_kernel(part, x, gamma=0.5).sum(axis=1) for part in parts]
            return (np.concatenate(sums) - 1) / (N - 1) - mu

        return best(loo, 2)[0], 1.0

    row = {"what": "LOO witness, d = 2, float64, cosine series", "size": N, "error": error}
    return [
        compare(row, ours, "own pairwise sum", lambda: (pairs, 1.0)),
        compare(row, ours, "KeOps", lambda: (best(keops(keops_tensor()), 3)[0], 1.0)),
        compare(row, ours, "scikit-learn rbf_kernel in chunks", sklearn),
    ]


def bank_sums(N: int = 122_124, *, rows: int = 2_000) -> list[Row]:
    """Compare the sums of five kernels in ratio 2 over N events with four features.

    KeOps is timed on some rows against all N columns and extrapolated in proportion. The
    error is the largest relative difference from the plain float64 sum, on 300 rows.
    """
    x = stream(1, "bench_witness", "bank").uniform(size=(N, 4))
    median = 0.79  # of the distances between such events
    bank = GaussianBank(tuple(median * factor for factor in (0.25, 0.5, 1, 2, 4)))
    kernel_sums(x[:5000], bank, method="pairwise32")
    ours, found = best(lambda: kernel_sums(x, bank, method="pairwise32"), 1)
    exact = bank(x[:300], x).sum(axis=1)
    error = float(np.max(np.abs(found[:300] / exact - 1)))
    single = x.astype(np.float32)
    part = single[:rows]

    def keops(lazy: Any, *, powers: bool) -> Callable[[], np.ndarray]:
        square = ((lazy(part[:, None, :]) - lazy(single[None, :, :])) ** 2).sum(-1)
        if powers:
            k = total = (-square / float(2 * bank.bandwidths[-1] ** 2)).exp()
            for _ in bank.bandwidths[1:]:
                k = (k * k) * (k * k)
                total = total + k
        else:
            total = sum((-square / float(2 * h**2)).exp() for h in bank.bandwidths)
        return lambda: total.sum(1) / len(bank.bandwidths)

    def timed(*, powers: bool) -> tuple[float, float]:
        return best(keops(keops_tensor(), powers=powers), 2)[0], N / rows

    row = {"what": "sums of five kernels, d = 4, float32 pairs", "size": N, "error": error}
    note = f"extrapolated from {rows} rows"
    return [
        compare(row, ours, f"KeOps, five exponentials, {note}", lambda: timed(powers=False)),
        compare(row, ours, f"KeOps, one exponential, {note}", lambda: timed(powers=True)),
    ]


def exact_scores(N: int = 20_000, M: int = 20_000, *, rows: int = 2_000) -> list[Row]:
    """Compare a user's exact scores with the plain sums of the same kernels, and with peers.

    The scores have errors and the evidence at seven bandwidths. The plain sums are those of five
    kernels alone, over the sample and over the reference, one compiled pass for each. KeOps and
    scikit-learn make the plain sums of ``rows`` events, extrapolated. The error is the largest
    difference of a score from the plain float64 matrix, on 300 rows.
    """
    rng = stream(1, "bench_witness", "scores")
    x, y = rng.uniform(size=(N, 4)), rng.uniform(size=(M, 4))
    recipe = Recipe("as_is", method="exact")
    streams = partial(stream, 1, "bench_witness")
    chosen = choose(x, y, recipe, streams)
    bank = chosen.bank
    # of the coordinates' precision: what as_is leaves of the origin plays no part
    a, b = chosen.transform(x), chosen.transform(y)
    dtype = np.float32 if moments.precision(a, b, chosen.ladder) is np.float32 else np.float64
    method: SumMethod = "pairwise32" if dtype is np.float32 else "pairwise"
    plain = lambda: (  # noqa: E731
        kernel_sums(a, bank, method=method),
        kernel_sums(a, bank, sample=b, method=method),
    )
    repeats = 3 if N * (N + M) < 2e9 else 1
    score_events(x[:3000], y[:3000], recipe, streams, choices=chosen)
    # as in the workflow: a second thread of BLAS would only wait
    with threadpool_limits(1, user_api="blas"):
        ours, found = best(lambda: score_events(x, y, recipe, streams, choices=chosen), repeats)
    seconds, _ = best(plain, repeats)
    exact = (bank(a[:300], a).sum(axis=1) - 1) / (N - 1) - bank(a[:300], b).mean(axis=1)
    error = float(np.max(np.abs(found.loo[:300] - exact)))
    part = a[:rows].astype(np.float32)

    def keops() -> tuple[float, float]:
        lazy = keops_tensor()
        calls = []
        for events in (a.astype(np.float32), b.astype(np.float32)):
            square = ((lazy(part[:, None, :]) - lazy(events[None, :, :])) ** 2).sum(-1)
            calls.append(sum((-square / float(2 * h**2)).exp() for h in bank.bandwidths))
        return best(lambda: [total.sum(1) for total in calls], 2)[0], N / rows

    def sklearn() -> tuple[float, float]:
        rbf_kernel = sklearn_kernel()
        gammas = [1 / (2 * h**2) for h in bank.bandwidths]

        def sums() -> list[np.ndarray]:
            few = a[:rows]
            return [rbf_kernel(few, t, gamma=g).sum(axis=1) for t in (a, b) for g in gammas]

        return best(sums, 1)[0], N / rows

    what = f"exact scores with errors and evidence, d = 4, {M} reference events, {dtype.__name__}"
    row = {"what": what, "size": N, "error": error}
    plainly = f"plain compiled sums, {'float32' if dtype is np.float32 else 'float64'}"
    note = f"plain sums, extrapolated from {rows} rows"
    return [
        compare(row, ours, plainly, lambda: (seconds, 1.0)),
        compare(row, ours, f"KeOps, {note}", keops),
        compare(row, ours, f"scikit-learn rbf_kernel, {note}", sklearn),
    ]


def lhco_scores() -> list[Row]:
    """Time the exact scores of as many events as the LHC Olympics samples hold."""
    return exact_scores(122_124, 40_000)[:1]


def best(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the shortest time of some calls, after one that is not timed, and the result."""
    result = call() if repeats > 1 else None
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return min(times), result


def compare(row: Row, ours: float, peer: str, timed: Callable[[], tuple[float, float]]) -> Row:
    """Complete a row with a peer's time (measured, times a factor), or with its absence."""
    try:
        measured, factor = timed()
    except ImportError:
        return {**row, "ours_s": ours, "peer": f"{peer} (missing)", "peer_s": None, "ratio": None}
    seconds = measured * factor
    return {**row, "ours_s": ours, "peer": peer, "peer_s": seconds, "ratio": seconds / ours}


def keops_tensor() -> Any:
    from pykeops.numpy import LazyTensor

    return LazyTensor


def sklearn_kernel() -> Any:
    from sklearn.metrics.pairwise import rbf_kernel

    return rbf_kernel
