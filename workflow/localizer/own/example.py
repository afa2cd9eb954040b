"""An example for a user's own data: two months of readings of a pump, made up.

The first month is the reference. In the second one some readings come from a worn
bearing: it draws more power than the flow explains, shakes a little and warms up. None
of these readings is extreme in any column; they are too many in an ordinary place.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from localizer.base import checks

#: mean and standard deviation of each reading
_READINGS = {
    "flow": (12.0, 1.5),
    "pressure": (3.2, 0.25),
    "power": (5.5, 0.6),
    "vibration": (1.1, 0.2),
    "temperature": (41.0, 2.5),
}

#: how they go together in a sound pump
_CORRELATION = np.array(
    [
        [1.0, -0.5, 0.8, 0.3, 0.4],
        [-0.5, 1.0, -0.3, 0.0, -0.1],
        [0.8, -0.3, 1.0, 0.3, 0.5],
        [0.3, 0.0, 0.3, 1.0, 0.2],
        [0.4, -0.1, 0.5, 0.2, 1.0],
    ]
)

#: a worn bearing, in standard deviations from the mean: where its readings lie, how far apart
_WORN = np.array([-0.4, 0.2, 0.9, 1.0, 1.1])
_WORN_WIDTH = 0.45


def month(rng: np.random.Generator, *, readings: int, worn: float = 0.0) -> pd.DataFrame:
    """Return a month of readings, the fraction ``worn`` of them from a worn bearing.

    The column ``fault`` tells which these are; ``shift`` is a column of text, as real
    tables have.
    """
    checks.integer(readings, "readings", minimum=2)
    checks.fraction(worn, "worn", closed=True)
    sound = rng.multivariate_normal(np.zeros(5), _CORRELATION, size=readings, method="cholesky")
    faulty = _WORN + _WORN_WIDTH * rng.standard_normal((readings, 5))
    fault = np.zeros(readings, dtype=int)
    fault[: round(worn * readings)] = 1
    rng.shuffle(fault)
    values = np.where(fault[:, None] == 1, faulty, sound)
    table = {
        name: np.round(mean + sigma * values[:, column], 4)
        for column, (name, (mean, sigma)) in enumerate(_READINGS.items())
    }
    shift = np.where(np.arange(readings) % 24 < 12, "day", "night")
    return pd.DataFrame({"reading": np.arange(readings), "shift": shift, **table, "fault": fault})


def misread(table: pd.DataFrame, *, power: float = 0.0, temperature: float = 0.0) -> pd.DataFrame:
    """Return readings with the power meter off by a part, and the thermometer by so many degrees.

    Examples
    --------
    >>> misread(pd.DataFrame({"power": [5.0], "temperature": [40.0]}), power=0.1).values.tolist()
    [[5.5, 40.0]]
    """
    return table.assign(
        power=np.round((1 + power) * table["power"], 4),
        temperature=np.round(table["temperature"] + temperature, 4),
    )
