"""Boosted trees between two classes of events: one classifier, or the mean of several.

Histogram-based gradient boosting as in scikit-learn, its default settings (learning rate 0.1, 31
leaves, 20 events a leaf), at most 200 trees, stopped when a fifth of the events that is set aside
has not improved for ten trees. Classes weigh the same, whatever their sizes. Each member of an
ensemble sets another fifth aside. All on one thread: the same bytes on any number of cores.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from localizer.base.checks import Array

MAX_TREES, SET_ASIDE, PATIENCE = 200, 0.2, 10


def ensemble(
    ones: Array, zeros: Array, at: Array, rng: np.random.Generator, *, members: int
) -> Array:
    """Return the mean probability of being one of ``ones`` instead of ``zeros`` at some events."""
    x = np.concatenate([ones, zeros])
    y = np.arange(len(x)) < len(ones)
    total = np.zeros(len(at))
    with threadpool_limits(1, user_api="openmp"):
        for _ in range(members):
            classifier = HistGradientBoostingClassifier(
                max_iter=MAX_TREES,
                early_stopping=True,
                validation_fraction=SET_ASIDE,
                n_iter_no_change=PATIENCE,
                class_weight="balanced",
                random_state=int(rng.integers(2**32)),
            )
            total += classifier.fit(x, y).predict_proba(at)[:, 1]
    return total / members
