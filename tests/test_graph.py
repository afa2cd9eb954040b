"""The graph of the rules: what is left out follows, and every arrow points to the right."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stage import graph

RULES = sorted((Path(__file__).resolve().parents[1] / "workflow/rules").glob("*.smk"))
BAND_NAMES = ("kernels", "experiment1", "something_new", "paper", "report")


@st.composite
def graphs(draw):
    """Return a graph without cycles, as what each name needs."""
    size = draw(st.integers(1, 9))
    return {
        f"n{place}": {f"n{before}" for before in range(place) if draw(st.booleans())}
        for place in range(size)
    }


def closure(needs):
    """Return all that each name needs, directly or not, by brute force."""
    above = {name: set(behind) for name, behind in needs.items()}
    for _ in needs:
        above = {
            name: behind.union(*(above[other] for other in behind))
            for name, behind in above.items()
        }
    return above


@given(graphs())
def test_what_is_left_out_follows_and_nothing_else_is_there(needs):
    short = graph.reduced(needs)
    assert closure(short) == closure(needs)
    for name, behind in short.items():
        for need in behind:
            fewer = {**short, name: behind - {need}}
            assert closure(fewer) != closure(needs), "an edge that follows from others was kept"


def test_a_cycle_is_refused():
    with pytest.raises(ValueError, match=r"the rules need each other: .*a.*b"):
        graph.reduced({"a": ["b"], "b": ["a"]})


@given(graphs(), st.randoms(use_true_random=False))
def test_every_arrow_points_to_the_right_and_no_boxes_touch(needs, random):
    nodes = {name: graph.Node(random.choice(BAND_NAMES), (name,)) for name in needs}
    root = ET.fromstring(graph.svg(nodes, needs, title="a < b"))
    boxes = {}
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        shape = group.find("{http://www.w3.org/2000/svg}rect")
        boxes[group.get("data-node")] = [
            float(shape.get(key)) for key in ("x", "y", "width", "height")
        ]
    assert set(boxes) == set(needs)
    drawn = {
        (path.get("data-from"), path.get("data-to"))
        for path in root.iter("{http://www.w3.org/2000/svg}path")
    }
    assert drawn == {(need, name) for name, ends in graph.reduced(needs).items() for need in ends}
    for need, name in drawn:
        assert boxes[need][0] + boxes[need][2] < boxes[name][0]
    by_column = sorted(boxes.values())
    for (x, y, _, height), (u, v, *_) in pairwise(by_column):
        assert x < u or y + height < v
    width, height = float(root.get("width")), float(root.get("height"))
    for x, y, w, h in boxes.values():
        assert 0 <= x < x + w <= width
        assert 0 <= y < y + h <= height


def test_definitions_are_where_they_are_said_to_be():
    found = graph.definitions(path for path in RULES if path.name != "common.smk")
    assert {"fig01", "fig04", "exp3_sweep", "report"} <= set(found)
    for name, rule in found.items():
        line = Path(rule.file).read_text().splitlines()[rule.line - 1]
        assert re.fullmatch(rf"(rule {name}|use rule \w+ as {name} with):", line)
        assert rule.text.startswith(line)
        assert len(re.findall(r"^\S", rule.text, re.MULTILINE)) == 1


def test_a_rule_that_is_defined_twice_is_refused(tmp_path):
    for name in ("a.smk", "b.smk"):
        (tmp_path / name).write_text("rule one:\n    input: 1\n\nx = 2\n")
    assert graph.definitions([tmp_path / "a.smk"])["one"].text == "rule one:\n    input: 1"
    with pytest.raises(ValueError, match="the rule one is defined in"):
        graph.definitions([tmp_path / "a.smk", tmp_path / "b.smk"])


def test_the_overview_joins_the_rules_of_a_stage():
    def rule(band):
        return graph.Definition(f"workflow/rules/{band}.smk", 1, "")

    rules = {
        **dict.fromkeys(("toys", "scan", "fig01", "supp_a", "exp1_findings"), rule("experiment1")),
        "lhco_files": rule("data"),
        **dict.fromkeys(("scoreboard", "typeset"), rule("paper")),
    }
    needs = {
        "lhco_files": [],
        "toys": ["lhco_files"],
        "scan": ["toys"],
        "fig01": ["scan"],
        "supp_a": ["toys"],
        "exp1_findings": ["scan"],
        "scoreboard": ["exp1_findings"],
        "typeset": ["scoreboard", "fig01"],
    }
    nodes, stages = graph.overview(needs, rules)
    assert stages == {
        "data": set(),
        "experiment1.Computation": {"data"},
        "experiment1.Figures": {"experiment1.Computation"},
        "experiment1.Findings": {"experiment1.Computation"},
        "scoreboard": {"experiment1.Findings"},
        "typeset": {"scoreboard", "experiment1.Figures"},
    }
    assert nodes["scoreboard"].lines[0] == "Scoreboard"
    assert nodes["typeset"].lines == ("typeset",)
