"""The global-batch engine against definitions, enumeration and itself."""

from __future__ import annotations

from functools import partial, reduce
from itertools import accumulate, combinations, permutations, product
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from localizer.base.randomness import stream
from localizer.estimators.batch_sums import (
    LARGEST_GROUP,
    BatchSums,
    scores,
    standard_errors,
    sum_batches,
)
from localizer.estimators.batches import draw, group_range, run
from localizer.estimators.pair_forms import (
    FeaturePairs,
    KernelPairs,
    Occurrences,
    RoundedPairs,
    factor,
)
from localizer.estimators.vector_rows import AHEAD
from scipy.stats import chi2

SEED = 20250


def features(N: int, D: int, *key: str | int) -> np.ndarray:
    """Features of unit norm on average, with a mean: a witness to be found."""
    rng = stream(SEED, "features", *key)
    return (rng.normal(size=(N, D)) + rng.normal(size=D) / 3) / np.sqrt(D)


def definition(q: np.ndarray, batches: np.ndarray) -> dict[str, np.ndarray]:
    """Every sum of the engine, batch by batch and pair by pair."""
    N, m = len(q), batches.shape[1]

    def statistic(members: list[int]) -> float:
        return float(np.mean([q[i, j] for i, j in combinations(members, 2)]))

    sums = {name: np.zeros(N) for name in ("count", "total", "pair", "marginal")}
    for batch in batches.tolist():
        T = statistic(batch)
        for a, i in enumerate(batch):
            others = batch[:a] + batch[a + 1 :]
            sums["count"][i] += 1
            sums["total"][i] += T
            sums["pair"][i] += 2 / (m * (m - 1)) * sum(q[i, j] for j in others)
            sums["marginal"][i] += T - statistic(others)
    return sums


def equal_bytes(a: BatchSums, b: BatchSums) -> bool:
    mine, theirs = a.as_dict(), b.as_dict()
    return mine.keys() == theirs.keys() and all(
        mine[name].dtype == theirs[name].dtype and mine[name].tobytes() == theirs[name].tobytes()
        for name in mine
    )


@settings(deadline=None, max_examples=40)
@given(
    N=st.integers(3, 30),
    D=st.sampled_from([1, 3, 63, 64, 65, 130]),
    m=st.integers(3, 12),
    batches=st.integers(1, 30),
    replacement=st.booleans(),
    key=st.integers(0, 2**32),
)
def test_every_form_gives_the_definition(N, D, m, batches, replacement, key):
    m = m if replacement else min(m, N)
    z = features(N, D, key).astype(np.float32).astype(np.float64)
    q = z @ z.T
    drawn = draw(stream(key), N=N, m=m, batches=batches, replacement=replacement)
    exact = definition(q, drawn)
    drawn_events = exact["count"] > 0
    # each entry may be off by the grid (1e-11 of the kernel) and, in single precision, by some
    # 1e-7 of the kernel for each occurrence
    for pairs, error in (
        (KernelPairs(q), 1e-10),
        (FeaturePairs(z), 1e-10),
        (FeaturePairs(z.astype(np.float32)), 2e-6 * (1 + exact["count"].max())),
        (RoundedPairs(z), 1e-4 * (1 + exact["count"].max())),
    ):
        sums = sum_batches(pairs, drawn, replacement=replacement)
        np.testing.assert_array_equal(sums.count, exact["count"])
        np.testing.assert_allclose(sums.total, exact["total"], rtol=0, atol=error * sums.scale)
        np.testing.assert_allclose(sums.pair, exact["pair"], rtol=0, atol=error * sums.scale)
        marginal = (scores(sums).marginal * sums.count)[drawn_events]
        np.testing.assert_allclose(
            marginal, exact["marginal"][drawn_events], rtol=0, atol=20 * error * sums.scale
        )


@pytest.mark.parametrize("form", ["kernel", "features"])
def test_all_subsets_give_the_pair_target(form):
    N, m = 7, 4
    z = features(N, 3)
    q = z @ z.T
    every = np.array(list(combinations(range(N), m)))
    pairs = KernelPairs(q) if form == "kernel" else FeaturePairs(z)
    found = scores(sum_batches(pairs, every, replacement=False))
    target = (q.sum(axis=1) - np.diag(q)) / (N - 1)
    np.testing.assert_allclose(found.witness, target, atol=1e-9)
    # over all subsets, the others of event i are all subsets of the rest: U-statistics are
    # unbiased for the mean pair of the rest, so that raw and marginal are affine in the target
    rest = (q.sum() - np.trace(q) - 2 * (N - 1) * target) / ((N - 1) * (N - 2))
    np.testing.assert_allclose(found.marginal, 2 / m * (target - rest), atol=1e-9)
    np.testing.assert_allclose(found.raw, 2 / m * target + (1 - 2 / m) * rest, atol=1e-9)


@pytest.mark.parametrize("form", ["kernel", "features"])
def test_all_bootstrap_batches_give_the_self_inclusive_witness(form):
    N, m = 4, 5
    z = features(N, 3)
    q = z @ z.T
    every = np.array(list(product(range(N), repeat=m)))
    pairs = KernelPairs(q) if form == "kernel" else FeaturePairs(z)
    found = scores(sum_batches(pairs, every, replacement=True))
    target = q.mean(axis=1)
    np.testing.assert_allclose(found.witness, target, atol=1e-9)
    np.testing.assert_allclose(found.marginal, 2 / m * (target - q.mean()), atol=1e-9)
    np.testing.assert_allclose(found.raw, q.mean() + 2 / m * (target - q.mean()), atol=1e-9)


def test_twins_pair_with_each_other():
    q = np.array([[4.0, 1.0], [1.0, 2.0]])
    sums = sum_batches(KernelPairs(q), np.array([[0, 0, 1]]), replacement=True)
    assert sums.count.tolist() == [2, 1]
    T = (4.0 + 1.0 + 1.0) / 3
    np.testing.assert_allclose(sums.total, [2 * T, T], atol=1e-10)
    np.testing.assert_allclose(sums.pair, [2 * (4 + 1) / 3, 2 / 3], atol=1e-10)


def test_marginal_is_pair_minus_the_rest():
    z = features(40, 5)
    drawn = draw(stream(SEED, 1), N=40, m=8, batches=300, replacement=False)
    sums = sum_batches(FeaturePairs(z), drawn, replacement=False)
    found = scores(sums)
    rest = definition(z @ z.T, drawn)
    without = (rest["total"] - rest["marginal"]) / rest["count"]
    np.testing.assert_allclose(found.marginal, found.pair - 2 / 8 * without, atol=1e-9)


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("form", [FeaturePairs, RoundedPairs])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_groups_add_to_the_byte(replacement, form, dtype):
    pairs = form(features(90, 70).astype(dtype))
    options = {
        "m": 7,
        "group_size": 40,
        "streams": partial(stream, SEED, "additivity"),
        "replacement": replacement,
    }
    whole = run(pairs, groups=range(9), **options)
    assert whole.batches == 360
    parts = [run(pairs, groups=range(g, g + 1), **options) for g in range(9)]
    for order in (parts, parts[::-1]):
        assert equal_bytes(reduce(add, order), whole)
    jobs = [run(pairs, groups=range(a, b), **options) for a, b in ((0, 2), (2, 7), (7, 9))]
    assert equal_bytes(jobs[0] + (jobs[1] + jobs[2]), whole)
    for prefix, stop in zip(accumulate(jobs), (2, 7, 9), strict=True):
        assert equal_bytes(prefix, run(pairs, groups=range(stop), **options))
    assert equal_bytes(whole - jobs[1], jobs[0] + jobs[2])
    for threads in (2, 4, 20):
        assert equal_bytes(run(pairs, groups=range(9), threads=threads, **options), whole)


def test_sums_of_many_groups_lose_no_digit():
    """Ordinary floating-point sums of these parts would depend on their order."""
    pairs = FeaturePairs(features(30, 8).astype(np.float32))
    parts = [
        run(
            pairs,
            m=5,
            groups=range(g, g + 1),
            group_size=3,
            streams=partial(stream, SEED, "digits"),
            replacement=True,
        )
        for g in range(200)
    ]
    forward, backward = reduce(add, parts), reduce(add, parts[::-1])
    assert equal_bytes(forward, backward)
    off_grid = [part.pair * (1 + 1e-9) for part in parts]
    assert reduce(add, off_grid).tobytes() != reduce(add, off_grid[::-1]).tobytes()


@settings(deadline=None, max_examples=20)
@given(key=st.integers(0, 2**32), replacement=st.booleans())
def test_permutations(key, replacement):
    N, m = 25, 6
    z = features(N, 10, key)
    rng = stream(key, "permutation")
    drawn = draw(rng, N=N, m=m, batches=40, replacement=replacement)
    new = rng.permutation(N)
    moved = np.empty_like(z)
    moved[new] = z
    for make in (FeaturePairs, lambda table: KernelPairs(table @ table.T)):
        before = sum_batches(make(z), drawn, replacement=replacement)
        renamed = sum_batches(make(moved), new[drawn], replacement=replacement)
        shuffled = sum_batches(
            make(z), rng.permuted(drawn, axis=1)[rng.permutation(40)], replacement=replacement
        )
        np.testing.assert_array_equal(renamed.count[new], before.count)
        np.testing.assert_array_equal(shuffled.count, before.count)
        for name in ("total", "pair"):
            mine = getattr(before, name)
            np.testing.assert_allclose(getattr(renamed, name)[new], mine, rtol=0, atol=1e-9)
            np.testing.assert_allclose(getattr(shuffled, name), mine, rtol=0, atol=1e-9)


def test_rotated_features_are_the_same_sample():
    z = features(60, 20)
    rotation = np.linalg.qr(stream(SEED, "rotation").normal(size=(20, 20)))[0]
    options = {
        "m": 9,
        "groups": range(2),
        "group_size": 50,
        "streams": partial(stream, SEED, "rotated"),
        "replacement": True,
    }
    a, b = run(FeaturePairs(z), **options), run(FeaturePairs(z @ rotation), **options)
    np.testing.assert_allclose(a.pair, b.pair, atol=1e-9)
    np.testing.assert_allclose(a.total, b.total, atol=1e-9)


def test_an_event_never_drawn_gets_the_mean():
    q = np.array([[1.0, 0.5, 0.2], [0.5, 1.0, -0.4], [0.2, -0.4, 1.0]])
    sums = sum_batches(KernelPairs(q), [[0, 1]], replacement=False)
    found = scores(sums)
    assert found.drawn.tolist() == [True, True, False]
    np.testing.assert_allclose(found.raw, 0.5, atol=1e-10)
    np.testing.assert_allclose(found.pair, 0.5, atol=1e-10)
    with pytest.raises(ValueError, match="at least one batch"):
        scores(sums - sums)


def test_scores_of_two_have_no_marginal():
    sums = sum_batches(KernelPairs(np.eye(3)), [[0, 1]], replacement=False)
    with pytest.raises(ValueError, match="m must be at least 3"):
        _ = scores(sums).marginal


def test_sums_survive_a_file(tmp_path):
    pairs = FeaturePairs(features(20, 4))
    sums = sum_batches(pairs, [[0, 1, 2], [3, 4, 5]], replacement=False)
    np.savez(tmp_path / "sums.npz", **sums.as_dict())
    with np.load(tmp_path / "sums.npz") as stored:
        read = BatchSums.from_dict(stored)
    assert equal_bytes(read, sums)
    assert type(read.m) is int
    assert type(read.replacement) is bool
    assert equal_bytes(read + sums, sums + sums)
    arrays = sums.as_dict()
    del arrays["pair"]
    with pytest.raises(ValueError, match="pair"):
        BatchSums.from_dict(arrays)


def test_only_like_sums_add():
    z = features(20, 4)
    sums = sum_batches(FeaturePairs(z), [[0, 1, 2]], replacement=False)
    for other, name in (
        (sum_batches(FeaturePairs(z), [[0, 1]], replacement=False), "m"),
        (sum_batches(FeaturePairs(z), [[0, 1, 2]], replacement=True), "replacement"),
        (sum_batches(FeaturePairs(4 * z), [[0, 1, 2]], replacement=False), "scale"),
        (sum_batches(FeaturePairs(z[:19]), [[0, 1, 2]], replacement=False), "N"),
    ):
        with pytest.raises(ValueError, match=f"same {name}"):
            _ = sums + other
    with pytest.raises(ValueError, match="more batches were taken"):
        _ = sums - (sums + sums)


def test_sums_beyond_the_grid_are_refused():
    q = np.ones((2, 2))
    sums = sum_batches(KernelPairs(q), np.tile([0, 1], (2**15, 1)), replacement=False)
    sums = sums + sums
    with pytest.raises(ValueError, match="too large"):
        _ = sums + sums


# -- draws


@pytest.mark.parametrize("replacement", [True, False])
def test_every_ordered_batch_is_equally_likely(replacement):
    """Chi-square over all ordered batches; the false-alarm rate is 3e-7."""
    N, m, n = 5, 3, 60_000
    drawn = draw(
        stream(SEED, "draw", str(replacement)), N=N, m=m, batches=n, replacement=replacement
    )
    listed = product(range(N), repeat=m) if replacement else permutations(range(N), m)
    counts = dict.fromkeys(listed, 0)
    for batch in drawn.tolist():
        counts[tuple(batch)] += 1
    expected = n / len(counts)
    statistic = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi2.sf(statistic, len(counts) - 1) > 3e-7
    assert chi2.cdf(statistic, len(counts) - 1) > 3e-7


@settings(deadline=None, max_examples=30)
@given(N=st.integers(1, 60), batches=st.integers(1, 20), data=st.data())
def test_batches_without_replacement_hold_no_event_twice(N, batches, data):
    m = data.draw(st.integers(1, N))
    drawn = draw(stream(N, m), N=N, m=m, batches=batches, replacement=False)
    assert drawn.shape == (batches, m)
    assert drawn.max() < N
    assert all(len(set(batch)) == m for batch in drawn.tolist())
    np.testing.assert_array_equal(
        drawn, draw(stream(N, m), N=N, m=m, batches=batches, replacement=False)
    )


# -- the low-rank factor


def gaussian_kernel(N: int) -> np.ndarray:
    """Return the centred pair kernel of the Gaussian benchmark, h = 1 in two dimensions."""
    x = stream(SEED, "gaussian").normal(size=(N, 2))
    x[: N // 10] += 1
    k = np.exp(-np.sum((x[:, None] - x[None]) ** 2, axis=2) / 2)
    mu = 0.5 * np.exp(-np.sum(x**2, axis=1) / 4)
    return k - mu[:, None] - mu + 1 / 3


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-10])
def test_factor_meets_its_tolerance(tol):
    q = gaussian_kernel(400)
    F = factor(np.diag(q), lambda j: q[:, j], tol=tol)
    error = np.abs(F @ F.T - q).max()
    assert error <= tol * (1 + 1e-4)
    assert error > tol / 1e3
    assert F.shape[1] < 250


def test_low_rank_sums_are_the_exact_ones():
    q = gaussian_kernel(300)
    F = factor(np.diag(q), lambda j: q[:, j], tol=1e-9)
    options = {
        "m": 20,
        "groups": range(2),
        "group_size": 100,
        "streams": partial(stream, SEED, "low rank"),
        "replacement": False,
    }
    exact, fast = run(KernelPairs(q), **options), run(FeaturePairs(F), **options)
    # T and J are means of entries that are off by 1e-9 at most, and J carries 2/m
    bound = 1e-9 * exact.count + 1e-10
    assert (np.abs(fast.total - exact.total) <= bound).all()
    assert (np.abs(fast.pair - exact.pair) <= bound / 10 + 1e-10).all()


def test_rounded_features_are_features_on_a_grid():
    """Small batches: what is summed has 16 bits, and the sums are those of the rounded features."""
    z = features(300, 65)
    pairs = RoundedPairs(z)
    assert np.abs(z).max() <= 32767 * pairs.unit < 2 * np.abs(z).max() * (1 + 1e-4)
    on_grid = np.rint(z / pairs.unit) * pairs.unit
    assert 0 < np.abs(on_grid - z).max() <= pairs.unit / 2
    # twice the same event: no sum leaves the 16 bits, nothing is rounded again
    halves = RoundedPairs(on_grid / 2)
    drawn = draw(stream(SEED, "grid"), N=300, m=2, batches=500, replacement=True)
    exact = sum_batches(FeaturePairs(on_grid / 2), drawn, replacement=True)
    found = sum_batches(halves, drawn, replacement=True)
    np.testing.assert_allclose(found.total, exact.total, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.pair, exact.pair, rtol=0, atol=2e-4 * exact.scale)


@pytest.mark.parametrize(("N", "m"), [(40, 3), (5000, 100), (9000, 700), (70_000, 20)])
def test_rounding_disappears_in_the_noise(N, m):
    """Tiles of several sizes; an occurrence is off by 1e-4 of its scatter or less."""
    z = features(N, 130)
    options = {
        "m": m,
        "groups": range(2),
        "group_size": 200,
        "streams": partial(stream, SEED, "noise"),
        "replacement": True,
    }
    exact, found = run(FeaturePairs(z), **options), run(RoundedPairs(z), **options)
    np.testing.assert_array_equal(found.count, exact.count)
    error = 2e-4
    for name in ("pair", "total"):
        mine, theirs = getattr(found, name), getattr(exact, name)
        scatter = np.std(theirs - exact.count * theirs.sum() / exact.count.sum())
        assert np.std(mine - theirs) < error * scatter
        # the errors of the events have either sign
        assert abs(np.sum(mine - theirs)) < 1e-5 * abs(np.sum(theirs))


def test_the_largest_numbers_fit():
    """Powers of two, features and sums alike: the next number of 16 bits would be negative."""
    z = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    for batches, T, J in (([[0, 1], [2, 3]], -1, -1), ([[0, 1, 2, 3]], -1 / 3, -1 / 6)):
        sums = sum_batches(RoundedPairs(z), batches, replacement=False)
        np.testing.assert_allclose(sums.total, T, rtol=1e-9)
        np.testing.assert_allclose(sums.pair, J, rtol=1e-9)
    sums = sum_batches(RoundedPairs(np.ones((4, 1))), [[0, 1], [2, 3]], replacement=False)
    np.testing.assert_allclose(sums.pair, 1, rtol=1e-9)


def test_sums_are_rounded_to_either_side():
    """Features on the grid, so that the sums alone are rounded, and all of one sign."""
    N, m = 4000, 100
    z = np.abs(features(N, 65))
    unit = RoundedPairs(z).unit
    on_grid = np.rint(z / unit) * unit
    drawn = draw(stream(SEED, "sides"), N=N, m=m, batches=200, replacement=True)
    group = Occurrences.of(drawn, N)
    error = RoundedPairs(on_grid).sums(group)[1] - FeaturePairs(on_grid).sums(group)[1]
    # about sqrt(m / N) of a common part is chance; rounding down would make it 1
    assert 0 < abs(error.mean()) < 0.5 * np.sqrt(np.mean(error**2))


def test_rounded_sums_do_not_depend_on_the_order():
    """Integers: any order of the batches of a group gives the same bytes."""
    z = features(3000, 100)
    drawn = draw(stream(SEED, "order"), N=3000, m=50, batches=300, replacement=False)
    pairs = RoundedPairs(z)
    shuffled = stream(SEED, "shuffle").permuted(drawn, axis=1)
    one, other = (sum_batches(pairs, some, replacement=False) for some in (drawn, shuffled))
    assert equal_bytes(one, other)
    reversed_rows = pairs.sums(Occurrences.of(drawn[::-1], 3000))
    forwards = pairs.sums(Occurrences.of(drawn, 3000))
    assert reversed_rows[0][::-1].tobytes() == forwards[0].tobytes()
    assert reversed_rows[1].tobytes() == forwards[1].tobytes()


def test_occurrences_are_those_of_a_plain_sort():
    for N, m, batches in ((3, 2, 4), (5000, 30, 40), (70_000, 40, 50), (200_000, 3, 60)):
        drawn = draw(stream(N), N=N, m=m, batches=batches, replacement=True)
        group = Occurrences.of(drawn, N)
        order = np.argsort(drawn.ravel(), kind="stable")
        np.testing.assert_array_equal(group.batch_of, order // m)
        np.testing.assert_array_equal(np.diff(group.start), np.bincount(drawn.ravel(), minlength=N))
        tile, batch = drawn >> group.bits, np.arange(batches)[:, None]
        by_tile = np.lexsort((np.broadcast_to(batch, drawn.shape).ravel(), tile.ravel()))
        found = group.local[: drawn.size]
        np.testing.assert_array_equal(found, (drawn.ravel() & (2**group.bits - 1))[by_tile])
        # what is asked for ahead of time is there
        assert group.local[drawn.size :].tolist() == [0] * AHEAD


def test_factor_of_full_rank_is_complete():
    z = features(12, 5)
    q = z @ z.T
    F = factor(np.diag(q), lambda j: q[:, j], tol=1e-13)
    assert F.shape == (12, 5)
    np.testing.assert_allclose(F @ F.T, q, atol=1e-12)


# -- bad input

Z = features(10, 4)


def start(**changes):
    options = {
        "m": 3,
        "groups": range(1),
        "group_size": 4,
        "streams": partial(stream, SEED),
        "replacement": False,
    }
    return run(FeaturePairs(Z), **(options | changes))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: start(m=1), "m must be at least 2"),
        (lambda: start(m=2.5), "m must be a whole number"),
        (lambda: start(m=11), "m must be at most 10"),
        (lambda: start(group_size=0), "group_size must be at least 1"),
        (lambda: start(group_size=LARGEST_GROUP + 1), "group_size must be at most"),
        (lambda: start(groups=range(0)), "groups must be a range"),
        (lambda: start(groups=range(0, 4, 2)), "groups must be a range"),
        (lambda: start(groups=range(-1, 2)), "groups must be a range"),
        (lambda: start(threads=0), "threads must be at least 1"),
        (lambda: group_range(1500, group_size=1000), "stop must be a multiple"),
        (lambda: group_range(3000, start=500, group_size=1000), "start must be a multiple"),
        (lambda: group_range(1000, start=1000, group_size=1000), "stop must be at least"),
        (lambda: FeaturePairs(np.full((3, 2), np.nan)), "z must be finite, 6"),
        (lambda: FeaturePairs(np.array([[1, np.inf]], np.float32)), "z must be finite, 1"),
        (lambda: FeaturePairs(np.ones(3)), "z must be a table"),
        (lambda: FeaturePairs(np.ones((0, 3), np.float32)), "z must hold at least 1"),
        (lambda: RoundedPairs(np.full((3, 2), np.nan)), "z must be finite, 6"),
        (
            lambda: sum_batches(RoundedPairs(Z), np.zeros((1, 2**16 + 1), int), replacement=True),
            "m must be at most 65536",
        ),
        (
            lambda: sum_batches(RoundedPairs(Z), np.zeros((2**15, 3), int), replacement=True),
            "occurrences of an event in a group must be at most 65536",
        ),
        (lambda: KernelPairs(np.ones((2, 3))), "q must be a square"),
        (lambda: KernelPairs(np.array([[1.0, 2.0], [0.0, 1.0]])), "q must be symmetric"),
        (lambda: KernelPairs(np.array([[np.nan]])), "q must be finite"),
        (
            lambda: sum_batches(FeaturePairs(Z), [[0, 10]], replacement=False),
            "event numbers from 0 to 9",
        ),
        (lambda: sum_batches(FeaturePairs(Z), [[0, -1]], replacement=False), "event numbers from"),
        (lambda: sum_batches(FeaturePairs(Z), [[0.0, 1.0]], replacement=False), "table of event"),
        (lambda: sum_batches(FeaturePairs(Z), [[0, 3, 0]], replacement=False), "once only"),
        (lambda: sum_batches(FeaturePairs(Z), [[0]], replacement=False), "m must be at least 2"),
        (
            lambda: sum_batches(
                FeaturePairs(Z), np.zeros((LARGEST_GROUP + 1, 2), int), replacement=True
            ),
            "number of batches in a group must be at most",
        ),
        (lambda: draw(stream(1), N=3, m=4, batches=1, replacement=False), "m must be at most N"),
        (lambda: factor(np.ones(3), lambda _j: np.ones(3), tol=0), "tol must be positive"),
        (lambda: factor(-np.ones(3), lambda _j: np.ones(3), tol=1e-3), "must not be negative"),
        (lambda: factor(np.ones(3), lambda _j: 2 * np.ones(3), tol=1e-3), "semidefinite"),
        (lambda: factor(np.ones(3), lambda j: np.eye(3)[j], tol=0.1, max_rank=2), "max_rank"),
        (lambda: factor(np.ones(3), lambda _j: np.ones(4), tol=0.1), "column must have 3"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.simulation
def test_errors_from_parts_match_the_scatter_of_whole_runs():
    """The error of one run says how far runs with other batches are from each other."""
    z = stream(3, "errors").normal(size=(12, 3))
    runs = []
    for r in range(300):
        parts = [
            run(
                FeaturePairs(z),
                m=4,
                groups=range(g, g + 1),
                group_size=50,
                streams=partial(stream, 3, r),
                replacement=False,
            )
            for g in range(8)
        ]
        runs.append((scores(reduce(add, parts)), standard_errors(parts)))
    for name in ("raw", "pair", "marginal"):
        scatter = np.var([getattr(found, name) for found, _ in runs], axis=0, ddof=1)
        said = np.mean([errors[name] ** 2 for _, errors in runs], axis=0)
        # each ratio is known to sqrt(2 / 299) = 8 %, that of twelve events to less; the linear
        # form of a ratio of sums is right to about one over its 130 occurrences
        assert np.abs(said / scatter - 1).max() < 5.5 * 0.085
        assert abs(np.mean(said / scatter) - 1) < 0.15


def test_an_event_that_one_part_alone_drew_has_no_error():
    pairs = FeaturePairs(np.arange(8.0).reshape(4, 2))
    parts = [
        sum_batches(pairs, batches, replacement=False)
        for batches in ([[0, 1, 2]], [[0, 1, 3]], [[0, 1, 3]])
    ]
    errors = standard_errors(parts)
    assert np.isnan(errors["pair"]).tolist() == [False, False, True, False]
    # both batches of the last event are the same
    assert errors["pair"][3] == pytest.approx(0, abs=1e-12)
    with pytest.raises(ValueError, match="the number of parts must be at least 2"):
        standard_errors(parts[:1])


def test_the_error_of_a_score_by_hand():
    """Three parts, one event: counts 2, 1, 3 and sums of T (J) of 2, 4, 3 (1, 1/2, 0)."""
    parts = [
        BatchSums(4, 5, True, 8.0, np.array([count]), np.array([total]), np.array([pair]))
        for count, total, pair in ((2, 2.0, 1.0), (1, 4.0, 0.5), (3, 3.0, 0.0))
    ]
    errors = standard_errors(parts)
    # raw is 9/6, so that the sums are off by -1, 5/2, -3/2; B / (B - 1) = 3/2
    assert errors["raw"] == pytest.approx([np.sqrt(1.5 * (1 + 6.25 + 2.25)) / 6], rel=1e-14)
    # pair is 1/4, off by 1/2, 1/4, -3/4
    assert errors["pair"] == pytest.approx([np.sqrt(1.5 * (0.25 + 0.0625 + 0.5625)) / 6])
    # marginal is (4 pair - 2 raw) / 2, off by 2, -2, 0
    assert errors["marginal"] == pytest.approx([np.sqrt(1.5 * 8) / 6])
