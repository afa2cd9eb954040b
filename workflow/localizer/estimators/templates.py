r"""Mean embeddings of a sample, a reference and its variations, and their inner products.

A *template* is a sample that stands for a distribution. The templates of a problem are the
observed sample, the reference B_0 and its variations B_1 .. B_K. With p and b_k their mean
embeddings (sec. mmd), everything that :mod:`localizer.estimators.profiled` does rests on

    delta = p - b_0,    d_k = b_k - b_0,

their inner products, and their values at the events. They are had exactly, from kernel sums, or
from random features.

A mean over all pairs of events is no unbiased estimate of an inner product where it holds pairs
of an event with itself: then it carries (E k(y, y') - <b_k, b_l>) / n. That is so for b_k with
itself, so that b_0 enters all of <d_k, d_l> and <d_k, delta>; and for b_k with b_l where event i
of the one is event i of the other, shifted or reweighted (such templates share a *group*). The
corrected products leave these pairs out, as U-statistics do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.threads import in_threads
from localizer.kernels.bank import GaussianBank, kernel_sums
from localizer.kernels.feature_products import Single
from localizer.kernels.features import FourierFeatures, feature_rows

#: Rows that a thread takes at a time. Sums over them are added in order: a part of the content.
CHUNK = 2048

_ENTRIES = 1 << 19


@dataclass(frozen=True, eq=False)
class Template:
    """A sample that stands for a distribution.

    Parameters
    ----------
    events
        Of shape (n, d), in the coordinates of the kernel.
    weights
        Their weights, some of which may be negative; left out, all count the same.
    same_events
        For a variation: whether its event i is the reference's event i, shifted or reweighted.
    """

    events: Array
    weights: Array | None = None
    same_events: bool = False

    def __post_init__(self) -> None:
        events = checks.points(self.events, "events", minimum=3)
        object.__setattr__(self, "events", events)
        if self.weights is None:
            return
        weights = checks.vector(self.weights, "weights", size=len(events))
        object.__setattr__(self, "weights", weights)
        total = float(weights.sum())
        if not total > 0 or float(np.sum(weights**2)) >= total**2:
            raise ValueError(
                "weights must have a positive sum and more than one effective event, their sum "
                f"is {total:g} and that of their squares {float(np.sum(weights**2)):g}"
            )

    @cached_property
    def omega(self) -> Array:
        """The weights divided by their sum."""
        if self.weights is None:
            return np.full(len(self.events), 1 / len(self.events))
        return np.asarray(self.weights / self.weights.sum())

    def mean(self, values: Array) -> Array:
        """Return the weighted mean of values of shape (n, ...)."""
        return np.asarray(np.tensordot(self.omega, values, axes=(0, 0)))


Problem = tuple[Template, ...]
"""The sample, the reference and the variations, in this order."""


def problem(sample: Template, reference: Template, variations: Sequence[Template] = ()) -> Problem:
    """Return the templates of a problem, after checking that they belong together."""
    d, n = sample.events.shape[1], len(reference.events)
    for name, template in [
        ("reference", reference),
        *((f"variation {k}", template) for k, template in enumerate(variations, 1)),
    ]:
        checks.points(template.events, name, d=d)
        if template.same_events and len(template.events) != n:
            raise ValueError(
                f"{name} must hold the reference's {n} events, varied, it holds "
                f"{len(template.events)}: give other samples as such"
            )
    if sample.same_events or reference.same_events:
        raise ValueError("same_events must be left to variations: it refers to the reference")
    return (sample, reference, *variations)


def groups(templates: Problem) -> list[list[int]]:
    """Return the places of the templates that fluctuate together: the sample's comes first."""
    together = [1, *(k for k in range(2, len(templates)) if templates[k].same_events)]
    alone = [[k] for k in range(2, len(templates)) if not templates[k].same_events]
    return [[0], together, *alone]


@dataclass(frozen=True, eq=False)
class Embeddings:
    """The inner products of mean embeddings, and their values at the events.

    Attributes
    ----------
    templates
        The sample, the reference and the variations.
    gram
        <b_k, b_l>, all pairs of events counted, of shape (K+2, K+2).
    own
        What pairs of an event with itself put there: ``gram - own`` has no bias.
    at
        For each template, values at its events: columns b_0, delta, d_1 .. d_K.
    itself
        k(x_i, x_i) of the sample's events: 1, up to the error of random features.
    means
        The mean features of the templates, where random features were used.
    """

    templates: Problem
    gram: Array
    own: Array
    at: tuple[Array, ...]
    itself: Array
    means: Array | None = None

    def products(self, *, corrected: bool = True) -> Array:
        """Return the inner products of delta, d_1 .. d_K; ``corrected`` as U-statistics."""
        return as_differences(self.gram - self.own if corrected else self.gram)

    @cached_property
    def along_reference(self) -> Array:
        """<d_k, b_0> for every k, as U-statistics."""
        corrected = self.gram - self.own
        return np.asarray(corrected[2:, 1] - corrected[1, 1])


def as_differences(gram: Array) -> Array:
    """Return the products of delta, d_1 .. d_K from those of p, b_0 .. b_K, on the last axes.

    Examples
    --------
    >>> as_differences(np.diag([1.0, 2.0, 4.0])).tolist()
    [[3.0, 2.0], [2.0, 6.0]]
    """
    size = gram.shape[-1]
    differences = np.delete(np.eye(size), 1, axis=0)
    differences[:, 1] = -1
    return np.asarray(differences @ gram @ differences.T)


def _columns(means: Array) -> Array:
    """Return b_0, delta, d_1 .. d_K from p, b_0 .. b_K, along the first axis."""
    others = np.delete(means, 1, axis=0)
    return np.concatenate([means[1:2], others - means[1]])


# --- exactly -------------------------------------------------------------------------------


def mean_kernel(x: Array, template: Template, bank: GaussianBank) -> Array:
    """Return the mean embedding of a template at points x, from all pairs of events."""
    if template.weights is None:
        return kernel_sums(x, bank, sample=template.events) / len(template.events)
    out = np.empty(len(x))
    step = max(1, _ENTRIES // len(template.events))

    def work(start: int) -> None:
        rows = slice(start, start + step)
        out[rows] = bank.rows(x[rows], template.events) @ template.omega

    for _ in in_threads(work, range(0, len(x), step)):
        pass
    return out


def exact(templates: Problem, bank: GaussianBank) -> Embeddings:
    """Return embeddings from all pairs of events."""
    size = len(templates)
    values = [
        np.stack([mean_kernel(one.events, other, bank) for other in templates]) for one in templates
    ]
    gram = np.array(
        [
            [one.mean(at[column]) for column in range(size)]
            for one, at in zip(templates, values, strict=True)
        ]
    )
    own = np.zeros_like(gram)
    for together in groups(templates):
        for k in together:
            for m in together:
                beside = _beside(templates[k].events, templates[m].events, bank)
                own[k, m] = _bias(gram[k, m], templates[k], templates[m], beside)
    return Embeddings(
        templates,
        (gram + gram.T) / 2,
        own,
        tuple(_columns(at).T for at in values),
        np.ones(len(templates[0].events)),
    )


def _beside(x: Array, y: Array, bank: GaussianBank) -> Array:
    """Return k(x_i, y_i)."""
    square = np.sum((x - y) ** 2, axis=1)
    return np.asarray(np.mean([np.exp(square / (-2 * h * h)) for h in bank.bandwidths], axis=0))


def _bias(all_pairs: float, one: Template, other: Template, beside: Array) -> float:
    """Return the mean over all pairs less that over pairs of different events."""
    weight = one.omega * other.omega
    left = 1 - float(weight.sum())
    return all_pairs - (all_pairs - float(weight @ beside)) / left


# --- by random features --------------------------------------------------------------------


def rows_of(features: FourierFeatures, x: Array) -> Single:
    """Return the features of a chunk of events, as one block."""
    ((_, z),) = feature_rows(features, x, rows=len(x))
    return z


def chunks(n: int) -> list[slice]:
    """Return the rows that threads take, in order."""
    return [slice(start, min(start + CHUNK, n)) for start in range(0, n, CHUNK)]


def by_features(templates: Problem, features: FourierFeatures) -> Embeddings:
    """Return embeddings as products of random features."""
    size = len(templates)
    means, products = np.zeros((size, features.D)), np.zeros((size, size))
    itself = np.empty(len(templates[0].events))

    def of_chunk(task: tuple[list[int], slice]) -> tuple[Array, Array]:
        together, rows = task
        z = [rows_of(features, templates[k].events[rows]) for k in together]
        omega = np.stack([templates[k].omega[rows] for k in together])
        first = [w.astype(np.float32) @ block for w, block in zip(omega, z, strict=True)]
        beside = np.array([[np.einsum("ij,ij->i", a, b, dtype=np.float64) for b in z] for a in z])
        if together == [0]:
            itself[rows] = beside[0, 0]
        return np.array(first, dtype=np.float64), np.einsum("ki,mi,kmi->km", omega, omega, beside)

    tasks = [
        (together, rows)
        for together in groups(templates)
        for rows in chunks(len(templates[together[0]].events))
    ]
    for (together, _), (first, second) in zip(tasks, in_threads(of_chunk, tasks), strict=True):
        means[together] += first
        products[np.ix_(together, together)] += second
    gram = means @ means.T
    own = np.zeros_like(gram)
    for together in groups(templates):
        for k in together:
            for m in together:
                left = 1 - float(templates[k].omega @ templates[m].omega)
                own[k, m] = gram[k, m] - (gram[k, m] - products[k, m]) / left
    directions = _columns(means).astype(np.float32).T

    def project(events: Array) -> Array:
        parts = in_threads(
            lambda rows: rows_of(features, events[rows]) @ directions, chunks(len(events))
        )
        return np.concatenate(list(parts)).astype(np.float64)

    at = tuple(project(template.events) for template in templates)
    return Embeddings(templates, gram, own, at, itself, means)
