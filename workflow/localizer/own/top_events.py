"""Where the most responsible events of a sample lie: in each feature, and in pairs of features.

The score of an event is its contribution to the departure of the sample from the
reference (eq. localization); the events with the largest scores, as far as these are positive,
are called responsible here. Nothing in this module turns a score into a probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import ks_2samp

from localizer.base import checks, metrics
from localizer.base.checks import Array, IntArray
from localizer.base.randomness import subsample


def ranks(scores: npt.ArrayLike) -> IntArray:
    """Return the rank of every event, 1 for the largest score; equal scores in given order.

    Examples
    --------
    >>> ranks([0.1, 0.7, -1.0]).tolist()
    [2, 1, 3]
    """
    values = checks.vector(scores, "scores")
    order = np.argsort(-values, kind="stable")
    rank = np.empty(values.size, dtype=np.int64)
    rank[order] = np.arange(1, values.size + 1)
    return rank


def departures(scores: npt.ArrayLike) -> list[str]:
    """Say of every event whether the sample has an excess or a deficit there.

    >>> departures([0.1, -0.2, 0.0])
    ['excess', 'deficit', 'none']
    """
    return [_DEPARTURES[int(sign)] for sign in np.sign(checks.vector(scores, "scores"))]


_DEPARTURES = {1: "excess", -1: "deficit", 0: "none"}


def responsible(scores: pd.DataFrame, *, top: int) -> pd.DataFrame:
    """Return the events with the largest scores, by rank: at most ``top``, positive ones only.

    An event with a negative score lies where the sample has too few events, whatever its rank.
    The first event is always returned, so that there is one to look at.

    Parameters
    ----------
    scores
        Columns ``rank`` and ``departure``.
    """
    listed = (scores["rank"] <= top) & (scores["departure"] == "excess") | (scores["rank"] == 1)
    return scores[listed].sort_values("rank")


def deficits(scores: pd.DataFrame, *, top: int) -> pd.DataFrame:
    """Return the events with the lowest scores, lowest first: at most ``top``, negative ones only.

    They lie where the sample has too few events; where it has none at all, there is none to list.
    """
    listed = scores[scores["departure"] == "deficit"]
    return listed.sort_values("rank", ascending=False).head(top)


#: pairs among the features in which the responsible events stand out most
_PLANES_OF = 3


def portrait(
    scores: pd.DataFrame,
    events: pd.DataFrame,
    reference: npt.ArrayLike,
    *,
    names: Sequence[str],
    top: int,
    rng: np.random.Generator,
) -> dict[str, pd.DataFrame]:
    """Return the tables that tell which events are responsible and where they lie.

    Parameters
    ----------
    scores, events
        Of the sample, row by row; ``events`` has a column for each feature.
    names
        The features.
    top
        How many events are listed.
    rng
        Draws the events of the explorer, if there are too many.

    Returns
    -------
    dict
        ``top`` and ``deficits``, the events listed; ``features``, how far the former stand out in
        each; ``histograms``; ``fields``, the mean witness over pairs of features; and ``explorer``,
        the events that can be explored.
    """
    sample = events[list(names)].to_numpy()
    listed = responsible(scores, top=top)
    # positions, whatever the rows are called
    responsible_events = sample[scores["rank"].isin(listed["rank"]).to_numpy()]
    distances = features_by_distance(names, reference, responsible_events)
    # what tells most stands first, also where there are many columns
    features = events[distances["feature"].tolist()]
    chosen = distances["feature"][:_PLANES_OF].tolist()
    planes = list(combinations(chosen, 2)) or [(chosen[0], chosen[0])]
    fields = [field(events[x], events[y], scores["witness"]).assign(x=x, y=y) for x, y in planes]
    lists = {
        **{"top": listed, "deficits": deficits(scores, top=top)},
        "explorer": scores.iloc[drawn(scores["rank"], rng)],
    }
    return {
        **{kind: table.join(features.loc[table.index]) for kind, table in lists.items()},
        "features": distances,
        "histograms": histograms(names, reference=reference, sample=sample, top=responsible_events),
        "fields": pd.concat(fields, ignore_index=True),
    }


#: events that the explorer draws: a browser stays quick, and the page small
DRAWN, DRAWN_TOP = 20_000, 2_000


def drawn(
    rank: npt.ArrayLike, rng: np.random.Generator, *, most: int = DRAWN, top: int = DRAWN_TOP
) -> IntArray:
    """Return which events are drawn: those of the best ranks, and a random part of the others.

    Parameters
    ----------
    rank
        The rank of each event.
    rng
        Chooses among the others.
    most
        The number of events drawn; all of them if there are no more.
    top
        How many of them are the first by rank.

    Examples
    --------
    >>> drawn([2, 1, 4, 3], np.random.default_rng(1), most=4).tolist()
    [0, 1, 2, 3]
    """
    place = np.asarray(rank)
    if place.size <= most:
        return np.arange(place.size)
    others = np.flatnonzero(place > top)
    chosen = others[subsample(rng, others.size, most - top)]
    return np.sort(np.concatenate([np.flatnonzero(place <= top), chosen]))


def features_by_distance(
    names: Sequence[str], reference: npt.ArrayLike, top: npt.ArrayLike
) -> pd.DataFrame:
    """Return each feature's means and how far the responsible events are from the reference.

    ``distance`` is the Kolmogorov-Smirnov distance between the two in this feature alone;
    the table is sorted by it. ``shift`` is the difference of the means in standard
    deviations of the reference. Responsible events were chosen by their scores, so that
    neither is a test.
    """
    background = checks.points(reference, "reference")
    chosen = checks.points(top, "top", d=background.shape[1])
    if len(names) != background.shape[1]:
        raise ValueError(f"names must hold {background.shape[1]} names, it holds {len(names)}")
    mean, sigma = background.mean(axis=0), background.std(axis=0)
    where = chosen.mean(axis=0)
    table = pd.DataFrame(
        {
            "feature": list(names),
            "distance": [
                float(ks_2samp(one, other, method="asymp").statistic)
                for one, other in zip(chosen.T, background.T, strict=True)
            ],
            "reference_mean": mean,
            "responsible_mean": where,
            "shift": np.divide(
                where - mean,
                sigma,
                out=np.zeros_like(mean),
                where=np.ptp(background, axis=0) > 0,
            ),
        }
    )
    return table.sort_values("distance", ascending=False, kind="stable", ignore_index=True)


def histograms(
    names: Sequence[str],
    *,
    reference: npt.ArrayLike,
    sample: npt.ArrayLike,
    top: npt.ArrayLike,
    bins: int = 40,
) -> pd.DataFrame:
    """Return the density of every feature in the reference, the sample and its top events."""
    groups = {"reference": reference, "sample": sample, "responsible": top}
    tables = {kind: checks.points(events, kind) for kind, events in groups.items()}
    rows = []
    for k, name in enumerate(names):
        columns = {kind: events[:, k] for kind, events in tables.items()}
        both = np.concatenate([columns["reference"], columns["sample"]])
        edges = _edges(both, bins, always=columns["responsible"])
        for kind, x in columns.items():
            counts, _ = np.histogram(x, edges)
            rows.append(
                pd.DataFrame(
                    {
                        **{"feature": name, "kind": kind, "low": edges[:-1], "high": edges[1:]},
                        "density": counts / (len(x) * np.diff(edges)),
                    }
                )
            )
    return pd.concat(rows, ignore_index=True)


def field(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    scores: npt.ArrayLike,
    *,
    bins: int = 40,
) -> pd.DataFrame:
    """Return the mean score of the events in the cells of a plane, with their number.

    In two features this is the witness field itself; in more, its average over the
    events that project onto a cell.
    """
    one, other = checks.vector(x, "x"), checks.vector(y, "y", size=np.size(x))
    values = checks.vector(scores, "scores", size=one.size)
    edges = [_edges(axis, bins) for axis in (one, other)]
    count, *_ = np.histogram2d(one, other, bins=edges)
    total, *_ = np.histogram2d(one, other, bins=edges, weights=values)
    column, row = np.nonzero(count)
    return pd.DataFrame(
        {
            **{"x_low": edges[0][column], "x_high": edges[0][column + 1]},
            **{"y_low": edges[1][row], "y_high": edges[1][row + 1]},
            "events": count[column, row].astype(int),
            "score": total[column, row] / count[column, row],
        }
    )


def statistics_beside_witness(
    localized: pd.DataFrame, scores: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return other statistics' scores beside the witness, event by event and summed up.

    Parameters
    ----------
    localized
        Columns row (of ``scores``), statistic, and addition and raw with their errors.
    scores
        Columns event, loo and, where it is known, label.

    Returns
    -------
    tuple
        ``localized`` with the events' names and witness; and for each statistic its
        correlation with the witness, its errors, by what factor matching reduced the
        variance of raw (eq. addition-score), and its AUC where there is a label.
    """
    columns = [name for name in ("event", "loo", "label") if name in scores]
    beside = scores.loc[localized["row"], columns].reset_index(drop=True)
    table = pd.concat([beside, localized.reset_index(drop=True)], axis=1)
    summaries = []
    for name, part in table.groupby("statistic", sort=False):
        # a statistic that no event changes ranks none
        varies = np.ptp(part["addition"]) > 0
        summary = {
            "statistic": name,
            "events": len(part),
            "correlation_with_loo": metrics.correlation(part["addition"], part["loo"])
            if varies
            else np.nan,
            "spread": part["addition"].std(),
            "median_error": part["addition_error"].median(),
            "variance_raw_over_matched": (part["raw_error"] ** 2).mean()
            / (part["addition_error"] ** 2).mean(),
        }
        if "label" in part and part["label"].nunique() == 2:
            summary |= {
                "auc": metrics.auc(part["addition"], part["label"]) if varies else np.nan,
                "auc_of_loo": metrics.auc(part["loo"], part["label"]),
            }
        summaries.append(summary)
    return table, pd.DataFrame(summaries)


def _edges(values: Array, bins: int, always: Array | None = None) -> Array:
    """Return the edges of the bins between the outer hundredths, so that no tail sets an axis.

    A tail may be so heavy that its hundredth squashes the rest: the axis ends a few times the
    distance of the quartiles away from them. ``always`` are events of which nine in ten are to
    be seen, within the same bounds.
    """
    low, first, third, high = np.quantile(values, [0.01, 0.25, 0.75, 0.99])
    if always is not None:
        inner = np.quantile(always, [0.05, 0.95])
        low, high = min(low, inner[0]), max(high, inner[1])
    reach = _REACH * (third - first)
    if reach > 0:
        low, high = max(low, first - reach), min(high, third + reach)
    return np.asarray(np.histogram_bin_edges(values, bins=bins, range=(float(low), float(high))))


#: how far an axis reaches beyond the quartiles, in units of their distance
_REACH = 5.0
