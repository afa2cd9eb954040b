"""How the work is cut into jobs: the only place that turns sizes into file names.

A job is a range of numbers (toys, batches, draws). How large it is changes which process
does the work, never which random numbers are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from stage.configuration import comparison
from stage.configuration.contradictions import value
from stage.configuration.model import Configuration
from stage.configuration.own import Score

LARGEST_DAG = 10_000
"""More jobs than this, and Snakemake takes minutes to plan what it could do in seconds."""


@dataclass(frozen=True)
class Cut:
    """The numbers 0 to ``total`` in jobs of ``size``; a job is named after its first number."""

    key: str
    total: int
    size: int

    def __len__(self) -> int:
        return -(-self.total // self.size)

    @cached_property
    def parts(self) -> dict[str, list[int]]:
        """The numbers of each job."""
        return {
            f"{first:06}": list(range(first, min(first + self.size, self.total)))
            for first in range(0, self.total, self.size)
        }


@dataclass(frozen=True)
class Sweep:
    """A run of batches of one size: its checkpoints R, and the most batches of a job."""

    R: list[int]
    group_size: int
    most: int

    def __len__(self) -> int:
        """At most so many jobs."""
        return -(-self.R[-1] // self._whole) + len(self.R)

    @property
    def _whole(self) -> int:
        return max(self.group_size, self.most // self.group_size * self.group_size)

    @cached_property
    def parts(self) -> dict[str, list[int]]:
        """Jobs of whole groups, each named after its first batch.

        A job holds pieces, of which one ends at every checkpoint: its first batch, and where
        its pieces end.
        """
        most, ends, start = self._whole, [], 0
        for stop in self.R:
            ends += [*range(start + most, stop, most), stop]
            start = stop
        jobs = [[0]]
        for end in ends:
            if end - jobs[-1][0] > most:
                jobs.append([jobs[-1][-1]])
            jobs[-1].append(end)
        return {f"{job[0]:08}": job for job in jobs}


class Plan:
    """The jobs of a configuration, and the points of its sweeps."""

    #: the exact witness is summed over this many parts of the reference, one job each
    exact_parts = 4

    def __init__(self, config: Configuration) -> None:
        def cut(key: str, total: int) -> Cut:
            return Cut(key, total, value(config, key))

        first, second, third = config.experiment1, config.experiment2, config.experiment3
        scan, recovery, scatter = second.n_scan, second.recovery, third.scatter
        self.toys1 = cut("experiment1.toys_per_job", first.toys)
        self.null_toys = cut("experiment1.toys_per_job", first.self_influence.toys)
        # a toy is the same whichever study asks for it, so each size is made once
        toys = dict.fromkeys(scan.N, scan.toys)
        toys[second.N] = max(second.toys, toys.get(second.N, 0))
        self.toys2 = {N: cut("experiment2.n_scan.toys_per_job", toys[N]) for N in sorted(toys)}
        self.target_toys = cut("experiment2.recovery.target_toys_per_job", recovery.target_toys)
        self.batch_toys = cut("experiment2.recovery.batch_toys_per_job", recovery.batch_toys)
        self.sweeps = dict(self._sweeps(config))
        self.surrogates = cut("experiment3.scatter.surrogates_per_job", scatter.surrogates)
        self.seeds = cut("experiment3.scatter.seeds_per_job", scatter.seeds)
        study = config.statistics
        self.statistics = {name: cut("statistics.toys_per_job", study.toys) for name in study.names}
        draws = (config.score or Score.model_construct()).calibration
        self.calibration = Cut("score.calibration.draws_per_job", draws.draws, draws.draws_per_job)
        self.contexts = {
            "resampling": first.resampling.contexts,
            "m_scan": [first.m_scan.contexts],
            "efficiency": [first.efficiency.contexts],
        }
        self.comparison = {
            version: comparison.problems(config, version) for version in ("small", "full")
        }
        # the author's own runs, by which one realization can be told from another
        run, scan3 = third.r_scan, third.m_scan
        points = [("pair", run.m, R) for R in run.R]
        points += [(name, run.m, run.R[-1]) for name in ("marginal", "raw")]
        points += [("pair", scan3.m[0], scan3.R)]
        self.points = [{"estimator": name, "m": m, "R": R} for name, m, R in points]

    @staticmethod
    def _sweeps(config: Configuration) -> Iterator[tuple[int, Sweep]]:
        """Yield one run of batches for each m; that of the scan in R may be longer."""
        third = config.experiment3
        scan, run = third.m_scan, third.r_scan
        checkpoints = sorted({R for R in (*run.R, scan.R) if R <= scan.R})
        sizes = dict(zip(scan.m, scan.group_size, strict=True))
        for m in dict.fromkeys((*scan.m, run.m)):
            R = (
                sorted({*run.R, *(checkpoints if m in sizes else ())})
                if m == run.m
                else checkpoints
            )
            yield m, Sweep(R, sizes.get(m, run.group_size), third.occurrences_per_job // m)

    def counts(self) -> dict[str, int]:
        """Return how many jobs, at most, each key of a job's size leads to."""
        found = {"experiment3.occurrences_per_job": sum(map(len, self.sweeps.values()))}
        for cut in (
            *(self.toys1, self.null_toys, *self.toys2.values(), self.target_toys, self.batch_toys),
            *(self.surrogates, self.seeds, *self.statistics.values(), self.calibration),
        ):
            found[cut.key] = found.get(cut.key, 0) + len(cut)
        return found

    def contradictions(self) -> Iterator[str]:
        """Say which size of a job cuts the work too finely."""
        jobs = self.counts()
        if sum(jobs.values()) > LARGEST_DAG:
            key = max(jobs, key=lambda name: jobs[name])
            yield (
                f"{key} is too small for the sizes in {key.rpartition('.')[0]}: it cuts them into "
                f"{jobs[key]} jobs, and a run must have at most {LARGEST_DAG}."
            )
