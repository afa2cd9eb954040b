r"""Score the events of any sample against any reference: the witness and its error.

Sec. algorithm of the paper, with the mean embedding mu_B the mean over a reference.

In the coordinates and with the kernel of a :mod:`localizer.own.recipe`, :func:`score_events`
gives every event its empirical witness and its leave-one-out witness, with standard errors.

At a fixed point x and for fixed choices the leave-one-out witness is the difference of two means
of independent kernel values, over the N - 1 other events and over the M reference events. It is
unbiased for w_P(x) (eq. loo-unbiased) and its variance is

    Var_P[k(x, X)] / (N - 1) + Var_B[k(x, Y)] / M,

in which the two sample variances, the event left out, stand for the unknown ones. It takes the
sums of k^2 beside those of k.

Random features add an error of their own (:mod:`localizer.own.random_features`). Both parts are
errors given the choices: how the choices themselves would have scattered is a matter for
:mod:`localizer.own.significance`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localizer.base.checks import Array, IntArray
from localizer.base.metrics import average_ranks
from localizer.base.randomness import subsample
from localizer.kernels.bank import GaussianBank
from localizer.own.exact import means_and_variances
from localizer.own.random_features import draw_features, feature_mean, rff_scores
from localizer.own.recipe import Choices, Recipe, Streams, Used, both, choose


@dataclass(frozen=True, eq=False)
class EventScores:
    """The scores of events, in their order.

    Attributes
    ----------
    witness
        The empirical witness, the event itself included: eq. empirical-witness.
    loo
        The leave-one-out witness: eq. loo-witness, or eq. rff-loo.
    error_data
        The standard error of ``loo`` from the finite sample and the finite reference.
    error_features
        Its standard error from the draw of random features, 0 if there are none.
    method
        ``exact`` or ``rff``.
    """

    witness: Array
    loo: Array
    error_data: Array
    error_features: Array
    method: Used

    @property
    def standard_error(self) -> Array:
        """The standard error of ``loo`` as an estimate of the population's witness w_P(x)."""
        return np.hypot(self.error_data, self.error_features)

    @property
    def rank(self) -> Array:
        """The place of each event, 1 for the largest ``loo``; ties share an average."""
        return average_ranks(-self.loo)


def score_events(
    sample: npt.ArrayLike,
    reference: npt.ArrayLike,
    recipe: Recipe,
    streams: Streams,
    *,
    choices: Choices | None = None,
) -> EventScores:
    """Return the scores of all events of the sample.

    Parameters
    ----------
    sample, reference
        Of shapes (N, d) and (M, d), in the user's own units.
    streams
        For ``pairs`` of the median distance, ``features`` and ``companions``.
    choices
        What :func:`choose` returned for these data; left out, it is asked.

    Notes
    -----
    Work is shared out over ``numba.get_num_threads()`` threads; the result does not depend on
    their number (with one thread of BLAS).
    """
    x, y = both(sample, reference)
    chosen = choices or choose(x, y, recipe, streams)
    x, y = chosen.transform(x), chosen.transform(y)
    return scores_among(x, x, y, np.arange(len(x)), chosen.bank, recipe, streams)


def scores_among(
    at: Array,
    among: Array,
    reference: Array,
    own: IntArray | None,
    bank: GaussianBank,
    recipe: Recipe,
    streams: Streams,
) -> EventScores:
    """Return the scores of events against the witness of a sample, in the kernel's coordinates.

    Parameters
    ----------
    at
        The events to be scored.
    among
        The sample whose witness they are scored with.
    reference
        The reference.
    own
        Where in ``among`` each event of ``at`` is found, to be left out; None if it is not there,
        in which case witness and leave-one-out witness are the same.
    """
    of_sample, of_reference = len(among), len(reference)
    method = recipe.used(len(at) * (of_sample + of_reference))
    others = of_sample - (own is not None)
    if method == "exact":
        inside, spread = means_and_variances(at, among, own, bank)
        outside, spread_reference = means_and_variances(at, reference, None, bank)
        loo, error_features = inside - outside, np.zeros(len(at))
        witness = loo if own is None else loo + (1 - inside) / of_sample
    else:
        z = draw_features(bank, at.shape[1], recipe, streams)
        mean, mean_reference = feature_mean(z, among), feature_mean(z, reference)
        loo, witness, error_features = rff_scores(
            z, at, mean, mean_reference, N=None if own is None else of_sample, bank=bank
        )
        rng = streams("companions")
        few = subsample(rng, of_sample, recipe.companions)
        spread = means_and_variances(at, among[few], _places(few, own, of_sample), bank)[1]
        few = subsample(rng, of_reference, recipe.companions)
        spread_reference = means_and_variances(at, reference[few], None, bank)[1]
    error = np.sqrt(spread / others + spread_reference / of_reference)
    return EventScores(witness, loo, error, error_features, method)


def _places(few: IntArray, own: IntArray | None, n: int) -> IntArray | None:
    """Return where among ``few`` each event of ``own`` is found, -1 for nowhere."""
    if own is None:
        return None
    place = np.full(n, -1)
    place[few] = np.arange(len(few))
    return place[own]
