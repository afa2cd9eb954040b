"""The explorer on the page of a user's own data, used in a real browser by clicking."""

import json
import time

import localizer
import pandas as pd
import pytest
from browser import BROWSER, opened

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not BROWSER, reason="no chromium on this machine"),
]

READINGS = 700
# where things are on the screen, also those in the shadow trees of the library
DEEP = """(wanted => {
  const all = root => [...root.querySelectorAll("*")].flatMap(
    one => [one, ...(one.shadowRoot ? all(one.shadowRoot) : [])]);
  return JSON.stringify(all(document).filter(one => one.matches(wanted)).map(one => {
    const box = one.getBoundingClientRect();
    return {text: one.textContent, x: box.x, y: box.y, width: box.width, height: box.height};
  }));
})"""
PARTS = "const [ranking, pairs, table] = Bokeh.documents[0].roots();"


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """Return a folder with the page on the example that ships, and a copy without the network."""
    from real_workflow import copy_of_the_sources

    project = copy_of_the_sources(tmp_path_factory.mktemp("explorer"))
    text = (project.root / "config/own.yaml").read_text()
    more = f"  top: 30\n  calibration: {{draws: 39}}\n  example: {{readings: {READINGS}}}\n"
    (project.root / "config/mine.yaml").write_text(text + more)
    project.snakemake("score", "--configfile", "config/mine.yaml")
    example = [
        pd.read_csv(project.root / f"results/example/{name}.csv")
        for name in ("sample", "reference")
    ]
    result = localizer.score(
        *example,
        columns=["flow", "power", "vibration"],
        ranking="evidence",
        calibration={"draws": 39},
        progress=False,
    )
    result.report(project.root / "results/own/score/python.html")
    return project.root / "results/own/score"


def places(page, wanted):
    return json.loads(page.ask(f"{DEEP}({json.dumps(wanted)})"))


def count(page):
    return page.ask("document.getElementById('explorer-count').textContent")


def ready(page):
    page.wait("document.getElementById('explorer-count')?.textContent.length > 0")
    page.ask("document.getElementById('explorer-controls').scrollIntoView()")
    time.sleep(0.5)  # the figures are laid out anew when they come into view


def press(page, wanted):
    (box,) = places(page, wanted)
    page.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def brush(page, which, low=(0.45, 0.25), high=(0.8, 0.5)):
    """Drag over a part of a figure, in parts of its width and height."""
    box = places(page, ".explorer > div")[which]
    corners = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (low, high)]
    page.drag(*corners)


def downloaded(page, folder):
    path = folder / "selection.csv"
    path.unlink(missing_ok=True)
    press(page, "#explorer-download")
    until = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < until, "nothing was downloaded"
        time.sleep(0.05)
    return pd.read_csv(path)


def wait_for(check, seconds=20):
    """Wait until something is true of the page."""
    until = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < until, "never true"
        time.sleep(0.05)


def brush_anew(page, which, **corners):
    """Brush, and wait until another number of events is selected."""
    before = count(page)
    brush(page, which, **corners)
    wait_for(lambda: count(page) != before)


def said_wrong(page):
    """Return what the page complains of; that it begins is no complaint."""
    return [one for one in page.complaints() if one["params"].get("type") != "log"]


def is_the_box(selection, events, x, y):
    """Tell whether a selection is all events within a rectangle."""
    inside = events[x].between(selection[x].min(), selection[x].max())
    inside &= events[y].between(selection[y].min(), selection[y].max())
    return sorted(events["event"][inside]) == sorted(selection["event"])


def picture(page, which):
    box = places(page, ".explorer > div")[which]
    clip = {name: box[name] for name in ("x", "y", "width", "height")}
    # counted from the top of the page
    clip |= {"scale": 1, "y": box["y"] + page.ask("scrollY")}
    return page.tell("Page.captureScreenshot", clip=clip)["data"]


def test_what_is_brushed_in_one_is_seen_in_the_others(scored, tmp_path):
    events = pd.read_csv(scored / "explorer.csv")
    assert len(events) == READINGS
    with opened((scored / "report.html").as_uri(), tmp_path) as page:
        ready(page)
        assert count(page) == f"{READINGS} of {READINGS} events"
        before = picture(page, 0)

        # pairs -> ranking, table and file
        brush(page, 1)
        page.wait("document.getElementById('explorer-count').textContent.includes('selected')")
        selection = downloaded(page, tmp_path)
        assert 10 < len(selection) < READINGS - 10
        assert count(page) == f"{len(selection)} of {READINGS} events selected"
        x, y = pd.read_csv(scored / "features.csv")["feature"][:2]
        assert is_the_box(selection, events, x, y)
        assert selection.columns.tolist()[:4] == ["event", "rank", "loo", x]
        assert set(selection.columns) == set(events.columns)
        whole = events.set_index("event").loc[selection["event"]].reset_index()
        pd.testing.assert_frame_equal(
            selection[whole.columns], whole, check_exact=True, check_dtype=False
        )
        assert selection["rank"].is_monotonic_increasing
        assert picture(page, 0) != before
        rows = page.ask(f"(() => {{{PARTS} return [...table.source.data.event]}})()")
        assert rows == selection["event"].astype(str).tolist()

        # ranking -> pairs and table
        before = picture(page, 1)
        brush_anew(page, 0, low=(0.25, 0.05), high=(0.6, 0.95))
        ranked = downloaded(page, tmp_path)
        assert is_the_box(ranked, events, "rank", "loo")
        assert 1 < len(ranked) < 200
        assert ranked["event"].tolist() != selection["event"].tolist()
        assert picture(page, 1) != before

        # a row of the table is ringed in both figures
        first = places(page, ".slick-row")[0]
        before = [picture(page, 0), picture(page, 1)]
        page.click(first["x"] + 30, first["y"] + 10)
        ringed = f"(() => {{{PARTS} return [...ranking.renderers[2].data_source.data.rank]}})()"
        wait_for(lambda: page.ask(ringed) == [ranked["rank"][0]])
        for which in (0, 1):
            wait_for(lambda which=which: picture(page, which) != before[which])

        # other axes
        third = pd.read_csv(scored / "features.csv")["feature"][2]
        page.ask(
            "{const s = document.getElementById('explorer-x');"
            f"s.value = [...s.options].find(one => one.text === {json.dumps(third)}).value;"
            "s.dispatchEvent(new Event('input'))}"
        )
        wait_for(
            lambda: page.ask(f"(() => {{{PARTS} return pairs.below[0].axis_label}})()") == third
        )
        brush_anew(page, 1)
        other = downloaded(page, tmp_path)
        assert is_the_box(other, events, third, y)
        assert not is_the_box(other, events, x, y)

        # the end of a selection
        press(page, "#explorer-clear")
        wait_for(lambda: count(page) == f"{READINGS} of {READINGS} events")
        assert [
            one for one in page.complaints() if "log" not in str(one["params"].get("type"))
        ] == []


def test_the_table_sorts_and_filters(scored, tmp_path):
    events = pd.read_csv(scored / "explorer.csv")
    with opened((scored / "report.html").as_uri(), tmp_path) as page:
        ready(page)
        heads = {box["text"]: box for box in places(page, ".slick-header-column")}
        name = pd.read_csv(scored / "features.csv")["feature"][0]
        page.click(heads[name]["x"] + 20, heads[name]["y"] + 10)
        lowest = events.sort_values(name)["event"].astype(str).tolist()

        def sorted_by_it():
            rows = sorted(places(page, ".slick-row"), key=lambda row: row["y"])
            return all(
                row["text"].startswith(name) for row, name in zip(rows[:5], lowest[:5], strict=True)
            )

        wait_for(sorted_by_it)

        press(page, "#explorer-to")
        page.tell("Input.insertText", text="25")
        wait_for(lambda: count(page) == f"25 of {READINGS} events")
        found = downloaded(page, tmp_path)
        assert sorted(found["rank"]) == list(range(1, 26))
        # hidden events are not selected
        brush_anew(page, 1, low=(0.2, 0.05), high=(0.95, 0.7))
        assert 0 < len(downloaded(page, tmp_path)) < 25


@pytest.mark.parametrize(
    ("name", "dark"), [("report.html", False), ("report.html", True), ("python.html", True)]
)
def test_a_telephone_and_no_network(scored, tmp_path, name, dark):
    """Also the page that Python writes without the workflow."""
    address = (scored / name).as_uri()
    with opened(address, tmp_path, width=390, height=800, dark=dark) as page:
        ready(page)
        assert page.ask("document.documentElement.scrollWidth") == 390
        one, other = places(page, ".explorer > div")
        assert other["y"] > one["y"] + one["height"] - 1
        assert count(page) == f"{READINGS} of {READINGS} events"
        ink = page.ask(f"(() => {{{PARTS} return pairs.left[0].axis_label_text_color}})()")
        assert ink == page.ask(
            "getComputedStyle(document.documentElement).getPropertyValue('--ink').trim()"
        )
        asked = page.ask("performance.getEntriesByType('resource').map(one => one.name)")
        assert [name for name in asked if not name.startswith(("data:", "blob:"))] == []
        assert said_wrong(page) == []
