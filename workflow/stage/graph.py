"""The graph of the workflow's rules, drawn as SVG by a small layered layout.

A rule stands to the right of all that it needs. A band of the picture is a file of rules;
what gathers the results of all bands stands behind them. Edges that follow from others
are left out.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import markupsafe

#: what each rule needs, by name
Graph = Mapping[str, Iterable[str]]

#: the files of rules from top to bottom, and what a reader calls them; another file comes
#: after these, by its own name
BANDS = {
    "kernels": "Compiled kernels",
    "theory": "Theory",
    "experiment1": "Experiment I",
    "experiment2": "Experiment II",
    "data": "LHC Olympics data",
    "experiment3": "Experiment III",
    "statistics": "Beyond the paper",
}
#: the stages of an experiment, by how its rules are named; the first that fits counts
STAGES = (
    (re.compile(r"fig\d|supp_"), "Figures", "as pdf, png and csv"),
    (re.compile(r".*_findings$"), "Findings", "a value for each published row"),
    (re.compile(""), "Computation", "toys, sweeps, fits, tables"),
)
#: rules and files whose name alone tells a newcomer too little
TITLES = {
    "data": ("Data", "edition, files, samples"),
    "theory": ("Findings", "claims about any statistic"),
    "statistics": ("Other statistics", "what each of them localizes"),
    "growth": ("Benchmark", "time and memory against size"),
    "scoreboard": ("Scoreboard", "verdict of each row"),
    "paper": ("paper.pdf", "this reproduction, typeset"),
    "manuscript": ("LaTeX exports", "tables, macros, map"),
    "report": ("report.html", "with provenance"),
}
#: files whose rules are seen one by one in the overview
_ONE_BY_ONE = ("paper",)
#: files whose rules gather what the others make; they stand to the right of all bands
GATHERING = ("paper", "manuscript", "report")
#: a rule with more edges on a side has them drawn faintly
_MANY = 8
_DEFINITION = re.compile(r"^(?:use rule \w+ as (\w+) with|rule (\w+)):", re.MULTILINE)

_STYLE = """
.dag { font-family: "DejaVu Sans", Verdana, sans-serif; }
.dag .band { fill: #f1f3f5; }
.dag .band-title { fill: #5b6470; font-size: 11px; font-weight: bold; }
.dag path { fill: none; stroke: #8a94a3; stroke-width: 1.2; }
.dag .tip { fill: #8a94a3; stroke: none; }
.dag .faint { opacity: .3; } .dag .lit { opacity: 1; stroke: #d55e00; stroke-width: 2; }
.dag rect.node { fill: #ffffff; stroke: #0072b2; }
.dag text { fill: #1a1f26; font-size: 11px; } .dag .words { fill: #5b6470; font-size: 10px; }
.dag .name { font-weight: bold; font-size: 12px; }
@media (prefers-color-scheme: dark) {
  .dag .band { fill: #1c2128; }
  .dag rect.node { fill: #10151b; stroke: #56b4e9; }
  .dag path { stroke: #738091; } .dag .tip { fill: #738091; }
  .dag text { fill: #e3e8ee; } .dag .words, .dag .band-title { fill: #9aa5b3; }
}
"""


@dataclass(frozen=True)
class Definition:
    """Where a rule is defined: the file, the line, and the text."""

    file: str
    line: int
    text: str


@dataclass(frozen=True)
class Node:
    """A box: its band, its lines of text, and where a click leads."""

    band: str
    lines: tuple[str, ...]
    link: str = ""


def definitions(files: Iterable[str | Path]) -> dict[str, Definition]:
    """Return where each rule of some rule files is defined."""
    found: dict[str, Definition] = {}
    for file in files:
        text = Path(file).read_text(encoding="utf-8")
        starts = list(_DEFINITION.finditer(text))
        places = [*(start.start() for start in starts), len(text)]
        for start, end in zip(starts, places[1:], strict=True):
            lines = text[start.start() : end].splitlines()
            # a rule ends where the next thing that is not indented begins
            length = next(
                (n for n, line in enumerate(lines) if n and line and not line.startswith(" ")),
                len(lines),
            )
            name = start[1] or start[2]
            if name in found:
                raise ValueError(f"the rule {name} is defined in {found[name].file} and {file}")
            found[name] = Definition(
                os.fspath(file),
                text.count("\n", 0, start.start()) + 1,
                "\n".join(lines[:length]).rstrip(),
            )
    return found


def reduced(graph: Graph) -> dict[str, set[str]]:
    """Return the graph without the edges that follow from others."""
    above: dict[str, set[str]] = {}
    for name in _sorted(graph):
        needs = set(graph.get(name, ()))
        above[name] = needs.union(*(above[need] for need in needs))
    return {
        name: {
            need for need in needs if not any(need in above[other] for other in set(needs) - {need})
        }
        for name, needs in graph.items()
    }


def _sorted(graph: Graph) -> list[str]:
    """Return the names, each after what it needs, in an order that does not vary."""
    try:
        return list(
            TopologicalSorter({name: sorted(graph[name]) for name in sorted(graph)}).static_order()
        )
    except CycleError as error:
        raise ValueError(f"the rules need each other: {', '.join(error.args[1])}") from None


def without(graph: Graph, dropped: Iterable[str]) -> dict[str, set[str]]:
    """Return the graph without some rules and all edges at them."""
    gone = set(dropped)
    return {name: set(needs) - gone for name, needs in graph.items() if name not in gone}


def overview(
    graph: Graph, rules: Mapping[str, Definition]
) -> tuple[dict[str, Node], dict[str, set[str]]]:
    """Return the stages of the workflow and what each needs.

    The rules of a file are one stage; those of an experiment are its computation, its
    figures and its findings.
    """
    stage_of: dict[str, str] = {}
    nodes: dict[str, Node] = {}
    for name in graph:
        band = Path(rules[name].file).stem
        if band.startswith("experiment"):
            _, stage, words = next(entry for entry in STAGES if entry[0].match(name))
            key, lines = f"{band}.{stage}", (stage, words)
        else:
            # a figure of a stage's own belongs to it
            key = name.removeprefix("supp_") if band in _ONE_BY_ONE else band
            lines = TITLES.get(key, (key.replace("_", " "), ""))
        stage_of[name] = key
        nodes[key] = Node(band, tuple(filter(None, lines)))
    needs: dict[str, set[str]] = {key: set() for key in nodes}
    for name, behind in graph.items():
        needs[stage_of[name]] |= {stage_of[other] for other in behind} - {stage_of[name]}
    return nodes, needs


def detailed(graph: Graph, rules: Mapping[str, Definition]) -> dict[str, Node]:
    """Return a node for each rule, which leads to its definition on the page."""
    return {name: Node(Path(rules[name].file).stem, (name,), f"#rule-{name}") for name in graph}


def svg(nodes: Mapping[str, Node], graph: Graph, *, title: str) -> str:
    """Return the picture.

    Parameters
    ----------
    nodes, graph
        The boxes, and what each needs; the edges that follow from others are not drawn.
    title
        What a screen reader says.
    """
    edges = reduced(graph)
    size = _Size.of(nodes.values())
    inside = _inside(nodes, edges)
    layers = _layers(nodes, edges, inside)
    heights, tops, bottom = _heights(nodes, edges, layers, inside, size)
    corners = {name: (_MARGIN + layers[name] * size.column, heights[name]) for name in nodes}
    end_of_bands = max((corners[name][0] for name in inside), default=0.0) + size.width + _MARGIN
    across = max(x for x, _ in corners.values()) + size.width + _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="dag" role="img" '
        f'viewBox="0 0 {across:.0f} {bottom:.0f}" width="{across:.0f}" height="{bottom:.0f}" '
        f'aria-label="{_text(title)}">',
        f"<style>{_STYLE}</style>",
    ]
    for band, (top, end) in tops.items():
        called = BANDS.get(band, band.replace("_", " ").capitalize())
        parts.append(
            f'<rect class="band" x="0" y="{top:.1f}" width="{end_of_bands:.1f}" '
            f'height="{end - top:.1f}" rx="6"/>'
            f'<text class="band-title" x="{_MARGIN}" y="{top + 14:.1f}">{_text(called)}</text>'
        )
    followers = Counter(need for needs in edges.values() for need in needs)
    for name in sorted(nodes):
        for need in sorted(edges[name]):
            many = followers[need] > _MANY or len(edges[name]) > _MANY
            parts.append(_edge(need, name, corners, size, faint=many))
    parts += [_box(name, nodes[name], corners[name], size) for name in sorted(nodes)]
    return "\n".join([*parts, "</svg>"]) + "\n"


_MARGIN = 12
_HEAD = 22


@dataclass(frozen=True)
class _Size:
    """The size of a box, and from one box to the next."""

    width: float
    height: float
    column: float
    row: float

    @classmethod
    def of(cls, nodes: Collection[Node]) -> _Size:
        # about the width of a letter of the plain lines, and of the bold name above them
        widths = [
            len(line) * (7.8 if len(node.lines) > 1 and not place else 6.4)
            for node in nodes
            for place, line in enumerate(node.lines)
        ]
        lines = max(len(node.lines) for node in nodes)
        height = 8.0 + 14 * lines
        width = 18 + max(widths)
        return cls(width, height, width + 46, height + (7 if lines == 1 else 11))


def _inside(nodes: Mapping[str, Node], edges: Mapping[str, set[str]]) -> set[str]:
    """Return the nodes that stand in their bands: all but what gathers and what follows it."""
    inside: set[str] = set()
    for name in _sorted(edges):
        if nodes[name].band not in GATHERING and edges[name] <= inside:
            inside.add(name)
    return inside


def _layers(
    nodes: Mapping[str, Node], edges: Mapping[str, set[str]], inside: Collection[str]
) -> dict[str, int]:
    """Return how far to the right each node stands: what gathers, behind every band."""
    layers: dict[str, int] = {}
    order = _sorted(edges)
    for name in (name for name in order if name in inside):
        layers[name] = 1 + max((layers[need] for need in edges[name]), default=-1)
    beyond = 1 + max(layers.values(), default=-1)
    # a band that no other one touches ends where the longest does, next to what gathers it
    touched = {
        nodes[end].band
        for name in inside
        for need in edges[name]
        for end in (name, need)
        if nodes[name].band != nodes[need].band
    }
    for band in {nodes[name].band for name in inside} - touched:
        members = [name for name in inside if nodes[name].band == band]
        short = beyond - 1 - max(layers[name] for name in members)
        layers.update({name: layers[name] + short for name in members})
    for name in (name for name in order if name not in inside):
        layers[name] = max([beyond, *(1 + layers[need] for need in edges[name])])
    return layers


def _heights(
    nodes: Mapping[str, Node],
    edges: Mapping[str, set[str]],
    layers: Mapping[str, int],
    inside: Collection[str],
    size: _Size,
) -> tuple[dict[str, float], dict[str, tuple[float, float]], float]:
    """Return the top of each node, the top and bottom of each band, and the end of all."""
    heights: dict[str, float] = {}
    tops: dict[str, tuple[float, float]] = {}

    def centre(name: str) -> float:
        needs = [heights[need] for need in edges[name] if need in heights]
        return sum(needs) / len(needs) if needs else 0.0

    top = 0.0
    columns = range(1 + max(layers.values()))
    used = {nodes[name].band for name in inside}
    for band in [*(band for band in BANDS if band in used), *sorted(used - BANDS.keys())]:
        members = [name for name in sorted(inside) if nodes[name].band == band]
        for layer in columns:
            here = sorted((n for n in members if layers[n] == layer), key=centre)
            for row, name in enumerate(here):
                heights[name] = top + _HEAD + row * size.row
        end = max(heights[name] for name in members) + size.row
        tops[band] = (top, end)
        top = end + 6
    for layer in columns:
        here = sorted(
            (n for n in sorted(nodes) if layers[n] == layer and n not in inside), key=centre
        )
        middles = [centre(name) for name in here]
        first = sum(middles) / len(here) - size.row * (len(here) - 1) / 2 if here else 0.0
        for row, name in enumerate(here):
            heights[name] = max(0.0, first) + row * size.row
    return heights, tops, max(top - 6, max(heights.values()) + size.row)


def _edge(
    need: str, name: str, corners: Mapping[str, tuple[float, float]], size: _Size, *, faint: bool
) -> str:
    (x, y), (u, v) = corners[need], corners[name]
    x, y, v = x + size.width, y + size.height / 2, v + size.height / 2
    ends = f'data-from="{need}" data-to="{name}"'
    bend = 0.4 * (u - x)
    return (
        f'<path class="{"faint" if faint else "edge"}" {ends} d="M{x:.1f} {y:.1f}C{x + bend:.1f} '
        f'{y:.1f} {u - bend:.1f} {v:.1f} {u - 5:.1f} {v:.1f}"/>'
        f'<path class="tip{" faint" if faint else ""}" {ends} d="M{u:.1f} {v:.1f}l-6 -3v6z"/>'
    )


def _box(name: str, node: Node, corner: tuple[float, float], size: _Size) -> str:
    x, y = corner
    shape = (
        f'<rect class="node" x="{x:.1f}" y="{y:.1f}" width="{size.width:.1f}" '
        f'height="{size.height:.1f}" rx="4"/>'
    )
    kinds = ("name", "words") if len(node.lines) > 1 else ("rule",)
    words = "".join(
        f'<text class="{kind}" x="{x + 8:.1f}" y="{y + 15 + 14 * place:.1f}">{_text(line)}</text>'
        for place, (kind, line) in enumerate(zip(kinds, node.lines, strict=True))
    )
    box = f'<g data-node="{name}">{shape}{words}</g>'
    return f'<a href="{node.link}">{box}</a>' if node.link else box


def _text(words: str) -> str:
    return str(markupsafe.escape(words))
