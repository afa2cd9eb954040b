"""Experiment II: the studies behind its numbers and figures (sec. exp-zero-info).

A toy has one hidden location mu; the shared construction gives it to all signal events,
the independent control draws a new one for each. Streams are keyed by toy and size, so a
toy is the same whichever study asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from localizer.base import metrics
from localizer.base.checks import Array
from localizer.base.randomness import stream
from localizer.base.vocabulary import BATCH_ESTIMATORS
from localizer.estimators import batch_sums, batches, pair_forms, witness
from localizer.kernels.bank import GaussianBank, NormalBackground
from localizer.models import toys
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory import information, posterior, scaling

CONSTRUCTIONS = ("shared", "independent")


@dataclass(frozen=True)
class LatentModel:
    """The shared-latent Gaussian model, eq. latent-gaussian-model.

    Attributes
    ----------
    d, sigma_s, epsilon, h
        Features, spread of the signal about mu, signal fraction, kernel bandwidth.
    """

    d: int
    sigma_s: float
    epsilon: float
    h: float

    def given(self, mu: npt.ArrayLike) -> GaussianBenchmark:
        """Return the benchmark in which mu is known."""
        location = np.asarray(mu, dtype=float)
        return GaussianBenchmark(tuple(location), self.sigma_s, self.epsilon, self.h)

    def sample(self, rng: np.random.Generator, N: int, mu: Array | None) -> toys.Sample:
        """Draw N events that share ``mu``, or with a mu for each signal event if it is None."""
        if mu is not None:
            return toys.fixed_alternative(rng, N, self.given(mu))
        return toys.independent_latents(
            rng, N, d=self.d, sigma_s=self.sigma_s, epsilon=self.epsilon
        )

    @property
    def bank(self) -> GaussianBank:
        """The kernel."""
        return GaussianBank((self.h,))

    @property
    def background(self) -> NormalBackground:
        """The known background."""
        return NormalBackground(self.bank, self.d)

    def loo(self, x: Array) -> Array:
        """Return the exact leave-one-out witness, eq. loo-witness."""
        return witness.loo_witness(x, self.bank, self.background)


def latent(seed: int, toy: int, model: LatentModel) -> Array:
    """Return the hidden location of a toy, the same at every size."""
    rng = stream(seed, "experiment2", "mu", toy)
    return toys.latent_location(rng, d=model.d, sigma_s=model.sigma_s)


def toy_sample(
    seed: int, toy: int, construction: str, *, model: LatentModel, N: int
) -> toys.Sample:
    """Return the events of a toy in one of the two constructions."""
    mu = latent(seed, toy, model) if construction == "shared" else None
    return model.sample(stream(seed, "experiment2", construction, toy, N), N, mu)


def toy_row(seed: int, toy: int, *, model: LatentModel, N: int) -> dict[str, Any]:
    """Return the AUCs of a toy: known-mu scores, and the LOO witness in both constructions."""
    mu = latent(seed, toy, model)
    known = model.given(mu)
    shared = toy_sample(seed, toy, "shared", model=model, N=N)
    control = toy_sample(seed, toy, "independent", model=model, N=N)
    return {
        "toy": toy,
        "N": N,
        "mu_norm": float(np.linalg.norm(mu)),
        "auc_lr": metrics.auc(known.log_likelihood_ratio(shared.x), shared.labels),
        "auc_mmd": metrics.auc(known.witness(shared.x), shared.labels),
        "auc_loo": metrics.auc(model.loo(shared.x), shared.labels),
        "auc_independent": metrics.auc(model.loo(control.x), control.labels),
    }


def n_scan(table: pd.DataFrame) -> pd.DataFrame:
    """Return means over toys by N, the paired gap, and the recovered fraction in two forms.

    ``f_rec`` is the ratio of means, (mean AUC_LOO - 1/2) / (mean AUC_MMD - 1/2), with a
    jackknife error; ``f_rec_mean_of_ratios`` averages the toys' own ratios, which a toy with
    a small mu (and so a small denominator) can make arbitrarily wide.
    """
    rows = []
    for N, part in table.groupby("N", sort=True):
        n = len(part)
        row: dict[str, float] = {"N": int(N), "toys": n}
        columns = {
            **{name: part[name] for name in ("auc_lr", "auc_mmd", "auc_loo", "auc_independent")},
            "gap": part["auc_mmd"] - part["auc_loo"],
            "f_rec_mean_of_ratios": (part["auc_loo"] - 0.5) / (part["auc_mmd"] - 0.5),
        }
        for name, values in columns.items():
            row[name] = float(values.mean())
            row[f"{name}_error"] = float(values.std(ddof=1) / math.sqrt(n))
        numerator = (part["auc_loo"] - 0.5).to_numpy()
        denominator = (part["auc_mmd"] - 0.5).to_numpy()
        row["f_rec"], row["f_rec_error"] = ratio_of_means(numerator, denominator)
        rows.append(row)
    return pd.DataFrame(rows)


def ratio_of_means(numerator: Array, denominator: Array) -> tuple[float, float]:
    """Return mean(numerator) / mean(denominator) of paired toys, with a jackknife error."""
    n = len(numerator)
    value = float(numerator.mean() / denominator.mean())
    left_out = (numerator.sum() - numerator) / (denominator.sum() - denominator)
    return value, float(np.sqrt((n - 1) * np.var(left_out)))


# --- recovery by random batches ----------------------------------------------------------


def recovery_sample(
    seed: int, toy: int, construction: str, *, model: LatentModel, N: int, mu_norm: float
) -> tuple[toys.Sample, Array]:
    """Return a toy whose mu has the given length, and that mu.

    The independent control has the same prior for every event's own mu as always.
    """
    rng = stream(seed, "experiment2", "recovery", construction, toy)
    mu = toys.latent_location_of_norm(rng, mu_norm, d=model.d)
    return model.sample(rng, N, mu if construction == "shared" else None), mu


def pair_features(x: Array, model: LatentModel, *, tol: float) -> Array:
    """Return features whose products are q_B(x_i, x_j), each to ``tol``."""
    bank = model.bank
    # mu_B once, not once a column: this is q_B of eq. mmd-U-kernel
    embedding, K_BB = model.background.mean_embedding(x), model.background.K_BB
    diagonal = 1 - 2 * embedding + K_BB

    def column(j: int) -> Array:
        return np.asarray(bank(x, x[j : j + 1])[:, 0] - embedding - embedding[j] + K_BB)

    return pair_forms.factor(diagonal, column, tol=tol)


def recovery_targets(
    sample: toys.Sample, mu: Array, *, model: LatentModel, m: int, R: int, tol: float
) -> dict[str, float]:
    """Return the exact targets of a toy and the correlation predicted for its batch run.

    ``rho_<estimator>`` is the predicted correlation with the leave-one-out witness, from
    the toy's own spread of the witness and of the pair kernel.
    """
    loo = model.loo(sample.x)
    target = witness.pair_target(sample.x, model.bank, model.background)
    moments = scaling.moments_of_features(
        pair_features(sample.x, model, tol=tol), replacement=False
    )
    rho = metrics.correlation(target, loo)
    row = {
        "auc_mmd": metrics.auc(model.given(mu).witness(sample.x), sample.labels),
        "auc_loo": metrics.auc(loo, sample.labels),
        "auc_pair_target": metrics.auc(target, sample.labels),
        "rho_pair_target": rho,
        "variance_of_witness": float(target.var()),
        "C": moments.C,
    }
    for estimator in BATCH_ESTIMATORS:
        q = moments.q(estimator, m=m, R=R)
        row[f"rho_{estimator}"] = float(scaling.correlation(q)) * rho
    return row


def recovery_run(
    seed: int,
    toy: int,
    construction: str,
    sample: toys.Sample,
    *,
    model: LatentModel,
    m: int,
    R: Sequence[int],
    replacement: bool,
    group_size: int,
    tol: float,
) -> pd.DataFrame:
    """Run the batches of a toy and compare each estimator with the targets at each R."""
    loo = model.loo(sample.x)
    target = witness.pair_target(sample.x, model.bank, model.background)
    pairs = pair_forms.RoundedPairs(pair_features(sample.x, model, tol=tol))
    streams = partial(stream, seed, "experiment2", "batches", construction, toy)
    total: batch_sums.BatchSums | None = None
    rows = []
    for before, now in zip([0, *R], R, strict=False):
        more = batches.run(
            pairs,
            m=m,
            groups=batches.group_range(now, start=before, group_size=group_size),
            group_size=group_size,
            streams=streams,
            replacement=replacement,
        )
        total = more if total is None else total + more
        scores = batch_sums.scores(total)
        for estimator in BATCH_ESTIMATORS:
            values = getattr(scores, estimator)
            rows.append(
                {
                    **{"construction": construction, "toy": toy, "R": now, "estimator": estimator},
                    "auc": metrics.auc(values, sample.labels),
                    "rho": metrics.correlation(values, loo),
                    "rho_pair_target": metrics.correlation(values, target),
                }
            )
    return pd.DataFrame(rows)


def predicted_and_measured(
    targets: pd.DataFrame, runs: pd.DataFrame, estimator: str = "pair"
) -> pd.DataFrame:
    """Return, for each toy with a batch run, its predicted and its measured correlation."""
    last = runs[(runs["R"] == runs["R"].max()) & (runs["estimator"] == estimator)]
    merged = last.merge(targets, on=["construction", "toy"], suffixes=("", "_target"))
    return pd.DataFrame(
        {
            "construction": merged["construction"],
            "toy": merged["toy"],
            "predicted": merged[f"rho_{estimator}"],
            "measured": merged["rho"],
            "variance_of_witness": merged["variance_of_witness"],
        }
    )


def probability_of_order(targets: pd.DataFrame, column: str = "rho_pair") -> float:
    """Return the probability that an independent toy has the higher value than a shared one."""
    by_name: Mapping[str, Array] = {
        name: part[column].to_numpy() for name, part in targets.groupby("construction")
    }
    values = np.concatenate([by_name["shared"], by_name["independent"]])
    labels = np.arange(values.size) >= len(by_name["shared"])
    return metrics.auc(values, labels)


def most_typical(targets: pd.DataFrame, candidates: int) -> int:
    """Return the toy, among the first ``candidates``, with the most typical shared LOO AUC."""
    shared = targets[targets["construction"] == "shared"]
    distance = (shared["auc_loo"] - shared["auc_loo"].median()).abs()
    return int(shared.loc[distance[shared["toy"] < candidates].idxmin(), "toy"])


# --- what context can tell at best -------------------------------------------------------


def context_row(seed: int, toy: int, *, model: LatentModel, N: int) -> dict[str, Any]:
    """Return the contextual posterior's AUC in a toy, and its information in nats.

    The AUC is for the toy of :func:`toy_row`, whose class counts are fixed; so is
    ``fixed_*``. The information is for a toy of the same mu with independent labels,
    as the equations of sec. information assume.
    """
    mu = latent(seed, toy, model)
    options = {"epsilon": model.epsilon, "sigma_s": model.sigma_s}
    sample = toy_sample(seed, toy, "shared", model=model, N=N)
    score = posterior.contextual_log_ratio(sample.x, **options)
    rng = stream(seed, "experiment2", "independent labels", toy, N)
    free = information.information_row(toys.mixture(rng, N, model.given(mu)), mu, **options)
    fixed = information.information_row(sample.x, mu, learned=score, **options)
    return {
        "toy": toy,
        "N": N,
        "auc_context": metrics.auc(score, sample.labels),
        **{f"information_{name}": value for name, value in free.items()},
        **{f"fixed_{name}": value for name, value in fixed.items()},
    }


def context_numbers(seed: int, *, model: LatentModel, N: int) -> dict[str, float]:
    """Return the quadratures of sec. information in nats, and the error of the one over mu."""
    options = {"epsilon": model.epsilon, "sigma_s": model.sigma_s}
    x = toy_sample(seed, 0, "shared", model=model, N=N).x
    return {
        "companion_shared": information.companion_information(
            epsilon=model.epsilon, covariance=1 - model.sigma_s**2
        ),
        "oracle": information.oracle_information(**options),
        "grid_error": posterior.contextual_error(x, **options),
    }


def context_table(
    context: pd.DataFrame, toys: pd.DataFrame, numbers: Mapping[str, float]
) -> pd.DataFrame:
    """Return the means by N: AUCs of the same toys, informations, recovered fractions.

    ``f_information`` is the recovered fraction of the oracle's information, beside
    ``f_rec``, the recovered fraction of the witness's AUC in the same toys.
    """
    rows = []
    merged = context.merge(toys, on=["toy", "N"])
    for N, part in merged.groupby("N", sort=True):
        row: dict[str, float] = {"N": int(N), "toys": len(part)}
        for name in (
            *("auc_lr", "auc_mmd", "auc_context", "auc_loo"),
            *("information_oracle", "information_contextual", "information_expected"),
            *("information_gap", "fixed_contextual", "fixed_oracle"),
        ):
            row[name] = float(part[name].mean())
            row[f"{name}_error"] = float(part[name].std(ddof=1) / math.sqrt(len(part)))
        row["information_oracle_exact"] = numbers["oracle"]
        row["f_information"], row["f_information_error"] = information.recovered_fraction(
            part["information_contextual"], part["information_oracle"]
        )
        row["f_rec"], row["f_rec_error"] = ratio_of_means(
            (part["auc_loo"] - 0.5).to_numpy(), (part["auc_mmd"] - 0.5).to_numpy()
        )
        rows.append(row)
    return pd.DataFrame(rows)
