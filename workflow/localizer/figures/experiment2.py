"""The figures of Experiment II (sec. exp-zero-info)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from localizer.figures import style


@contextmanager
def nscan(scan: pd.DataFrame) -> Iterator[Figure]:
    """Draw the mean AUCs and the recovered fraction against the ensemble size."""
    with style.canvas(2) as (figure, (left, right)):
        # nearly on top of each other: an open square about a point
        about = {"markerfacecolor": "none", "markersize": 5.5}
        for column, series, label, look in (
            ("auc_lr", "likelihood ratio", "likelihood ratio, $\\mu$ known", {"markersize": 2.5}),
            ("auc_mmd", "population witness", "MMD witness, $\\mu$ known", about),
            ("auc_loo", "LOO witness", "LOO witness, shared $\\mu$", {}),
            ("auc_independent", "independent", "LOO witness, independent $\\mu_i$", {}),
        ):
            style.trend(left, scan, "N", column, series=series, label=label, **look)
        left.axhline(0.5, color=style.GREY, linewidth=0.7)
        left.set_ylabel("mean AUC")
        left.set_ylim(0.45, 0.95)
        left.legend(loc="center right", bbox_to_anchor=(1, 0.3))
        style.points(
            right,
            scan["N"],
            scan["f_rec"],
            scan["f_rec_error"],
            series="LOO witness",
            label="ratio of means",
        )
        style.points(
            right,
            scan["N"] * 1.06,
            scan["f_rec_mean_of_ratios"],
            scan["f_rec_mean_of_ratios_error"],
            series="population witness",
            label="mean of ratios",
            markerfacecolor="none",
        )
        right.axhline(1, color=style.GREY, linewidth=0.7)
        right.set_ylabel("recovered fraction $f_{\\rm rec}$")
        right.legend(loc="lower right")
        for panel in (left, right):
            style.decades(panel, "x", scan["N"])
            panel.set_xlabel("events $N$")
        yield figure


@contextmanager
def marginal_recovery(typical: pd.DataFrame, runs: pd.DataFrame) -> Iterator[Figure]:
    """Draw the AUC of the batch estimators against R in the typical toy, and over toys."""
    pair = runs[runs["estimator"] == "pair"].groupby(["construction", "R"])["auc"]
    mean, spread, toys = pair.mean(), pair.std(ddof=1), pair.count().min()
    with style.canvas(2, height=2.9) as (figure, panels):
        for panel, construction, title in zip(
            panels,
            ("shared", "independent"),
            ("shared $\\mu$", "independent $\\mu_i$ (control)"),
            strict=True,
        ):
            part = typical[typical["construction"] == construction]
            exact = part.iloc[0]
            middle, width = mean[construction], spread[construction]
            panel.fill_between(
                middle.index,
                middle - width,
                middle + width,
                color=style.GREY,
                alpha=0.2,
                linewidth=0,
                label=f"pair, {toys} toys: {middle.iloc[-1]:.3f}$\\,\\pm\\,${width.iloc[-1]:.3f}",
            )
            loo = exact["auc_loo_exact"]
            panel.axhline(loo, color=style.VERMILION, label=f"LOO witness {loo:.3f}")
            if construction == "shared":
                known, words = exact["auc_mmd_exact"], f"$\\mu$ known {exact['auc_mmd_exact']:.3f}"
            else:
                known, words = 0.5, "chance"
            panel.axhline(known, color=style.GREY, linestyle="--", label=words)
            for estimator, shift in (("raw", 0.94), ("marginal", 1.0), ("pair", 1.06)):
                here = part[part["estimator"] == estimator]
                style.points(
                    panel,
                    here["R"] * shift,
                    here["auc"],
                    series=estimator,
                    linestyle=style.SERIES[estimator]["linestyle"],
                    linewidth=0.6,
                    label=f"{estimator} {here['auc'].iloc[-1]:.3f}",
                )
            panel.set_xscale("log")
            panel.set_xlabel("batches $R$")
            panel.set_title(title)
            panel.set_ylabel("AUC")
            # below the axes, where it hides nothing; numbers are those at the largest R
            panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
        yield figure


@contextmanager
def auc_by_mu(toys: pd.DataFrame, N: int) -> Iterator[Figure]:
    """Draw the AUC of every toy against the length of its hidden location."""
    part = toys[toys["N"] == N].sort_values("mu_norm")
    with style.canvas() as (figure, axes):
        axes.axhline(0.5, color=style.GREY, linewidth=0.7)
        for column, series, label in (
            ("auc_independent", "independent", "LOO, independent $\\mu_i$"),
            ("auc_loo", "LOO witness", "LOO, shared $\\mu$"),
            ("auc_lr", "likelihood ratio", "likelihood ratio, $\\mu$ known"),
        ):
            style.points(
                axes, part["mu_norm"], part[column], series=series, label=label, markersize=1.6
            )
        axes.set_xlabel("length of the hidden location $\\|\\mu\\|$")
        axes.set_ylabel("AUC of a toy")
        axes.set_title(f"$N={N}$, {len(part)} toys")
        # below the axes, where it hides nothing
        axes.legend(markerscale=2, loc="upper center", bbox_to_anchor=(0.5, -0.18))
        yield figure


@contextmanager
def recovery_ensemble(correlations: pd.DataFrame, targets: pd.DataFrame) -> Iterator[Figure]:
    """Draw the predicted against the measured correlation, and its spread over toys."""
    looks = {"shared": "signal", "independent": "background"}
    with style.canvas(2) as (figure, (left, right)):
        lowest = min(correlations["predicted"].min(), correlations["measured"].min())
        left.plot([lowest, 1], [lowest, 1], color=style.GREY, linewidth=0.8)
        edges = np.linspace(targets["rho_pair"].min(), 1, 40)
        for construction, series in looks.items():
            part = correlations[correlations["construction"] == construction]
            style.points(
                left,
                part["predicted"],
                part["measured"],
                series=series,
                label=f"{construction}, {len(part)} toys with batches",
                markersize=2.5,
            )
            every = targets[targets["construction"] == construction]["rho_pair"]
            right.hist(
                every,
                bins=edges,
                histtype="step",
                color=style.SERIES[series]["color"],
                linestyle="-" if construction == "shared" else "--",
                label=f"{construction}, median {every.median():.4f}",
            )
        left.set_xlabel("predicted $\\rho$ of the pair estimator")
        left.set_ylabel("measured $\\rho$")
        left.legend(loc="upper left")
        right.set_xlabel("predicted $\\rho$ of the pair estimator")
        right.set_ylabel("toys")
        right.legend(loc="upper left")
        yield figure


@contextmanager
def context(context: pd.DataFrame) -> Iterator[Figure]:
    """Draw the contextual posterior beside the LOO witness and the oracle, in AUC and nats."""
    with style.canvas(2, height=3.1) as (figure, (left, right)):
        for column, series, label in (
            ("auc_lr", "likelihood ratio", "oracle: $\\mu$ known"),
            ("auc_context", "posterior", "contextual posterior"),
            ("auc_loo", "LOO witness", "LOO witness"),
        ):
            style.trend(left, context, "N", column, series=series, label=label)
        left.axhline(0.5, color=style.GREY, linewidth=0.7)
        left.set_ylabel("mean AUC")
        right.axhline(
            context["information_oracle_exact"].iloc[0],
            color=style.BLACK,
            linewidth=0.9,
            label="oracle, exact: $I(Z;\\mu|X_i)$",
        )
        for column, series, label in (
            ("information_oracle", "likelihood ratio", "oracle, same toys"),
            ("information_contextual", "posterior", "context: $I(Z;X_{-i}|X_i)$"),
            ("information_gap", "independent", "gap: $I(Z;\\mu|X_i,X_{-i})$"),
        ):
            style.trend(right, context, "N", column, series=series, label=label)
        right.set_ylabel("information on the class [nat]")
        right.set_ylim(0, None)
        for panel in (left, right):
            style.decades(panel, "x", context["N"])
            panel.set_xlabel("events $N$")
            # below the axes, where it hides nothing
            panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
        yield figure
