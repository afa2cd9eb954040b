"""The loops over batches that numba compiles; none of them calls another."""

from __future__ import annotations

import numpy as np
from numba import njit

from localizer.estimators import vector_rows

WIDTH = vector_rows.WIDTH
"""Features are worked through in slices of this width, so that the sums over the batches of
a group (256 bytes a batch and slice) stay in cache; rows of 64 are also what the compiler
turns into full vectors."""


@njit(cache=True, nogil=True)
def take_new(sequence, last_batch, filled, drawn):  # type: ignore[no-untyped-def]
    """Fill batches of distinct events from a sequence; return how many places are filled."""
    m = drawn.shape[1]
    flat = drawn.ravel()
    for event in sequence:
        if filled == flat.size:
            break
        batch = filled // m
        if last_batch[event] != batch:
            last_batch[event] = batch
            flat[filled] = event
            filled += 1
    return filled


@njit(cache=True, nogil=True)
def tile_runs(batches, bits, tiles):  # type: ignore[no-untyped-def]
    """Return how many events of each batch lie in each tile of 2^bits events."""
    runs = np.zeros((batches.shape[0], tiles), np.int32)
    for b in range(batches.shape[0]):
        for a in range(batches.shape[1]):
            runs[b, batches[b, a] >> bits] += 1
    return runs


@njit(cache=True, nogil=True)
def sort_by_tile(batches, bits, runs, local):  # type: ignore[no-untyped-def]
    """Fill the events by tile, then by batch, counted from the tile's first; return the starts."""
    starts = np.zeros(runs.shape[1] + 1, np.int64)
    for b in range(runs.shape[0]):
        for t in range(runs.shape[1]):
            starts[t + 1] += runs[b, t]
    for t in range(runs.shape[1]):
        starts[t + 1] += starts[t]
    position = starts.copy()
    inside = np.uint32((1 << bits) - 1)
    for b in range(batches.shape[0]):
        for a in range(batches.shape[1]):
            event = batches[b, a]
            t = event >> bits
            local[position[t]] = event & inside
            position[t] += 1
    return starts


@njit(cache=True, nogil=True)
def sort_by_event(local, starts, runs, bits, N):  # type: ignore[no-untyped-def]
    """Return where each event's occurrences begin, and the batch of each occurrence.

    One tile after the other: what is written at random is a few pages of memory.
    """
    start = np.zeros(N + 1, np.int64)
    batch_of = np.empty(starts[-1], np.uint16)
    position = np.empty(1 << bits, np.int32)
    for t in range(runs.shape[1]):
        first = t << bits
        position[:] = 0
        for k in range(starts[t], starts[t + 1]):
            position[local[k]] += 1
        at = starts[t]
        for i in range(min(1 << bits, N - first)):
            count = position[i]
            position[i] = at
            at += count
            start[first + i + 1] = at
        k = starts[t]
        for b in range(runs.shape[0]):
            for _ in range(runs[b, t]):
                i = local[k]
                batch_of[position[i]] = b
                position[i] += 1
                k += 1
    return start, batch_of


@njit(cache=True, nogil=True)
def has_twins(start, batch_of):  # type: ignore[no-untyped-def]
    """Return whether an event occurs twice in a batch."""
    for i in range(start.size - 1):
        for k in range(start[i] + 1, start[i + 1]):
            if batch_of[k] == batch_of[k - 1]:
                return True
    return False


@njit(cache=True, nogil=True)
def pair_sums(q, batches, U, d):  # type: ignore[no-untyped-def]
    """Add the sums of q over the pairs of each batch to U, and those of each event to d."""
    m = batches.shape[1]
    for b in range(batches.shape[0]):
        for a in range(m):
            row = q[batches[b, a]]
            others = 0.0
            for c in range(m):
                if c != a:
                    others += row[batches[b, c]]
            d[batches[b, a]] += others
            U[b] += others


@njit(cache=True, nogil=True)
def subtract_squares(squares, start, batch_of, U):  # type: ignore[no-untyped-def]
    """Subtract from each batch's U the squares of its events."""
    for i in range(squares.size):
        for k in range(start[i], start[i + 1]):
            U[batch_of[k]] -= squares[i]


@njit(cache=True, nogil=True)
def spread(values, start, batch_of, total):  # type: ignore[no-untyped-def]
    """Add to each event the values of its batches."""
    for i in range(total.size):
        for k in range(start[i], start[i + 1]):
            total[i] += values[batch_of[k]]


@njit(cache=True, nogil=True)
def add_rows(z, start, batch_of, S):  # type: ignore[no-untyped-def]
    """Add the features of each event to the sums S of its batches."""
    for i in range(z.shape[0]):
        for k in range(start[i], start[i + 1]):
            b = batch_of[k]
            for w in range(WIDTH):
                S[b, w] += z[i, w]


# fastmath lets the compiler reorder the sum over features; the inputs are finite
@njit(cache=True, nogil=True, fastmath=True)
def add_products(z, start, batch_of, S, zero, d):  # type: ignore[no-untyped-def]
    """Add to each event the products of its features with the sums S of its batches."""
    for i in range(z.shape[0]):
        k = start[i]
        end = start[i + 1]
        # four occurrences at a time share one pass over the row of features
        while k + 4 <= end:
            b0, b1, b2, b3 = batch_of[k], batch_of[k + 1], batch_of[k + 2], batch_of[k + 3]
            dot = zero
            for w in range(WIDTH):
                dot += ((S[b0, w] + S[b1, w]) + (S[b2, w] + S[b3, w])) * z[i, w]
            d[i] += dot
            k += 4
        while k < end:
            b = batch_of[k]
            dot = zero
            for w in range(WIDTH):
                dot += S[b, w] * z[i, w]
            d[i] += dot
            k += 1


@njit(cache=True, nogil=True)
def add_rounded_rows(z, local, starts, runs, bits, S):  # type: ignore[no-untyped-def]
    """Add the rounded features of the events of each batch to its sums S, tile by tile."""
    for t in range(runs.shape[1]):
        k = starts[t]
        for b in range(runs.shape[0]):
            end = k + runs[b, t]
            vector_rows.add_rows_ahead(S, b, z, t << bits, local, k, end)
            k = end


@njit(cache=True, nogil=True)
def subtract_rounded_squares(squares, local, starts, runs, bits, U):  # type: ignore[no-untyped-def]
    """Subtract from each batch's U the squares of its events, tile by tile."""
    for t in range(runs.shape[1]):
        k = starts[t]
        for b in range(runs.shape[0]):
            end = k + runs[b, t]
            for j in range(k, end):
                U[b] -= squares[(t << bits) + local[j]]
            k = end


@njit(cache=True, nogil=True)
def add_squares(S, U):  # type: ignore[no-untyped-def]
    """Add the squares of the sums S of each batch to its U."""
    for b in range(S.shape[0]):
        for w in range(WIDTH):
            U[b] += np.int64(S[b, w]) * np.int64(S[b, w])


@njit(cache=True, nogil=True)
def add_rounded_products(z, start, batch_of, S, d):  # type: ignore[no-untyped-def]
    """Add to each event the products of its rounded features with the rounded sums S."""
    together = np.empty((1, WIDTH), np.int32)
    for i in range(z.shape[0]):
        together[:] = 0
        vector_rows.add_rows(together, 0, S, 0, batch_of, start[i], start[i + 1])
        dot = np.int64(0)
        for w in range(WIDTH):
            dot += np.int64(together[0, w]) * np.int64(z[i, w])
        d[i] += dot


def compile_kernels() -> None:
    """Compile what numba compiles here, for a cache that many jobs read.

    Rounded features serve Experiments II and III, others a user's own data.
    """
    N, drawn = 4, np.zeros((2, 3), dtype=np.uint32)
    U, d = np.zeros(len(drawn)), np.zeros(N)
    take_new(np.arange(N, dtype=np.uint32), np.full(N, -1), 0, drawn)
    bits, local = 2, np.zeros(drawn.size + vector_rows.AHEAD, np.uint16)
    runs = tile_runs(drawn, bits, 1)
    starts = sort_by_tile(drawn, bits, runs, local)
    start, batch_of = sort_by_event(local, starts, runs, bits, N)
    rounded, of_batches = np.zeros((N, WIDTH), np.int16), np.zeros((len(drawn), WIDTH), np.int32)
    whole = np.zeros(N, np.int64)
    add_rounded_rows(rounded, local, starts, runs, bits, of_batches)
    subtract_rounded_squares(whole, local, starts, runs, bits, whole.copy())
    add_squares(of_batches, whole)
    add_rounded_products(rounded, start, batch_of, of_batches.astype(np.int16), whole)
    has_twins(start, batch_of)
    subtract_squares(d, start, batch_of, U)
    spread(U, start, batch_of, d)
    for dtype in (np.float64, np.float32):
        pair_sums(np.zeros((N, N), dtype=dtype), drawn, U, d)
        z, S = np.zeros((N, WIDTH), dtype=dtype), np.zeros((len(drawn), WIDTH), dtype=dtype)
        add_rows(z, start, batch_of, S)
        add_products(z, start, batch_of, S, dtype(0), d)
