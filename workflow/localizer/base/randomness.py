"""The only source of random numbers.

Every random number of the project comes from :func:`stream`, with a key that names
its purpose (experiment, point, toy or block of batches), never the worker or the order. So
the same configuration gives the same numbers, however the work is divided.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from localizer.base import checks


def stream(seed: int, *key: str | int) -> np.random.Generator:
    """Return the generator that belongs to ``key`` under ``seed``.

    Parameters
    ----------
    seed
        The seed of the configuration, a whole number of at least 0.
    key
        What the numbers are for: strings and whole numbers of at least 0. Two keys
        that differ anywhere (also in type: ``1`` and ``"1"``) give independent streams.

    Examples
    --------
    >>> stream(1, "toys", 7).integers(100, size=3).tolist()
    [27, 53, 6]
    >>> stream(1, "toys", 7).integers(100, size=3).tolist()
    [27, 53, 6]
    >>> stream(1, "toys", 8).integers(100, size=3).tolist()
    [47, 73, 20]
    """
    checks.integer(seed, "seed", minimum=0)
    words: list[int] = []
    for part in key:
        words += _words(part)
    sequence = np.random.SeedSequence(seed, spawn_key=tuple(words))
    return np.random.Generator(np.random.PCG64DXSM(sequence))


def _words(part: str | int) -> list[int]:
    """Code one part of a key as 32-bit words; the first word tells strings from numbers."""
    if isinstance(part, str):
        digest = hashlib.sha256(part.encode()).digest()[:16]
        return [1, *(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))]
    number = checks.integer(part, "each number of a key", minimum=0, maximum=2**64 - 1)
    return [2, number & 0xFFFFFFFF, number >> 32]


def subsample(rng: np.random.Generator, n: int, most: int) -> npt.NDArray[np.int64]:
    """Return the numbers of at most ``most`` of n events, in order.

    Examples
    --------
    >>> subsample(stream(1), 3, 5).tolist()
    [0, 1, 2]
    """
    return np.arange(n) if n <= most else np.sort(rng.choice(n, size=most, replace=False))
