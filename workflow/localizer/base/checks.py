"""Checks of arguments: one sentence that names the argument and says what is wrong with it.

Every public function of the package passes its input through these, so that bad
input ends in a ``ValueError`` that a user can act on and never in a silent NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


def points(x: npt.ArrayLike, name: str = "x", *, d: int | None = None, minimum: int = 1) -> Array:
    """Return ``x`` as a finite float64 array of shape (n, d), n at least ``minimum``."""
    array = _numbers(x, name)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must be a table of shape (events, features), not of shape {array.shape}"
        )
    if d is not None and array.shape[1] != d:
        raise ValueError(f"{name} must have {d} features, it has {array.shape[1]}")
    if array.shape[1] == 0:
        raise ValueError(f"{name} must have at least one feature")
    if array.shape[0] < minimum:
        raise ValueError(f"{name} must hold at least {minimum} events, it holds {array.shape[0]}")
    return array


def vector(x: npt.ArrayLike, name: str, *, size: int | None = None, minimum: int = 1) -> Array:
    """Return ``x`` as a finite float64 array of one dimension."""
    array = _numbers(x, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, not of shape {array.shape}")
    if size is not None and array.size != size:
        raise ValueError(f"{name} must have {size} entries, it has {array.size}")
    if array.size < minimum:
        raise ValueError(f"{name} must have at least {minimum} entries, it has {array.size}")
    return array


def labels(y: npt.ArrayLike, name: str = "labels", *, size: int | None = None) -> BoolArray:
    """Return ``y`` as booleans (True for signal); both classes must be present."""
    array = np.asarray(y)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, not of shape {array.shape}")
    if size is not None and array.size != size:
        raise ValueError(f"{name} must have {size} entries, it has {array.size}")
    values = np.unique(array)
    if not np.isin(values, [0, 1]).all():
        raise ValueError(f"{name} must be 0 (background) or 1 (signal), it holds {values[:5]}")
    if values.size < 2:
        missing = "signal" if array.size and not array[0] else "background"
        raise ValueError(f"{name} must hold both classes, there is no {missing}")
    return array.astype(bool)


def integer(value: Any, name: str, *, minimum: int = 1, maximum: int | None = None) -> int:
    """Return ``value`` as an int between ``minimum`` and ``maximum``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ValueError(f"{name} must be a whole number, not {value!r}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, it is {value}")
    if maximum is not None and value > maximum:
        raise ValueError(f"{name} must be at most {maximum}, it is {value}")
    return int(value)


def one_of(value: Any, name: str, known: Iterable[str]) -> str:
    """Return ``value``, one of some words."""
    words = list(known)
    if value not in words:
        raise ValueError(f"{name} must be one of {', '.join(words)}, not {value!r}")
    return str(value)


def listed(values: Any, name: str) -> tuple[Any, ...]:
    """Return ``values``, a list of something, as a tuple."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list, not {values!r}")
    return tuple(values)


def positive(value: Any, name: str) -> float:
    """Return ``value`` as a finite float above zero."""
    number = _number(value, name)
    if not number > 0:
        raise ValueError(f"{name} must be positive, it is {number:g}")
    return number


def fraction(value: Any, name: str, *, closed: bool = False) -> float:
    """Return ``value`` as a float between 0 and 1 (ends included if ``closed``)."""
    number = _number(value, name)
    inside = 0 <= number <= 1 if closed else 0 < number < 1
    if not inside:
        raise ValueError(f"{name} must lie between 0 and 1, it is {number:g}")
    return number


def bandwidths(values: float | Sequence[float], name: str = "bandwidths") -> tuple[float, ...]:
    """Return one bandwidth or several as a tuple of positive floats."""
    listed = [values] if np.ndim(values) == 0 else list(values)  # type: ignore[arg-type]
    if not listed:
        raise ValueError(f"{name} must hold at least one bandwidth")
    return tuple(positive(value, f"each of {name}") for value in listed)


def _number(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, not {value!r}") from None
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite, it is {number}")
    return number


def _numbers(x: npt.ArrayLike, name: str) -> Array:
    try:
        array = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers only") from None
    bad = array.size - int(np.count_nonzero(np.isfinite(array)))
    if bad:
        raise ValueError(f"{name} must be finite, {bad} of its values are NaN or infinite")
    return array
