"""The loops over batches that numba compiles; none of them calls another."""

from __future__ import annotations

import numpy as np
from numba import njit

WIDTH = 64
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
def counting_sort(batches, N):  # type: ignore[no-untyped-def]
    """Return where each event's occurrences begin, and the batch of each occurrence."""
    start = np.zeros(N + 1, np.int64)
    for b in range(batches.shape[0]):
        for a in range(batches.shape[1]):
            start[batches[b, a] + 1] += 1
    for i in range(N):
        start[i + 1] += start[i]
    position = start[:-1].astype(np.int32)
    batch_of = np.empty(batches.size, np.uint16)
    for b in range(batches.shape[0]):
        for a in range(batches.shape[1]):
            i = batches[b, a]
            batch_of[position[i]] = b
            position[i] += 1
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


def compile_kernels() -> None:
    """Compile what numba compiles here, for a cache that many jobs read.

    Features in double precision serve Experiment II, in single precision Experiment III.
    """
    N, drawn = 4, np.zeros((2, 3), dtype=np.uint32)
    U, d = np.zeros(len(drawn)), np.zeros(N)
    take_new(np.arange(N, dtype=np.uint32), np.full(N, -1), 0, drawn)
    start, batch_of = counting_sort(drawn, N)
    has_twins(start, batch_of)
    subtract_squares(d, start, batch_of, U)
    spread(U, start, batch_of, d)
    for dtype in (np.float64, np.float32):
        pair_sums(np.zeros((N, N), dtype=dtype), drawn, U, d)
        z, S = np.zeros((N, WIDTH), dtype=dtype), np.zeros((len(drawn), WIDTH), dtype=dtype)
        add_rows(z, start, batch_of, S)
        add_products(z, start, batch_of, S, dtype(0), d)
