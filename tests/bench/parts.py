"""What the heavy parts of a run cost, and how far each is from what the machine can do.

``PYTHONPATH=workflow python tests/bench/parts.py`` prints the tables of docs/performance.md. All
times are processor times of one thread, the least of several tries; "before" is the plain form of
the same, measured in the same run.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numba
import numpy as np
import pandas as pd
from localizer.base.randomness import stream
from localizer.estimators import batches, energy, forced
from localizer.estimators.pair_forms import FeaturePairs, Occurrences, RoundedPairs
from localizer.kernels import context_pairs, feature_products, pair_means
from localizer.kernels.bank import GaussianBank, kernel_sums
from localizer.kernels.features import fourier_features
from localizer.models import toys
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory import posterior
from threadpoolctl import threadpool_limits

SEED = 11
Row = dict[str, Any]
MODEL = GaussianBenchmark((1.5, 0.0), 0.5, 0.02, 1.0)


def least(work: Callable[[], Any], tries: int = 5) -> float:
    """Return the least processor time of some calls; the first, which may compile, is not timed."""
    work()
    times = []
    for _ in range(tries):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


def machine() -> dict[str, float]:
    """Return the rates of one core: memory in GB/s, multiply-adds in 10^9/s, 4 and 8 bytes."""
    source, target = np.ones(2**25), np.zeros(2**25)
    memory = 2 * source.nbytes / least(lambda: np.copyto(target, source)) / 1e9
    rates = {}
    for name, dtype in (("float32", np.float32), ("float64", np.float64)):
        a = np.ones((2048, 2048), dtype)
        rates[name] = 2048**3 / least(lambda a=a: a @ a) / 1e9  # type: ignore[misc]
    return {"memory": memory, **rates}


def of_batches(N: int = 122_124, m: int = 1000, number: int = 2000) -> Iterator[Row]:
    """One group of batches of Experiment III, rank 128; or of Experiment II, without replacement.

    Each occurrence adds its row to the sums of its batch and meets these sums once: 2 x 128
    multiply-adds, and 2 x 128 numbers from the second cache.
    """
    z = stream(SEED, "features", N).standard_normal((N, 128), dtype=np.float32)
    z *= np.geomspace(0.25, 0.015, 128, dtype=np.float32)
    options: dict[str, Any] = {"N": N, "m": m, "batches": number, "replacement": N > 10_000}
    drawn = batches.draw(stream(SEED, "batches"), **options)
    group = Occurrences.of(drawn, N)
    new = RoundedPairs(z)
    old = FeaturePairs(z if N > 10_000 else z.astype(np.float64))
    size = f"N={N} m={m}"
    each = {"unit": "occurrence", "units": drawn.size}
    drawing = least(lambda: batches.draw(stream(SEED, "batches"), **options))
    yield {"part": f"batches, {size}: drawing", **each, "seconds": drawing}
    sorting = least(lambda: Occurrences.of(drawn, N))
    yield {"part": f"batches, {size}: sorting", **each, "seconds": sorting}
    row = {"part": f"batches, {size}: sums", **each, "seconds": least(lambda: new.sums(group))}
    yield {**row, "before": least(lambda: old.sums(group)), "multiply_adds": 256, "bytes": 512}


def of_contexts() -> Iterator[Row]:
    """Contexts of Experiment I: their random numbers, and the sums over their pairs."""
    sampler = forced.fresh(forced.population(MODEL))
    rng = stream(SEED, "contexts")
    for m in (20, 80, 160, 640):
        contexts = 2**15 // m
        each = {"unit": "event", "units": contexts * m}
        if m == 20:
            drawing = least(lambda: sampler(rng, 2**15 // 20, 20))
            yield {"part": "forced inclusion: drawing", **each, "seconds": drawing}
        events = np.ascontiguousarray(sampler(rng, contexts, m)[:, :-1])
        new = least(lambda events=events: context_pairs.pair_sums(events, 1.0))  # type: ignore[misc]
        old = least(lambda events=events: pair_means.kernel_pairs(events, (1.0,)), 2)  # type: ignore[misc]
        yield {"part": f"forced inclusion: pairs, m={m}", **each, "seconds": new, "before": old}


def of_toys(N: int = 20_000) -> Iterator[Row]:
    """One large toy of Experiment II: the LOO sums and what context can tell at best."""
    x = toys.fixed_alternative(stream(SEED, "toy"), N, MODEL).x
    bank = GaussianBank((1.0,))
    each = {"unit": "event", "units": N}
    yield {
        **{"part": f"toys, N={N}: LOO sums by a cosine series", **each},
        "seconds": least(lambda: kernel_sums(x, bank)),
        "multiply_adds": 2 * 45**2,
    }
    options = {"epsilon": 0.02, "sigma_s": 0.5}
    grid = posterior.location_posterior(x, **options)
    finding = least(lambda: posterior.location_posterior(x, **options))
    yield {"part": f"context, N={N}: posterior of mu", **each, "seconds": finding}
    scoring = least(lambda: posterior.leave_one_out_log_ratio(x, grid, **options))
    yield {"part": f"context, N={N}: scores of its events", **each, "seconds": scoring}


def of_features(n: int = 20_000) -> Iterator[Row]:
    """Random Fourier features of Experiment III: the cosines, and products with directions."""
    bank = GaussianBank((0.2, 0.4, 0.8, 1.6, 3.2))
    features = fourier_features(bank, 4, stream(SEED, "rff"))
    x = stream(SEED, "rff events").uniform(size=(n, 4))
    directions = np.ones((64, features.D))
    each = {"unit": "feature", "units": n * features.D}

    def cosines() -> None:
        for _ in feature_products.feature_rows(features, x):
            pass

    yield {"part": "features: cosines", **each, "seconds": least(cosines)}
    products = least(lambda: feature_products.projections(features, x, directions))
    row = {"part": "features: cosines and 64 products", **each, "seconds": products}
    yield {**row, "multiply_adds": 64}


def of_statistics() -> Iterator[Row]:
    """Distances to the reference of the other statistics."""
    rng = stream(SEED, "energy")
    x, y = rng.standard_normal((2000, 2)), rng.standard_normal((20_000, 2))
    seconds = least(lambda: energy.distance_sums(x, sample=y))
    part = {"part": "other statistics: distances", "unit": "pair", "units": len(x) * len(y)}
    yield {**part, "seconds": seconds}


def of_processes() -> Iterator[Row]:
    """Start a process with the imports of a script."""
    for what, imports in (
        ("pandas, numba", "numpy, pandas, localizer.estimators.batches"),
        ("matplotlib, seaborn", "numpy, pandas, localizer.figures.experiment3"),
    ):
        times = []
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", f"import {imports}"], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        part = {"part": f"start of a process: {what}", "unit": "process", "units": 1}
        yield {**part, "seconds": min(times)}


def study() -> tuple[dict[str, float], pd.DataFrame]:
    """Return the machine's rates and the table of the parts."""
    numba.set_num_threads(1)
    with threadpool_limits(1, user_api="blas"):
        rates = machine()
        rows = [
            *of_batches(),
            *of_batches(N=5000, m=100, number=1000),
            *of_contexts(),
            *of_toys(),
            *of_features(),
            *of_statistics(),
            *of_processes(),
        ]
    table = pd.DataFrame(rows)
    nanoseconds = 1e9 * table["seconds"] / table["units"]
    table["ns"] = nanoseconds
    table["before_ns"] = 1e9 * table["before"] / table["units"]
    table["of_memory"] = table["bytes"] / nanoseconds / rates["memory"]
    table["of_float32"] = table["multiply_adds"] / nanoseconds / rates["float32"]
    return rates, table[["part", "unit", "ns", "before_ns", "of_memory", "of_float32"]]


if __name__ == "__main__":
    found, parts = study()
    print({name: round(rate, 1) for name, rate in found.items()})
    print(parts.to_string(index=False, float_format=lambda x: f"{x:.3g}", na_rep=""))
