"""Time and memory of a piece of work, in a process of its own."""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

from stage import provenance


def alone(
    prepare: Callable[[], Callable[[], object]], *, warm_up: Callable[[], object], repeats: int
) -> tuple[float, float]:
    """Return the seconds and the bytes that a piece of work takes.

    A copy of this process does the work: its memory holds nothing of an earlier measurement.
    It warms up first, so that what is loaded once does not count. The memory is how far its
    peak of resident memory rises while the work is prepared and done the first time; the
    time is the shortest of ``repeats`` further times, on one thread. It is the processor's
    time, which on an idle machine is the clock's and on a busy one does not count the waiting.
    """
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_measure, args=(there, prepare, warm_up, repeats))
    child.start()
    there.close()
    try:
        found: tuple[float, float] = here.recv()
    except EOFError:
        raise RuntimeError("the measured process ended early; perhaps memory ran out") from None
    finally:
        child.join()
        here.close()
    return found


def _measure(
    pipe: Connection,
    prepare: Callable[[], Callable[[], object]],
    warm_up: Callable[[], object],
    repeats: int,
) -> None:
    if "numba" in sys.modules:
        sys.modules["numba"].set_num_threads(1)
    warm_up()
    before = provenance.peak_memory()
    work = prepare()
    work()
    memory = (provenance.peak_memory() - before) * 2**20
    seconds = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        seconds.append(time.process_time() - began)
    pipe.send((min(seconds), memory))
