r"""The null distribution of the profiled discrepancy: a multiplier bootstrap.

Permutations of sample and reference are wrong here: under the null hypothesis the sample follows
some B_theta, not the nominal B_0. Here the null is B_theta-hat, and every template fluctuates
about its mean features by

    zeta_k = sum_i omega_i e_i (z(y_i) - z_mean),    e_i normal with mean 0 and variance 1,

which has the covariance of the mean features. An event and its variations share one multiplier,
so that what cancels in D in the data cancels in the draws; templates that are samples of their
own have their own multipliers, so that D is drawn anew. In every draw

    b*_k = b_k + zeta_k,    p* = sum_k a_k b_k + zeta_P,

theta is fitted again, priors being centred at theta-hat plus their own scatter, and the same
numbers are kept as of the data: the plug-in profiled discrepancy, and the largest of the
leave-one-out scores at the sample's events. Without variations this is a test of P = B_0.

Multipliers are keyed by what they are for; runs can be cut between groups of :data:`GROUP` draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.threads import in_threads
from localizer.estimators.profiled import Profile, mixture, scores
from localizer.estimators.templates import (
    CHUNK,
    Embeddings,
    as_differences,
    chunks,
    groups,
    rows_of,
)
from localizer.kernels.feature_products import Single
from localizer.kernels.features import FourierFeatures

Streams = Callable[..., np.random.Generator]

#: Draws that share streams of multipliers: a part of the content.
GROUP = 50


@dataclass(frozen=True, eq=False)
class Statistics:
    """What a test looks at, one row a draw; the data are one row.

    Attributes
    ----------
    discrepancy
        The plug-in profiled discrepancy.
    largest
        The largest leave-one-out score.
    theta
        The fitted nuisances, as they are quoted.
    """

    discrepancy: Array
    largest: Array
    theta: Array


def observed(embeddings: Embeddings, found: Profile) -> Statistics:
    """Return the statistics of the data."""
    plain = embeddings.products(corrected=False)
    return Statistics(
        np.atleast_1d(found.rule_nearest.statistic(plain, found.nearest)),
        np.array([scores(embeddings, found).loo.max()]),
        found.theta[None],
    )


def null_draws(
    embeddings: Embeddings,
    found: Profile,
    features: FourierFeatures,
    streams: Streams,
    *,
    draws: int,
    largest: bool = True,
) -> Statistics:
    """Return the statistics of draws from the null hypothesis at theta-hat.

    Parameters
    ----------
    embeddings
        From :func:`localizer.estimators.templates.by_features`, with the same features.
    streams
        For multipliers under the key ``multipliers``, the number of the group of templates, of
        the group of draws and of the chunk of events; and for ``priors``.
    largest
        Whether the largest scores are wanted; they cost as much as all the rest.
    """
    count = checks.integer(draws, "draws")
    if embeddings.means is None:
        raise ValueError("embeddings must come from random features, as the draws do")
    parts = [
        _group(embeddings, found, features, streams, number, largest)
        for number in range(-(-count // GROUP))
    ]
    return Statistics(
        *(
            np.concatenate([getattr(part, name) for part in parts])[:count]
            for name in Statistics.__dataclass_fields__
        )
    )


def _group(
    embeddings: Embeddings,
    found: Profile,
    features: FourierFeatures,
    streams: Streams,
    number: int,
    largest: bool,
) -> Statistics:
    """Return the statistics of one group of draws."""
    templates, means = embeddings.templates, embeddings.means
    assert means is not None
    together = groups(templates)

    def multipliers(group: int, rows: slice) -> Single:
        rng = streams("multipliers", group, number, rows.start // CHUNK)
        return rng.standard_normal((GROUP, rows.stop - rows.start), dtype=np.float32)

    def fluctuate(task: tuple[int, slice]) -> Array:
        group, rows = task
        e = multipliers(group, rows)
        zeta = np.empty((len(together[group]), GROUP, features.D))
        for place, k in enumerate(together[group]):
            z = rows_of(features, templates[k].events[rows]) - means[k].astype(np.float32)
            zeta[place] = (e * templates[k].omega[rows].astype(np.float32)) @ z
        return zeta

    tasks = [
        (group, rows)
        for group, members in enumerate(together)
        for rows in chunks(len(templates[members[0]].events))
    ]
    drawn = np.zeros((len(templates), GROUP, features.D))
    for (group, _), zeta in zip(tasks, in_threads(fluctuate, tasks), strict=True):
        drawn[together[group]] += zeta
    # sample variances are those of independent events after this
    for k, template in enumerate(templates):
        drawn[k] /= np.sqrt(1 - np.sum(template.omega**2))
    centres = means.copy()
    centres[0] = mixture(found.theta) @ means[1:]
    drawn += centres[:, None]
    by_draw = np.swapaxes(drawn, 0, 1)
    plain = as_differences(by_draw @ np.swapaxes(by_draw, -1, -2))
    precision = found.rule.precision
    width = np.sqrt(np.divide(1, precision, out=np.zeros_like(precision), where=precision > 0))
    scatter = streams("priors", number).standard_normal((GROUP, width.size))
    centre = found.theta + width * scatter
    theta, nearest = (rule.theta(plain, centre) for rule in (found.rule, found.rule_nearest))
    values = found.rule_nearest.statistic(plain, nearest)
    if not largest:
        return Statistics(values, np.full(GROUP, np.nan), theta)
    direction = by_draw[:, 0] - np.einsum("rk,rkd->rd", mixture(nearest), by_draw[:, 1:])
    columns = direction.astype(np.float32).T
    sample, own = templates[0], scores(embeddings, found).own

    def most(rows: slice) -> Array:
        w = rows_of(features, sample.events[rows]) @ columns
        itself = (sample.omega[rows] * own[rows]).astype(np.float32)
        return np.asarray(np.max(w - (multipliers(0, rows) * itself).T, axis=0), dtype=np.float64)

    top = np.max(list(in_threads(most, chunks(len(sample.events)))), axis=0)
    return Statistics(values, top, theta)


def p_value(data: Array, null: Array) -> float:
    """Return (count + 1) / (n + 1), with the count of null values not below that of the data.

    Examples
    --------
    >>> p_value(np.array([2.5]), np.array([1.0, 2.0, 3.0]))
    0.5
    """
    return (int(np.count_nonzero(null >= data)) + 1) / (null.size + 1)
