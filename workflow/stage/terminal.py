"""What a run prints on the terminal: its progress, the remaining time, and finally the answer.

Snakemake prints a paragraph for each job. :func:`take_over` puts a handler of our own in the
place of Snakemake's, from inside the Snakefile, so that nothing has to be installed for a plain
``snakemake``. The whole log is still in ``.snakemake/log``. With ``--verbose``, ``--quiet``,
``--printshellcmds`` or a ``--logger`` Snakemake speaks for itself.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shlex
import shutil
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from stage.estimate import Estimate, expected

#: the name of the handler that Snakemake sets up for the terminal
OWN_HANDLER = "DefaultStreamHandler"
#: without a terminal: seconds between two lines, and the longest silence
EVERY, SILENCE = 10.0, 60.0
#: the rule that fails where a user's own tables cannot be used
READS_YOUR_TABLES = "score_problem"
#: Snakemake's remarks on itself; what is not listed here is shown
_NOISE = re.compile(
    r"Building DAG|Assuming unrestricted|Using shell|Conda environments|Singularity containers|"
    r"Group jobs|Provided |Rules claiming|Select jobs|Execute \d|Storing output|Removing temporary|"
    r"Touching output|Complete log|Elapsed time|Shutting down|Processed \d|Job rate limit|"
    r"Finished jobid|Reasons:|Some jobs were triggered|Rules with |Exiting because|Shell command|"
    r"Workflow has started|\d+ jobs have |At least one job did not complete"
)
_FAILED_SCRIPT = re.compile(r"CalledProcessError|SpawnedJobError")
_INTERRUPTED = re.compile(r"Terminating processes on user|Will exit after|Cancelling snakemake")


def take_over(workflow: Any, results: Path, run: str) -> Terminal | None:
    """Speak for Snakemake, if it would print its paragraphs; return who speaks."""
    asked = workflow.output_settings
    if not workflow.is_main_process or any(
        getattr(asked, name) for name in ("verbose", "quiet", "printshellcmds", "debug_dag")
    ):
        return None
    logger = logging.getLogger("snakemake.logging")
    for handler in logger.handlers:
        if handler.name == OWN_HANDLER:
            stream = sys.stdout if asked.stdout else sys.stderr
            terminal = Terminal(workflow, results, expected(run, results), stream)
            logger.removeHandler(handler)
            logger.addHandler(terminal)
            return terminal
    return None


def same_command() -> str:
    """Return the command that started this run, with its own ``--configfile``.

    `make` starts a program that may not be on the PATH; then its path is part of the command.
    """
    program = Path(sys.argv[0])
    found = shutil.which("snakemake")
    elsewhere = program.name == "snakemake" and (
        found is None or Path(found).resolve() != program.resolve()
    )
    name = os.path.relpath(program) if elsewhere else "snakemake"
    return shlex.join([name, *sys.argv[1:]])


def options(configfiles: Iterable[str | os.PathLike[str]]) -> str:
    """Return the options that a piece of advice repeats.

    >>> options(["config/smoke.yaml", "config/mine.yaml"])
    ' --configfile config/smoke.yaml config/mine.yaml'
    """
    names = [os.path.relpath(path) for path in configfiles]
    return f" --configfile {shlex.join(names)}" if names else ""


def hand_on(configfiles: Iterable[str | os.PathLike[str]]) -> None:
    """Let the scripts know what to repeat when they advise a command."""
    os.environ["RUN_OPTIONS"] = options(configfiles)


class Terminal(logging.Handler):
    """The handler that speaks in the place of Snakemake's."""

    def __init__(
        self,
        workflow: Any,
        results: Path,
        before: Mapping[str, float],
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self.name = "Terminal"
        self.interrupted = False
        self._workflow, self._results, self._before = workflow, results, before
        self._stream, self._clock = stream, clock
        self._live = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._began = self._said = clock()
        self._estimate: Estimate | None = None
        self._running: dict[int, tuple[str, float]] = {}
        self._failed: dict[int, tuple[str, list[str]]] = {}
        self._reasons: dict[str, list[str]] = defaultdict(list)
        self._over = threading.Event()

    # --- what Snakemake tells ------------------------------------------------------

    def emit(self, record: logging.LogRecord) -> None:
        """Say what a user asks about, leave out the rest."""
        try:
            heard = getattr(self, f"_on_{getattr(record, 'event', None)}", self._on_None)
            heard(record)
        except BrokenPipeError:
            raise
        except Exception:
            self.handleError(record)

    def _on_None(self, record: logging.LogRecord) -> None:
        text = str(record.msg or "").strip()
        if _INTERRUPTED.match(text):
            self._interrupt()
        elif text.startswith("Nothing to be done") and not self._workflow.dryrun:
            self._line(text)
            self.end()
        elif text and not _NOISE.match(text) and not (self.interrupted and self._failed):
            self._line(text)

    def _on_error(self, record: logging.LogRecord) -> None:
        text = str(record.msg)
        if not _FAILED_SCRIPT.search(text) and not _NOISE.search(text):
            self._on_None(record)

    def _on_run_info(self, record: logging.LogRecord) -> None:
        if not self._workflow.dryrun:
            self._begin()
        elif self._reasons:  # a dry run counts its jobs before and after it lists them
            for rule, why in self._reasons.items():
                more = f" ({len(why)} jobs)" if len(why) > 1 else ""
                self._line(_cut(f"{rule}{more}: {briefly(why[0])}", 160))
            self._line(f"\n{record.msg}")

    def _on_job_info(self, record: logging.LogRecord) -> None:
        told = record.__dict__
        if self._workflow.dryrun:
            self._reasons[told["rule_name"]].append(told["reason"])
            return
        values = ", ".join(f"{name}={value}" for name, value in told["wildcards"].items())
        name = f"{told['rule_name']} ({values})" if values else told["rule_name"]
        self._running[told["jobid"]] = name, self._clock()
        self._progress()

    def _on_job_finished(self, record: logging.LogRecord) -> None:
        job = record.__dict__["job_id"]
        _, since = self._running.pop(job, ("", self._clock()))
        self._failed.pop(job, None)
        if self._estimate:
            self._estimate.finish(job, self._clock() - since)
        self._progress()

    def _on_job_error(self, record: logging.LogRecord) -> None:
        told = record.__dict__
        self._running.pop(told["jobid"], None)
        self._failed[told["jobid"]] = told["rule_name"], told["log"]

    def _ignore(self, record: logging.LogRecord) -> None:
        """Say nothing."""

    _on_progress = _on_shellcmd = _on_workflow_started = _on_job_started = _ignore
    _on_resources_info = _on_rulegraph = _on_group_info = _on_group_error = _ignore

    # --- what is said --------------------------------------------------------------

    def _begin(self) -> None:
        dag, cores = self._workflow.dag, self._workflow.cores or self._workflow.nodes or 1
        needs = {
            job.jobid: (
                job.rule.name,
                getattr(job, "threads", 1) if self._workflow.local_exec else 1,
                [other.jobid for other in dag.dependencies[job]],
            )
            for level in dag.toposorted(set(dag.needrun_jobs()))
            for job in level
        }
        self._estimate = Estimate(self._before, needs, cores)
        logs = self._workflow.logger_manager.get_logfile()
        where = f" Full log: {os.path.relpath(logs[0])}" if logs else ""
        to_go = self._estimate.to_go({})
        about = f", about {duration(to_go)}" if to_go else ""
        self._line(f"{_count(len(needs), 'job')} on {_count(cores, 'core')}{about}.{where}")
        threading.Thread(target=self._tick, daemon=True).start()

    def _tick(self) -> None:
        """Let the time to go run down, and break a long silence."""
        while not self._over.wait(1.0):
            with self.lock or threading.RLock():
                if self._live or self._clock() - self._said >= SILENCE:
                    self._progress(silent=True)

    def _progress(self, silent: bool = False) -> None:
        """Say how far the run is: on a terminal at once, in a file now and then."""
        due = silent or self._clock() - self._said >= EVERY
        if self._estimate is None or self.interrupted or not (self._live or due):
            return
        now = self._clock()
        running = {job: now - since for job, (_, since) in self._running.items()}
        done, total = len(self._estimate.done), len(self._estimate.needs)
        to_go = self._estimate.to_go(running)
        said = f"{done} of {total} jobs"
        if to_go is not None:
            share = (now - self._began) / (now - self._began + to_go) if to_go else 1.0
            said = f"{100 * share:3.0f} %, {duration(to_go)} to go, {said}"
        names = ", ".join(name for name, _ in self._running.values())
        text = f"{said}: {names}" if names else said
        if self._live:
            width = shutil.get_terminal_size().columns
            self._stream.write(f"\r\x1b[K{_cut(text, width - 1)}")
            self._stream.flush()
        else:
            self._line(_cut(text, 120))

    def _line(self, text: str) -> None:
        self._said = self._clock()
        self._stream.write(("\r\x1b[K" if self._live else "") + text + "\n")
        self._stream.flush()

    def _interrupt(self) -> None:
        if not self.interrupted:
            self.interrupted = True
            self._over.set()
            self._line("Interrupted; waiting for the running jobs to end.")
            self._stopped()

    def _stopped(self) -> None:
        done = len(self._estimate.done) if self._estimate else 0
        kept = f"{_count(done, 'job')} of this run {_are(done)} kept. " if done else ""
        self._line(f"{kept}To continue, repeat the command: {same_command()}")

    def end(self) -> None:
        """Close a run that succeeded."""
        self._over.set()
        if self._estimate:
            self._line(f"Done in {duration(self._clock() - self._began)}.")
        for line in answer(self._workflow.dag, self._results):
            self._line(line)

    def fail(self, sentences: Iterable[str]) -> None:
        """Close a run that did not succeed: the reason comes last."""
        self._over.set()
        if self.interrupted:
            return
        self._line("")
        if {rule for rule, _ in self._failed.values()} == {READS_YOUR_TABLES}:
            self._line(f"Correct what is named below, then repeat the command: {same_command()}")
        else:
            self._stopped()
        said = dict.fromkeys(sentences)
        for rule, logs in self._failed.values():
            said.setdefault(sentence(rule, logs))
        for text in said:
            self._line(text)


def sentence(rule: str, logs: Iterable[str]) -> str:
    """Return why a job failed, from its log."""
    logs = [str(log).split(" (")[0] for log in logs]
    for log in logs:
        try:
            lines = Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        for line in reversed(lines):
            if line.startswith(rule) and " failed: " in line:
                return line
    return f"{rule} failed; see {', '.join(logs) or 'above'}"


def answer(dag: Any, results: Path) -> list[str]:
    """Return the lines that end a run of Snakemake's graph of jobs."""
    return closing(
        results,
        {job.rule.name for job in dag.jobs},
        [str(file) for job in dag.targetjobs for file in (job.output or job.input)],
    )


def closing(results: Path, rules: Iterable[str], targets: Sequence[str]) -> list[str]:
    """Return the three lines that end a run: the verdict, the file to open, the data.

    Parameters
    ----------
    results
        The run's results.
    rules
        The rules that had a part in the run, done now or before.
    targets
        The files that were asked for.
    """
    rules = set(rules)
    if "score_page" in rules and "report" not in rules:
        return _closing_of_score(results, profiled="score_nuisances" in rules)
    lines = []
    tally = results / "scoreboard.txt"
    if "scoreboard" in rules and tally.exists():
        lines.append(tally.read_text(encoding="utf-8").splitlines()[0])
    page = results / "report.html"
    if "report" in rules and page.exists():
        lines.append(f"Open {page}")
    else:
        *names, last = [*dict.fromkeys(targets), ""][:4]
        more = f", and {len(set(targets)) - 3} more" if last else ""
        lines += [f"Files: {', '.join(names)}{more}"] if names else []
    edition = results / "lhco" / "edition.json"
    if "lhco_edition" in rules and edition.exists():
        chosen = json.loads(edition.read_text(encoding="utf-8"))
        what = chosen["why"].split("; ")[0].split(": ", 1)[-1]
        lines.append(f"LHC Olympics data: edition {chosen['name']}, {what}.")
    return lines


def _closing_of_score(results: Path, *, profiled: bool) -> list[str]:
    found = json.loads((results / "score" / "global.json").read_text(encoding="utf-8"))
    about = json.loads((results / "score" / "problem.json").read_text(encoding="utf-8"))
    page = results / "score" / "report.html"
    answer = found["answer"]
    if profiled:
        wrong = (results / "score" / "variations.json").read_text(encoding="utf-8")
        answer += " " + json.loads(wrong)["answer"]
    return [
        answer,
        f"Open {page}",
        f"Data: {about['used']['sample']} events of {about['sample']} against "
        f"{about['used']['reference']} of {about['reference']}.",
    ]


def briefly(reason: str) -> str:
    """Return why a job would run, without the files of the jobs before it.

    >>> briefly("Missing output files: a, b; Input files updated by another job: c")
    'Missing output files: a and 1 more'
    >>> briefly("Input files updated by another job: c")
    'follows another job'
    """
    told = []
    for part in reason.split("; "):
        what, _, names = part.partition(": ")
        first, *others = names.split(", ")
        if what in ("Missing output files", "Updated input files") and others:
            told.append(f"{what}: {first} and {len(others)} more")
        elif what != "Input files updated by another job":
            told.append(part)
    return "; ".join(told) or "follows another job"


def duration(seconds: float) -> str:
    """Return a time in the precision that it is known to.

    >>> duration(42), duration(301), duration(4000)
    ('42 s', '5 min', '1 h 7 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."
