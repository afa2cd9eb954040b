r"""Standard errors of scores against a profiled reference, the fit included.

At a point x the score is p(x) - b_0(x) - d(x)'theta-hat. An event x_j of the sample moves it by

    omega_j [k(x, x_j) - p(x) - d(x)'M (d(x_j) - d_mean)],

its direct part less what it does to theta-hat, M the response of theta-hat to D'delta; an event
of the reference moves it together with its variations. The variance is the sum of the squares
over events, and where a prior was used that of the prior's own scatter.
"""

from __future__ import annotations

import numpy as np

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.randomness import subsample
from localizer.base.threads import in_threads
from localizer.estimators.profiled import Profile, fluctuations, mixture
from localizer.estimators.templates import Embeddings, chunks, groups, rows_of
from localizer.kernels.bank import GaussianBank
from localizer.kernels.feature_products import scatter_of_frequencies
from localizer.kernels.features import FourierFeatures

_ENTRIES = 1 << 19


def standard_errors(
    embeddings: Embeddings,
    found: Profile,
    bank: GaussianBank,
    rng: np.random.Generator,
    *,
    companions: int,
) -> Array:
    """Return the standard error of the leave-one-out score of every event of the sample.

    Parameters
    ----------
    rng, companions
        The sums run over so many events of each group of templates, drawn at random where it
        has more.
    """
    checks.integer(companions, "companions", minimum=10)
    templates, values = embeddings.templates, embeddings.at[0]
    x, b_0, d = templates[0].events, values[:, 0], values[:, 2:]
    embedded = np.concatenate([b_0 + values[:, 1], b_0, *(b_0 + d.T)]).reshape(-1, len(x))
    part = np.concatenate([[1.0], -mixture(found.nearest)])
    response = d @ found.gain
    rule = found.rule_nearest
    plain = embeddings.products(corrected=False)
    prior = rule.covariance(plain) - found.gain @ rule.noise @ found.gain.T
    variance = np.sum(d @ prior * d, axis=1)
    together = groups(templates)
    moved = fluctuations(embeddings, found.nearest)
    chosen = [subsample(rng, len(rows), companions) for rows in moved]
    step = max(1, _ENTRIES // companions)

    def of_rows(task: tuple[int, int]) -> Array:
        group, start = task
        rows, j = slice(start, start + step), chosen[group]
        change = -response[rows] @ moved[group][j].T
        for k in together[group]:
            kernel = bank.rows(x[rows], templates[k].events[j]) - embedded[k, rows, None]
            change += part[k] * templates[k].omega[j] * kernel
        if group == 0:
            # the event itself is left out
            change[np.arange(len(x))[rows, None] == j] = 0.0
        return np.asarray(len(moved[group]) / j.size * np.sum(change**2, axis=1))

    tasks = [(group, start) for group in range(len(together)) for start in range(0, len(x), step)]
    for (_, start), found_here in zip(tasks, in_threads(of_rows, tasks), strict=True):
        variance[start : start + step] += found_here
    return np.asarray(np.sqrt(np.maximum(variance, 0)))


def feature_errors(
    embeddings: Embeddings, found: Profile, features: FourierFeatures, *, bandwidths: int
) -> Array:
    """Return the standard error that random features add to the score of every event.

    Each frequency gives an estimate of z(x)'r less what it does to theta-hat, r the sample's mean
    less that of the nearest mixture.

    Parameters
    ----------
    embeddings
        Those of these features, cosines and sines side by side.
    bandwidths
        Of the bank.
    """
    means = embeddings.means
    if means is None:
        raise ValueError("embeddings must be those of random features")
    x = embeddings.templates[0].events
    rest = means[0] - mixture(found.nearest) @ means[1:]
    of_fit = (means[2:] - means[1]) * rest
    response = embeddings.at[0][:, 2:] @ found.gain

    def of_rows(rows: slice) -> Array:
        products = rows_of(features, x[rows]) * rest - response[rows] @ of_fit
        return scatter_of_frequencies(products, bandwidths)

    return np.asarray(np.sqrt(np.concatenate(list(in_threads(of_rows, chunks(len(x)))))))
