"""Plant a bug in a copy of the project, run the nearest tests there, and see whether one fails."""

from __future__ import annotations

import fnmatch
import os
import queue
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import perf_counter

from generate import Mutant
from stage import tracking

PYTEST = ("-m", "pytest", "-n0", "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider")
FAILED, BROKEN, NO_TESTS = 1, 2, 5
#: so many of the tests that import a module, those that import the fewest others
MOST = 3


@dataclass(frozen=True)
class Result:
    """What became of a mutant: killed, timeout (which counts as killed) or survived."""

    mutant: Mutant
    verdict: str
    seconds: float
    by: str = ""


class Nearest:
    """Which tests look at a file.

    Its own examples and the test file of its name first, then what nearest.toml says, then a few
    tests that import it (or what imports it, if none does), the cheapest first, as long as
    ``budget`` seconds suffice. A run of the workflow of that name is one of the latter.
    """

    def __init__(self, root: Path, told: Path, *, budget: float) -> None:
        self.root, self.budget, self.seconds = root, budget, dict[str, float | None]()
        self.told = tomllib.loads(told.read_text(encoding="utf-8")) if told.is_file() else {}
        self.tests = sorted(root.glob("tests/**/test_*.py"))

    def told_of(self, path: str) -> list[str]:
        """Return what the list says of a file; a test may be a pattern that matches none yet."""
        return [
            self._name(test)
            for pattern, tests in self.told.items()
            if fnmatch.fnmatch(path, pattern)
            for each in tests
            for test in sorted(self.root.glob(each))
        ]

    def of(self, path: str) -> tuple[list[str], list[str]]:
        """Return the tests that are always run, and those for which there may be time."""
        first: list[str] = []
        own = self.root / path
        if ">>> " in own.read_text(encoding="utf-8"):
            first.append(path)
        named = [test for test in self.tests if test.stem == f"test_{own.stem}"]
        runs = [test for test in named if test.parent.name == "workflow"]
        first += [self._name(test) for test in named if test not in runs]
        first += self.told_of(path)
        workflow = self.root / "workflow"
        if path.endswith(".smk") or own.parent == workflow / "scripts":
            return list(dict.fromkeys(first)), []
        module = ".".join(own.relative_to(workflow).with_suffix("").parts)
        module = module.removesuffix(".__init__")
        through = [test for test in self.tests if own in self._behind[test]]
        direct = [test for test in through if module in tracking._imported(test)]
        few = sorted(direct or through, key=lambda test: len(self._behind[test]))[:MOST]
        more = [name for name in map(self._name, [*runs, *few]) if name not in first]
        return list(dict.fromkeys(first)), more

    def within_budget(self, path: str) -> list[str]:
        """Return the tests to run, once it is known what each takes."""
        first, more = self.of(path)
        chosen = [test for test in first if self.seconds[test] is not None]
        spent = sum(self.seconds[test] or 0 for test in chosen)
        known = [test for test in more if self.seconds[test] is not None]
        for test in sorted(known, key=lambda name: self.seconds[name] or 0):
            spent += self.seconds[test] or 0
            if spent > self.budget and chosen:
                break
            chosen.append(test)
        return chosen

    @cached_property
    def _behind(self) -> dict[Path, list[Path]]:
        return {test: tracking.modules_of(test, self.root / "workflow") for test in self.tests}

    def _name(self, test: Path) -> str:
        return test.relative_to(self.root).as_posix()


@dataclass
class Copies:
    """Copies of the project, one for each worker, made afresh for each mutant at the same path.

    Compiled code is kept from one mutant to the next where it is safe. Python and numba know a
    source by its date and size, so each mutated file has a date of its own. But numba does not see
    that a kernel has called another module's; those that a mutant could reach are compiled anew.
    """

    root: Path
    home: Path
    workers: int = 2
    running: set[subprocess.Popen[str]] = field(default_factory=set)
    planted: int = 0
    stopped: bool = False

    def __post_init__(self) -> None:
        self.free: queue.Queue[Path] = queue.Queue()
        for number in range(self.workers):
            self.free.put(self.home / str(number))
        self.template = self.home / "template"
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=self.root, capture_output=True, text=True, check=True)
        for name in filter(None, names.stdout.split("\0")):
            if os.path.lexists(self.root / name):
                (self.template / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.root / name, self.template / name, follow_symlinks=False)
        # tests ask git which files belong to the project
        subprocess.run(["git", "init", "-q"], cwd=self.template, check=True)

    def pytest(
        self, tests: list[str], timeout: float, mutant: Mutant | None = None
    ) -> tuple[int | None, str, float]:
        """Return the exit code (None: no end in time), the output and the seconds."""
        worker = self.free.get()
        try:
            project, cache = self._fresh(worker, mutant)
            begun = perf_counter()
            code, said = self._run(tests, timeout, project, cache, worker)
            return code, said, perf_counter() - begun
        finally:
            self.free.put(worker)

    def stop(self) -> None:
        """End what is still running, with all that it has started; nothing else is begun."""
        self.stopped = True
        for process in list(self.running):
            os.killpg(process.pid, signal.SIGKILL)

    def _fresh(self, worker: Path, mutant: Mutant | None) -> tuple[Path, Path]:
        project, cache = worker / "project", worker / "numba"
        shutil.rmtree(project, ignore_errors=True)
        shutil.copytree(self.template, project, symlinks=True)
        cache.mkdir(exist_ok=True)
        if mutant is None:
            return project, cache
        file = project / mutant.path
        date = file.stat().st_mtime
        file.write_bytes(mutant.applied(file.read_bytes()))
        self.planted += 1
        os.utime(file, (date, date - 10 * self.planted))
        reached = [
            each.stem
            for each in (self.template / "workflow").glob("localizer/**/*.py")
            if "njit" in each.read_text(encoding="utf-8")
            and self.template / mutant.path
            in (each, *tracking.modules_of(each, self.template / "workflow"))
        ]
        if not reached:
            return project, cache
        own = worker / "numba_of_mutant"
        shutil.rmtree(own, ignore_errors=True)
        old = shutil.ignore_patterns(*(f"{stem}.*" for stem in reached))
        return project, Path(shutil.copytree(cache, own, ignore=old))

    def _run(
        self, tests: list[str], timeout: float, project: Path, cache: Path, worker: Path
    ) -> tuple[int | None, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "PYTHON"))}
        own = {"NUMBA_CACHE_DIR": str(cache), "PYTHONPYCACHEPREFIX": str(worker / "compiled")}
        process = subprocess.Popen(
            [sys.executable, *PYTEST, f"--basetemp={worker / 'tmp'}", *tests],
            cwd=project,
            env=kept | own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.running.add(process)
        try:
            if self.stopped:
                os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate(timeout=timeout)
            return process.returncode, said
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]
        finally:
            self.running.discard(process)


@contextmanager
def _threads(copies: Copies) -> Iterator[ThreadPoolExecutor]:
    pool = ThreadPoolExecutor(copies.workers)
    try:
        yield pool
    except BaseException:
        copies.stop()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def baseline(copies: Copies, nearest: Nearest, mutants: Iterable[Mutant], limit: float) -> None:
    """Run the tests involved on the sources as they are; they must pass. Note what each takes."""
    both = [nearest.of(path) for path in sorted({mutant.path for mutant in mutants})]
    limits = {test: nearest.budget for _, more in both for test in more}
    limits |= {test: limit for first, _ in both for test in first}
    with _threads(copies) as pool:
        said = pool.map(lambda test: copies.pytest([test], limits[test]), limits)
        for test, (code, output, seconds) in zip(limits, said, strict=True):
            left_out = code is None and limits[test] < limit
            if code not in (0, NO_TESTS) and not left_out:
                raise RuntimeError(f"{test} fails without any bug planted:\n{output[-3000:]}")
            nearest.seconds[test] = seconds if code == 0 else None
            print(f"{'passes' if code == 0 else 'left out'} {seconds:6.1f} s  {test}", flush=True)


def hunt(copies: Copies, nearest: Nearest, mutants: Iterable[Mutant]) -> Iterator[Result]:
    """Yield what became of each mutant, in their order."""

    def one(mutant: Mutant) -> Result:
        tests = nearest.within_budget(mutant.path)
        if not tests:
            return Result(mutant, "survived", 0.0, "no test looks at this file")
        usual = sum(nearest.seconds[test] or 0 for test in tests)
        code, said, seconds = copies.pytest(tests, 60 + 4 * usual, mutant)
        if code is None:
            return Result(mutant, "timeout", seconds)
        if code not in (0, FAILED, BROKEN):
            raise RuntimeError(f"{mutant.name}: pytest ended with {code}:\n{said[-3000:]}")
        failed = [line for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        by = failed[0].split(" - ")[0].split(" ", 1)[1] if failed else ""
        return Result(mutant, "killed" if code else "survived", seconds, by)

    with _threads(copies) as pool:
        yield from pool.map(one, mutants)
