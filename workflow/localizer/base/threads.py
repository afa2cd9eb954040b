"""Work divided among threads, with the results in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from numba import get_num_threads

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


def in_threads(work: Callable[[_Task], _Result], tasks: Iterable[_Task]) -> Iterable[_Result]:
    """Yield the results of tasks in their order, worked on by numba's number of threads.

    Examples
    --------
    >>> list(in_threads(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    with ThreadPoolExecutor(get_num_threads()) as pool:
        yield from pool.map(work, tasks)
