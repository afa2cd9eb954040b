"""Experiment III: samples, direct witness, and the features that its batches see (sec. exp-lhco).

The events are in copula coordinates. A bank of random Fourier features, fixed by background
information alone, gives the direct witness, to which the scores of random batches converge
(:mod:`localizer.experiments.convergence`). The batches see the features through a few
directions: their mean, which keeps the witness as it is, and as many leading
eigenvectors as keep all but a stated small part of the resampling noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from localizer.base import checks, metrics
from localizer.base.checks import Array, BoolArray
from localizer.base.sic import Standing
from localizer.estimators.witness import rff_loo, rff_witness
from localizer.kernels.bank import GaussianBank, kernel_sums
from localizer.kernels.compression import Compression, FeatureMoments, compress
from localizer.kernels.feature_products import plain_mean
from localizer.kernels.features import Form, FourierFeatures, feature_rows, fourier_features

# The engine works through the features in slices of this width: a rank between two multiples
# costs as much as the larger one.
_RANK_STEP = 64


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The samples of Experiment III in copula coordinates.

    Attributes
    ----------
    mixed, labels
        The mock sample, and which of its events are signal.
    reference
        Independent background.
    evaluation_background, evaluation_signal
        The independent evaluation sample.
    """

    mixed: Array
    labels: BoolArray
    reference: Array
    evaluation_background: Array
    evaluation_signal: Array

    def __post_init__(self) -> None:
        mixed = checks.points(self.mixed, "mixed")
        object.__setattr__(self, "mixed", mixed)
        object.__setattr__(self, "labels", checks.labels(self.labels, size=len(mixed)))
        for name in ("reference", "evaluation_background", "evaluation_signal"):
            sample = checks.points(getattr(self, name), name, d=mixed.shape[1])
            object.__setattr__(self, name, sample)

    @classmethod
    def of(cls, arrays: Mapping[str, Any], *, max_events: int) -> Coordinates:
        """Return the samples by name, each thinned to at most ``max_events`` events.

        The classes of the mixed sample keep their proportion.
        """
        labels = checks.labels(arrays["labels"])
        keep = _thinned_classes(labels, max_events)
        samples = {
            name: arrays[name][_thinned(len(arrays[name]), max_events)]
            for name in ("reference", "evaluation_background", "evaluation_signal")
        }
        return cls(arrays["mixed"][keep], labels[keep], **samples)

    @property
    def sizes(self) -> dict[str, int]:
        """The events of each sample, those of the mixed one by class."""
        signal = int(self.labels.sum())
        return {
            "mixed_background": len(self.mixed) - signal,
            "mixed_signal": signal,
            "reference": len(self.reference),
            "evaluation_background": len(self.evaluation_background),
            "evaluation_signal": len(self.evaluation_signal),
        }

    @property
    def background(self) -> Array:
        """All background events that are no part of the mixed sample."""
        return np.concatenate([self.reference, self.evaluation_background])

    @property
    def evaluation(self) -> tuple[Array, BoolArray]:
        """The evaluation sample as one, and its labels."""
        x = np.concatenate([self.evaluation_background, self.evaluation_signal])
        return x, np.arange(len(x)) >= len(self.evaluation_background)


def _thinned(size: int, most: int) -> npt.NDArray[np.int64]:
    """Return at most ``most`` of the numbers below ``size``, evenly spaced."""
    count = min(size, checks.integer(most, "max_events", minimum=2))
    return np.arange(count) * size // count


def _thinned_classes(labels: BoolArray, most: int) -> npt.NDArray[np.int64]:
    share = min(1.0, checks.integer(most, "max_events", minimum=2) / labels.size)
    kept = []
    for label in (False, True):
        members = np.flatnonzero(labels == label)
        kept.append(members[_thinned(members.size, max(2, round(share * members.size)))])
    return np.sort(np.concatenate(kept))


def thinned_sizes(sizes: Mapping[str, int], *, max_events: int) -> dict[str, int]:
    """Return the sizes that samples of given sizes have after :meth:`Coordinates.of`."""
    mixed = {name: size for name, size in sizes.items() if name.startswith("mixed")}
    share = min(1.0, max_events / sum(mixed.values()))
    return {
        name: max(2, round(share * size)) if name in mixed else min(size, max_events)
        for name, size in sizes.items()
    }


# --- the direct witness ------------------------------------------------------------------


def kernel_bank(d_med: float, bandwidths: Iterable[float]) -> GaussianBank:
    """Return the bank with bandwidths in units of the background's median distance."""
    return GaussianBank(tuple(checks.positive(d_med, "d_med") * h for h in bandwidths))


def draw_bank(
    d_med: float,
    bandwidths: Iterable[float],
    rng: np.random.Generator,
    *,
    features_per_bandwidth: int,
    rff_form: Form = "offset",
) -> FourierFeatures:
    """Draw random features of this bank, for events of four features."""
    bank = kernel_bank(d_med, bandwidths)
    return fourier_features(bank, 4, rng, n_per_bandwidth=features_per_bandwidth, form=rff_form)


@dataclass(frozen=True, eq=False)
class DirectWitness:
    """The empirical witness from random features, and what it is made of.

    Features are float32, their products with the means float64: at the paper's sizes the witness
    has rounding errors of some 1e-7 of its standard deviation.

    Attributes
    ----------
    features
        The feature map.
    mean, mean_background
        The mean features of the mixed sample and of the reference.
    """

    features: FourierFeatures
    mean: Array
    mean_background: Array

    @classmethod
    def of(
        cls, features: FourierFeatures, mixed: npt.ArrayLike, reference: npt.ArrayLike
    ) -> DirectWitness:
        """Return the witness of a mixed sample against a reference, eq. rff-witness."""
        return cls(features, plain_mean(features, mixed), plain_mean(features, reference))

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return z(x).(z_mean - z_B); at events of the mixed sample it is self-inclusive."""
        blocks = feature_rows(self.features, x)
        return np.concatenate([rff_witness(z, self.mean, self.mean_background) for _, z in blocks])

    def targets(self, mixed: npt.ArrayLike) -> dict[str, Array]:
        """Return the self-inclusive and the leave-one-out witness at all events, eq. rff-loo.

        Both come from one pass over the features of the mixed sample.
        """
        events = checks.points(mixed, "mixed")
        means = self.mean, self.mean_background
        parts = [
            (rff_witness(z, *means), rff_loo(z, *means, N=len(events)))
            for _, z in feature_rows(self.features, events)
        ]
        inclusive, loo = (np.concatenate(part) for part in zip(*parts, strict=True))
        return {"self_inclusive": inclusive, "loo": loo}


def performance(score: npt.ArrayLike, labels: BoolArray, *, sic_floor: int) -> dict[str, float]:
    """Return AUC and maximum SIC, and at how many background events the latter is reached."""
    standing = Standing.of(score, labels)
    sic, kept = standing.sic(floor=sic_floor)
    return {"auc": standing.auc, "sic": sic, "sic_background": kept}


def floor_scan(
    scores: Mapping[str, Array], labels: BoolArray, *, floors: Sequence[int]
) -> pd.DataFrame:
    """Return the maximum SIC of some scores against the floor in background events."""
    rows = []
    for name, score in scores.items():
        ranked = metrics.ranking(score, labels)
        for floor in floors:
            if floor <= ranked.background[-1]:
                sic, _ = ranked.sic(floor=floor)
                rows.append({"score": name, "floor": floor, "sic": sic})
    return pd.DataFrame(rows)


def witness_table(
    targets: Mapping[str, Array],
    labels: BoolArray,
    evaluated: Array,
    evaluation_labels: BoolArray,
    *,
    sic_floor: int,
) -> pd.DataFrame:
    """Return how the direct witness ranks both samples; the mixed one in both its forms."""
    rows = [
        ("mixed", "self-inclusive", targets["self_inclusive"], labels),
        ("mixed", "leave-one-out", targets["loo"], labels),
        ("mixed", "difference", targets["self_inclusive"] - targets["loo"], labels),
        ("evaluation", "direct", evaluated, evaluation_labels),
    ]
    return pd.DataFrame(
        {
            **{"sample": sample, "witness": form},
            **{"background": int((~y).sum()), "signal": int(y.sum())},
            **({} if form == "difference" else performance(score, y, sic_floor=sic_floor)),
            "standard_deviation": float(score.std()),
        }
        for sample, form, score, y in rows
    )


def bandwidth_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return mean and spread over draws of the features, by bandwidth."""
    grouped = rows.groupby("bandwidth", sort=True)
    return pd.DataFrame(
        {
            "draws": grouped.size(),
            "auc": grouped["auc"].mean(),
            "auc_spread": grouped["auc"].std(ddof=1),
            "sic": grouped["sic"].mean(),
            "sic_spread": grouped["sic"].std(ddof=1),
        }
    ).reset_index()


# --- compression -------------------------------------------------------------------------


@dataclass(frozen=True)
class RankChoice:
    """How many directions of the features the batches see, and what leaving out the rest costs.

    Attributes
    ----------
    rank
        The number of directions.
    noise_lost
        The fraction of the resampling noise's variance that is lost: how much smaller C becomes.
    trace_lost
        The fraction of the trace that is lost.
    """

    rank: int
    noise_lost: float
    trace_lost: float


def choose_rank(moments: FeatureMoments, *, tolerance: float) -> tuple[Compression, RankChoice]:
    """Return the smallest compression that loses at most ``tolerance`` of the noise.

    The witness it keeps at any rank, so that the noise is all it can cost: what batches drawn
    with replacement converge to is the same, and their distance from it becomes smaller.

    Parameters
    ----------
    moments
        Mean and second moment of the centred features over the mixed sample.
    tolerance
        The largest allowed fraction of the variance of the noise, that is of C.
    """
    chosen = compress(moments, tolerance=tolerance, step=_RANK_STEP)
    return chosen, RankChoice(chosen.rank, chosen.noise_lost, chosen.trace_lost)


def limit_of_batches(z: npt.ArrayLike, *, replacement: bool) -> Array:
    """Return what the pair score of these features converges to, event by event."""
    table = np.asarray(z)
    N, mean = len(table), np.mean(table, axis=0, dtype=np.float64)
    zero = np.zeros(mean.size)
    return rff_witness(table, mean, zero) if replacement else rff_loo(table, mean, zero, N=N)


@dataclass(frozen=True)
class Point:
    """A batch run whose score is simulated from the witness: estimator, m and R."""

    estimator: str
    m: int
    R: int

    @property
    def name(self) -> str:
        """What its columns are called."""
        return f"{self.estimator}_m{self.m}_R{self.R}"

    def noise(self, v: Array, variance: float) -> Array:
        """Return the variance of the score of each event, in units of the witness.

        Parameters
        ----------
        v
            Var_j[q_B(x_i, x_j)] of each event.
        variance
            The variance of the witness over the events.
        """
        m, pair = self.m, float(np.mean(v))
        exposure = self.R * m / v.size
        match self.estimator:
            case "pair":
                own = v / (m - 1)
            case "marginal":
                own = (v + 2 * (pair - variance) / (m - 2)) / (m - 1)
            case "raw":
                shared = (m - 1) * variance + (pair - variance) * m / (2 * (m - 1))
                own = np.full(v.size, shared)
            case other:
                raise ValueError(f"estimator must be raw, marginal or pair, not {other!r}")
        return np.asarray(own * (1 + 1 / exposure) / exposure)


# --- the exact witness -------------------------------------------------------------------


def exact_sums(
    mixed: npt.ArrayLike, bank: GaussianBank, sample: npt.ArrayLike | None = None
) -> Array:
    """Return the sums of the bank's exact kernel over a sample, or over the mixed one itself."""
    return kernel_sums(mixed, bank, sample=sample, method="pairwise32")


def exact_witness(within: npt.ArrayLike, across: npt.ArrayLike, n_reference: int) -> Array:
    """Return the exact self-inclusive witness of all events, eq. empirical-witness.

    Parameters
    ----------
    within
        Kernel sums of the mixed sample over itself.
    across
        Its kernel sums over the reference.
    n_reference
        The size of the reference.
    """
    inner = checks.vector(within, "within")
    outer = checks.vector(across, "across", size=inner.size)
    return inner / inner.size - outer / checks.integer(n_reference, "n_reference")


def with_edition(table: pd.DataFrame, edition: str) -> pd.DataFrame:
    """Return the table with the edition of the sample in its first column."""
    return table.assign(edition=edition)[["edition", *table.columns]]
