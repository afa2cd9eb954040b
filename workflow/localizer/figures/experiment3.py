"""The figures of Experiment III (sec. exp-lhco)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from localizer.base.vocabulary import BATCH_ESTIMATORS
from localizer.figures import style

_SHIFT = {"raw": 0.96, "marginal": 1.0, "pair": 1.04}
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
_COLOURS = (
    *(style.BLACK, style.BLUE, style.ORANGE, style.GREEN),
    *(style.VERMILION, style.PURPLE, style.SKY, style.GREY),
)
_LABELS = {
    "mJmin": "$m_{J,\\min}$ [TeV]",
    "dmJ": "$\\Delta m_J$ [TeV]",
    "tau21_lighter": "$\\tau_{21}$, lighter jet",
    "tau21_heavier": "$\\tau_{21}$, heavier jet",
}
_DRAWS = {"predicted": "predicted references", "scatter": "surrogate samples"}
_NOT_FULL = {
    "subset": "edition SUBSET: the paper's mixed sample, with a smaller reference than the paper's",
    "surrogate": "edition SURROGATE: no real events, drawn from a fitted generator",
    "zenodo": "edition ZENODO: the paper's samples, made from the published features",
}


def stamp(figure: Figure, edition: str) -> None:
    """Write the edition of the sample on a figure, unless it is the full one."""
    if edition != "full":
        wide = figure.get_figwidth() > style.COLUMN
        text = _NOT_FULL[edition] if wide else _NOT_FULL[edition].replace(": ", ":\n")
        figure.suptitle(text, fontsize=6.5, color=style.VERMILION)


def _estimators(
    axes: Axes, table: pd.DataFrame, x: str, y: str, *, expected: str | None = None
) -> None:
    """Draw the three estimators against x and, if given, what is expected of them."""
    for estimator in BATCH_ESTIMATORS:
        part = table[table["estimator"] == estimator].sort_values(x)
        style.points(axes, part[x] * _SHIFT[estimator], part[y], series=estimator)
        if expected:
            style.curve(axes, part[x], part[expected], series=estimator, label=None)


def _witness(axes: Axes, value: float) -> None:
    axes.axhline(value, color=style.VERMILION, linewidth=0.9, label="direct witness")


@contextmanager
def vs_m(points: pd.DataFrame) -> Iterator[Figure]:
    """Draw AUC and maximum SIC against the batch size at a fixed number of batches."""
    with style.canvas(2) as (figure, (left, right)):
        for panel, name in ((left, "auc"), (right, "sic")):
            _witness(panel, points[f"{name}_witness"].iloc[0])
            _estimators(panel, points, "m", name, expected=f"{name}_predicted")
            style.decades(panel, "x", sorted(set(points["m"])))
            panel.set_xlabel("batch size $m$")
        left.set_ylabel("AUC")
        right.set_ylabel("maximum SIC")
        left.set_title(f"$R={_power(points['R'].iloc[0])}$ batches")
        right.set_title("lines: predicted from the witness, no fit")
        left.legend(loc="lower right")
        yield figure


@contextmanager
def highm(points: pd.DataFrame) -> Iterator[Figure]:
    """Draw correlation and maximum SIC against the number of batches at a fixed m."""
    with style.canvas(2) as (figure, (left, right)):
        # on an axis of 1 - rho, where 0.99 and 0.9997 are as far apart as they should be
        lacking = points.assign(
            **{name: 1 - points[name] for name in ("rho", "rho_predicted")},
        )
        _estimators(left, lacking, "R", "rho", expected="rho_predicted")
        left.set_yscale("log")
        left.invert_yaxis()
        ticks = [0.9, 0.5, 0.1, 0.01, 0.001, 0.0001]
        low, high = sorted(left.get_ylim())
        style.decades(left, "y", [tick for tick in ticks if low <= tick <= high])
        left.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{1 - value:g}"))
        _witness(right, points["sic_witness"].iloc[0])
        _estimators(right, points, "R", "sic", expected="sic_predicted")
        for panel in (left, right):
            panel.set_xscale("log")
            panel.set_xlabel("batches $R$")
        left.set_ylabel("correlation $\\rho$ with the witness")
        right.set_ylabel("maximum SIC")
        left.set_title(f"$m={points['m'].iloc[0]}$")
        right.set_title("lines: predicted from the witness, no fit")
        left.legend(loc="center right", bbox_to_anchor=(1, 0.52))
        right.legend(loc="center right", bbox_to_anchor=(1, 0.58))
        yield figure


@contextmanager
def scaling(
    points: pd.DataFrame, curves: pd.DataFrame, fits: pd.DataFrame, fit_minimum: float
) -> Iterator[Figure]:
    """Draw q_rho against R m^2: pair on its law, raw on its own, and both ratios to the law."""
    law = fits[(fits["estimator"] == "pair") & (fits["form"] == "plain")]
    free, fixed = (law[law["alpha_is"] == which].iloc[0] for which in ("free", "fixed"))
    sizes = sorted(set(points["m"]))
    with style.canvas(2, 2, height=2.2, heights=(3, 1)) as (figure, axes):
        for (top, bottom), estimator in zip(axes.T, ("pair", "raw"), strict=True):
            part = points[points["estimator"] == estimator]
            of_law = curves[curves["estimator"] == estimator]
            for m, marker, colour in zip(sizes, _MARKERS, _COLOURS, strict=False):
                here, line = part[part["m"] == m], of_law[of_law["m"] == m]
                look = {"color": colour, "marker": marker, "linestyle": "none"}
                top.plot(line["exposure"], line["q_predicted"], color=colour, linewidth=0.7)
                top.plot(here["exposure"], here["q"], label=f"$m={m}$", **look)
                ratio = here["q"] / here["q_predicted"] - 1
                bottom.errorbar(here["exposure"], ratio, here["log_q_error"], **look)
            _log_log(top, part)
            bottom.set_xscale("log")
            bottom.set_xlim(top.get_xlim())
            bottom.axhline(0, color=style.GREY, linewidth=0.8)
            bottom.set_xlabel("$R\\,m^2$")
            top.xaxis.set_major_formatter(NullFormatter())
        left, right = axes[0]
        span = np.array(left.get_xlim())
        left.plot(
            span,
            fixed["C_predicted"] / span,
            color=style.GREY,
            linestyle="--",
            linewidth=0.9,
            label="$C/(Rm^2)$, $C$ predicted",
        )
        for panel in (left, right):
            panel.plot([], [], color=style.BLACK, linewidth=0.7, label="law for each $m$, no fit")
        left.axvline(
            fit_minimum, color=style.GREY, linewidth=0.6, linestyle=":", label="fitted from here on"
        )
        left.set_ylabel("$q_\\rho=\\rho^{-2}-1$")
        left.set_title(
            f"pair: $\\alpha={free['alpha']:.4f}\\pm{free['alpha_error']:.4f}$, "
            f"$C/C_{{\\rm predicted}}={fixed['C_over_predicted']:.3f}$ at $\\alpha=1$",
            fontsize=7,
        )
        right.set_title("raw, and its predicted law", fontsize=7)
        axes[1][0].set_ylabel("measured /\nlaw $-$ 1")
        left.legend(loc="lower left", fontsize=6)
        right.legend(loc="lower left", fontsize=6)
        yield figure


def _log_log(axes: Axes, part: pd.DataFrame) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(part["exposure"].min() / 2, part["exposure"].max() * 2)
    axes.set_ylim(part["q"].min() / 2, part["q"].max() * 2)


@contextmanager
def bandwidths(
    scan: pd.DataFrame, seeds: pd.DataFrame, published: pd.DataFrame
) -> Iterator[Figure]:
    """Draw AUC and maximum SIC of single bandwidths beside those of the bank."""
    with style.canvas(2) as (figure, (left, right)):
        for panel, name in ((left, "auc"), (right, "sic")):
            bank = seeds[f"{name}_evaluation"]
            panel.axhspan(
                bank.mean() - bank.std(ddof=1),
                bank.mean() + bank.std(ddof=1),
                color=style.ORANGE,
                alpha=0.35,
                linewidth=0,
                label="bank of five, one draw",
            )
            style.points(
                panel,
                scan["bandwidth"],
                scan[name],
                scan[f"{name}_spread"],
                series="population witness",
                label="single bandwidth, one draw",
            )
            style.decades(panel, "x", scan["bandwidth"])
            panel.tick_params(axis="x", labelsize=6)
            panel.set_xlabel("bandwidth $h/d_{\\rm med}$")
        _published_line(left, published, "auc_single", "published best single")
        left.set_ylabel("AUC, evaluation sample")
        right.set_ylabel("maximum SIC, evaluation sample")
        left.legend(loc="lower right", fontsize=6)
        yield figure


@contextmanager
def sic_floor(scan: pd.DataFrame, published: pd.DataFrame, floor: int) -> Iterator[Figure]:
    """Draw the maximum SIC against the least number of background events it may keep."""
    looks: Mapping[str, Any] = {
        "direct witness": {"color": style.VERMILION, "marker": "D", "linestyle": "-"},
        "exact kernel": {"color": style.GREEN, "marker": "v", "linestyle": ":"},
        **{name: style.SERIES[name] for name in BATCH_ESTIMATORS},
    }
    with style.canvas() as (figure, axes):
        for name, look in looks.items():
            part = scan[scan["score"] == name]
            axes.plot(part["floor"], part["sic"], label=name, **look)
        axes.axvline(floor, color=style.GREY, linewidth=0.7, label=f"floor of this run, {floor}")
        _published_line(axes, published, "sic_witness", "published witness")
        axes.set_xscale("log")
        axes.set_xlabel("background events that a threshold must keep")
        axes.set_ylabel("maximum SIC")
        # between raw and the others
        axes.legend(fontsize=6, loc="center left", bbox_to_anchor=(0, 0.47))
        yield figure


@contextmanager
def scatter(draws: pd.DataFrame, seeds: pd.DataFrame, summary: pd.DataFrame) -> Iterator[Figure]:
    """Draw how AUC, SIC and C scatter, with the published values among them."""
    names = {
        "auc_witness": "AUC, mixed sample",
        "sic_witness": "maximum SIC, mixed sample",
        "C": "$C$ of the scaling law",
        "auc_evaluation": "AUC, evaluation sample",
        "sic_evaluation": "maximum SIC, evaluation sample",
        "auc_single": "best single-scale AUC",
    }
    rows = summary.set_index("quantity")
    with style.canvas(3, 2, height=1.9) as (figure, axes):
        for panel, (name, label) in zip(axes.ravel(), names.items(), strict=True):
            edges = np.histogram_bin_edges(np.concatenate([draws[name], seeds[name]]), 30)
            for table, colour, line, what in (
                (draws, style.BLUE, "-", _DRAWS[draws["source"].iloc[0]]),
                (seeds, style.ORANGE, "--", "this sample, other features"),
            ):
                panel.hist(
                    table[name],
                    bins=edges,
                    density=True,
                    histtype="step",
                    color=colour,
                    linestyle=line,
                    label=f"{what} ({len(table)})",
                )
            if name in rows.index:
                value = rows.loc[name, "published"]
                panel.axvline(value, color=style.BLACK, linewidth=1, label="published")
            panel.set_xlabel(label)
            panel.set_yticks([])
        figure.legend(
            *axes.ravel()[0].get_legend_handles_labels(),
            loc="outside lower center",
            ncols=3,
        )
        yield figure


@contextmanager
def references(rows: pd.DataFrame) -> Iterator[Figure]:
    """Draw AUC, SIC and C of disjoint references beside Gaussian ones of the same size."""
    # it takes a second to load, which the other figures need not wait for
    import seaborn as sns

    names = {"auc": "AUC, mixed sample", "sic": "maximum SIC", "C": "$C$ of the scaling law"}
    sources = list(dict.fromkeys(rows["source"]))
    size = int(rows["reference_events"].iloc[0])
    with style.canvas(3, len(sources), height=1.8) as (figure, grid):
        axes = np.asarray(grid).reshape(len(sources), 3)
        for line, source in zip(axes, sources, strict=True):
            part = rows[rows["source"] == source]
            gaussian, real = (part[part["kind"] == kind] for kind in ("gaussian", "part"))
            for panel, (name, label) in zip(line, names.items(), strict=True):
                panel.hist(
                    gaussian[name],
                    bins=25,
                    histtype="step",
                    color=style.BLUE,
                    label=f"Gaussian ({len(gaussian)})",
                )
                sns.rugplot(
                    x=real[name],
                    height=1,
                    expand_margins=False,
                    ax=panel,
                    color=style.VERMILION,
                    linewidth=0.9,
                    label=f"disjoint ({len(real)})",
                )
                panel.set_xlabel(label)
                panel.set_yticks([])
            line[0].set_ylabel("surrogate" if source == "surrogate" else "this sample")
            line[1].set_title(f"references of {size} events", fontsize=7)
        axes[0][0].legend(fontsize=6)
        yield figure


@contextmanager
def features(histograms: pd.DataFrame) -> Iterator[Figure]:
    """Draw the four features of both classes before and after the transform."""
    with style.canvas(4, 2, height=1.8) as (figure, axes):
        for line, space in zip(axes, ("before", "after"), strict=True):
            for panel, (name, label) in zip(line, _LABELS.items(), strict=True):
                part = histograms[(histograms["space"] == space) & (histograms["feature"] == name)]
                for kind, series, dash in (("qcd", "background", "-"), ("signal", "signal", "--")):
                    here = part[part["kind"] == kind]
                    edges = [*here["low"], here["high"].iloc[-1]]
                    panel.stairs(
                        here["density"],
                        edges,
                        color=style.SERIES[series]["color"],
                        linestyle=dash,
                        label="QCD" if kind == "qcd" else "signal",
                    )
                text = label if space == "before" else f"CDF of {label.split(' [')[0]}"
                panel.set_xlabel(text, fontsize=7)
                panel.set_yticks([])
            line[0].set_ylabel(f"density, {space}")
        axes[0][0].legend()
        yield figure


@contextmanager
def surrogate(
    quantiles: pd.DataFrame, correlations: pd.DataFrame, curves: pd.DataFrame, table: pd.DataFrame
) -> Iterator[Figure]:
    """Draw the surrogate beside the real events, or alone where there are none."""
    alone = "real" not in set(table["source"])
    with style.canvas(2, 2) as (figure, axes):
        for panel, kind in zip(axes[0], ("qcd", "signal"), strict=True):
            _quantiles(panel, quantiles[quantiles["kind"] == kind], alone=alone)
            panel.set_title("QCD" if kind == "qcd" else "signal")
        axes[0][0].legend(fontsize=6)
        _correlations(axes[1][0], correlations, alone=alone)
        right = axes[1][1]
        for source, series, dash in (("real", "signal", "-"), ("surrogate", "background", "--")):
            part, row = (some[some["source"] == source] for some in (curves, table))
            if len(row):
                label = f"{source}: AUC {row['auc'].iloc[0]:.4f}, SIC {row['sic'].iloc[0]:.2f}"
                right.plot(
                    part["background_efficiency"],
                    part["sic"],
                    color=style.SERIES[series]["color"],
                    linestyle=dash,
                    label=label,
                )
        right.set_xscale("log")
        right.set_xlabel("background efficiency")
        right.set_ylabel("SIC, witness without sampling noise")
        right.legend(fontsize=6)
        yield figure


def _quantiles(panel: Axes, part: pd.DataFrame, *, alone: bool) -> None:
    wide = part.pivot(index=["feature", "level"], columns="source", values="value")
    for (name, label), colour, marker in zip(_LABELS.items(), _COLOURS, _MARKERS, strict=False):
        here = wide.loc[name]
        values = here["surrogate"]
        low, middle, high = np.interp([0.25, 0.5, 0.75], here.index, values)
        shown = (values - (middle if alone else here["real"])) / (high - low)
        look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 2}
        panel.plot(here.index, shown, linewidth=0.7, label=label.split(" [")[0], **look)
    panel.axhline(0, color=style.GREY, linewidth=0.7)
    panel.set_xlabel("probability")
    what = "quantile $-$ median" if alone else "surrogate $-$ real quantile"
    panel.set_ylabel(f"{what} [IQR]")


def _correlations(panel: Axes, correlations: pd.DataFrame, *, alone: bool) -> None:
    wide = correlations.pivot(
        index=["kind", "first", "second"], columns="source", values="correlation"
    )
    for kind, series in (("qcd", "background"), ("signal", "signal")):
        here = wide.loc[kind]
        x = np.arange(len(here)) if alone else here["real"]
        look = {**style.SERIES[series], "linestyle": "none"}
        panel.plot(x, here["surrogate"], label="QCD" if kind == "qcd" else kind, **look)
    if alone:
        panel.set_xlabel("pair of features (no real events in this edition)")
    else:
        span = [float(wide.min().min()), float(wide.max().max())]
        panel.plot(span, span, color=style.GREY, linewidth=0.7)
        panel.set_xlabel("rank correlation, real")
    panel.set_ylabel("rank correlation, surrogate")
    panel.legend()


def _published_line(axes: Axes, table: pd.DataFrame, name: str, label: str) -> None:
    look: dict[str, Any] = {"color": style.GREY, "linestyle": "--", "linewidth": 0.8}
    axes.axhline(_published(table, name), label=label, **look)


def _published(table: pd.DataFrame, name: str) -> float:
    """Return a published value by its name."""
    return float(table.set_index("id").loc[f"e3.{name}", "value"])


def _power(value: float) -> str:
    """Return a number as a power of ten, with its factor if that is not 1."""
    exponent = int(np.floor(np.log10(value)))
    factor = value / 10.0**exponent
    return f"10^{exponent}" if factor == 1 else f"{factor:g}\\times10^{exponent}"
