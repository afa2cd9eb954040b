"""The batch engine against what one would write first, at the sizes of Experiments II and III.

Times are wall clock, for one thread unless a row says otherwise, with the drawing of the batches,
and extrapolated from a short run to the number of batches in the row.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from functools import cache, partial
from time import perf_counter
from typing import Any

import numpy as np
from localizer.base.randomness import stream
from localizer.estimators.batch_sums import BatchSums, scores, sum_batches
from localizer.estimators.batches import draw, run
from localizer.estimators.pair_forms import FeaturePairs, KernelPairs, Pairs, RoundedPairs, factor
from localizer.kernels.compression import Compression, FeatureMoments, compress
from localizer.theory.scaling import moments_of_features, q_rho

SEED = 5
Row = dict[str, Any]


def numpy_loop(z: np.ndarray, batches: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the count, the sum of T and the sum of J of each event, batch by batch."""
    N, m = len(z), batches.shape[1]
    squares = np.einsum("ij,ij->i", z, z)
    count, total, pair = np.zeros(N), np.zeros(N), np.zeros(N)
    for batch in batches:
        members = z[batch]
        S = members.sum(axis=0)
        d = members @ S - squares[batch]
        np.add.at(count, batch, 1)
        np.add.at(total, batch, d.sum() / (m * (m - 1)))
        np.add.at(pair, batch, 2 * d / (m * (m - 1)))
    return count, total, pair


@cache
def random_features(N: int) -> np.ndarray:
    """Return 5 x 512 random Fourier features of four uniform coordinates, as in Experiment III.

    A small signal makes a witness; the features are centred on a reference.
    """
    d_med = 0.77
    draws = stream(SEED, "rff")
    frequency = np.concatenate(
        [draws.normal(size=(4, 512)) / (h * d_med) for h in (0.25, 0.5, 1, 2, 4)], axis=1
    ).astype(np.float32)
    phase = draws.uniform(0, 2 * np.pi, size=2560).astype(np.float32)

    def features(x: np.ndarray) -> np.ndarray:
        z = x.astype(np.float32) @ frequency
        z += phase
        np.cos(z, out=z)
        z *= np.float32(np.sqrt(2 / 2560))
        return z

    rng = stream(SEED, "events", N)
    x = rng.uniform(size=(N, 4))
    signal = N // 158
    x[:signal] = np.clip(rng.normal(0.3, 0.1, size=(signal, 4)), 0, 1)
    z = features(x)
    reference = [
        features(rng.uniform(size=(10_000, 4))).mean(axis=0, dtype=np.float64) for _ in range(27)
    ]
    z -= np.mean(reference, axis=0).astype(np.float32)
    return z


@cache
def moments(N: int) -> FeatureMoments:
    """Return the moments of the random features."""
    z = random_features(N)
    second = np.zeros((2560, 2560))
    for first in range(0, N, 8192):
        rows = z[first : first + 8192]
        second += rows.T @ rows
    return FeatureMoments(N, z.mean(axis=0, dtype=np.float64), second / N)


@cache
def basis(N: int, rank: int) -> Compression:
    return compress(moments(N), rank=rank)


def compressed(N: int, rank: int) -> np.ndarray:
    return np.ascontiguousarray(random_features(N) @ basis(N, rank).basis.astype(np.float32))


def seconds(work: Callable[[], Any]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def peak_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def engine(
    pairs: Pairs, *, m: int, groups: int, size: int, replacement: bool, threads: int = 1
) -> Callable[[], BatchSums]:
    def work() -> BatchSums:
        return run(
            pairs,
            m=m,
            groups=range(groups),
            group_size=size,
            streams=partial(stream, SEED, "group"),
            replacement=replacement,
            threads=threads,
        )

    return work


def experiment3(N: int = 122_124, m: int = 1000, R: int = 5_000_000) -> list[Row]:
    """Time compressed features in event order against the loop over all 2560 features."""
    full = random_features(N)
    sample = draw(stream(SEED, "group", 0), N=N, m=m, batches=2000, replacement=True)[:40]
    peer = seconds(lambda: numpy_loop(full, sample)) / len(sample) * R
    *_, exact = numpy_loop(full, sample)
    rows = []
    for rank in (384, 128):
        z = compressed(N, rank)
        pairs, before = RoundedPairs(z), FeaturePairs(z)
        off = np.std(sum_batches(pairs, sample, replacement=True).pair - exact) / np.std(exact)
        for form in (pairs, before):
            engine(form, m=m, groups=1, size=10, replacement=True)()
        for threads in (1, 2):
            options: Row = {"m": m, "groups": 4, "size": 2000, "replacement": True}
            ours, floats = (
                seconds(engine(form, **options, threads=threads)) / 8000 * R
                for form in (pairs, before)
            )
            row = {
                "what": f"rank {rank}, 16 bits, {threads} thread" + "s" * (threads > 1),
                "size": f"N={N} m={m} R={R:.0e}",
                "ours_s": ours,
                "error": f"J off by {off:.1e} of its rms",
                "memory_gb": peak_gb(),
            }
            for name, theirs in (("NumPy loop, 2560 features", peer), ("32 bits", floats)):
                rows.append({**row, "peer": name, "peer_s": theirs, "ratio": theirs / ours})
    return rows


def compression(N: int = 122_124, m: int = 1000, R: int = 5_000_000) -> list[Row]:
    """Compare what compression and single precision add with the resampling noise."""
    full = random_features(N)
    witness = full @ full.mean(axis=0, dtype=np.float64)
    noise = moments_of_features(compressed(N, 512), replacement=True).q("pair", m=m, R=R)
    rows = []
    for rank in (384, 256, 128, 64):
        z = compressed(N, rank)
        lost = q_rho(z @ z.mean(axis=0, dtype=np.float64), witness)
        rows.append(
            {
                "what": f"witness of rank {rank}",
                "size": f"N={N} m={m} R={R:.0e}",
                "error": f"q_rho {lost:.1e} beside {noise:.1e} of the noise, "
                f"of which {basis(N, rank).noise_lost:.1e} is lost",
            }
        )
    few = compressed(N, 256)
    batches = draw(stream(SEED, "precision"), N=N, m=m, batches=200, replacement=True)
    single, double = (
        scores(sum_batches(FeaturePairs(table), batches, replacement=True))
        for table in (few, few.astype(np.float64))
    )
    off = np.std(single.pair - double.pair) / np.std(double.pair)
    rows.append(
        {
            "what": "single precision, one batch",
            "size": f"N={N} m={m}",
            "error": f"{off:.1e} of the noise of a batch",
            "memory_gb": peak_gb(),
        }
    )
    return rows


def experiment2(N: int = 5000, m: int = 100, R: int = 100_000) -> list[Row]:
    """Time the exact kernel of two-dimensional events: low rank, look-ups, NumPy."""
    x = stream(SEED, "two", N).normal(size=(N, 2))
    k = np.exp(-np.sum((x[:, None] - x[None]) ** 2, axis=2) / 2)
    mu = 0.5 * np.exp(-np.sum(x**2, axis=1) / 4)
    q = k - mu[:, None] - mu + 1 / 3
    sample = draw(stream(SEED, "peer"), N=N, m=m, batches=300, replacement=False)

    def by_hand() -> None:
        total, pair, count = np.zeros(N), np.zeros(N), np.zeros(N)
        for batch in sample:
            block = q[np.ix_(batch, batch)]
            d = block.sum(axis=1) - block.diagonal()
            np.add.at(count, batch, 1)
            np.add.at(total, batch, d.sum() / (m * (m - 1)))
            np.add.at(pair, batch, 2 * d / (m * (m - 1)))

    peer = seconds(by_hand) / len(sample) * R
    rows = []
    exact = None
    for name, make in (
        ("look-ups", lambda: KernelPairs(q)),
        ("factor, tol 1e-10", lambda: FeaturePairs(_factor(q, 1e-10))),
        ("factor, tol 1e-8, single", lambda: FeaturePairs(_factor(q, 1e-8).astype(np.float32))),
        ("factor, tol 1e-5, 16 bits", lambda: RoundedPairs(_factor(q, 1e-5))),
    ):
        start = perf_counter()
        pairs = make()
        made = perf_counter() - start
        engine(pairs, m=m, groups=1, size=10, replacement=False)()
        groups = 10 if exact is None else R // 1000
        ours = seconds(engine(pairs, m=m, groups=groups, size=1000, replacement=False))
        sum_pairs = engine(pairs, m=m, groups=1, size=1000, replacement=False)().pair
        exact = sum_pairs if exact is None else exact
        ours *= R / (groups * 1000)
        off = np.abs(sum_pairs - exact).max() / np.std(exact)
        rows.append(
            {
                "what": f"{name} (made in {made:.2f} s)",
                "size": f"N={N} m={m} R={R:.0e}",
                "ours_s": ours,
                "peer": "NumPy loop, q[ix_]",
                "peer_s": peer,
                "ratio": peer / ours,
                "error": f"J off by {off:.1e} of its rms",
                "memory_gb": peak_gb(),
            }
        )
    return rows


def _factor(q: np.ndarray, tol: float) -> np.ndarray:
    return factor(np.diag(q), lambda j: q[:, j], tol=tol)
