"""The kinds of values that the configuration knows, and what each of them must be."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


class Section(BaseModel):
    """A section: every key is known, no value is converted (20.0 is not a whole number)."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def key(meaning: str, paper: str = "", **field: Any) -> Any:
    """Declare a key.

    Parameters
    ----------
    meaning
        What it means, for the tables of config/README.md and for editors.
    paper
        The section or label of the paper that gives its value, or ``chosen``.
    field
        What pydantic's ``Field`` takes: a default, an alias.
    """
    return Field(description=meaning, json_schema_extra={"paper": paper}, **field)


def must(words: str, test: Callable[[Any], bool]) -> AfterValidator:
    """Refuse a value that fails a test, in the words that a user reads then."""

    def tested(value: Any) -> Any:
        if not test(value):
            raise ValueError(words)
        return value

    return AfterValidator(tested)


def _matches(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None


DISTINCT = must("its entries must differ", lambda values: len(set(values)) == len(values))
ORDERED = must("it must be in increasing order", lambda values: values == sorted(values))
EVEN = must("it must be even, for cosines and sines in pairs", lambda number: number % 2 == 0)

Count: TypeAlias = Annotated[int, Field(ge=1, le=10**9)]
AtLeastTwo: TypeAlias = Annotated[int, Field(ge=2, le=10**9)]
AtLeastTen: TypeAlias = Annotated[int, Field(ge=10, le=10**9)]
Toys: TypeAlias = Annotated[int, Field(ge=2, le=10**6)]
BatchSize: TypeAlias = Annotated[int, Field(ge=3, le=10**7)]
# sums of 16-bit features over a batch fit into 32 bits (localizer.estimators.pair_forms)
SummedBatch: TypeAlias = Annotated[int, Field(ge=3, le=65536)]
SummedBatches: TypeAlias = Annotated[
    list[SummedBatch], Field(min_length=1, max_length=100), DISTINCT
]
GroupSize: TypeAlias = Annotated[int, Field(ge=1, le=65536)]  # batches are numbered in 16 bits
Positive: TypeAlias = Annotated[float, Field(gt=0, le=1e30)]
Fraction: TypeAlias = Annotated[float, Field(gt=0, lt=1)]
Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Coordinate: TypeAlias = Annotated[float, Field(ge=-1e6, le=1e6)]
Point: TypeAlias = Annotated[list[Coordinate], Field(min_length=2, max_length=2)]
BatchSizes: TypeAlias = Annotated[list[BatchSize], Field(min_length=1, max_length=100), DISTINCT]
# claims about a scan are slopes
BatchScan: TypeAlias = Annotated[list[BatchSize], Field(min_length=2, max_length=100), DISTINCT]
Bandwidths: TypeAlias = Annotated[list[Positive], Field(min_length=1, max_length=100), DISTINCT]
Counts: TypeAlias = Annotated[list[Count], Field(min_length=1, max_length=100), DISTINCT]
Checkpoints: TypeAlias = Annotated[Counts, ORDERED]
# of SIC: what is kept of a score (localizer.base.sic.HEAD) serves no larger one
Floor: TypeAlias = Annotated[int, Field(ge=1, le=1000)]
Floors: TypeAlias = Annotated[list[Floor], Field(min_length=1, max_length=100), DISTINCT]
RunName: TypeAlias = Annotated[
    str,
    Field(max_length=100),
    must(
        "it must consist of letters, digits, - and _, and begin with a letter or digit",
        _matches(r"[A-Za-z0-9][A-Za-z0-9_-]*"),
    ),
]
OwnStatistic: TypeAlias = Annotated[
    str,
    Field(max_length=100),
    must(
        "it must be mmd, energy, ks, ad, classifier, or your own module:function",
        _matches(r"mmd|energy|ks|ad|classifier|[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_]*"),
    ),
]
