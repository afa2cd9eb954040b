"""A user's own statistic: a function of a batch, named as ``module:name``."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.estimators.batch_statistic import Prepared


@dataclass(frozen=True)
class Own:
    """A user's own statistic: a function of a batch, or of a batch and the reference.

    Parameters
    ----------
    function
        Takes a batch of shape (m, d), and the reference of shape (n, d) if it has a second
        argument, and returns one number.
    name
        How messages call it, for instance ``module:name``.

    Examples
    --------
    >>> Own(lambda batch, reference: batch.mean() - reference.mean(), "shift").prepare(
    ...     [[0.0], [2.0]])([[4.0], [6.0]])
    4.0
    """

    function: Callable[..., Any]
    name: str

    def prepare(self, reference: npt.ArrayLike) -> Prepared:
        """Return the statistic against a reference sample."""
        rows = checks.points(reference, "reference").copy()
        rows.flags.writeable = False
        arguments = (rows,) if self._takes_reference() else ()

        def encode(events: npt.ArrayLike) -> Array:
            return checks.points(events, "events", d=rows.shape[1])

        def many(batches: Array) -> Array:
            return np.array([self._value(batch, *arguments) for batch in batches])

        return Prepared(self.name, encode, many)

    def _takes_reference(self) -> bool:
        try:
            signature = inspect.signature(self.function)
        except (TypeError, ValueError):  # functions written in C may have none
            return False
        for arguments in ((None,), (None, None)):
            try:
                signature.bind(*arguments)
            except TypeError:
                continue
            # an option with a default is an option, not the reference
            return len(arguments) == 2 or "reference" in list(signature.parameters)[1:2]
        raise ValueError(
            f"{self.name} must be a function of a batch or of a batch and the reference, "
            f"it is called as {signature}"
        )

    def _value(self, batch: Array, *arguments: Array) -> float:
        try:
            # a copy, so that a function that works in place harms nobody
            value = self.function(batch.copy(), *arguments)
        except Exception as error:
            raise ValueError(
                f"{self.name} failed on a batch of shape {batch.shape}: "
                f"{type(error).__name__}: {' '.join(str(error).split())}"
            ) from error
        if np.ndim(value) != 0 or np.asarray(value).dtype.kind not in "fiub":
            shape = f" of shape {value.shape}" if isinstance(value, np.ndarray) else ""
            raise ValueError(
                f"{self.name} must return one number for a batch, "
                f"it returned {type(value).__name__}{shape}"
            )
        return float(value)


def load(spec: str, *, folder: str = ".") -> Own:
    """Return the function that ``module:name`` names, as a statistic.

    Parameters
    ----------
    spec
        The module, a colon, the function's name in it.
    folder
        Where the module is looked for first; then on Python's own path.
    """
    module_name, colon, name = spec.partition(":")
    dotted = all(part.isidentifier() for part in module_name.split("."))
    if not colon or not dotted or not name.isidentifier():
        raise ValueError(f'a statistic of your own is given as "module:name", not as {spec!r}')
    sys.path.insert(0, folder)
    try:
        importlib.invalidate_caches()
        module = importlib.import_module(module_name)
    except Exception as error:
        absent = isinstance(error, ModuleNotFoundError) and error.name is not None
        if absent and f"{module_name}.".startswith(f"{error.name}."):  # type: ignore[attr-defined]
            raise ValueError(
                f"{spec} is not there: no module {module_name} in {folder} or on Python's path"
            ) from None
        raise ValueError(
            f"{spec} cannot be loaded: importing {module_name} ends in "
            f"{type(error).__name__}: {' '.join(str(error).split())}"
        ) from error
    finally:
        sys.path.remove(folder)
    function = getattr(module, name, None)
    if function is None:
        near = difflib.get_close_matches(name, dir(module), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"{spec} is not there: module {module_name} has no {name}{hint}")
    if not callable(function):
        raise ValueError(
            f"{spec} must be a function of a batch, it is of type {type(function).__name__}"
        )
    return Own(function, spec)


def source(spec: str, *, folder: str = ".") -> str | None:
    """Return the file of the module that ``module:name`` names, without running it.

    None where there is no such module or no single file; :func:`load` says what is wrong.
    The packages above the module, if it has any, are imported by Python's search for it.
    """
    sys.path.insert(0, folder)
    try:
        importlib.invalidate_caches()
        found = importlib.util.find_spec(spec.partition(":")[0])
    # the packages above it may raise anything
    except Exception:
        return None
    finally:
        sys.path.remove(folder)
    return found.origin if found is not None and found.has_location else None
