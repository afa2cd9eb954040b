r"""Localize any symmetric statistic: matched marginal contributions of events.

Each event x_i of a sample joins R random contexts of m - 1 companions drawn from the sample
without it (eq. forced-G-estimator), and in every context

- ``raw``          T_m(x_i, C),
- ``addition``     T_m(x_i, C) - T_{m-1}(C), eq. three-add,
- ``replacement``  T_m(x_i, C) - T_m(Y, C), eq. three-rep, Y one further event.

``replacement`` estimates the conditional localizer of eq. localization for any symmetric
statistic (eq. replacement-exact-localization); ``addition`` differs from it by a constant
(eq. addition-localization-relation), which is 0 for U-statistics, and has less noise.

Each event has its own random stream for its contexts, so the scores do not depend on how the
events are divided into jobs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from localizer.base import checks
from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.estimators.batch_statistic import Prepared
from localizer.estimators.context_moments import ForcedScores
from localizer.estimators.forced import from_sample, matched_scores

#: How often the statistic is evaluated for an event in a context: (x, C), C and (Y, C).
EVALUATIONS = 3


def localize(
    statistic: Prepared,
    sample: npt.ArrayLike,
    *,
    m: int,
    R: int,
    seed: int,
    key: Sequence[str | int] = (),
    probes: Sequence[int] | None = None,
    replacement: bool = False,
) -> ForcedScores:
    """Return raw, addition and replacement with their standard errors, event by event.

    Parameters
    ----------
    statistic
        T, bound to its reference; see :func:`localizer.estimators.batch_statistic.check` for one
        that is not known to be symmetric.
    sample
        The N observed events, of shape (N, d).
    m
        The size of a batch, the scored event included.
    R
        The contexts of each event, at least 2 for a standard error.
    seed, key
        Name the random numbers, see :func:`localizer.base.randomness.stream`.
    probes
        The numbers of the events to score, from 0; left out, all of them.
    replacement
        Whether the events of a context may repeat.

    Examples
    --------
    >>> import numpy as np
    >>> from localizer.estimators.own_statistic import Own
    >>> mean = Own(lambda batch: batch.mean(), "mean").prepare([[0.0]])
    >>> scores = localize(mean, np.arange(50.0)[:, None], m=10, R=100, seed=1, probes=[49])
    >>> error = scores["replacement"].mean[0] - (49 - 24) / 10
    >>> bool(abs(error) < 5 * scores["replacement"].standard_error[0])
    True
    """
    rows = statistic.encode(checks.points(sample, "sample", minimum=2))
    wanted = np.arange(len(rows)) if probes is None else np.asarray(probes)
    if wanted.ndim != 1 or wanted.dtype.kind not in "iu" or not wanted.size:
        raise ValueError("probes must be the numbers of events, from 0")
    numbers = [
        checks.integer(i, "each of probes", minimum=0, maximum=len(rows) - 1) for i in wanted
    ]
    return matched_scores(
        statistic.values,
        rows[numbers],
        m=m,
        R=R,
        contexts=[from_sample(rows, probe=i, replacement=replacement) for i in numbers],
        rngs=[stream(seed, *key, "event", i) for i in numbers],
    )


def field(
    statistic: Prepared,
    sample: npt.ArrayLike,
    points: npt.ArrayLike,
    *,
    m: int,
    R: int,
    seed: int,
    key: Sequence[str | int] = (),
    replacement: bool = False,
) -> ForcedScores:
    """Return the scores at points that are no events of the sample: a map of the localizer.

    All points meet the same contexts, drawn from the whole sample, which costs one
    evaluation a point and context; the errors of neighbouring points are correlated.
    """
    rows = statistic.encode(checks.points(sample, "sample", minimum=2))

    # a last row that is left out, as if it were the scored event: contexts of all the others
    draw = from_sample(np.vstack([rows, rows[:1]]), probe=len(rows), replacement=replacement)
    return matched_scores(
        statistic.values,
        statistic.encode(points),
        m=m,
        R=R,
        contexts=draw,
        rngs=[stream(seed, *key, "field")],
        shared_contexts=True,
    )


def pair_localization(target: npt.ArrayLike, *, m: int) -> Array:
    """Return L_{T,m}(x_i) of a U-statistic of order 2 in its sample, exactly.

    This is what addition and replacement converge to when contexts are drawn without
    replacement: (2/m) [t_i - U_{-i}], eq. ustat-main for the distribution of the other
    events, with U_{-i} the statistic of the sample without x_i.

    Parameters
    ----------
    target
        t_i, the mean over j != i of q_B(x_i, x_j): :func:`localizer.estimators.witness.pair_target`
        or :func:`localizer.estimators.energy.pair_target`.
    """
    t = checks.vector(target, "target", minimum=3)
    size = checks.integer(m, "m", minimum=2)
    N = t.size
    without = (t.sum() - 2 * t) / (N - 2)
    return np.asarray(2 / size * (t - without))
