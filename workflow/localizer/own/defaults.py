"""The defaults for a user's own data: of the configuration and of the functions for users.

Nothing heavy is imported here, so that a run that only checks its configuration stays quick.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

CoordinateForm: TypeAlias = Literal["as_is", "standardized", "uniform", "normal"]

Source: TypeAlias = Literal["pooled", "reference"]

RankedBy: TypeAlias = Literal["contribution", "evidence"]

Method: TypeAlias = Literal["auto", "exact", "rff"]

SharedEvents: TypeAlias = Literal["refuse", "allow"]

NullDrawsFrom: TypeAlias = Literal["auto", "permutations", "pseudoexperiments", "bootstrap"]


@dataclass(frozen=True)
class Defaults:
    """The keys of the section ``score``; config/README.md says what each means."""

    columns: tuple[str, ...] = ()
    label: str = ""
    id: str = ""
    sample_weight: str = ""
    reference_weight: str = ""
    shared_events: SharedEvents = "refuse"
    max_events: int = 10**7
    coordinates: CoordinateForm = "uniform"
    source: Source = "pooled"
    bandwidths: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0)
    ladder: tuple[float, ...] = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
    ranking: RankedBy = "contribution"
    method: Method = "auto"
    exact_limit: int = 2 * 10**10
    features_per_bandwidth: int = 512
    companions: int = 1024
    pairs: int = 500_000
    top: int = 100


@dataclass(frozen=True)
class CalibrationDefaults:
    """The keys of the section ``score.calibration``."""

    source: NullDrawsFrom = "auto"
    draws: int = 999
    draws_per_job: int = 250
    exact_limit: int = 10**9


DEFAULTS = Defaults()
CALIBRATION = CalibrationDefaults()
SEED = 20261116
"""The seed of config/config.yaml."""
