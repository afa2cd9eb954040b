"""Contribution and evidence on the LHC Olympics events: AUC and maximum SIC, with errors.

    PYTHONPATH=workflow .venv/bin/python tests/bench/evidence.py results/paper/lhco/samples.npz

The mixed sample of the edition against its reference, with scores from all pairs of events and
from random features; and mocks: random halves of all background events and of the reference's
number, with signal injected at random. The error of a mean over mocks is its spread over the root
of their number; that of the mixed sample is the spread itself.
"""

from __future__ import annotations

import argparse
from functools import partial

import numba
import numpy as np
import pandas as pd
from localizer.base import metrics
from localizer.base.randomness import stream
from localizer.comparison.problems import Pool, lhco
from localizer.own.recipe import Recipe, Streams
from localizer.own.score import score_events
from threadpoolctl import threadpool_limits

FLOORS = (10, 100, 300)


def rows(
    x: np.ndarray, y: np.ndarray, labels: np.ndarray, recipe: Recipe, streams: Streams
) -> dict:
    """Return AUC and maximum SIC of contribution and evidence."""
    scores = score_events(x, y, recipe, streams)
    found = {}
    for name, values in (("contribution", scores.loo), ("evidence", scores.studentized)):
        ranking = metrics.ranking(values, labels)
        found[name] = {"AUC": ranking.auc} | {
            f"SIC, {floor}": ranking.sic(floor=floor)[0] for floor in FLOORS
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", help="the samples as the rule lhco_samples leaves them")
    parser.add_argument("--mocks", type=int, default=8)
    parser.add_argument("--seed", type=int, default=20261116)
    words = parser.parse_args()
    samples = dict(np.load(words.samples))
    numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    streams = partial(stream, words.seed, "score")
    mixed = samples["mixed"], samples["reference"], samples["labels"]
    tables = {}
    with threadpool_limits(1, user_api="blas"):
        for method in ("exact", "rff"):
            for name, row in rows(*mixed, Recipe(method=method), streams).items():
                tables["mixed sample", method, name] = row
        pool = Pool.of(samples)
        mocks = []
        for number in range(words.mocks):
            problem = lhco(
                *(pool, words.seed, number),
                background=len(pool.background) // 2,
                reference=len(samples["reference"]) // 2,
                fraction=1.0,
            )
            found = rows(problem.sample, problem.reference, problem.labels, Recipe(), streams)
            mocks.append(pd.DataFrame(found).T)
            print(f"mock {number}", flush=True)
    for name in ("contribution", "evidence"):
        table = pd.DataFrame([mock.loc[name] for mock in mocks])
        tables["mean of mocks", "exact", name] = table.mean()
        tables["its error", "exact", name] = table.std() / np.sqrt(len(mocks))
        tables["spread of mocks", "exact", name] = table.std()
    gain = [mock.loc["evidence"] - mock.loc["contribution"] for mock in mocks]
    tables["gain in mocks", "exact", "evidence less contribution"] = pd.DataFrame(gain).mean()
    tables["its error", "exact", "evidence less contribution"] = pd.DataFrame(gain).std() / np.sqrt(
        len(mocks)
    )
    print(pd.DataFrame(tables).T.round(4).to_string())


if __name__ == "__main__":
    main()
