"""What Experiment III found on its sample, one function a published id.

A value that depends on the reference sample (or on the draw of features) can be held against
the paper where the sample is the paper's own, or where the mixed sample is and the reference can
be predicted (:mod:`localizer.experiments.predicted_references`). Elsewhere it is shown as not
comparable, with the reason and with the rank that the published value has among surrogate samples
of the paper's sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from localizer.experiments.experiment3 import Point
from localizer.verdicts.board import (
    RANKED,
    Finding,
    Published,
    judge,
    realization,
    sigmas,
    statement,
)
from localizer.verdicts.registry import finding

SAMPLES = ("full",)
"""The editions whose samples are the paper's own; ``zenodo`` splits the same events anew."""


@finding("e3.dimension")
def dimension_of_features(dimension: int) -> Finding:
    """Return the size of the feature map."""
    return Finding(value=float(dimension), error=0.0)


@finding("e3.rff_cost")
def rff_cost(counts: pd.DataFrame, dimension: int) -> Finding:
    """Return the pairs of the exact sums over the products of random features."""
    N = int(counts[counts["sample"].str.startswith("mixed_")]["events"].sum())
    return statement(
        (N - 1) / (2 * dimension),
        note=f"pairs N (N-1)/2 over products N D at N = {N}, D = {dimension}: counted, not "
        "timed; it grows with N",
    )


@finding(
    *("e3.auc_witness", "e3.sic_witness", "e3.auc_evaluation", "e3.sic_evaluation"),
    *("e3.auc_single", "e3.C"),
    *(f"e3.auc_{name}_m1000_R5000000" for name in ("raw", "marginal", "pair")),
    *(f"e3.sic_{name}_m1000_R5000000" for name in ("raw", "marginal", "pair")),
    *(f"e3.sic_pair_m1000_R{R}00000" for R in (1, 2, 5, 10, 20)),
    "e3.sic_pair_m20_R1000000",
)
def of_one_sample(
    name: str,
    measured: Mapping[str, float],
    surrogates: pd.DataFrame,
    seeds: pd.DataFrame,
    published: Mapping[str, Published],
    edition: str,
) -> Finding | None:
    """Return a value that belongs to one sample and one draw of features.

    ``measured`` is what was found on the sample at hand, ``surrogates`` has draws of samples,
    references and features, ``seeds`` draws of features on the sample at hand.
    """
    column = name.removeprefix("e3.")
    if column not in surrogates:
        return None
    if is_predicted(surrogates):
        return predicted(published[name], surrogates, _readings(column, surrogates))
    note = _among_surrogates(published[name], column, surrogates)
    reasons = [f"edition {edition}: another reference sample"] if edition not in SAMPLES else []
    if column.startswith("sic_"):
        # with 100 background events kept the published 9.95 is rare, with 10 it is ordinary
        reasons.append("the author's floor of SIC is not stated, and it decides the verdict")
    here = realization(seeds[column])
    if not reasons:
        own = f"draws of features; with the sweeps' own {measured[column]:.6g}"
        return replace(here, note=f"{own}; {note}")
    return Finding(
        value=float(measured[column]),
        error=here.spread,
        n=len(seeds),
        note=f"error: spread over draws of features; {note}",
        not_comparable="; ".join(reasons),
    )


# --- helpers -------------------------------------------------------------------------------


def column_ids(columns: Iterable[str], published: Mapping[str, Published]) -> dict[str, str]:
    """Return the columns of the draws that have a published value, and its id."""
    return {column: f"e3.{column}" for column in columns if f"e3.{column}" in published}


def is_predicted(draws: pd.DataFrame) -> bool:
    """Return whether the draws are predicted references on the real mixed sample."""
    return bool((draws["source"] == "predicted").all())


def predicted(row: Published, draws: pd.DataFrame, readings: Mapping[str, str]) -> Finding:
    """Return the published value among predicted references, by the strictest of its readings.

    Draws that share their features are not independent. They are ranked if they are worth as
    many independent ones as a rank asks for; otherwise the published value has a pull.

    Parameters
    ----------
    readings
        What each reading is called, by its column of the draws.
    """
    judged = []
    for column, words in readings.items():
        n = int(_independent(draws, column))
        ours = realization(draws[column])
        ours = replace(ours, n=n, draws=ours.draws if n >= RANKED else ())
        judged.append((ours, judge(row, ours), words))
    strictest, _, reading = max(judged, key=lambda each: sigmas(each[1]))
    others = [
        f"{words}: {found.value:.4g} +- {found.spread:.2g}, {rank['measure']} {rank['value']:.2g}"
        for found, rank, words in judged
        if words != reading
    ]
    return replace(
        strictest,
        note="; ".join(
            filter(
                None,
                (
                    f"{len(draws)} references predicted on the real mixed sample, worth about "
                    f"{strictest.n} independent draws; labels serve to predict the missing file, "
                    "not to score",
                    reading,
                    *others,
                ),
            )
        ),
    )


def _readings(column: str, draws: pd.DataFrame) -> dict[str, str]:
    """Return the columns that read a published value, and what each is called.

    The author's floor of SIC is not stated, so a SIC has one for each floor.
    """
    if not column.startswith("sic_"):
        return {column: ""}
    floors = {
        name: name.rpartition("_")[2] for name in draws if name.startswith(f"{column}_floor_")
    }
    return {
        column: "SIC with the floor of this run",
        **{name: f"with a floor of {floor} background events" for name, floor in floors.items()},
    }


def _among_surrogates(row: Published, column: str, surrogates: pd.DataFrame) -> str:
    """Return the rank of the published value among surrogate samples of the paper's sizes."""
    ours = realization(surrogates[column])
    rank = judge(row, ours)
    samples = surrogates["sample_number"].nunique()
    return (
        f"{rank['measure']} {rank['value']:.3g} among {len(surrogates)} surrogate draws, "
        f"{samples} samples and feature maps with {len(surrogates) // samples} references "
        f"each, worth about {_independent(surrogates, column):.0f} independent ones "
        f"({ours.value:.5g} +- {ours.spread:.2g})"
    )


def _independent(draws: pd.DataFrame, column: str) -> float:
    """Return how many independent draws those in groups of one sample are worth.

    n / (1 + (k - 1) r), with k draws a sample and r the correlation of two of them.
    """
    groups = draws.groupby(["sample_number", "map_number"])[column]
    k = len(draws) / groups.ngroups
    if k <= 1 or groups.ngroups < 2:
        return float(len(draws))
    within = float(groups.var(ddof=1).mean())
    between = float(groups.mean().var(ddof=1)) - within / k
    r = max(between, 0.0) / (max(between, 0.0) + within)
    return float(len(draws) / (1 + (k - 1) * r))


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
        "auc_single": bandwidths.groupby("bandwidth")["auc"].mean().max(),
        "C": law["C"],
    }
    for row in sweep.itertuples():
        name = Point(row.estimator, row.m, row.R).name
        values |= {f"auc_{name}": row.auc, f"sic_{name}": row.sic}
    return {name: float(value) for name, value in values.items()}
