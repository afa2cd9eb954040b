r"""Two-sample statistics of a batch against a fixed reference (sec. problem).

All of them take the reference as the known background B. ``MMD`` and ``Energy`` ask for
features on a common scale, ``Classifier`` makes one; ``KolmogorovSmirnov`` and
``AndersonDarling`` do not change under monotone transformations of a feature.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.estimators.batch_statistic import Prepared, Statistic
from localizer.estimators.energy import EnergyBackground
from localizer.estimators.own_statistic import load
from localizer.kernels import pair_means
from localizer.kernels.bank import Background, EmpiricalBackground, GaussianBank

Features: TypeAlias = Literal["mean", "max"]

#: The statistics that come with the package, by the name a configuration gives them.
NAMES = ("mmd", "energy", "ks", "ad", "classifier")


@dataclass(frozen=True)
class MMD:
    """The unbiased known-background MMD^2 with a Gaussian bank, eq. mmd-u-pair.

    Examples
    --------
    >>> statistic = MMD((1.0,)).prepare([[0.0], [1.0]])
    >>> round(statistic([[5.0], [6.0]]), 4)
    1.4096
    """

    bandwidths: tuple[float, ...]
    name: str = "mmd"

    def prepare(self, reference: npt.ArrayLike) -> Prepared:
        """Return the statistic against a reference sample."""
        events = checks.points(reference, "reference")
        background = EmpiricalBackground(GaussianBank(self.bandwidths), events)
        return self.against(background, d=events.shape[1])

    def against(self, background: Background, *, d: int) -> Prepared:
        """Return the statistic against any background of the same kernel, in d features."""
        bank = GaussianBank(self.bandwidths)
        if background.bank != bank:
            raise ValueError(f"background must belong to the bandwidths {bank.bandwidths}")
        return _pairs(
            self.name,
            d,
            embedding=background.mean_embedding,
            constant=background.K_BB,
            pair_mean=lambda batches: pair_means.kernel_pairs(batches, bank.bandwidths),
        )


@dataclass(frozen=True)
class Energy:
    """The energy distance, unbiased in the batch: see :mod:`localizer.estimators.energy`.

    Examples
    --------
    >>> Energy().prepare([[0.0], [1.0]])([[5.0], [6.0]])
    8.5
    """

    name: str = "energy"

    def prepare(self, reference: npt.ArrayLike) -> Prepared:
        """Return the statistic against a reference sample."""
        background = EnergyBackground(np.asarray(reference))
        return _pairs(
            self.name,
            background.reference.shape[1],
            embedding=lambda x: -background.mean_distance(x),
            constant=-background.G_BB,
            pair_mean=lambda batches: -pair_means.distance_pairs(batches),
        )


@dataclass(frozen=True)
class KolmogorovSmirnov:
    """The largest gap between the batch's and the reference's distribution function.

    Parameters
    ----------
    features
        Each feature has a gap of its own; the statistic is their mean (smoother: every
        feature counts in every batch) or their maximum.

    Examples
    --------
    >>> KolmogorovSmirnov().prepare([[0.0], [1.0], [2.0], [3.0]])([[2.5], [2.6]])
    0.75
    """

    features: Features = "mean"
    name: str = "ks"

    def __post_init__(self) -> None:
        _check_features(self.features)

    def prepare(self, reference: npt.ArrayLike) -> Prepared:
        """Return the statistic against a reference sample."""
        ordered = np.sort(checks.points(reference, "reference"), axis=0)
        n, d = ordered.shape

        def encode(events: npt.ArrayLike) -> Array:
            # the reference's distribution function just below each event, and at it
            return np.hstack([_counts(ordered, events, side) / n for side in ("left", "right")])

        def many(batches: Array) -> Array:
            m = batches.shape[1]
            step = np.arange(1, m + 1)[:, None] / m
            ranked = np.sort(batches, axis=1)
            gaps = np.maximum(step - ranked[..., d:], ranked[..., :d] - (step - 1 / m))
            return _combined(gaps.max(axis=1), self.features)

        return Prepared(self.name, encode, many)


@dataclass(frozen=True)
class AndersonDarling:
    r"""The squared gap of the distribution functions, weighted by 1 / (F_B (1 - F_B)).

    This is A^2 / m, the plug-in estimate of the integral of (F_P - F_B)^2 / (F_B (1 - F_B))
    over F_B. F_B at an event is its rank in the reference, (below + at or below + 1) /
    (2 n + 2), so that events beyond the reference's range have a finite value.

    Parameters
    ----------
    features
        As in :class:`KolmogorovSmirnov`.

    Examples
    --------
    >>> round(AndersonDarling().prepare([[0.0], [1.0], [2.0], [3.0]])([[2.5], [2.6]]), 4)
    0.5606
    """

    features: Features = "mean"
    name: str = "ad"

    def __post_init__(self) -> None:
        _check_features(self.features)

    def prepare(self, reference: npt.ArrayLike) -> Prepared:
        """Return the statistic against a reference sample."""
        ordered = np.sort(checks.points(reference, "reference"), axis=0)
        n = len(ordered)

        def encode(events: npt.ArrayLike) -> Array:
            counts = _counts(ordered, events, "left") + _counts(ordered, events, "right")
            return np.asarray((counts + 1) / (2 * n + 2))

        def many(batches: Array) -> Array:
            m = batches.shape[1]
            u = np.sort(batches, axis=1)
            weight = (2 * np.arange(1, m + 1) - 1)[:, None] / m**2
            terms = weight * (np.log(u) + np.log1p(-u[:, ::-1]))
            return _combined(-1 - terms.sum(axis=1), self.features)

        return Prepared(self.name, encode, many)


@dataclass(frozen=True)
class Classifier:
    r"""How well a linear discriminant, trained on the batch against the reference, does.

    The discriminant f = theta.phi(x), phi the standardised features and their products, is
    the ridge regression of the label (1 in the batch, -1 in the reference, each class with
    weight one half), Fisher's discriminant but for the ridge. The statistic is the part of
    the label's variance that it explains,

        1 - min_theta [mean squared residual + ridge |theta|^2] = c.H^-1.c,

    with c half the difference of the classes' mean phi and H the mean of their second
    moments plus the ridge; the reference enters through its moments, all of its events at
    once. At the optimum the derivative in theta vanishes, so that the influence function
    (eq. if-expansion-pop) is the classifier's own answer,
    IF(x) = [E_P (1 - f(X))^2 - (1 - f(x))^2] / 2.

    Parameters
    ----------
    degree
        1 for a classifier that is linear in the features, 2 to add squares and products.
    ridge
        The penalty on all of theta but its constant.

    Examples
    --------
    >>> round(Classifier(degree=1, ridge=1e-9).prepare([[0.0], [2.0]])([[10.0], [12.0]]), 4)
    0.9615
    """

    degree: int = 2
    ridge: float = 0.01
    name: str = "classifier"

    def __post_init__(self) -> None:
        checks.integer(self.degree, "degree", maximum=2)
        checks.positive(self.ridge, "ridge")

    def prepare(self, reference: npt.ArrayLike) -> Prepared:
        """Return the statistic against a reference sample."""
        rows = checks.points(reference, "reference", minimum=2)
        centre, scale = rows.mean(axis=0), rows.std(axis=0)
        # the mean of equal numbers can miss them in the last digit, so that std tells nothing
        constant = np.flatnonzero(np.ptp(rows, axis=0) == 0)
        if constant.size:
            column = int(constant[0])
            raise ValueError(f"reference must vary in every feature, feature {column} is constant")

        def encode(events: npt.ArrayLike) -> Array:
            x = (checks.points(events, "events", d=rows.shape[1]) - centre) / scale
            columns = [np.ones(len(x)), *x.T]
            if self.degree == 2:
                products = combinations_with_replacement(range(x.shape[1]), 2)
                columns += [x[:, a] * x[:, b] for a, b in products]
            return np.stack(columns, axis=1)

        phi = encode(rows)
        mean, second = phi.mean(axis=0), phi.T @ phi / len(phi)
        second += np.diag(np.r_[0.0, np.full(phi.shape[1] - 1, 2 * self.ridge)])

        def many(batches: Array) -> Array:
            c = (batches.mean(axis=1) - mean) / 2
            H = (batches.transpose(0, 2, 1) @ batches / batches.shape[1] + second) / 2
            return np.asarray(np.sum(c * np.linalg.solve(H, c[..., None])[..., 0], axis=1))

        return Prepared(self.name, encode, many)


def by_name(
    name: str,
    *,
    bandwidths: Sequence[float],
    features: Features = "mean",
    degree: int = 2,
    ridge: float = 0.01,
    folder: str = ".",
) -> Statistic:
    """Return the statistic that a configuration names: one of ``NAMES``, or ``module:name``.

    ``bandwidths`` are of mmd, ``features`` of ks and ad, ``degree`` and ``ridge`` of
    the classifier, ``folder`` of a function of your own.
    """
    if ":" in name:
        return load(name, folder=folder)
    makers: dict[str, Callable[[], Statistic]] = {
        "mmd": lambda: MMD(tuple(bandwidths)),
        "energy": Energy,
        "ks": lambda: KolmogorovSmirnov(features),
        "ad": lambda: AndersonDarling(features),
        "classifier": lambda: Classifier(degree, ridge),
    }
    if name not in makers:
        raise ValueError(
            f"a statistic must be one of {', '.join(NAMES)} or a function of your own as "
            f'"module:name", not {name!r}'
        )
    return makers[name]()


def _pairs(
    name: str,
    d: int,
    *,
    embedding: Callable[[Array], Array],
    constant: float,
    pair_mean: Callable[[Array], Array],
) -> Prepared:
    """Return the U-statistic of order 2 with the pair kernel of eq. mmd-U-kernel.

    An event's row holds its features and, last, its mean embedding: every event is in
    m - 1 pairs, so that the embeddings enter as a mean.
    """

    def encode(events: npt.ArrayLike) -> Array:
        x = checks.points(events, "events", d=d)
        return np.column_stack([x, embedding(x)])

    def many(batches: Array) -> Array:
        means = pair_mean(np.ascontiguousarray(batches[..., :-1]))
        return np.asarray(means - 2 * batches[..., -1].mean(axis=1) + constant)

    return Prepared(name, encode, many, minimum=2)


def _counts(ordered: Array, events: npt.ArrayLike, side: str) -> Array:
    """Return how many reference values lie below (left) or at or below (right) each event's."""
    x = checks.points(events, "events", d=ordered.shape[1])
    columns = [np.searchsorted(ordered[:, c], x[:, c], side=side) for c in range(x.shape[1])]  # type: ignore[call-overload]
    return np.stack(columns, axis=1).astype(np.float64)


def _combined(by_feature: Array, features: Features) -> Array:
    return np.asarray(by_feature.mean(axis=1) if features == "mean" else by_feature.max(axis=1))


def _check_features(features: str) -> None:
    if features not in get_args(Features):
        raise ValueError(f"features must be one of {get_args(Features)}, not {features!r}")
