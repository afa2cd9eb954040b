"""What a piece of work costs: processor time and memory, for benchmarks."""

from __future__ import annotations

import ctypes
import gc
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass
class Cost:
    """Processor seconds, and the peak of memory above what was in use before (NaN: unknown)."""

    seconds: float = math.nan
    memory_mib: float = math.nan


@contextmanager
def measured() -> Iterator[Cost]:
    """Measure what is done inside; the numbers are there after it.

    Examples
    --------
    >>> with measured() as cost:
    ...     total = sum(range(10_000))
    >>> cost.seconds >= 0
    True
    """
    cost = Cost()
    in_use = _reset_peak()
    began = time.process_time()
    yield cost
    cost.seconds = time.process_time() - began
    cost.memory_mib = _status("VmHWM") - in_use


def _reset_peak() -> float:
    """Let the system forget the peak, and return the memory in use in MiB; NaN if it cannot."""
    # else what earlier work has left to the allocator would be used again, uncounted
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    try:
        _CLEAR.write_text("5")
    except OSError:
        return math.nan
    return _status("VmRSS")


def _status(name: str) -> float:
    """Return a line of the process's status in MiB; NaN on a system without it."""
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return math.nan
    kilobytes = next((line.split()[1] for line in lines if line.startswith(f"{name}:")), "nan")
    return float(kilobytes) / 1024
