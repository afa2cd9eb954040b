"""How far a computation has come, on a terminal and in a notebook; silent elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Advance: TypeAlias = Callable[[int], object]
"""Is told how many more events are done."""


def unseen(_: int) -> None:
    """Tell nobody."""


@contextmanager
def bar(what: str, total: int, *, show: bool) -> Iterator[Advance]:
    """Show a progress bar on the standard error, where somebody looks at it."""
    # the scores themselves need no bar, and no library for one
    from tqdm.std import tqdm

    watched = show and (sys.stderr.isatty() or _in_notebook())
    with tqdm(
        total=total, desc=what, unit=" events", unit_scale=True, leave=False, disable=not watched
    ) as shown:
        yield shown.update


def _in_notebook() -> bool:
    # IPython itself is not asked for: where it is not loaded there is no notebook
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and shell.has_trait("kernel")
