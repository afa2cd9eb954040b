"""The section ``score``: a user's own data. It is not part of the paper.

Every key but the two tables has a default, so a user's file needs only the keys that differ.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field

from stage.configuration.kinds import (
    DISTINCT,
    EVEN,
    AtLeastTen,
    AtLeastTwo,
    Bandwidths,
    BatchSize,
    Count,
    Fraction,
    GroupSize,
    OwnStatistic,
    Section,
    key,
    must,
)


def _reachable(table: str) -> str:
    """Refuse a table that is not there; what lies below ``results`` may be made by a rule."""
    path = Path(table.partition("::")[0])
    if not path.is_absolute() and ".." in path.parts:
        raise ValueError("a file outside the project must be given by its full path")
    try:
        there = path.parts[:1] == ("results",) or path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        there = False
    if not there:
        raise ValueError("there is no such file")
    return table


Table: TypeAlias = Annotated[str, AfterValidator(_reachable)]
Names: TypeAlias = Annotated[list[str], DISTINCT]
Folds: TypeAlias = Annotated[
    int,
    Field(ge=0, le=1000),
    must("it must be 0, for none, or at least 2", lambda folds: folds != 1),
]


class Calibration(Section):
    """Samples without a departure."""

    source: Literal["permutations", "pseudoexperiments"] = key(
        "samples without a departure: `permutations` of all events, or `pseudoexperiments`, "
        "subsets of the reference as large as the sample (sec. 6.4)",
        alias="from",
        default="permutations",
    )
    # fewer have no 95 % band
    draws: Annotated[int, Field(ge=39, le=10**6)] = key("how many of them", default=999)
    draws_per_job: Count = key("how many of them one job makes", default=250)


class Batches(Section):
    """The paper's estimators, where asked for."""

    estimators: Annotated[list[Literal["raw", "marginal", "pair"]], DISTINCT] = key(
        "of `raw`, `marginal` and `pair`: global-batch estimates, each with its standard error, "
        "to add to the scores (sec. algorithm-localization)",
        default=[],
    )
    m: BatchSize = key("their batch size", default=100)
    R: Count = key("their number of batches, at least two groups", default=100_000)
    group_size: GroupSize = key("batches that share a stream of random numbers", default=1000)
    rank: Count = key(
        "compressed features of each event; a smaller number omits noise of the batches, and "
        "changes their limit only in an event's own term, of order 1/N",
        default=512,
    )


class OtherStatistics(Section):
    """Other statistics, localized by matched marginal contributions."""

    names: Annotated[list[OwnStatistic], DISTINCT] = key(
        "other statistics to localize: `mmd`, `energy`, `ks`, `ad`, `classifier`, or "
        "your own `module:function` (sec. marginal-principle)",
        default=[],
    )
    m: BatchSize = key("their batch size", default=20)
    contexts: AtLeastTwo = key("contexts of each event", default=1000)
    pool: AtLeastTen = key(
        "largest number of events used of each table, drawn at random if it has more",
        default=20_000,
    )
    max_events: AtLeastTen = key("of these, events that are localized", default=1000)
    jobs: Annotated[int, Field(ge=1, le=10)] = key("jobs that share this work", default=4)
    features: Literal["mean", "max"] = key(
        "how `ks` and `ad` combine the features: `mean` or `max`", default="mean"
    )


class Example(Section):
    """The generated example below results/example."""

    readings: Annotated[int, Field(ge=100, le=10**8)] = key(
        "readings of each month of the generated example", default=5000
    )
    worn: Fraction = key("the faulty fraction of its second month", default=0.06)


class Score(Section):
    """A sample, a reference, and how the one is compared with the other."""

    sample: Table = key(
        "the table whose events are scored: csv, tsv (.gz too), parquet, npy, npz, h5, hdf5; "
        "`file.npz::name` for one array of several"
    )
    reference: Table = key("the table it is compared with")
    columns: Names = key(
        "the features; if empty, every numeric column that both tables have", default=[]
    )
    label: str = key(
        "a column of the sample with values 0 and 1; it is used only to measure how well the "
        "scores rank",
        default="",
    )
    id: str = key("a column that names the events; if empty, their row numbers", default="")
    shared_events: Literal["refuse", "allow"] = key(
        "what to do with events that are in both tables: `refuse` or `allow`", default="refuse"
    )
    max_events: AtLeastTen = key(
        "largest number of events used of each table, drawn at random if it has more; a job of "
        "permutations needs about 300 bytes for each event of both tables",
        default=10**7,
    )
    coordinates: Literal["as_is", "standardized", "uniform", "normal"] = key(
        "`as_is`, `standardized`, or copula coordinates (sec. exp-lhco) `uniform` or `normal`",
        default="uniform",
    )
    source: Literal["pooled", "reference"] = key(
        "events that determine coordinates and bandwidths: `pooled` (the same for every "
        "permutation) or `reference` (determined again in each)",
        default="pooled",
    )
    bandwidths: Bandwidths = key(
        "the bank, in units of the median distance (as sec. exp-lhco)",
        default=[0.25, 0.5, 1.0, 2.0, 4.0],
    )
    method: Literal["auto", "exact", "rff"] = key(
        "`exact` kernel sums, `rff` (random Fourier features), `auto`: exact up to `exact_limit`",
        default="auto",
    )
    exact_limit: Annotated[int, Field(ge=1, le=10**15)] = key(
        "largest number of kernel values for which `auto` is exact", default=10**9
    )
    features_per_bandwidth: Annotated[int, Field(ge=4, le=10**5), EVEN] = key(
        "random features of each bandwidth, an even number (as sec. exp-lhco)", default=512
    )
    companions: AtLeastTen = key(
        "with `rff`: events from which the spread of the kernel is estimated, for the standard "
        "errors",
        default=1024,
    )
    pairs: Annotated[int, Field(ge=100, le=10**9)] = key(
        "pairs of events for the median distance", default=500_000
    )
    top: Count = key("events that are listed and drawn, and ranks of the null band", default=100)
    folds: Folds = key(
        "cross-fitting of coordinates and bandwidths, sec. 6.2: 0 for none, else at least 2 folds",
        default=0,
    )
    calibration: Calibration = Calibration()
    batches: Batches = Batches()
    statistics: OtherStatistics = OtherStatistics()
    example: Example = Example()


def resolved(section: Score | None) -> dict[str, Any]:
    """Return the section as plain values, the defaults among them.

    Where it is not given there are the defaults alone, without a sample and a reference.
    """
    return (section or Score.model_construct()).model_dump(by_alias=True)
