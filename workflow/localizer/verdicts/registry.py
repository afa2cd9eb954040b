"""Which function makes which finding: exactly one for each id of resources/published.csv.

To find the function of a verdict, search this folder for its id. A function takes the tables and
settings that it names and returns one :class:`~localizer.verdicts.board.Finding`; what several
share is a helper. resources/published.csv defines when a claim holds.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any, TypeVar

from localizer.verdicts.board import Finding

Maker = Callable[..., Finding | None]
M = TypeVar("M", bound=Maker)


def finding(*names: str) -> Callable[[M], M]:
    """Declare the published ids whose finding the decorated function makes."""

    def declare(maker: M) -> M:
        maker.__dict__["finds"] = names
        return maker

    return declare


def makers(*modules: ModuleType) -> dict[str, Maker]:
    """Return the function of each id, in the order of the modules."""
    made: dict[str, Maker] = {}
    for module in modules:
        for maker in vars(module).values():
            for name in getattr(maker, "finds", ()):
                if name in made:
                    raise ValueError(f"finding {name}: two functions make it")
                made[name] = maker
    return made


def find(name: str, maker: Maker, given: dict[str, Any]) -> Finding | None:
    """Return the finding of one id, or none if this run has not computed it.

    Parameters
    ----------
    name
        The published id; a function of several ids takes it as ``name``.
    maker
        The function of the id.
    given
        Tables and settings, by the names of the function's arguments.
    """
    wanted = inspect.signature(maker).parameters
    arguments = {key: value for key, value in {"name": name, **given}.items() if key in wanted}
    try:
        made = maker(**arguments)
    except ValueError as error:
        raise ValueError(f"finding {name}: {error}") from error
    return made and replace(made, id=name)


def findings(*modules: ModuleType, **given: Any) -> list[Finding]:
    """Return what all functions of some modules find in a run."""
    made = (find(name, maker, given) for name, maker in makers(*modules).items())
    return [each for each in made if each]
