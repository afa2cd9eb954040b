"""What every script needs: log, progress, one BLAS thread, the record of the job.

``localizer`` does the mathematics; ``stage`` does what a run needs besides. A script
connects the two::

    with Stage(snakemake) as stage:
        table = compute(**snakemake.params)
        files.write_csv(table, snakemake.output[0])
"""

from __future__ import annotations

import errno
import logging
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, TextIO, TypeVar

import threadpoolctl

from stage import files, progress, provenance, seals

Item = TypeVar("Item")


def reason(error: BaseException) -> str:
    """Return what went wrong, as one sentence.

    >>> reason(MemoryError())
    'the memory was used up; use fewer --cores, or smaller sizes in the configuration'
    """
    said = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        detail = f" ({said})" if said else ""
        return (
            f"the memory was used up{detail}; use fewer --cores, "
            "or smaller sizes in the configuration"
        )
    if isinstance(error, OSError) and error.strerror:
        what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        hint = _HINTS.get(error.errno or 0)
        return f"{what}; {hint}" if hint else what
    return said or type(error).__name__


_HINTS = dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "make room and run the same command again")


def _utc(seconds: float) -> str:
    """Return a time of the clock as ISO 8601 has it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


class _Log(logging.StreamHandler[TextIO]):
    """A log on a disk that may be full: then the results cannot be written, and that is told."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Lose the line."""


class Stage:
    """One job of the workflow, from its first line in the log to its record.

    BLAS runs with one thread whatever ``--cores`` says: its last digits depend on the
    number of threads, and the results must not. An input that was altered since another
    stage made it is refused (:mod:`stage.seals`). A failure prints one sentence on
    the terminal, with the end of the log; the whole traceback is in the log.
    """

    def __init__(self, snakemake: Any, *, record: bool = True, seal: bool = True) -> None:
        self.rule: str = snakemake.rule
        self.job = ",".join(f"{name}={value}" for name, value in snakemake.wildcards.items())
        self.log_path = Path(snakemake.log[0])
        self._results = seals.results_of(self.log_path)
        self._inputs = [str(path) for path in snakemake.input]
        self._outputs = [str(path) for path in snakemake.output]
        self._threads: int = snakemake.threads
        self._record = record
        self._seal = seal
        self._began = time.time()

    def __enter__(self) -> Stage:
        try:
            self._begin()
        except Exception as error:
            self._fail(error)
        return self

    def _begin(self) -> None:
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        # a stage stays silent on the terminal unless it downloads or fails
        self._log_file: TextIO = self.log_path.open("w", encoding="utf-8", buffering=1)
        handler = _Log(self._log_file)
        logging.basicConfig(
            handlers=[handler], level=logging.INFO, format="%(asctime)s %(message)s", force=True
        )
        logging.captureWarnings(True)
        self._limits = threadpoolctl.threadpool_limits(limits=1)
        if "numba" in sys.modules:
            numba = sys.modules["numba"]
            numba.set_num_threads(min(self._threads, numba.config.NUMBA_NUM_THREADS))
        self.say(f"{self.name} begins")
        for path in self._outputs:
            files.remove_leftovers(path)
        seals.take_off(self._outputs, self._results)
        seals.check(self._inputs, self._results)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            try:
                self._end()
            except Exception as late:
                self._fail(late)
        else:
            self._fail(error)

    def _end(self) -> None:
        seconds = time.time() - self._began
        if self._seal:
            seals.put(self._outputs, self._results)
        if self._record:
            self._leave_record(seconds)
        self.say(f"{self.name} ends after {seconds:.1f} s")
        self._log_file.close()

    def _fail(self, error: BaseException) -> NoReturn:
        """Say what went wrong, in the log and on the terminal, and end the job."""
        sentence = f"{self.name} failed: {reason(error)}"
        # a full disk takes no log either, and an unwritable folder has none to close
        with suppress(OSError, AttributeError):
            self._log_file.close()
        with suppress(OSError), self.log_path.open("a", encoding="utf-8") as log:
            log.write(f"{sentence}\n{''.join(traceback.format_exception(error))}")
        tail: list[str] = []
        with suppress(OSError):
            lines = self.log_path.read_text(encoding="utf-8").splitlines()
            if lines:
                tail = [f"  the end of {self.log_path}:", *(f"  | {line}" for line in lines[-12:])]
        print(f"\n{sentence}", *tail, sep="\n", file=sys.stderr, flush=True)
        # the sentence above says it all; a second traceback would bury it
        raise SystemExit(1) from None

    @property
    def name(self) -> str:
        """The rule, with its wildcards if it has any."""
        return f"{self.rule} ({self.job})" if self.job else self.rule

    def say(self, sentence: str) -> None:
        """Write a line into the log."""
        logging.getLogger(__name__).info(sentence)

    def track(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield ``items`` and show the progress in the log."""
        return progress.track(items, self.name, streams=(self._log_file,))

    def transfer(self) -> Callable[[str, int, int | None], None]:
        """Return what a download calls with a file's name, the bytes there and the bytes in all."""
        said = time.monotonic()

        def progress(name: str, have: int, total: int | None) -> None:
            nonlocal said
            if time.monotonic() - said < 2:
                return
            said = time.monotonic()
            share = f" of {total / 1e6:.1f}" if total else ""
            line = f"{self.name}: {name}, {have / 1e6:.1f}{share} MB"
            for out in (sys.stderr, self._log_file):
                print(line, file=out, flush=True)

        return progress

    def _leave_record(self, seconds: float) -> None:
        record = {
            "rule": self.rule,
            "job": self.job,
            **provenance.commit(),
            "began": _utc(self._began),
            "ended": _utc(self._began + seconds),
            "seconds": round(seconds, 3),
            "processor_seconds": round(provenance.processor_seconds(), 2),
            "peak_memory_mib": round(provenance.peak_memory(), 1),
            "threads": self._threads,
            "versions": provenance.versions(),
        }
        files.write_json(record, self.log_path.with_suffix(".json"))
