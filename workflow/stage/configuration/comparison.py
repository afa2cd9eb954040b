"""The section ``comparison``: the witness beside other scores of events. Beyond the paper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias

from localizer.comparison import known
from pydantic import AfterValidator, Field

from stage.configuration.kinds import (
    DISTINCT,
    AtLeastTwo,
    Checkpoints,
    Coordinate,
    Count,
    Fraction,
    Positive,
    Section,
    key,
    must,
)

Mocks: TypeAlias = Annotated[
    int,
    Field(ge=0, le=1000),
    must("it must be 0, for none, or at least 2, for an error", lambda mocks: mocks != 1),
]
Fractions: TypeAlias = Annotated[list[Positive], Field(min_length=1, max_length=100), DISTINCT]


def _known(name: str) -> str:
    """Refuse what is no competitor."""
    if name not in known.names():
        raise ValueError(f"the competitors are {', '.join(known.names())}")
    return name


class Injected(Section):
    """Mocks of LHC Olympics events."""

    background: AtLeastTwo = key("background events in the sample", "chosen")
    reference: AtLeastTwo = key("background events in the reference", "chosen")
    mocks: Mocks = key("realizations", "chosen")


class Drawn(Section):
    """Realizations of the problems drawn from models."""

    N: AtLeastTwo = key("events in the sample", "chosen")
    reference: AtLeastTwo = key("background events in the reference", "chosen")
    mocks: Mocks = key("realizations of each problem", "chosen")


class Version(Section):
    """The sizes of one version of the comparison."""

    without: Annotated[list[Annotated[str, AfterValidator(_known)]], DISTINCT] = key(
        "competitors that are left out", "chosen"
    )
    scan: Injected
    whole: Injected
    toys: Drawn


class Bump(Section):
    """A narrow bump among features of noise."""

    features: Annotated[int, Field(ge=1, le=100)] = key("features of an event", "chosen")
    informative: Annotated[int, Field(ge=1, le=100)] = key(
        "features in which the signal differs from the background", "chosen"
    )
    location: Coordinate = key("location of the bump in each of them", "chosen")
    width: Positive = key("its standard deviation; that of the background is 1", "chosen")
    epsilon: Fraction = key("signal fraction", "chosen")


class Deficit(Section):
    """A circle in the plane in which events are missing."""

    distance: Coordinate = key("distance of its centre from that of the background", "chosen")
    radius: Positive = key("radius of the circle", "chosen")
    depth: Fraction = key("fraction of the events inside that is missing", "chosen")


class Comparison(Section):
    """The witness beside other scores of events."""

    sic_floors: Checkpoints = key("background events that a SIC threshold must keep", "chosen")
    sic_floor: Count = key("which of them the figures show", "chosen")
    signal_fractions: Fractions = key(
        "signal over background in the scan, in units of the paper's", "chosen"
    )
    bump: Bump
    deficit: Deficit
    small: Version
    full: Version


def problems(config: Any, version: str) -> dict[str, dict[str, Any]]:
    """Return the problems of a version by name: their kind, mocks, sizes and parameters.

    Parameters
    ----------
    config
        The whole configuration.
    version
        ``small`` or ``full``.
    """
    return {
        name: {"mocks": sizes.pop("mocks"), "kind": kind, "sizes": {**sizes, **parameters}}
        for name, kind, sizes, parameters in _problems(config, version)
        if sizes["mocks"]
    }


def _problems(
    config: Any, version: str
) -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    section = config.comparison
    of_version = getattr(section, version)
    for fraction in section.signal_fractions:
        yield f"lhco_{fraction:.12g}", "lhco", of_version.scan.model_dump(), {"fraction": fraction}
    yield "lhco_whole", "lhco", of_version.whole.model_dump(), {"fraction": 1.0}
    for name, parameters in (
        ("gaussian", config.experiment1.model),
        ("latent", config.experiment2.model),
        ("bump", section.bump),
        ("deficit", section.deficit),
    ):
        yield name, name, of_version.toys.model_dump(), parameters.model_dump()
