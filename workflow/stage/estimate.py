"""The time to go: what the jobs of each rule took before, at the pace of this run.

``job_seconds.csv`` holds measured times by run and rule; after a run

    PYTHONPATH=workflow python -m stage.estimate results/<run>

prints its rows. A rule that no run has measured has a row of the run ``default``.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

#: beside what a stage measures, the start of its process and Snakemake's own part
START = 1.5
#: a job that takes longer than expected is expected to take this much more of its time so far
OVERDUE = 1.25
#: seconds of work at the usual pace that count before this run has done any: a few short jobs on a
#: busy machine say little about the long ones
PRIOR = 60.0
#: seconds of work after which what was seen counts half: the load of a machine changes
HALF_LIFE = 120.0
MEASURED = Path(__file__).with_name("job_seconds.csv")


def expected(run: str, results: Path, shipped: Path = MEASURED) -> dict[str, float]:
    """Return the seconds that a job of each rule takes: as last measured here, else as shipped.

    A run of another name than the shipped ones is expected to be of the paper's size until its
    own jobs tell otherwise.
    """
    with shipped.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    nearest_last = sorted(rows, key=lambda row: (row["run"] == run, row["run"] == "paper"))
    return {row["rule"]: float(row["seconds"]) for row in nearest_last} | measured(results)


def measured(results: Path) -> dict[str, float]:
    """Return the mean seconds of each rule's jobs in the records below ``results``."""
    found: dict[str, list[float]] = defaultdict(list)
    for path in (results / "logs").rglob("[!.]*.json"):
        # a record that cannot be read spoils an estimate, not the run
        with suppress(OSError, ValueError, KeyError):
            record = json.loads(path.read_text(encoding="utf-8"))
            found[record["rule"]].append(record["seconds"])
    return {rule: sum(times) / len(times) for rule, times in sorted(found.items())}


class Estimate:
    """The time to go, from what each rule's jobs took before and have taken in this run.

    The pace is the time that jobs take over the usual one, of late. A rule whose jobs are done in
    this run has the usual time that they show, at the pace at which each of them ran.

    Parameters
    ----------
    before
        Seconds of a job of each rule in an earlier run.
    needs
        For each job its rule, the cores it takes and the jobs it waits for.
    cores
        How many cores there are.
    """

    def __init__(
        self,
        before: Mapping[str, float],
        needs: Mapping[int, tuple[str, int, list[int]]],
        cores: int,
    ) -> None:
        self._before = before
        self.needs = needs
        self._cores = cores
        self._usual: dict[str, list[float]] = defaultdict(list)
        self._seen = self._expected = PRIOR
        self.done: set[int] = set()

    @property
    def pace(self) -> float:
        """How much slower this run is than the one before, of late."""
        return self._seen / self._expected

    def usual(self, rule: str) -> float:
        """Return the seconds of a job at the usual pace."""
        if rule in self._usual:
            return sum(self._usual[rule]) / len(self._usual[rule])
        return self._before.get(rule, 0.0) + START

    def finish(self, job: int, seconds: float) -> None:
        """Take note that a job is done, and how long it took."""
        if job not in self.needs:
            return
        self.done.add(job)
        rule = self.needs[job][0]
        if rule in self._before or rule in self._usual:
            usual = self.usual(rule)
            kept = 0.5 ** (usual / HALF_LIFE)
            self._seen = PRIOR + kept * (self._seen - PRIOR) + seconds
            self._expected = PRIOR + kept * (self._expected - PRIOR) + usual
        self._usual[rule].append(seconds / self.pace)

    def to_go(self, running: Mapping[int, float]) -> float | None:
        """Return the seconds to go, or None while nothing is known.

        Parameters
        ----------
        running
            The jobs that run, and for how many seconds.
        """
        left = {job: need for job, need in self.needs.items() if job not in self.done}
        ends: dict[int, float] = {}
        work = 0.0
        for job, (rule, cores, waits_for) in left.items():  # in an order that fits the needs
            so_far = running.get(job, 0.0)
            seconds = max(self.pace * self.usual(rule), OVERDUE * so_far) - so_far
            work += seconds * min(cores, self._cores) / self._cores
            ends[job] = seconds + max((ends.get(other, 0.0) for other in waits_for), default=0.0)
        return max(work, max(ends.values(), default=0.0)) if self._before else None


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for rule, seconds in measured(folder).items():
        print(f"{folder.name},{rule},{seconds:.1f}")
