"""The section ``score``: a user's own data. It is not part of the paper.

Every key but the two tables has a default, so a user's file needs only the keys that differ.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from localizer.own import defaults
from localizer.own.defaults import CALIBRATION, DEFAULTS
from localizer.own.places import parted
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
    Positive,
    Section,
    key,
    must,
)


def _reachable(table: str) -> str:
    """Refuse a table that is not there; what lies below ``results`` may be made by a rule."""
    path = Path(parted(table)[0])
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
TableOrNone: TypeAlias = Annotated[str, AfterValidator(lambda name: name and _reachable(name))]
Names: TypeAlias = Annotated[list[str], DISTINCT]
Folds: TypeAlias = Annotated[
    int,
    Field(ge=0, le=1000),
    must("it must be 0, for none, or at least 2", lambda folds: folds != 1),
]


class Calibration(Section):
    """Samples without a departure."""

    source: defaults.NullDrawsFrom = key(
        "samples without a departure: `permutations` of all events; `pseudoexperiments`, subsets "
        "of the reference as large as the sample (sec. 6.4); `bootstrap`, fluctuations of both "
        "about what they are; `auto`: `bootstrap` where events have weights, else `permutations`",
        alias="from",
        default=CALIBRATION.source,
    )
    # fewer have no 95 % band
    draws: Annotated[int, Field(ge=39, le=10**6)] = key(
        "how many of them", default=CALIBRATION.draws
    )
    draws_per_job: Count = key("how many of them one job makes", default=CALIBRATION.draws_per_job)
    exact_limit: Annotated[int, Field(ge=1, le=10**15)] = key(
        "largest number of kernel values, (N + M)^2, for which `method: auto` scores them "
        "exactly; beyond it they and the data are compared by random features",
        default=CALIBRATION.exact_limit,
    )


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


class Variation(Section):
    """One variation of the reference: a table, or other weights of the reference."""

    name: Annotated[str, Field(min_length=1, max_length=100)] = key("what it is called")
    table: TableOrNone = key(
        "the table of the reference varied; if empty, the reference with other weights", default=""
    )
    weight: str = key("a column of this table with the weights of its events", default="")
    events: Literal["auto", "same", "other"] = key(
        "whether its rows are those of the reference, shifted or reweighted (`same`), or `other` "
        "events; `auto` compares the two tables row by row",
        default="auto",
    )
    width: Positive | None = key(
        "standard deviation of what is known of its size, in units of the variation as given; "
        "if empty, it is free",
        default=None,
    )


class Score(Section):
    """A sample, a reference, and how the one is compared with the other."""

    sample: Table = key(
        "the table whose events are scored: csv, tsv (.gz too), parquet, npy, npz, h5, hdf5, root; "
        "`file.npz::name` for one array of several, `file.root:tree` for one tree"
    )
    reference: Table = key("the table it is compared with")
    columns: Names = key(
        "the features; if empty, every numeric column that both tables have",
        default=[*DEFAULTS.columns],
    )
    label: str = key(
        "a column of the sample with values 0 and 1; it is used only to measure how well the "
        "scores rank",
        default=DEFAULTS.label,
    )
    id: str = key(
        "a column that names the events; if empty, their row numbers", default=DEFAULTS.id
    )
    sample_weight: str = key(
        "a column of the sample with the weights of its events", default=DEFAULTS.sample_weight
    )
    reference_weight: str = key(
        "a column of the reference with the weights of its events, which may be negative",
        default=DEFAULTS.reference_weight,
    )
    shared_events: defaults.SharedEvents = key(
        "what to do with events that are in both tables: `refuse` or `allow`",
        default=DEFAULTS.shared_events,
    )
    max_events: AtLeastTen = key(
        "largest number of events used of each table, drawn at random if it has more; a job of "
        "permutations needs about 300 bytes for each event of both tables",
        default=DEFAULTS.max_events,
    )
    coordinates: defaults.CoordinateForm = key(
        "`as_is`, `standardized`, or copula coordinates (sec. exp-lhco) `uniform` or `normal`",
        default=DEFAULTS.coordinates,
    )
    source: defaults.Source = key(
        "events that determine coordinates and bandwidths: `pooled` (the same for every "
        "permutation) or `reference` (determined again in each)",
        default=DEFAULTS.source,
    )
    bandwidths: Bandwidths = key(
        "the bank, in units of the median distance (as sec. exp-lhco)",
        default=[*DEFAULTS.bandwidths],
    )
    ladder: Bandwidths = key(
        "the bandwidths of the evidence, in the same units", default=[*DEFAULTS.ladder]
    )
    ranking: defaults.RankedBy = key(
        "what events are ranked by: `contribution`, how much each adds to the departure, or "
        "`evidence`, how significant the local excess is, in standard errors",
        default=DEFAULTS.ranking,
    )
    method: defaults.Method = key(
        "`exact` kernel sums, `rff` (random Fourier features), `auto`: exact up to `exact_limit` "
        "for the scores, and up to `calibration.exact_limit` for their calibration",
        default=DEFAULTS.method,
    )
    exact_limit: Annotated[int, Field(ge=1, le=10**15)] = key(
        "largest number of kernel values, N (N + M), for which `auto` scores exactly",
        default=DEFAULTS.exact_limit,
    )
    features_per_bandwidth: Annotated[int, Field(ge=4, le=10**5), EVEN] = key(
        "random features of each bandwidth, an even number (as sec. exp-lhco)",
        default=DEFAULTS.features_per_bandwidth,
    )
    companions: AtLeastTen = key(
        "with `rff`: events from which the spread of the kernel is estimated, for the standard "
        "errors",
        default=DEFAULTS.companions,
    )
    pairs: Annotated[int, Field(ge=100, le=10**9)] = key(
        "pairs of events for the median distance", default=DEFAULTS.pairs
    )
    jobs: Annotated[int, Field(ge=1, le=1000)] = key(
        "jobs that share the events, each some chunks of 16384; the scores are the same for any "
        "number, and one job uses all cores of its machine",
        default=1,
    )
    top: Count = key(
        "events that are listed and drawn, and ranks of the null band", default=DEFAULTS.top
    )
    folds: Folds = key(
        "cross-fitting of coordinates and bandwidths, sec. 6.2: 0 for none, else at least 2 folds",
        default=0,
    )
    variations: Annotated[
        list[Variation],
        must("its names must differ", lambda vs: len({v.name for v in vs}) == len(vs)),
    ] = key(
        "systematic variations of the reference; scores are then also given against the mixture "
        "of the reference and its variations that is nearest to the sample, each entry with the "
        "keys `name`, `table`, `weight`, `events`, `width` (docs/imperfect-reference.md)",
        default=[],
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
