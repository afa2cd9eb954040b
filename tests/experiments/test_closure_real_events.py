"""Closure on real events: half of the real reference is hidden and predicted from the rest.

The truth is what the hidden half gives as the reference of the real mixed sample. It must lie in
the predicted distribution where chance puts it, on the same draw of features. With LHCO_MIRROR set,

    PYTHONPATH=workflow:tests python tests/experiments/test_closure_real_events.py 10 199

prints the table of docs/verdicts.md: splits of the reference, predicted references for each.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from localizer.base.copula import BackgroundCDF, median_distance
from localizer.base.randomness import stream
from localizer.experiments import predicted_references
from localizer.experiments.experiment3 import Coordinates, Point, draw_bank
from localizer.experiments.witness_draws import draws_of_means, judged
from localizer.kernels.feature_products import plain_mean
from scipy import stats

MIRROR = Path(os.environ.get("LHCO_MIRROR", ""))
FILES = {
    "train": "innerdata_train.npy",
    "test": "innerdata_test.npy",
    "other": "separated_data/innerdata_test.npy",
}
real_events = pytest.mark.skipif(
    not MIRROR.name or not all((MIRROR / name).is_file() for name in FILES.values()),
    reason="the real events are needed: set LHCO_MIRROR to a directory that holds them",
)
BANK = {"bandwidths": [0.25, 0.5, 1, 2, 4], "features_per_bandwidth": 512}
POINTS = [
    Point("pair", 1000, 5_000_000),
    Point("pair", 20, 1_000_000),
    Point("raw", 1000, 5_000_000),
]
PUBLISHED_BACKGROUND = 340_000
FLOORS = [30, 10]


def real():
    """Return the mixed sample, its labels, 40000 other QCD events, and other signal."""
    columns = slice(1, 5)
    arrays = {name: np.load(MIRROR / path) for name, path in FILES.items()}
    mixed = np.concatenate([arrays["train"], arrays["test"]])
    other = arrays["other"]
    label = other[:, 5] == 1
    return mixed[:, columns], mixed[:, 5] == 1, other[~label, columns], other[label, columns]


def coordinates(cdf, mixed, labels, rest, signal):
    """Return the samples without the hidden events, in the coordinates of some background."""
    return Coordinates(
        mixed=cdf.transform(mixed),
        labels=labels,
        reference=cdf.transform(rest[::2]),
        evaluation_background=cdf.transform(rest[1::2]),
        evaluation_signal=cdf.transform(signal),
    )


def truths(split, *, draws):
    """Yield for both halves of a split of the reference: the truth, and what was predicted.

    The truth comes twice: in the coordinates of the background that is not hidden, in which the
    prediction is made, and as the author had it, in the coordinates of the reference itself.
    """
    mixed, labels, background, signal = real()
    order = stream(1, "closure", "split", split).permutation(len(background))
    for half in range(2):
        hidden, rest = background[order[half::2]], background[order[1 - half :: 2]]
        known = np.concatenate([mixed[~labels], rest])
        cdf = BackgroundCDF.of(known)
        sample = coordinates(cdf, mixed, labels, rest, signal)
        rng = stream(1, "closure", "features", split, half)
        d_med = median_distance(cdf.transform(known), rng).value
        features = draw_bank(d_med, rng=stream(1, "closure", "bank", split), **BANK)
        predicted = predicted_references.predicted_means(
            features,
            predicted_references.pool_of(sample),
            rng,
            n=len(hidden),
            draws=draws,
        )
        mean = plain_mean(features, cdf.transform(hidden))[None]
        true = predicted_references.PredictedMeans(mean)
        found = [
            judged(
                predicted_references.draws_of_predicted(
                    features,
                    sample,
                    means,
                    rng,
                    points=POINTS,
                    bandwidths=5,
                    published_background=PUBLISHED_BACKGROUND,
                ),
                sic_floor=100,
                floors=FLOORS,
            )
            for means in (true, predicted)
        ]
        own = BackgroundCDF.of(hidden)
        there = coordinates(own, mixed, labels, rest, signal)
        d_med = median_distance(own.transform(hidden), rng).value
        features = draw_bank(d_med, rng=stream(1, "closure", "bank", split), **BANK)
        author = judged(
            draws_of_means(
                features,
                there,
                plain_mean(features, own.transform(hidden))[None],
                rng,
                points=POINTS,
                bandwidths=5,
            ),
            sic_floor=100,
            floors=FLOORS,
        )
        yield found[0].iloc[0], author.iloc[0], found[1]


def places(splits, *, draws):
    """Return the truth of each half beside the predicted mean and spread, and its normal score."""
    rows = []
    for split in range(splits):
        for half, (true, author, predicted) in enumerate(truths(split, draws=draws)):
            for name in QUANTITIES:
                below = int((predicted[name] < true[name]).sum())
                spread = predicted[name].std(ddof=1)
                rows.append(
                    {
                        **{"split": split, "half": half, "quantity": name, "true": true[name]},
                        **{"author": author[name], "mean": predicted[name].mean()},
                        **{"spread": spread, "score": normal(below, draws)},
                        "score_author": normal(int((predicted[name] < author[name]).sum()), draws),
                    }
                )
    return pd.DataFrame(rows)


def normal(below, draws):
    """Return the normal score of a rank among draws."""
    return stats.norm.ppf((below + 0.5) / (draws + 1))


#: part of the variance of truth minus prediction that differs between splits of the same reference:
#: with w = 121352/141352 of the pool in the mixed sample, (2 - w)^2/40000 of 1/20000 + 1/141352
BETWEEN = (2 - 121_352 / 141_352) ** 2 / 40_000 / (1 / 20_000 + 1 / 141_352)
QUANTITIES = [
    *("auc_witness", "sic_witness", "sic_witness_floor_30", "sic_witness_floor_10"),
    *("auc_evaluation", "sic_evaluation", "C"),
    *(f"rho_{point.name}" for point in POINTS),
]


def summary(found):
    """Return for each quantity how the truths lie: mean and variance of their scores."""
    grouped = found.groupby("quantity", sort=False)
    return pd.DataFrame(
        {
            **{"true": grouped["true"].mean(), "predicted": grouped["mean"].mean()},
            "spread": grouped["spread"].mean(),
            "mean_score": grouped["score"].mean(),
            "variance": grouped["score"].var(ddof=0) / BETWEEN,
            "within_1": grouped["score"].apply(lambda score: np.mean(np.abs(score) < 1)),
            "largest": grouped["score"].apply(lambda score: np.abs(score).max()),
            "mean_score_author": grouped["score_author"].mean(),
            "within_1_author": grouped["score_author"].apply(lambda s: np.mean(np.abs(s) < 1)),
        }
    )


@pytest.mark.slow
@real_events
def test_the_hidden_half_lies_where_it_is_predicted():
    """The scores of both halves of five splits: their mean, and how far they differ.

    The mean is what all splits share: a normal number, of variance below 1. The two halves of a
    split lie on both sides of it, by numbers that are independent from split to split: the variance
    of the scores over the part that differs is a chi-square of five degrees of freedom over five. A
    false alarm in 1e-4 for each number.
    """
    found = summary(places(5, draws=99))
    low, high = stats.chi2.ppf([5e-5, 1 - 5e-5], 5) / 5
    print(found.to_string())
    assert found["mean_score"].abs().max() < stats.norm.ppf(1 - 5e-5)
    own = found[found.index.isin(["auc_witness", "auc_evaluation", "C", "rho_pair_m20_R1000000"])]
    assert own["variance"].between(low, high).all()


if __name__ == "__main__":
    pd.set_option("display.width", 200)
    table = places(int(sys.argv[1]), draws=int(sys.argv[2]))
    print(summary(table).round(4).to_string())
