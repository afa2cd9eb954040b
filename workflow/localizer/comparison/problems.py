"""The problems of the comparison: where it is known which events are to be found.

LHC Olympics events are injected anew: each mock draws its background and its reference, disjoint,
from all background events at hand, and its signal from all signal events. The others are drawn
from models: the Gaussian benchmark (sec. exp-known-signal), its hidden location (sec.
exp-zero-info), a narrow bump among features of noise, and a region where events are missing.

The random numbers depend on the problem and the number of the mock, so every competitor meets
the same events. Mocks of one number share their permutation of the LHC Olympics events, whatever
their size and signal fraction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.comparison.known import PAPER_RATIO
from localizer.comparison.objective import Problem
from localizer.models import toys
from localizer.models.gaussian import GaussianBenchmark

TRAINING = 20_000
"""Independent signal events that an oracle learns from, if there are so many."""


@dataclass(frozen=True, eq=False)
class Pool:
    """The LHC Olympics events at hand, by class, from all samples of the edition."""

    background: Array
    signal: Array

    @classmethod
    def of(cls, samples: Mapping[str, Any]) -> Pool:
        """Return the pool of the samples as the rule ``lhco_samples`` leaves them."""
        mixed, labels = samples["mixed"], checks.labels(samples["labels"])
        background = [mixed[~labels], samples["reference"], samples["evaluation_background"]]
        signal = [mixed[labels], samples["evaluation_signal"]]
        return cls(np.concatenate(background), np.concatenate(signal))


def realization(
    kind: str, seed: int, mock: int, pool: Pool | None, sizes: Mapping[str, Any]
) -> Problem:
    """Return one realization of a problem by its kind, with its sizes and parameters.

    Parameters
    ----------
    pool
        The LHC Olympics events; None where the problem needs none.
    """
    if kind == "lhco":
        if pool is None:
            raise ValueError("the problem lhco needs a pool of events")
        return lhco(pool, seed, mock, **sizes)
    if kind == "gaussian":
        of_sample = {name: sizes[name] for name in ("N", "reference")}
        model = GaussianBenchmark(**{k: v for k, v in sizes.items() if k not in of_sample})
        return gaussian(seed, mock, model=model, name=kind, **of_sample)
    of_kind: dict[str, Callable[..., Problem]] = {
        "latent": latent,
        "bump": bump,
        "deficit": deficit,
    }
    return of_kind[kind](seed, mock, **sizes)


def lhco(
    pool: Pool, seed: int, mock: int, *, background: int, reference: int, fraction: float
) -> Problem:
    """Return a mock with re-injected signal.

    Parameters
    ----------
    background, reference
        Background events in the sample, and in the reference.
    fraction
        Signal over background, in units of the paper's.
    """
    injected = round(checks.positive(fraction, "fraction") * PAPER_RATIO * background)
    if background + reference > len(pool.background):
        raise ValueError(
            f"background and reference must share the {len(pool.background)} background events of "
            f"the edition, they are to hold {background} and {reference}"
        )
    if not 1 <= injected <= len(pool.signal) - 2:
        raise ValueError(
            f"a fraction of {fraction:g} of the paper's injects {injected} signal events into "
            f"{background}; it must be at least 1 and leave 2 of {len(pool.signal)}"
        )
    of_background = stream(seed, "comparison", "lhco", mock, "background").permutation(
        len(pool.background)
    )
    of_signal = stream(seed, "comparison", "lhco", mock, "signal").permutation(len(pool.signal))
    return _joined(
        pool.background[of_background[:background]],
        pool.signal[of_signal[:injected]],
        reference=pool.background[of_background[-reference:]],
        training=pool.signal[of_signal[injected:][:TRAINING]],
    )


def gaussian(
    seed: int, mock: int, *, model: GaussianBenchmark, N: int, reference: int, name: str
) -> Problem:
    """Return a toy of Experiment I, with background events instead of the known B."""
    sample = toys.fixed_alternative(_rng(seed, name, mock, "sample"), N, model)
    return Problem(
        sample.x,
        sample.labels,
        toys.background(_rng(seed, name, mock, "reference"), reference, model.d),
        toys.signal(_rng(seed, name, mock, "training"), TRAINING, model),
    )


def latent(
    seed: int,
    mock: int,
    *,
    d: int,
    sigma_s: float,
    epsilon: float,
    h: float,
    N: int,
    reference: int,
) -> Problem:
    """Return a toy of Experiment II: the location of the signal is drawn anew for each."""
    mean = toys.latent_location(_rng(seed, "latent", mock, "location"), d=d, sigma_s=sigma_s)
    model = GaussianBenchmark(mean=tuple(mean), sigma_s=sigma_s, epsilon=epsilon, h=h)
    return gaussian(seed, mock, model=model, N=N, reference=reference, name="latent")


def bump(
    seed: int,
    mock: int,
    *,
    features: int,
    informative: int,
    location: float,
    width: float,
    epsilon: float,
    N: int,
    reference: int,
) -> Problem:
    """Return a narrow bump in some of the features; in the others the signal is background.

    Parameters
    ----------
    informative
        The features with a bump at ``location``, of standard deviation ``width``.
    """
    d = checks.integer(features, "features")
    seen = checks.integer(informative, "informative", maximum=d)
    injected = toys.signal_count(N, epsilon)

    def signal(rng: np.random.Generator, n: int) -> Array:
        events = toys.background(rng, n, d)
        events[:, :seen] = location + checks.positive(width, "width") * events[:, :seen]
        return events

    return _joined(
        toys.background(_rng(seed, "bump", mock, "background"), N - injected, d),
        signal(_rng(seed, "bump", mock, "signal"), injected),
        reference=toys.background(_rng(seed, "bump", mock, "reference"), reference, d),
        training=signal(_rng(seed, "bump", mock, "training"), TRAINING),
    )


def deficit(
    seed: int, mock: int, *, distance: float, radius: float, depth: float, N: int, reference: int
) -> Problem:
    """Return a plane of background events of which some are missing inside a circle.

    To be found are those that are left there: the competitors should give them low scores.

    Parameters
    ----------
    distance, radius
        Of the circle's centre from the origin, and of the circle.
    depth
        The probability that an event inside is missing.
    """
    share = checks.fraction(depth, "depth")

    def inside(x: Array) -> Any:
        return (x[:, 0] - distance) ** 2 + x[:, 1] ** 2 < radius**2

    rng = _rng(seed, "deficit", mock, "sample")
    # enough events even if the circle held all of them
    x = toys.background(rng, int(2 * N / (1 - share)) + 100, 2)
    x = x[~inside(x) | (rng.random(len(x)) >= share)][:N]
    around = toys.background(_rng(seed, "deficit", mock, "training"), 20 * TRAINING, 2)
    return Problem(
        x,
        inside(x),
        toys.background(_rng(seed, "deficit", mock, "reference"), reference, 2),
        around[inside(around)][:TRAINING],
        sign=-1,
    )


def _rng(seed: int, problem: str, mock: int, part: str) -> np.random.Generator:
    return stream(seed, "comparison", problem, mock, part)


def _joined(background: Array, signal: Array, *, reference: Array, training: Array) -> Problem:
    """Return the problem of a sample that holds background events first."""
    sample = np.concatenate([background, signal])
    return Problem(sample, np.arange(len(sample)) >= len(background), reference, training)
