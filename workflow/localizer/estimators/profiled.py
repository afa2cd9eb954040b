r"""The profiled witness: the localizer of a discrepancy from a reference with nuisances.

The reference is B_theta = B_0 + sum_k theta_k (B_k - B_0): exact for mixtures of the templates
(0 <= theta <= 1), first order for shifts (theta_k = 1 is the variation as given). The profiled
discrepancy is

    min over theta of |delta - D theta|^2,    delta = p - b_0,  D = (b_1 - b_0, .., b_K - b_0),

an MMD^2 (eq. mmd-mixture-summary) of what no mixture of the templates explains. For a fixed D it
is the MMD^2 of features projected on the complement of D. At its minimum the derivative with
respect to theta vanishes, so that its influence function (sec. influence), and to leading order
the conditional localizer (eq. localization-IF), is that of MMD at theta-hat held fixed:

    w(x) = p(x) - sum_k a_k b_k(x),    a_0 = 1 - sum_k theta_k,  a_k = theta_k.

Two estimates of theta have different uses.

- ``nearest`` minimises the distance of the empirical mean embeddings, all pairs of events
  counted. Scores and statistics refer to it: of all mixtures of the templates at hand it is the
  nearest to the sample, their noise included, and what is left does not depend on the true
  theta, whether D is fixed or noisy.
- ``theta`` uses products without the pairs of an event with itself
  (:mod:`localizer.estimators.templates`), so that noise in D does not pull it to the equal
  mixture. It is the estimate to quote. In combinations of variations of which less than a
  stated part of the squared length is more than noise (also where the corrected D'D is not
  positive), this correction would divide noise by noise: there it is left out, and theta is
  that of the nearest mixture (:func:`correctable`).

The covariance is the sandwich A^-1 C A^-1, A = D'D and C the covariance of D'(delta - D theta)
from the fluctuations of every template, D's own among them. A prior theta_k ~ N(0, width_k^2) is
combined with the free estimate by the covariances of the two: its penalty has the scale of the
sampling noise of the projected discrepancy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.estimators.templates import Embeddings, groups

#: The least part of the squared length of a combination of variations that is no noise.
LEAST = 0.5

# Combinations of variations shorter than this, relative to the longest, are zero to rounding.
_ZERO = 1e-10


def combinations(products: npt.ArrayLike) -> Array:
    """Return combinations u of variations with u'(D'D)u = 1, as columns that span all others.

    Variations that differ by rounding only leave fewer of them than there are variations.

    Examples
    --------
    >>> abs(combinations([[4.0, 0.0, 4.0], [0.0, 1.0, 0.0], [4.0, 0.0, 4.0]])).round(3).tolist()
    [[0.0, 0.25], [1.0, 0.0], [0.0, 0.25]]
    """
    V = np.asarray(products, dtype=np.float64)
    if not V.size:
        return np.zeros((0, 0))
    # in units of their length: then it does not matter in what size variations are given
    length = np.sqrt(np.maximum(np.diag(V), 0))
    unit = np.divide(1, length, out=np.zeros_like(length), where=length > 0)
    values, vectors = np.linalg.eigh(V * unit[:, None] * unit)
    there = values > _ZERO * max(values[-1], 0.0)
    return np.asarray(unit[:, None] * vectors[:, there] / np.sqrt(values[there]))


def correctable(plain: npt.ArrayLike, corrected: npt.ArrayLike, *, least: float = LEAST) -> Array:
    """Return the projection on the combinations of variations that are told from noise.

    Parameters
    ----------
    plain, corrected
        The products D'D with and without the pairs of an event with itself.
    least
        What part of u'(plain)u must be left in u'(corrected)u.

    Returns
    -------
    Array
        W of shape (K, K), with W u = u for such combinations and W u = 0 for those that are
        orthogonal to them.

    Examples
    --------
    The second variation is all noise, and there is a copy of the first:

    >>> plain = [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    >>> corrected = [[0.9, 0.0, 0.9], [0.0, 0.1, 0.0], [0.9, 0.0, 0.9]]
    >>> (correctable(plain, corrected) @ [1.0, 1.0, 1.0]).round(6).tolist()
    [1.0, 0.0, 1.0]
    """
    part = checks.fraction(least, "least")
    V = np.asarray(plain, dtype=np.float64)
    white = combinations(V)
    reliable, turned = np.linalg.eigh(white.T @ np.asarray(corrected, dtype=np.float64) @ white)
    kept = (white @ turned)[:, reliable >= part]
    return np.asarray(kept @ kept.T @ V)


@dataclass(frozen=True, eq=False)
class Rule:
    """How theta follows from products: the same for the data and for every null draw.

    Attributes
    ----------
    own
        What is taken from the products of delta, d_1 .. d_K with all pairs of events.
    basis
        See :func:`combinations`.
    noise
        The covariance C of D'(delta - D theta).
    precision
        1 / width^2 of each variation, 0 for a free one.
    """

    own: Array
    basis: Array
    noise: Array
    precision: Array

    @property
    def free(self) -> bool:
        """Whether no variation has a prior."""
        return not self.precision.any()

    def theta(self, plain: Array, centre: npt.ArrayLike = 0.0) -> Array:
        """Return theta for products of delta, d_1 .. d_K with all pairs, on the last axes.

        Parameters
        ----------
        centre
            Where the priors are centred, of shape (..., K).
        """
        left, weight = self._system(plain)
        prior = np.broadcast_to(centre, (*plain.shape[:-2], len(self.precision))) * self.precision
        c = (plain - self.own)[..., 1:, 0] @ self.basis
        right = weight @ c[..., None] + (prior @ self.basis)[..., None]
        return np.asarray(np.linalg.solve(left, right)[..., 0] @ self.basis.T)

    def gain(self, plain: Array) -> Array:
        """Return M, the response of theta to D'delta."""
        left, weight = self._system(plain)
        return np.asarray(self.basis @ np.linalg.solve(left, weight) @ self.basis.T)

    def covariance(self, plain: Array) -> Array:
        """Return the covariance of theta, that of the priors' own scatter included."""
        left, _ = self._system(plain)
        gain = self.gain(plain)
        scatter = self.basis @ np.linalg.inv(left) @ self.basis.T
        return np.asarray(gain @ self.noise @ gain.T + scatter * self.precision @ scatter)

    def statistic(self, plain: Array, theta: Array) -> Array:
        """Return the profiled discrepancy with all pairs of events, on the last axes.

        Where all nuisances are free it is the squared distance of the sample's mean embedding
        from all mixtures of the templates'.
        """
        if self.free:
            return squared_distance(plain)
        v = np.concatenate([np.ones((*theta.shape[:-1], 1)), -theta], axis=-1)
        return np.asarray(np.einsum("...k,...kl,...l->...", v, plain, v))

    def _system(self, plain: Array) -> tuple[Array, Array]:
        """Return the two matrices of left eta = weight c + prior, theta = basis eta.

        With a prior they are A C^-1 A + S^-1 and A C^-1; without one A and 1, which have the
        same solution.
        """
        A = self.basis.T @ (plain - self.own)[..., 1:, 1:] @ self.basis
        if self.free:
            return A, np.broadcast_to(np.eye(A.shape[-1]), A.shape)
        C = self.basis.T @ self.noise @ self.basis
        weight = np.swapaxes(np.linalg.solve(C, A), -1, -2)
        return weight @ A + (self.basis.T * self.precision) @ self.basis, weight


def squared_distance(products: npt.ArrayLike) -> Array:
    """Return min over theta of |delta - D theta|^2 from products, on the last axes.

    Examples
    --------
    >>> float(squared_distance([[5.0, 2.0], [2.0, 4.0]]))
    4.0
    """
    V = np.asarray(products, dtype=np.float64)
    inverse = np.linalg.pinv(V[..., 1:, 1:], rcond=_ZERO, hermitian=True)
    c = V[..., 1:, 0]
    return np.asarray(V[..., 0, 0] - np.einsum("...k,...kl,...l->...", c, inverse, c))


@dataclass(frozen=True, eq=False)
class Profile:
    """A discrepancy profiled over nuisances.

    Attributes
    ----------
    theta, covariance
        The estimate of theta to quote, and its covariance.
    told
        For each variation, the part of its squared length that is told from noise.
    nearest
        The theta of the mixture that scores and statistics refer to.
    before, after
        MMD^2 of sample and reference, and the profiled one, both without the pairs of an event
        with itself; ``after`` also without what fitting noise takes from it.
    share
        The part of |delta|^2 that the variations explain, with all pairs: a squared cosine.
    rule, rule_nearest
        How ``theta`` and ``nearest`` came about.
    gain
        M, the response of ``nearest`` to D'delta.
    """

    theta: Array
    covariance: Array
    told: Array
    nearest: Array
    before: float
    after: float
    share: float
    rule: Rule
    rule_nearest: Rule
    gain: Array

    @property
    def errors(self) -> Array:
        """The standard errors of theta."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def angle(self) -> float:
        """The angle between the departure and the nuisances, in degrees: 90 if unlike."""
        return float(np.degrees(np.arccos(np.sqrt(self.share))))


def mixture(theta: Array) -> Array:
    """Return a_0 = 1 - sum theta, a_k = theta_k, on the last axis.

    Examples
    --------
    >>> mixture(np.array([0.5, -0.25])).tolist()
    [0.75, 0.5, -0.25]
    """
    return np.concatenate([1 - theta.sum(axis=-1, keepdims=True), theta], axis=-1)


def profile(
    embeddings: Embeddings,
    *,
    widths: Sequence[float | None] | None = None,
    least: float = LEAST,
) -> Profile:
    """Fit the nuisances, and return what is left of the discrepancy.

    Parameters
    ----------
    widths
        The standard deviation of the prior of each variation, None for a free one; left out,
        all are free.
    least
        See :func:`correctable`.
    """
    plain, corrected = embeddings.products(corrected=False), embeddings.products()
    precision = _precision(widths, len(plain) - 1)
    basis = combinations(plain[1:, 1:])
    told = correctable(plain[1:, 1:], corrected[1:, 1:], least=least)
    along = np.eye(len(plain))
    along[1:, 1:] = told
    own = along.T @ (plain - corrected) @ along
    none = np.zeros_like(precision)
    free = Rule(own, basis, np.zeros_like(told), none).theta(plain)
    C = sum((g.T @ g for g in fluctuations(embeddings, free)), np.zeros_like(told))
    rule = Rule(own, basis, C, precision)
    near = Rule(np.zeros_like(own), basis, C, precision)
    nearest, gain = near.theta(plain), near.gain(plain)
    v = np.concatenate([[1.0], -nearest])
    # the expectation of what fitting takes from the noise of delta - D theta
    taken = np.trace(C @ (gain + gain.T - gain.T @ plain[1:, 1:] @ gain))
    length = np.diag(plain[1:, 1:])
    explained = 1 - float(squared_distance(plain)) / plain[0, 0]
    return Profile(
        theta=rule.theta(plain),
        covariance=rule.covariance(plain),
        told=np.divide(
            np.diag(plain[1:, 1:] @ told), length, out=np.zeros_like(length), where=length > 0
        ),
        nearest=nearest,
        before=float(corrected[0, 0]),
        after=float(v @ corrected @ v + taken),
        share=min(max(explained, 0.0), 1.0),
        rule=rule,
        rule_nearest=near,
        gain=gain,
    )


def _precision(widths: Sequence[float | None] | None, K: int) -> Array:
    """Return 1 / width^2 for every variation."""
    given = [None] * K if widths is None else list(widths)
    if len(given) != K:
        raise ValueError(f"widths must have one entry for each of {K} variations, not {len(given)}")
    return np.array([0.0 if w is None else checks.positive(w, "each width") ** -2 for w in given])


def fluctuations(embeddings: Embeddings, theta: Array) -> list[Array]:
    """Return what every event adds to D'(delta - D theta) beyond its mean.

    One array for each group of templates that fluctuate together, with a row for an event (its
    variations included) and a column for a nuisance. The covariance of D'(delta - D theta) is
    the sum of the products of these rows.
    """
    sample, K = embeddings.templates[0], theta.size
    out = []
    a = mixture(theta)
    for together in groups(embeddings.templates):
        total = np.zeros((len(embeddings.templates[together[0]].events), K))
        for k in together:
            template, values = embeddings.templates[k], embeddings.at[k]
            d = values[:, 2:] - template.mean(values[:, 2:])
            if template is sample:
                total += template.omega[:, None] * d
                continue
            w = values[:, 1] - values[:, 2:] @ theta
            w = w - template.mean(w)
            # b_0 stands in every d_k, b_k in d_k alone
            of_D = -np.ones(K) if k == 1 else np.eye(K)[k - 2]
            total += template.omega[:, None] * (w[:, None] * of_D - a[k - 1] * d)
        out.append(total)
    return out


@dataclass(frozen=True, eq=False)
class ProfiledScores:
    """The scores of the sample's events against the profiled reference.

    Attributes
    ----------
    witness
        w(x_i), the event itself included.
    loo
        The same without the event: neither in the mean embedding nor in the fit.
    own
        What the event adds to its own witness, divided by its weight: w - loo is
        omega own / (1 - omega).
    absorbed
        The part of the squared length of a signal at x_i that the nuisances would take up.
    """

    witness: Array
    loo: Array
    own: Array
    absorbed: Array


def scores(embeddings: Embeddings, found: Profile) -> ProfiledScores:
    """Return the profiled witness of every event of the sample.

    D'delta is linear in the sample, so that the fit without an event is known in closed form
    (sec. direct-estimation: what is fitted to the event must be left out with it).
    """
    sample, values = embeddings.templates[0], embeddings.at[0]
    b_0, delta, d = values[:, 0], values[:, 1], values[:, 2:]
    witness = delta - d @ found.nearest
    response = d @ found.gain
    own = embeddings.itself - (b_0 + delta) - np.sum(response * (d - sample.mean(d)), axis=1)
    loo = witness - sample.omega / (1 - sample.omega) * own
    centred = d - embeddings.along_reference
    basis = found.rule.basis
    length = embeddings.itself - 2 * b_0 + (embeddings.gram - embeddings.own)[1, 1]
    absorbed = np.sum((centred @ basis) ** 2, axis=1) / length
    return ProfiledScores(witness, loo, own, np.clip(absorbed, 0, 1))
