"""Fit the parameters of the surrogate to the real events; run by hand, its result is shipped.

    python workflow/scripts/fit_surrogate.py <directory with the events> <parameters.json>

The directory is laid out as the registry's paths are. The fit needs scikit-learn; drawing
from the surrogate does not. About ten minutes on one core.
"""

import argparse
from pathlib import Path

import _packages
import numpy as np
from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.lhco.samples import read_table
from localizer.lhco.surrogate import FEATURES, Generator, Surrogate, dumps
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

COMPONENTS = {"qcd": 40, "signal": 60}
NODES = 301
TOLERANCE = 5e-6
SEED = 1


def events_of(folder: Path) -> dict[str, Array]:
    """Return every labelled event that the public files hold, by kind."""
    mixed = np.concatenate(
        [read_table(folder / name) for name in ("innerdata_train.npy", "innerdata_test.npy")]
    )
    extra = read_table(folder / "separated_data/innerdata_test.npy")
    # The signal of that file is the beginning of this one.
    signal = read_table(folder / "innerdata_extrasig.npy")
    parts = {
        "qcd": [mixed[mixed[:, -1] == 0], extra[extra[:, -1] == 0]],
        "signal": [mixed[mixed[:, -1] == 1], signal],
    }
    return {kind: np.concatenate(tables)[:, : len(FEATURES)] for kind, tables in parts.items()}


def normal_levels(n: int, nodes: int) -> Array:
    """Return levels from 0 to 1, evenly spaced in normal scores between 1/n and 1 - 1/n.

    They are dense in the tails, where a feature's quantile function bends most.
    """
    edge = ndtri(1 / n)
    return np.concatenate([[0.0], ndtr(np.linspace(edge, -edge, nodes - 2)), [1.0]])


def fit(
    events: Array,
    rng: np.random.Generator,
    *,
    components: int,
    nodes: int = NODES,
    tolerance: float = TOLERANCE,
) -> Generator:
    """Fit one kind of event.

    The mixture is fitted to the normal scores of each feature's mid-ranks. EM must run well
    beyond the usual tolerance: the few QCD events that look like signal move last, and the
    largest SIC rests on them.
    """
    scores = ndtri((rankdata(events, axis=0) - 0.5) / len(events))
    mixture = GaussianMixture(
        components,
        tol=tolerance,
        max_iter=1000,
        reg_covar=1e-5,
        random_state=int(rng.integers(2**31)),
    ).fit(scores)
    order = np.argsort(-mixture.weights_, kind="stable")
    levels = normal_levels(len(events), nodes)
    return Generator(
        levels=levels,
        quantiles=np.quantile(events, levels, axis=0),
        weights=mixture.weights_[order] / mixture.weights_.sum(),
        means=mixture.means_[order],
        factors=np.linalg.cholesky(mixture.covariances_[order]),
    )


def main(folder: Path, output: Path) -> None:
    """Fit both kinds to the events in ``folder`` and write the parameters to ``output``."""
    events = events_of(folder)
    # With more threads the last digits, and after hundreds of steps of EM more, would vary.
    with threadpool_limits(1):
        generators = {
            kind: fit(table, stream(SEED, "surrogate", kind), components=COMPONENTS[kind])
            for kind, table in events.items()
        }
    fitted = {
        "by": "workflow/scripts/fit_surrogate.py",
        "to": "LHC Olympics 2020 R&D events in the signal region (CC-BY-4.0), see registry.csv",
        "events": {kind: len(table) for kind, table in events.items()},
        "seed": SEED,
        "tolerance": TOLERANCE,
    }
    output.write_text(dumps(Surrogate(generators, fitted)), encoding="utf-8")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("output", type=Path)
    given = arguments.parse_args()
    main(given.folder, given.output)
