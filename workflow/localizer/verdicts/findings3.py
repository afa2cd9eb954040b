"""What Experiment III found, for the scoreboard: one finding for each published row.

A value that depends on the reference sample (or on the draw of features) can be held against
the paper only where the sample is the paper's own. Elsewhere it is shown as not comparable,
with the reason and with the rank that the published value has among surrogate samples of the
paper's sizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from localizer.experiments.experiment3 import Point
from localizer.verdicts.board import Finding, Published, judge, realization, statement

SAMPLES = ("full",)
"""The editions whose samples are the paper's own; ``zenodo`` splits the same events anew."""


def column_ids(columns: Iterable[str], published: Mapping[str, Published]) -> dict[str, str]:
    """Return the columns of the draws that have a published value, and its id."""
    return {column: f"e3.{column}" for column in columns if f"e3.{column}" in published}


def of_samples(counts: pd.DataFrame, dimension: int) -> list[Finding]:
    """Return the sizes of the samples and of the feature map."""
    N = int(counts[counts["sample"].str.startswith("mixed_")]["events"].sum())
    fewer = (N - 1) / (2 * dimension)
    found = [
        Finding("e3.dimension", float(dimension), 0.0),
        statement(
            "e3.rff_cost",
            fewer > 1,
            value=fewer,
            note=f"pairs N (N-1)/2 over products N D at N = {N}, D = {dimension}: counted, not "
            "timed; it grows with N",
        ),
    ]
    for row in counts.itertuples():
        reason = ""
        if row.edition == "surrogate":
            reason = "edition surrogate: as many events as the configuration asks for"
        elif row.events != row.in_the_paper:
            reason = f"edition {row.edition}"
        found.append(Finding(f"e3.{row.sample}", float(row.events), 0.0, not_comparable=reason))
    return found


def of_draws(
    measured: Mapping[str, float],
    surrogates: pd.DataFrame,
    seeds: pd.DataFrame,
    published: Mapping[str, Published],
    *,
    edition: str,
) -> list[Finding]:
    """Return the values that belong to one sample and one draw of features.

    Parameters
    ----------
    measured
        What was found on the sample at hand, by column of the draws.
    surrogates
        Draws of surrogate samples, references and features.
    seeds
        Draws of features on the sample at hand.
    published
        The published rows, by id.
    edition
        The edition of the sample.
    """
    found = []
    samples = surrogates["sample_number"].nunique()
    for column, name in column_ids(surrogates.columns, published).items():
        ours = realization(name, surrogates[column])
        rank = judge(published[name], ours)
        note = (
            f"{rank['measure']} {rank['value']:.3g} among {len(surrogates)} surrogate draws, "
            f"{samples} samples and feature maps with {len(surrogates) // samples} references "
            f"each, worth about {_independent(surrogates, column):.0f} independent ones "
            f"({ours.value:.5g} +- {ours.spread:.2g})"
        )
        if edition in SAMPLES:
            here = realization(name, seeds[column])
            note = f"draws of features; with the sweeps' own {measured[column]:.6g}; {note}"
            found.append(replace(here, note=note))
        else:
            spread = float(seeds[column].std(ddof=1))
            found.append(
                Finding(
                    name,
                    float(measured[column]),
                    spread,
                    len(seeds),
                    note=f"error: spread over draws of features; {note}",
                    not_comparable=f"edition {edition}: another reference sample",
                )
            )
    return found


def _independent(draws: pd.DataFrame, column: str) -> float:
    """Return how many independent draws those in groups of one sample are worth.

    n / (1 + (k - 1) r), with k draws a sample and r the correlation of two of them.
    """
    groups = draws.groupby("sample_number")[column]
    k = len(draws) / groups.ngroups
    if k <= 1 or groups.ngroups < 2:
        return float(len(draws))
    within = float(groups.var(ddof=1).mean())
    between = float(groups.mean().var(ddof=1)) - within / k
    r = max(between, 0.0) / (max(between, 0.0) + within)
    return float(len(draws) / (1 + (k - 1) * r))


def of_bandwidths(scan: pd.DataFrame, bank_auc: float, *, close: float) -> list[Finding]:
    """Return what the scan of single bandwidths shows on the evaluation sample.

    Parameters
    ----------
    scan
        Mean and spread of the AUC over draws of features, by bandwidth.
    bank_auc
        The mean AUC of the bank over draws of features.
    close
        What close means for two AUCs.
    """
    h, auc = scan["bandwidth"].to_numpy(), scan["auc"].to_numpy()
    error = scan["auc_spread"].to_numpy() / np.sqrt(scan["draws"].to_numpy())
    best = int(np.argmax(auc))
    # from the maximum down
    small = auc[: best + 1]
    inside, beyond = (h >= 0.25) & (h <= 4), h > 4
    gain = float(auc[beyond].max() - auc[~beyond].max()) if beyond.any() else -math.inf
    # just outside 0.25 to 4 it must not be better than just inside, by two errors
    edges = np.flatnonzero(inside)[[0, -1]] if inside.any() else np.array([], dtype=int)
    steps = [(edge, edge + side) for edge, side in zip(edges, (-1, 1), strict=False)]
    excess = [
        float(auc[out] - auc[edge]) / float(np.hypot(error[out], error[edge]))
        for edge, out in steps
        if 0 <= out < h.size
    ]
    better = max(excess, default=-math.inf)
    difference = float(auc[best]) - bank_auc
    return [
        statement(
            "e3.bandwidth_maximum",
            0.5 <= h[best] <= 2,
            value=float(h[best]),
            note=f"h/d_med of the largest mean AUC, {auc[best]:.4f}; near means a factor 2",
        ),
        statement(
            "e3.bandwidth_small",
            bool(best > 0 and np.all(np.diff(small) > 0)),
            value=float(small[0] - small[-1]),
            note=f"AUC at h/d_med = {h[0]:g} less its maximum, at {h[best]:g}; it must fall "
            "at every step between",
        ),
        statement(
            "e3.bandwidth_large",
            gain < 2 * float(error[best]),
            value=gain if math.isfinite(gain) else None,
            note="best AUC beyond 4 less the best up to 4; no improvement means below two errors "
            f"of {error[best]:.1g}",
        ),
        statement(
            "e3.bandwidth_brackets",
            bool(inside[best] and better < 2),
            value=float(h[best]),
            note="the best bandwidth; the AUC one step outside 0.25 to 4 is above that at the edge "
            f"by at most {better:.1f} errors",
        ),
        statement(
            "e3.bank_near_best",
            abs(difference) < close,
            value=difference,
            note=f"best single-scale AUC less the bank's {bank_auc:.4f}, means over draws of "
            f"features; close means {close:g}",
        ),
    ]


def measured_values(
    witness: pd.DataFrame, bandwidths: pd.DataFrame, sweep: pd.DataFrame, fits: pd.DataFrame
) -> dict[str, float]:
    """Return what the sample at hand gives, by the names of the draws' columns."""
    mixed = witness[witness["witness"] == "self-inclusive"].iloc[0]
    evaluation = witness[witness["sample"] == "evaluation"].iloc[0]
    law = fits[
        (fits["estimator"] == "pair") & (fits["form"] == "plain") & (fits["alpha_is"] == "fixed")
    ].iloc[0]
    values: dict[str, Any] = {
        "auc_witness": mixed["auc"],
        "sic_witness": mixed["sic"],
        "auc_evaluation": evaluation["auc"],
        "sic_evaluation": evaluation["sic"],
        "auc_single": bandwidths["auc"].max(),
        "C": law["C"],
    }
    for row in sweep.itertuples():
        name = Point(row.estimator, row.m, row.R).name
        values |= {f"auc_{name}": row.auc, f"sic_{name}": row.sic}
    return {name: float(value) for name, value in values.items()}
