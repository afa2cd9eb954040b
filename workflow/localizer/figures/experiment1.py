"""The figures of Experiment I (sec. exp-known-signal).

Each function takes the tables that are saved next to the figure as csv files, and yields the
figure. The figure is closed when the caller is done with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from localizer.figures import style

#: the paper's marginal estimator is the one by addition
_MARGINAL = {"addition": "marginal (addition)", "replacement": "marginal (replacement)"}


@contextmanager
def resampled_analytic(scores: pd.DataFrame) -> Iterator[Figure]:
    """Draw the resampled scores against G_m(x), and their pulls below."""
    with style.canvas(rows=2, height=1.9, heights=(2.2, 1)) as (figure, (above, below)):
        unit = 1e3
        error = np.sqrt(scores["raw_variance"] / scores["contexts"])
        ends = np.array([scores["G"].min(), scores["G"].max()]) * unit
        above.plot(ends, ends, color=style.GREY, linewidth=0.9, label="$\\hat G = G_m$")
        below.axhline(0, color=style.GREY, linewidth=0.9)
        for series, chosen in (("background", ~scores["signal"]), ("signal", scores["signal"])):
            part, bar = scores[chosen], error[chosen]
            x = part["G"] * unit
            style.points(above, x, part["raw"] * unit, bar * unit, series=series)
            style.points(below, x, (part["raw"] - part["G"]) / bar, series=series)
        below.sharex(above)
        above.tick_params(labelbottom=False)
        m, R = int(scores["m"].iloc[0]), int(scores["contexts"].iloc[0])
        above.set_title(f"$m={m}$, $R={R}$ contexts for each event")
        above.set_ylabel("resampled $\\hat G(x)\\ [10^{-3}]$")
        below.set_xlabel("analytic $G_m(x)\\ [10^{-3}]$")
        below.set_ylabel("pull")
        above.legend()
        yield figure


@contextmanager
def resampling(scaling: pd.DataFrame) -> Iterator[Figure]:
    """Draw the RMS residual of the resampled scores against R, on the exact line."""
    with style.canvas() as (figure, axes):
        R = scaling["contexts"]
        axes.plot(R, scaling["rms_exact"], color=style.GREY, label="exact, $\\propto R^{-1/2}$")
        style.points(axes, R, scaling["rms"], scaling["rms_error"], series="raw", label="resampled")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("contexts $R$")
        axes.set_ylabel("RMS of $\\hat G - G_m$ over events")
        axes.legend()
        yield figure


@contextmanager
def roc(curves: pd.DataFrame) -> Iterator[Figure]:
    """Draw the ROC curves of one toy."""
    with style.canvas(height=3.1) as (figure, axes):
        axes.plot([0, 1], [0, 1], color=style.GREY, linewidth=0.7)
        for series, part in curves.groupby("score", sort=False):
            label = f"{series}, AUC {part['auc'].iloc[0]:.3f}"
            style.curve(
                axes,
                part["eps_B"],
                part["eps_S"],
                series=str(series),
                label=label,
                drawstyle="steps-post",
            )
        axes.set_xlabel("background efficiency $\\epsilon_B$")
        axes.set_ylabel("signal efficiency $\\epsilon_S$")
        axes.set_title(f"toy {int(curves['toy'].iloc[0])}: nearest to the median AUCs")
        axes.legend(loc="lower right")
        yield figure


@contextmanager
def loo_auc(toys: pd.DataFrame) -> Iterator[Figure]:
    """Draw the AUC of each score over all toys, and the loss of LOO toy by toy."""
    with style.canvas(2) as (figure, (left, right)):
        edges = np.linspace(
            min(toys["auc_loo"].min(), 0.9), max(toys[["auc_lr", "auc_mmd"]].max()), 45
        )
        for series, column in (
            ("likelihood ratio", "auc_lr"),
            ("population witness", "auc_mmd"),
            ("LOO witness", "auc_loo"),
        ):
            look = style.SERIES[series]
            left.hist(
                toys[column],
                bins=edges,
                histtype="step",
                color=look["color"],
                linestyle=look["linestyle"],
                label=f"{series}, mean {toys[column].mean():.4f}",
            )
        left.set_yscale("log")
        left.set_xlabel("AUC")
        left.set_ylabel("toys")
        left.legend(loc="upper left")
        style.points(right, toys["auc_mmd"], toys["auc_loo"], series="LOO witness", markersize=2)
        right.plot(edges[[0, -1]], edges[[0, -1]], color=style.GREY, linewidth=0.7)
        span = toys["auc_mmd"].min() - 0.003, toys["auc_mmd"].max() + 0.003
        right.set_xlim(*span)
        right.set_xlabel("AUC of the population witness")
        right.set_ylabel("AUC of the LOO witness")
        worst = toys.loc[toys["auc_loo"].idxmin()]
        right.annotate(
            f"worst of {len(toys)}: {worst['auc_loo']:.3f}",
            (worst["auc_mmd"], worst["auc_loo"]),
            xytext=(6, 2),
            textcoords="offset points",
            fontsize=7,
        )
        yield figure


@contextmanager
def residual_field(field: pd.DataFrame, mean: Sequence[float], sigma_s: float) -> Iterator[Figure]:
    """Draw the empirical minus the population witness over the plane."""
    with style.canvas(2, height=2.9) as (figure, axes):
        side = round(np.sqrt(len(field)))
        x, y = (field[name].to_numpy().reshape(side, side) for name in ("x", "y"))
        population = field["population"].to_numpy().reshape(side, side)
        empirical = field["empirical"].to_numpy().reshape(side, side)
        limit = max(np.abs(population).max(), np.abs(empirical).max())
        for panel, values, title in (
            (axes[0], empirical, "empirical witness $\\hat w_N$"),
            (axes[1], empirical - population, "residual $\\hat w_N - w_P$"),
        ):
            colours = panel.pcolormesh(
                x, y, values * 1e3, cmap="RdBu_r", vmin=-limit * 1e3, vmax=limit * 1e3
            )
            levels = np.linspace(-limit, limit, 13) * 1e3
            panel.contour(x, y, values * 1e3, levels=levels, colors="black", linewidths=0.3)
            for sign, dash in ((1, "-"), (-1, "--")):
                centre = (sign * mean[0], sign * mean[1])
                panel.add_patch(Circle(centre, 2 * sigma_s, fill=False, linestyle=dash))
            panel.set_aspect("equal")
            panel.grid(visible=False)
            panel.set_title(title)
            panel.set_xlabel("$x_1$")
        axes[0].set_ylabel("$x_2$")
        figure.colorbar(colours, ax=axes, label="$10^{-3}$", shrink=0.85)
        yield figure


@contextmanager
def mscan(
    points: pd.DataFrame,
    curve: pd.DataFrame,
    targets: pd.DataFrame,
    toys: pd.DataFrame,
    published: pd.DataFrame,
    m: int,
) -> Iterator[Figure]:
    """Draw the class separation and the relative error of raw against m.

    A toy's separation at one m fixes it at every other (eq. exp1-G), so ``toys`` holds that at
    the batch size ``m`` alone.
    """
    raw = points[points["estimator"] == "raw"]
    with style.canvas(2, height=2.9) as (figure, (left, right)):
        left.plot(targets["m"], targets["class_separation"], color=style.GREY, label="exact")
        style.points(
            left,
            raw["m"] * 0.95,
            raw["separation"],
            raw["separation_error"],
            series="raw",
            label="forced inclusion",
        )
        style.points(
            left,
            raw["m"] * 1.05,
            toys["delta_G"].mean() * m / raw["m"],
            toys["delta_G"].std(ddof=1) * m / raw["m"],
            series="background",
            label=f"{len(toys)} pseudoexperiments, RMS",
            markerfacecolor="none",
        )
        left.set_yscale("log")
        left.set_ylabel("class separation $\\Delta G_m$")
        left.legend()

        right.plot(curve["m"], curve["raw"], color=style.GREY, label="exact")
        style.curve(
            right,
            curve["m"],
            curve["raw_second"],
            series="pair",
            label="second order (near-degenerate)",
        )
        style.points(
            right, raw["m"], raw["relative_rms"], raw["error"], series="raw", label="Monte Carlo"
        )
        printed = _relative_errors(published)
        style.points(
            right,
            printed.index,
            printed,
            series="signal",
            label="published",
            markerfacecolor="none",
            markersize=5,
        )
        best = curve.loc[curve["raw"].idxmin()]
        for at, value, word, place in (
            (int(best["m"]), best["raw"], "exact", (-12, 22)),
            # between the curves
            (printed.idxmin(), printed.min(), "published", (45, -10)),
        ):
            right.annotate(
                f"{word} minimum: $m={at}$",
                (at, value),
                xytext=place,
                textcoords="offset points",
                ha="center",
                fontsize=6,
                arrowprops={"arrowstyle": "-", "linewidth": 0.6},
            )
        # the whole U; its first-order part alone, far below, is in the csv beside the figure
        span = curve["raw"].min(), max(curve["raw"].max(), raw["relative_rms"].max())
        right.set_ylim(span[0] - 0.3 * (span[1] - span[0]), span[1] + 0.3 * (span[1] - span[0]))
        right.set_ylabel("RMS error of raw / $\\Delta G_m$")
        right.set_title(f"$R={int(raw['contexts'].iloc[0])}$ contexts for each probe")
        right.legend(loc="upper center")
        for panel in (left, right):
            style.decades(panel, "x", raw["m"])
            panel.set_xlabel("batch size $m$")
        yield figure


def _relative_errors(published: pd.DataFrame) -> pd.Series:
    """Return the printed relative errors of raw by m."""
    rows = published[published["id"].str.fullmatch(r"e1\.relative_rms_\d+")]
    sizes = rows["id"].str.rpartition("_")[2].astype(int)
    return pd.Series(rows["value"].astype(float).to_numpy(), index=sizes.to_numpy())


@contextmanager
def marginal_pair(points: pd.DataFrame, curve: pd.DataFrame) -> Iterator[Figure]:
    """Draw the relative errors of the estimators and their variance ratios to raw."""
    with style.canvas(2) as (figure, (left, right)):
        by_name = {str(name): part for name, part in points.groupby("estimator")}
        raw = by_name["raw"].set_index("m")["relative_rms"]
        for name in ("raw", "addition", "replacement", "pair"):
            part = by_name[name]
            look = {"series": name, "label": _MARGINAL.get(name, name)}
            style.curve(left, curve["m"], curve[name], series=name, label=None)
            style.points(left, part["m"], part["relative_rms"], part["error"], **look)
            if name != "raw":
                exact = (curve[name] / curve["raw"]) ** 2
                style.curve(right, curve["m"], exact, series=name, label=None)
                ratio = (part.set_index("m")["relative_rms"] / raw) ** 2
                style.points(right, ratio.index, ratio, **look)
        m = curve["m"]
        left.plot(
            m,
            0.62 * curve["pair"].iloc[0] * np.sqrt(m.iloc[0] / m),
            color=style.GREY,
            linewidth=0.7,
            label="$\\propto m^{-1/2}$",
        )
        right.plot(
            m,
            0.5 * (curve["pair"] / curve["raw"]).iloc[0] ** 2 * m.iloc[0] / m,
            color=style.GREY,
            linewidth=0.7,
            label="$\\propto m^{-1}$",
        )
        left.set_ylabel("RMS error / $\\Delta G_m$")
        left.set_title(f"$R={int(points['contexts'].iloc[0])}$ contexts for each probe")
        right.set_ylabel("variance / variance of raw")
        for panel in (left, right):
            panel.set_yscale("log")
            style.decades(panel, "x", sorted(points["m"].unique()))
            panel.set_xlabel("batch size $m$")
            panel.legend()
        yield figure


@contextmanager
def generic_regime(
    points: pd.DataFrame, curve: pd.DataFrame, linear: pd.DataFrame
) -> Iterator[Figure]:
    """Draw the variance ratio of addition to raw into its generic regime."""
    looks = [(style.BLUE, "s", "-"), (style.ORANGE, "^", "--"), (style.VERMILION, "o", "-.")]
    with style.canvas(2) as (figure, (left, right)):
        for (epsilon, part), (colour, marker, dash) in zip(
            curve.groupby("epsilon"), looks, strict=False
        ):
            label = f"MMD, $\\epsilon={epsilon:g}$"
            left.plot(part["m"], part["addition_ratio"], color=colour, linestyle=dash, label=label)
            right.plot(part["m"], part["slope"], color=colour, linestyle=dash, label=label)
            crossover = part["crossover"].iloc[0]
            if crossover > part["m"].min():
                right.axvline(crossover, color=colour, linewidth=0.6, linestyle=":")
            here = points[points["epsilon"] == epsilon]
            rms = here.pivot(index="m", columns="estimator", values="relative_rms")
            ratio = (rms["addition"] / rms["raw"]) ** 2
            left.plot(ratio.index, ratio, marker, color=colour, markersize=3)
        one = curve[curve["epsilon"] == curve["epsilon"].min()]
        left.plot(one["m"], one["linear_ratio"], color=style.BLACK, linewidth=0.8, label="linear")
        left.plot(linear["m"], linear["ratio"], "D", color=style.BLACK, markersize=2.5)
        left.set_xscale("log")
        left.set_yscale("log")
        left.set_ylabel("Var addition / Var raw")
        left.legend()
        right.set_xscale("log")
        right.axhline(-1, color=style.GREY, linewidth=0.7)
        right.axhline(-2, color=style.GREY, linewidth=0.7)
        right.set_ylabel("local exponent of the ratio")
        right.set_title("dotted: crossover $m^* = \\zeta_2 / (2\\zeta_1)$")
        for panel in (left, right):
            panel.set_xlabel("batch size $m$")
        yield figure


@contextmanager
def self_influence(
    profile: pd.DataFrame, probe: pd.DataFrame, x: Sequence[float]
) -> Iterator[Figure]:
    """Draw the mean of both witnesses against |x| at the exact null."""
    with style.canvas() as (figure, axes):
        unit = 1e4
        axes.axhline(0, color=style.GREY, linewidth=0.7)
        for series, column, label in (
            ("signal", "self_inclusive", "self-inclusive"),
            ("background", "loo", "leave-one-out"),
        ):
            style.points(
                axes,
                profile["radius"],
                profile[column] * unit,
                profile[f"{column}_error"] * unit,
                series=series,
                label=label,
            )
            error = probe[column].std(ddof=1) / np.sqrt(len(probe))
            style.points(
                axes,
                [np.linalg.norm(x)],
                [probe[column].mean() * unit],
                [error * unit],
                series=series,
                label=None,
                markersize=6,
                markerfacecolor="none",
            )
        axes.set_xlabel("distance from the origin $|x|$")
        axes.set_ylabel("mean witness at the null $[10^{-4}]$")
        axes.set_title(f"{len(probe)} background-only toys; open: $x^\\star$")
        axes.legend(loc="upper right")
        yield figure
