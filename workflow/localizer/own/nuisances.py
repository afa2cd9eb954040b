"""A user's own data against a reference with variations: the profiled witness.

The estimators are in :mod:`localizer.estimators.profiled`. Coordinates and kernel are those of the
scores without profiling. Theta and scores are exact where all pairs of events can be visited;
p-values are always those of random features, data and draws alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from localizer.base import metrics
from localizer.base.checks import Array, BoolArray
from localizer.estimators import profiled, profiled_errors, profiled_null, templates
from localizer.estimators.templates import Template
from localizer.estimators.weights import Weights
from localizer.own.calibration import stated
from localizer.own.random_features import draw_features
from localizer.own.recipe import Recipe, Streams, choose
from localizer.own.top_events import ranks
from localizer.own.variations import Variation


@dataclass(frozen=True, eq=False)
class Nuisances:
    """What profiling finds.

    Attributes
    ----------
    scores
        For each event of the sample ``profiled`` (leave-one-out, the fit included), its
        ``profiled_error`` (fit and random features included), its ``profiled_rank``,
        and ``absorbed``, the part of a signal at this place that the variations would take up.
    table
        A row for each variation: theta, its error and pull, its prior's width, and ``told``, the
        part of its squared length that is more than noise.
    found
        Discrepancy before and after, p-values, the share that is explained, the method.
    """

    scores: pd.DataFrame
    table: pd.DataFrame
    found: dict[str, Any]

    @property
    def answer(self) -> str:
        """What is left of the departure, in a sentence."""
        p, largest = _p_values(self.found)
        return (
            f"Against the profiled reference what is left has {p}, and the largest score {largest}."
        )

    @property
    def said(self) -> list[str]:
        """What was profiled and what that means, in sentences."""
        return in_words(self.table, self.found)


def nuisances(
    sample: Array,
    reference: Array,
    variations: Sequence[Variation],
    recipe: Recipe,
    streams: Streams,
    *,
    draws: int,
    weights: Weights | None = None,
    label: Array | BoolArray | None = None,
) -> Nuisances:
    """Return the scores against the profiled reference, and how it came about.

    Parameters
    ----------
    streams
        As for the scores, and for ``multipliers`` and ``priors`` under ``nuisances``.
    draws
        Of the multiplier bootstrap behind the p-values.
    label
        0 or 1 for each event of the sample, only to measure how well the scores rank.
    """
    chosen = choose(sample, reference, recipe, streams)
    of_sample, of_reference = (weights.sample, weights.reference) if weights else (None, None)
    problem = templates.problem(
        Template(chosen.transform(sample), of_sample),
        Template(chosen.transform(reference), of_reference),
        [Template(chosen.transform(v.events), v.weights, v.same_events) for v in variations],
    )
    widths = [v.width for v in variations]
    features = draw_features(chosen.bank, sample.shape[1], recipe, streams)
    drawn = templates.by_features(problem, features)
    in_features = profiled.profile(drawn, widths=widths)
    events = sum(len(template.events) for template in problem)
    method = recipe.for_calibration(events, 0).method
    embeddings, fitted = drawn, in_features
    if method == "exact":
        embeddings = templates.exact(problem, chosen.bank)
        fitted = profiled.profile(embeddings, widths=widths)
    scored = profiled.scores(embeddings, fitted)
    error = profiled_errors.standard_errors(
        *(embeddings, fitted, chosen.bank, streams("nuisances", "companions")),
        companions=recipe.companions,
    )
    if method == "rff":
        of_features = profiled_errors.feature_errors(
            *(drawn, in_features, features), bandwidths=len(chosen.bank.bandwidths)
        )
        error = np.hypot(error, of_features)
    data = profiled_null.observed(drawn, in_features)
    null = profiled_null.null_draws(
        *(drawn, in_features, features, lambda *key: streams("nuisances", *key)), draws=draws
    )
    rank = ranks(scored.loo)
    found = {
        **{"method": method, "draws": draws, "before": fitted.before, "after": fitted.after},
        **{"share": fitted.share, "angle": fitted.angle},
        "p_value": profiled_null.p_value(data.discrepancy, null.discrepancy),
        "p_largest": profiled_null.p_value(data.largest, null.largest),
        "absorbed": float(scored.absorbed[rank <= 100].mean()),
    }
    if label is not None and np.unique(label).size == 2:
        found["auc"] = metrics.auc(scored.loo, label)
    columns = {
        **{"profiled": scored.loo, "profiled_error": error},
        **{"profiled_rank": rank, "absorbed": scored.absorbed},
    }
    return Nuisances(pd.DataFrame(columns), _table(variations, fitted), found)


def _table(variations: Sequence[Variation], fitted: profiled.Profile) -> pd.DataFrame:
    width = np.array([np.nan if v.width is None else v.width for v in variations])
    errors = fitted.errors
    scale = np.where(np.isnan(width), errors, width)
    return pd.DataFrame(
        {
            "variation": [v.name for v in variations],
            "events": ["the same" if v.same_events else "its own" for v in variations],
            "theta": fitted.theta,
            "error": errors,
            "width": width,
            "pull": np.divide(fitted.theta, scale, out=np.zeros_like(scale), where=scale > 0),
            "told": fitted.told,
        }
    )


def in_words(table: pd.DataFrame, found: dict[str, Any]) -> list[str]:
    """Return what was profiled and what that means, in sentences."""
    sizes = ", ".join(
        f"{row.variation} {row.theta:.2f} ± {row.error:.2f}" for row in table.itertuples()
    )
    p, largest = _p_values(found)
    said = [
        "The reference was replaced by the mixture of itself and its variations that is nearest "
        f"to the sample; in units of the variations as given it is moved by {sizes}.",
        f"The fit takes up {100 * found['share']:.0f} % of the squared difference from the "
        "reference as given, noise included; without the noise the squared MMD is "
        f"{found['before']:.3g} before and {found['after']:.3g} after. What is left has {p}, and "
        f"the largest profiled score {largest}.",
        "Profiled scores show where the sample departs from all such mixtures; a signal that "
        "looks like a variation is lost with it, at the places of the largest scores "
        f"{100 * found['absorbed']:.0f} % of its squared length, and an error of the reference "
        "that no variation describes still looks like a signal. A signal also moves the fitted "
        "sizes: they are those of the nearest mixture, not a calibration.",
    ]
    if found["method"] == "rff":
        said.append("Profiled scores are computed with random features; their errors include this.")
    if "auc" in found:
        said.append(
            f"Measured with the label, profiled scores rank with an AUC of {found['auc']:.3f}."
        )
    noisy = [row.variation for row in table.itertuples() if row.told < profiled.LEAST]
    if noisy:
        said.append(
            f"Too few events tell {' and '.join(noisy)} from noise: there theta is pulled towards "
            "the equal mixture, and only larger samples of these variations would help."
        )
    return said


def _p_values(found: dict[str, Any]) -> tuple[str, str]:
    """Return both p-values as they are written."""
    draws = found["draws"]
    return stated(found["p_value"], draws), stated(found["p_largest"], draws)
