"""A generator that replaces the LHC Olympics events if they are not available (sec. exp-lhco).

Each kind of event (QCD, signal) is a Gaussian mixture in normal scores: a mixture draws z, and
x_k = Q_k(Phi(z_k)) with a tabulated quantile function Q_k for each of the five features. The
marginals are then right by construction and the mixture only has to model the dependence. The
parameters are fitted to the real events once and shipped as text; drawing needs nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from localizer.base import checks
from localizer.base.checks import Array

FEATURES = ("mJJ", "mJmin", "dmJ", "tau21_lighter", "tau21_heavier")
SIGNAL_REGION = (3.3, 3.7)
KINDS = ("qcd", "signal")
FORMAT = "localizer surrogate 1"


@dataclass(frozen=True, eq=False)
class Generator:
    """One kind of event: marginals and a mixture of d features.

    Parameters
    ----------
    levels
        Probabilities from 0 to 1, increasing.
    quantiles
        The features' values at ``levels``, shape (levels, d).
    weights
        The mixture's weights, which sum to one.
    means
        The components' means, shape (components, d).
    factors
        Their lower Cholesky factors, shape (components, d, d).
    """

    levels: Array
    quantiles: Array
    weights: Array
    means: Array
    factors: Array

    def __post_init__(self) -> None:
        levels = checks.vector(self.levels, "levels", minimum=2)
        if levels[0] != 0 or levels[-1] != 1 or not (np.diff(levels) > 0).all():
            raise ValueError("levels must increase from 0 to 1")
        quantiles = checks.points(self.quantiles, "quantiles")
        if len(quantiles) != len(levels):
            raise ValueError(
                f"quantiles must have one row for each of the {len(levels)} levels, "
                f"there are {len(quantiles)}"
            )
        if not (np.diff(quantiles, axis=0) >= 0).all():
            raise ValueError("quantiles must not decrease")
        weights = checks.vector(self.weights, "weights")
        if not (weights > 0).all() or abs(weights.sum() - 1) > 1e-9:
            raise ValueError("weights must be positive and sum to one")
        components, d = len(weights), quantiles.shape[1]
        means = checks.points(self.means, "means", d=d)
        factors = np.asarray(self.factors, dtype=np.float64)
        if len(means) != components or factors.shape != (components, d, d):
            raise ValueError(
                f"means and factors must describe {components} components of {d} features"
            )
        diagonal = np.diagonal(factors, axis1=1, axis2=2)
        lower = np.array_equal(factors, np.tril(factors))
        if not np.isfinite(factors).all() or not lower or not (diagonal > 0).all():
            raise ValueError("factors must be lower triangles with a positive diagonal")
        for name, array in (
            ("levels", levels),
            ("quantiles", quantiles),
            ("weights", weights),
            ("means", means),
            ("factors", factors),
        ):
            object.__setattr__(self, name, array)

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Return ``n`` independent events, shape (n, d).

        The same state of ``rng`` gives the same events.
        """
        count = checks.integer(n, "n")
        edges = np.cumsum(self.weights)[:-1]
        which = np.searchsorted(edges, rng.random(count), side="right")
        noise = rng.standard_normal((count, self.means.shape[1]))
        # Written out instead of a matrix product, whose last digits depend on BLAS threads.
        scores = self.means[which] + np.einsum("nij,nj->ni", self.factors[which], noise)
        uniform: Array = ndtr(scores)
        events = np.empty_like(uniform)
        for k in range(events.shape[1]):
            events[:, k] = np.interp(uniform[:, k], self.levels, self.quantiles[:, k])
        return events


@dataclass(frozen=True, eq=False)
class Surrogate:
    """The stand-in for the LHC Olympics sample: one generator for each kind of event.

    Parameters
    ----------
    generators
        The generators of ``"qcd"`` and ``"signal"``, each of the five :data:`FEATURES`.
    fitted
        Where the parameters come from, as recorded by the fit.
    """

    generators: Mapping[str, Generator]
    fitted: Mapping[str, Any]

    def __post_init__(self) -> None:
        if sorted(self.generators) != sorted(KINDS):
            raise ValueError(f"generators must be those of {' and '.join(KINDS)}")
        low, high = SIGNAL_REGION
        for kind, generator in self.generators.items():
            if generator.quantiles.shape[1] != len(FEATURES):
                raise ValueError(f"the generator of {kind} must have the features {FEATURES}")
            mass = generator.quantiles[:, 0]
            if not (low < mass[0] and mass[-1] < high):
                raise ValueError(f"mJJ of {kind} must lie between {low} and {high} TeV")

    def sample(self, rng: np.random.Generator, n: int, kind: str) -> Array:
        """Return ``n`` events of ``kind`` (``"qcd"`` or ``"signal"``), shape (n, 5).

        The columns are :data:`FEATURES`; masses are in TeV and mJJ lies strictly inside the
        signal region.
        """
        if kind not in KINDS:
            raise ValueError(f"kind must be {' or '.join(KINDS)}, not {kind!r}")
        return self.generators[kind].sample(rng, n)


def parse(text: str) -> Surrogate:
    """Return the surrogate whose parameters ``text`` holds, as :func:`dumps` writes them."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"the surrogate's parameters are not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"the surrogate's parameters must be of the format {FORMAT!r}")
    if content.get("features") != list(FEATURES):
        raise ValueError(f"the surrogate's features must be {', '.join(FEATURES)}")
    generators = {}
    for kind in KINDS:
        try:
            generators[kind] = _generator(content[kind])
        except KeyError as error:
            raise ValueError(f"the surrogate's parameters of {kind} lack {error}") from None
        except (TypeError, IndexError) as error:
            raise ValueError(
                f"the surrogate's parameters of {kind} are malformed: {error}"
            ) from None
        except ValueError as error:
            raise ValueError(f"the surrogate's parameters of {kind}: {error}") from None
    return Surrogate(generators, content.get("fitted", {}))


def dumps(surrogate: Surrogate) -> str:
    """Return the parameters of ``surrogate`` as JSON, one level or component a line.

    Eight significant digits: :func:`parse` of the text is the surrogate that is shipped.
    """
    lines = [
        "{",
        f' "format": {json.dumps(FORMAT)},',
        f' "features": {json.dumps(FEATURES)},',
        f' "fitted": {json.dumps(dict(surrogate.fitted), sort_keys=True)},',
    ]
    for kind in KINDS:
        generator = surrogate.generators[kind]
        triangle = np.tril_indices(len(FEATURES))
        tables = {
            "marginals": np.column_stack([generator.levels, generator.quantiles]),
            "mixture": np.column_stack(
                [
                    generator.weights,
                    generator.means,
                    generator.factors[:, triangle[0], triangle[1]],
                ]
            ),
        }
        body = [f'  "{name}": [\n{_rows(table)}\n  ]' for name, table in tables.items()]
        end = "" if kind == KINDS[-1] else ","
        lines.append(f' "{kind}": {{\n' + ",\n".join(body) + f"\n }}{end}")
    return "\n".join([*lines, "}", ""])


def _rows(table: Array) -> str:
    rows = ("   [" + ", ".join(f"{value:.8g}" for value in row) + "]" for row in table)
    return ",\n".join(rows)


def _generator(content: Mapping[str, Any]) -> Generator:
    d = len(FEATURES)
    triangle = np.tril_indices(d)
    marginals = checks.points(content["marginals"], "marginals", d=1 + d)
    mixture = checks.points(content["mixture"], "mixture", d=1 + d + len(triangle[0]))
    factors = np.zeros((len(mixture), d, d))
    factors[:, triangle[0], triangle[1]] = mixture[:, 1 + d :]
    weights = mixture[:, 0]
    total = weights.sum()
    if abs(total - 1) > 1e-6:
        raise ValueError(f"the weights must sum to one, they sum to {total:g}")
    return Generator(
        levels=marginals[:, 0],
        quantiles=marginals[:, 1:],
        # Rounded to the digits of the text, they miss one by a hair.
        weights=weights / total,
        means=mixture[:, 1 : 1 + d],
        factors=factors,
    )
