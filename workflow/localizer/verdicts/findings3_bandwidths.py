"""What Experiment III found in the scan of single bandwidths, one function a published id.

A table ``bandwidths`` has the AUC on the evaluation sample by bandwidth and draw of features. The
bandwidths of a draw share their frequencies, so that differences are paired by draw.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from localizer.base.checks import Array
from localizer.verdicts.board import Finding, statement
from localizer.verdicts.registry import finding


class Scan(NamedTuple):
    """Bandwidths, the AUC by draw and bandwidth, its mean, and the number of the largest."""

    h: Array
    draws: Array
    auc: Array
    best: int

    @classmethod
    def of(cls, bandwidths: pd.DataFrame) -> Scan:
        """Return the scan of a table."""
        table = bandwidths.pivot(index="draw", columns="bandwidth", values="auc")
        mean = table.mean().to_numpy()
        return cls(table.columns.to_numpy(), table.to_numpy(), mean, int(np.argmax(mean)))

    @property
    def octaves(self) -> float:
        """How far the largest AUC is from d_med."""
        return math.log2(self.h[self.best])

    def step(self, start: int, end: int) -> tuple[float, float]:
        """Return the change of the AUC between two bandwidths, and its error."""
        return _mean(self.draws[:, end] - self.draws[:, start])


@finding("e3.bandwidth_maximum")
def bandwidth_maximum(bandwidths: pd.DataFrame) -> Finding:
    """Return the bandwidth of the largest AUC."""
    scan = Scan.of(bandwidths)
    return statement(
        scan.octaves,
        note=f"log2 of h/d_med of the largest mean AUC, {scan.auc[scan.best]:.4f}; near means at "
        "most one step of the scan away",
    )


@finding("e3.bandwidth_small")
def bandwidth_small(bandwidths: pd.DataFrame) -> Finding:
    """Return the smallest step of the AUC on its way up to the maximum."""
    scan = Scan.of(bandwidths)
    steps = [scan.step(i, i + 1) for i in range(scan.best)]
    smallest, error = min(steps, default=(0.0, 0.0))
    return statement(
        smallest,
        error=error,
        note=f"smallest step of the AUC from h/d_med = {scan.h[0]:g}, {scan.auc[0]:.3f}, up to "
        f"its maximum at {scan.h[scan.best]:g}",
    )


@finding("e3.bandwidth_large")
def bandwidth_large(bandwidths: pd.DataFrame) -> Finding:
    """Return what bandwidths beyond 4 gain over the best of the others."""
    scan = Scan.of(bandwidths)
    beyond = scan.h > 4
    if not beyond.any():
        return Finding(not_comparable="the scan has no bandwidth beyond 4")
    there, here = (int(np.argmax(np.where(some, scan.auc, -1.0))) for some in (beyond, ~beyond))
    gain, error = scan.step(here, there)
    return statement(gain, error=error, note="best AUC beyond 4 less the best up to 4")


@finding("e3.bandwidth_brackets")
def bandwidth_brackets(bandwidths: pd.DataFrame) -> Finding:
    """Return whether the AUC is better just outside 0.25 to 4 than just inside."""
    scan = Scan.of(bandwidths)
    inside = np.flatnonzero((scan.h >= 0.25) & (scan.h <= 4))
    edges = [(int(inside[0]), -1), (int(inside[-1]), 1)] if inside.size else []
    steps = [scan.step(edge, edge + side) for edge, side in edges if 0 <= edge + side < len(scan.h)]
    return statement(
        scan.octaves,
        excess=(max((gain / error for gain, error in steps), default=0.0), 1.0),
        note="log2 of h/d_med of the largest mean AUC; excess is how far, in errors, the AUC "
        "one step outside 0.25 to 4 is above that at the edge",
    )


@finding("e3.bank_near_best")
def bank_near_best(bandwidths: pd.DataFrame, seeds: pd.DataFrame) -> Finding:
    """Return the best single bandwidth's AUC less that of the bank."""
    scan = Scan.of(bandwidths)
    bank = float(seeds["auc_evaluation"].mean())
    return statement(
        float(scan.auc[scan.best]) - bank,
        error=_mean(scan.draws[:, scan.best])[1],
        note=f"best single-scale AUC less the bank's {bank:.4f}, means over draws of features",
    )


# --- helpers -------------------------------------------------------------------------------


def _mean(values: Array) -> tuple[float, float]:
    """Return the mean of some draws, and its error."""
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))
