"""The studentized multiscale witness: how significant the local excess is, not how large.

The exact witness of each of seven bandwidths, from a sixteenth of the background's median distance
to four times it, over its standard error; the score is the mean over the bandwidths.
"""

from __future__ import annotations

import numpy as np

from localizer.base.checks import Array
from localizer.comparison.coordinates import bandwidths, copula
from localizer.estimators.studentized import LADDER, studentized_witness

LABEL = "witness, studentized"


def score(sample: Array, reference: Array, rng: np.random.Generator) -> Array:
    """Return the evidence for an excess at every event."""
    x, y = copula(sample, reference)
    ladder = bandwidths(y, rng, LADDER)
    return studentized_witness(x, y, ladder, dtype=np.float32)
