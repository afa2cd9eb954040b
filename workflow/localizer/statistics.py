r"""Two-sample statistics of a batch against a fixed reference (sec. problem).

The paper localizes any symmetric T_m(X_1, ..., X_m; B). A :class:`Statistic` is bound to its
reference by ``prepare``; the :class:`Prepared` statistic is then a function of a batch
alone, which :func:`localizer.localize.localize` brings down to events.

All of them take the reference as the known background B. ``MMD`` and ``Energy`` ask for
features on a common scale, ``Classifier`` makes one; ``KolmogorovSmirnov`` and
``AndersonDarling`` do not change under monotone transformations of a feature.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, Literal, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from localizer import batch_kernels, checks
from localizer.checks import Array
from localizer.energy import EnergyBackground
from localizer.kernels import Background, EmpiricalBackground, GaussianBank

Features: TypeAlias = Literal["mean", "max"]

#: The statistics that come with the package, by the name a configuration gives them.
NAMES = ("mmd", "energy", "ks", "ad", "classifier")


@dataclass(frozen=True)
class Prepared:
    """A statistic with its reference: a symmetric function of a batch.

    Parameters
    ----------
    name
        How messages call it.
    encode
        Events of shape (n, d) to rows of shape (n, k): what of each event enters. It is
        done once an event, however many batches the event is in.
    many
        Batches of such rows, of shape (R, m, k), to their R values. The value of a batch
        does not depend on the other batches.
    minimum
        The smallest batch that has a value.
    """

    name: str
    encode: Callable[[npt.ArrayLike], Array]
    many: Callable[[Array], Array]
    minimum: int = 1

    def __call__(self, batch: npt.ArrayLike) -> float:
        """Return the value of one batch of events, of shape (m, d)."""
        return float(self.values(self.encode(batch)[None])[0])

    def values(self, batches: Array) -> Array:
        """Return what ``many`` says of batches of encoded events; only finite numbers pass."""
        count, m = batches.shape[:2]
        if m < self.minimum:
            raise ValueError(
                f"batches must hold at least {self.minimum} events for {self.name}, they hold {m}"
            )
        values = np.asarray(self.many(np.ascontiguousarray(batches)))
        if values.shape != (count,) or values.dtype.kind not in "fiub":
            raise ValueError(
                f"{self.name} must return one number for each of {count} batches, "
                f"it returned an array of {values.dtype} of shape {values.shape}"
            )
        bad = values[~np.isfinite(values)]
        if bad.size:
            raise ValueError(
                f"{self.name} must return finite numbers, "
                f"it returned {bad[0]} for a batch of {m} events"
            )
        return values.astype(np.float64)


class Statistic(Protocol):
    """A two-sample statistic before it has met its reference."""

    @property
    def name(self) -> str:
        """How configurations and messages call it."""

    def prepare(self, reference: npt.ArrayLike) -> Prepared:
        """Bind the statistic to a reference sample of shape (n, d)."""


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
            pair_mean=lambda batches: batch_kernels.kernel_pairs(batches, bank.bandwidths),
        )


@dataclass(frozen=True)
class Energy:
    """The energy distance, unbiased in the batch: see :mod:`localizer.energy`.

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
            pair_mean=lambda batches: -batch_kernels.distance_pairs(batches),
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


@dataclass(frozen=True)
class Own:
    """A user's own statistic: a function of a batch, or of a batch and the reference.

    Parameters
    ----------
    function
        Takes a batch of shape (m, d), and the reference of shape (n, d) if it has a second
        argument, and returns one number.
    name
        How messages call it, for instance ``module:name``.

    Examples
    --------
    >>> Own(lambda batch, reference: batch.mean() - reference.mean(), "shift").prepare(
    ...     [[0.0], [2.0]])([[4.0], [6.0]])
    4.0
    """

    function: Callable[..., Any]
    name: str

    def prepare(self, reference: npt.ArrayLike) -> Prepared:
        """Return the statistic against a reference sample."""
        rows = checks.points(reference, "reference").copy()
        rows.flags.writeable = False
        arguments = (rows,) if self._takes_reference() else ()

        def encode(events: npt.ArrayLike) -> Array:
            return checks.points(events, "events", d=rows.shape[1])

        def many(batches: Array) -> Array:
            return np.array([self._value(batch, *arguments) for batch in batches])

        return Prepared(self.name, encode, many)

    def _takes_reference(self) -> bool:
        try:
            signature = inspect.signature(self.function)
        except (TypeError, ValueError):  # functions written in C may have none
            return False
        for arguments in ((None,), (None, None)):
            try:
                signature.bind(*arguments)
            except TypeError:
                continue
            # an option with a default is an option, not the reference
            return len(arguments) == 2 or "reference" in list(signature.parameters)[1:2]
        raise ValueError(
            f"{self.name} must be a function of a batch or of a batch and the reference, "
            f"it is called as {signature}"
        )

    def _value(self, batch: Array, *arguments: Array) -> float:
        try:
            # a copy, so that a function that works in place harms nobody
            value = self.function(batch.copy(), *arguments)
        except Exception as error:
            raise ValueError(
                f"{self.name} failed on a batch of shape {batch.shape}: "
                f"{type(error).__name__}: {' '.join(str(error).split())}"
            ) from error
        if np.ndim(value) != 0 or np.asarray(value).dtype.kind not in "fiub":
            shape = f" of shape {value.shape}" if isinstance(value, np.ndarray) else ""
            raise ValueError(
                f"{self.name} must return one number for a batch, "
                f"it returned {type(value).__name__}{shape}"
            )
        return float(value)


def load(spec: str, *, folder: str = ".") -> Own:
    """Return the function that ``module:name`` names, as a statistic.

    Parameters
    ----------
    spec
        The module, a colon, the function's name in it.
    folder
        Where the module is looked for first; then on Python's own path.
    """
    module_name, colon, name = spec.partition(":")
    dotted = all(part.isidentifier() for part in module_name.split("."))
    if not colon or not dotted or not name.isidentifier():
        raise ValueError(f'a statistic of your own is given as "module:name", not as {spec!r}')
    sys.path.insert(0, folder)
    try:
        importlib.invalidate_caches()
        module = importlib.import_module(module_name)
    except Exception as error:
        absent = isinstance(error, ModuleNotFoundError) and error.name is not None
        if absent and f"{module_name}.".startswith(f"{error.name}."):  # type: ignore[attr-defined]
            raise ValueError(
                f"{spec} is not there: no module {module_name} in {folder} or on Python's path"
            ) from None
        raise ValueError(
            f"{spec} cannot be loaded: importing {module_name} ends in "
            f"{type(error).__name__}: {' '.join(str(error).split())}"
        ) from error
    finally:
        sys.path.remove(folder)
    function = getattr(module, name, None)
    if function is None:
        near = difflib.get_close_matches(name, dir(module), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"{spec} is not there: module {module_name} has no {name}{hint}")
    if not callable(function):
        raise ValueError(
            f"{spec} must be a function of a batch, it is of type {type(function).__name__}"
        )
    return Own(function, spec)


def source(spec: str, *, folder: str = ".") -> str | None:
    """Return the file of the module that ``module:name`` names, without running it.

    None where there is no such module or no single file; :func:`load` says what is wrong.
    The packages above the module, if it has any, are imported by Python's search for it.
    """
    sys.path.insert(0, folder)
    try:
        importlib.invalidate_caches()
        found = importlib.util.find_spec(spec.partition(":")[0])
    # the packages above it may raise anything
    except Exception:
        return None
    finally:
        sys.path.remove(folder)
    return found.origin if found is not None and found.has_location else None


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


def check(
    statistic: Prepared,
    sample: npt.ArrayLike,
    *,
    m: int,
    rng: np.random.Generator,
    batches: int = 8,
    permutations: int = 8,
    tolerance: float = 1e-6,
) -> None:
    """Refuse a statistic that is not symmetric, not finite or not a function of its batch.

    Batches of m and of m - 1 events of the sample are evaluated twice as they are, then in
    reversed and in random orders. An asymmetry that shows in one order of many can escape:
    more ``batches`` and ``permutations`` look harder.

    Parameters
    ----------
    rng
        A stream of its own, so that the answer is always the same.
    tolerance
        What rounding may change, relative to the largest value found.
    """
    rows = statistic.encode(checks.points(sample, "sample", minimum=2))
    size = checks.integer(m, "m", minimum=2, maximum=len(rows))
    count, shuffles = (
        checks.integer(batches, "batches"),
        checks.integer(permutations, "permutations"),
    )
    drawn = np.array([rng.choice(len(rows), size, replace=False) for _ in range(count)])
    for events in (size, size - 1):
        if events < statistic.minimum:
            continue
        these = rows[drawn[:, :events]]
        values = statistic.values(these)
        allowed = checks.positive(tolerance, "tolerance") * float(np.max(np.abs(values)))
        if np.any(np.abs(statistic.values(these) - values) > allowed):
            raise ValueError(
                f"{statistic.name} must be a function of its batch, "
                "it returned two values for the same batch: fix its random numbers"
            )
        shuffled = (rng.permutation(events) for _ in range(shuffles))
        for order in (np.arange(events)[::-1], *shuffled):
            change = np.abs(statistic.values(these[:, order]) - values)
            if np.any(change > allowed):
                worst = int(np.argmax(change))
                raise ValueError(
                    f"{statistic.name} must be symmetric, the order of the events must not "
                    f"matter: another order of a batch of {events} events changed its value "
                    f"{values[worst]:.6g} by {change[worst]:.2g}"
                )


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
