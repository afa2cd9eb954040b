"""Progress of a long job: a line now and then, with the time to go."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TextIO, TypeVar

Item = TypeVar("Item")


def track(
    items: Iterable[Item],
    what: str,
    *,
    every: float = 5.0,
    streams: tuple[TextIO, ...] = (sys.stderr,),
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Item]:
    """Yield ``items``; at most once in ``every`` seconds say how many are done.

    The first line comes after ``every`` seconds, so that quick jobs stay silent.
    """
    total = len(items) if isinstance(items, Sized) else None
    began = said = clock()
    for done, item in enumerate(items):
        now = clock()
        if now - said >= every:
            said = now
            line = _line(what, done, total, now - began)
            for out in streams:
                print(line, file=out, flush=True)
        yield item


def _line(what: str, done: int, total: int | None, elapsed: float) -> str:
    if not total:
        return f"{what}: {done} done, {_duration(elapsed)} so far"
    if not done:
        return f"{what}: 0 of {total}, {_duration(elapsed)} so far"
    to_go = elapsed / done * (total - done)
    return f"{what}: {done} of {total} ({100 * done // total} %), {_duration(to_go)} to go"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
