"""The page: the order of its chapters, and what stands on its face."""

import base64
import re
from pathlib import Path

import browser
import pandas as pd
import pytest
from localizer.verdicts import board
from stage import listing, report

TEMPLATE = Path(__file__).resolve().parents[2] / "workflow/report/report.html.j2"
DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PROVENANCE = {
    "commit": "0123456789abcdef",
    "clean": True,
    "swhid": "swh:1:dir:fedcba",
    "config": {"seed": 1},
    "machine": {"processor": "one", "cores": 2, "system": "Linux"},
    "versions": {"python": "3.11"},
    "edition": {"name": "surrogate", "why": "surrogate, because <nothing> else was there"},
    "data": None,
    "stages": [
        {
            "rule": "a",
            "job": "",
            "seconds": 1,
            "processor_seconds": 1,
            "peak_memory_mib": 2,
            "commit": None,
            "clean": None,
        }
    ],
}


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Return a function that renders a page of some categories."""
    monkeypatch.chdir(tmp_path)
    Path("results/mine/tables").mkdir(parents=True)
    Path("results/mine/figures").mkdir()
    Path("caption.rst").write_text("A *caption* with ``code`` & <tags>.\n")
    pd.DataFrame({"m": [1, 2], "auc": [0.5, 0.75], "auc_error": [0.01, 0.02]}).to_csv(
        "results/mine/tables/one.csv", index=False
    )
    Path("results/mine/figures/two.png").write_bytes(DOT)
    row = dict.fromkeys(board.COLUMNS, "")
    first = {"id": "e1.a_b", "experiment": "I", "published": "9.2287e-4", "reproduced": "9.2e-4"}
    first |= {"published_error": "1.25e-06", "published_error_from": "printed", "verdict": "agrees"}
    second = {"id": "e2.c_c", "experiment": "II", "value": "False", "verdict": "disagrees"}
    second |= {
        "quantity": "all is well",
        "reproduced": "0.25",
        "where": "sec. 2",
        "note": "it is not",
    }
    third = {"id": "e3.d", "experiment": "III", "verdict": "tension", "quantity": "a slope"}
    held = {"id": "t.d", "experiment": "-", "kind": "identity", "verdict": "agrees"}
    scores = pd.DataFrame([{**row, **each} for each in (first, second, third, held)])
    scores.to_csv("results/mine/scoreboard.csv", index=False)

    def render(*categories, notice=""):
        files = ["tables/one.csv", "figures/two.png", "scoreboard.csv"]
        items = [
            {
                "file": f"results/mine/{file}",
                "caption": "caption.rst",
                "category": category,
                "title": f"{category} <{place}>",
                "rule": "a",
                "script": "workflow/scripts/a.py",
            }
            for place, (category, file) in enumerate(zip(categories, files, strict=False))
        ]
        return report.render(
            TEMPLATE,
            at=Path("results/mine/report.html"),
            run="mine",
            notice=notice,
            items=items,
            downloads=["paper.pdf"],
            scoreboard=pd.read_csv("results/mine/scoreboard.csv", dtype=str),
            verdicts=board.VERDICTS,
            rules={"a": listing.Definition("workflow/rules/a.smk", 7, "rule a:\n    input: '<'")},
            provenance=PROVENANCE,
        )

    return render


def test_the_page_opens_with_what_does_not_hold(page):
    text = page("Experiment I", "Experiment I", "Scoreboard")
    opening = text[: text.index("<main")]
    assert "1 of 3 numbers and claims that could be judged do not hold" in opening
    words = " ".join(re.sub("<[^>]+>", "", opening).split())
    assert re.search(r"All is well \(sec. 2\). Found: 0.250*. It is not. e2.c_c", words)
    assert "1 with the verdict tension A slope" in words
    assert opening.index("All is well") < opening.index("A slope")


def test_a_page_on_which_all_holds_says_so(page):
    scores = pd.read_csv("results/mine/scoreboard.csv", dtype=str)
    scores[scores["verdict"] == "agrees"].to_csv("results/mine/scoreboard.csv", index=False)
    assert "All 1 numbers and claims that could be judged hold" in page("Scoreboard")


def test_a_run_that_is_not_judged_finds_nothing(page):
    scores = pd.read_csv("results/mine/scoreboard.csv", dtype=str)
    scores.assign(verdict="not comparable").to_csv("results/mine/scoreboard.csv", index=False)
    text = page("Experiment I", notice="mine: small")
    assert "What was found" not in text
    assert "Nothing here is compared with the paper" in text


def chapters(text):
    return re.findall(r'<h2 id="chapter-[\w-]+">(.+?)</h2>', text)


def test_the_scoreboard_is_first_and_the_appendix_last(page):
    assert chapters(page("Appendix", "Experiment I", "Scoreboard")) == [
        *("Scoreboard", "Experiment I", "Appendix")
    ]
    assert chapters(page("Experiment II", "Experiment I")) == ["Experiment II", "Experiment I"]


def test_words_are_escaped_and_captions_marked_up(page):
    text = page("Experiment I", "Experiment I", "Scoreboard")
    assert "A <em>caption</em> with <code>code</code> &amp; &lt;tags&gt;." in text
    assert "Experiment I &lt;0&gt;" in text
    assert "because &lt;nothing&gt; else was there" in text
    assert "input: &#39;&lt;&#39;" in text


def test_what_a_reader_must_know_stands_on_the_page(page):
    text = page("Experiment I", "Experiment I", "Scoreboard", notice="mine: not the paper's")
    assert "mine: not the paper&#39;s." in text
    assert re.search(r"edition\s+<strong>surrogate</strong>, because &lt;nothing", text)
    assert '<strong class="agrees">1</strong>agrees' in text
    assert '<strong class="disagrees">1</strong>disagrees' in text
    # an identity that holds is no agreement
    assert '<strong class="identity">1</strong>identity' in text
    assert 'data-verdict="identity" data-experiment="-"' in text
    assert '<a href="paper.pdf">' in text
    assert "(9.2287 ± 0.0125)&hairsp;×&hairsp;10<sup>-4</sup>" in text
    assert "0.500(10)" in text
    assert 'href="../../workflow/rules/a.smk#L7"' in text
    for form in ("tables/one.csv", "tables/one.tex", "figures/two.pdf", "scoreboard.tex"):
        assert f'<a href="{form}" download>' in text


def test_nothing_comes_from_outside(page):
    text = page("Experiment I", "Experiment I", "Scoreboard")
    sources = re.findall(r'(?:src|<link[^>]*href)="([^"]*)', text)
    assert sources
    assert all(source.startswith("data:") for source in sources)
    assert "@import" not in text
    assert "url(" not in text


@pytest.mark.slow
@pytest.mark.skipif(not browser.BROWSER, reason="no chromium on this machine")
@pytest.mark.parametrize("width", [1300, 390])
def test_a_verdict_and_a_finding_lead_to_their_rows(page, tmp_path, width):
    """On a desktop and on a phone, which shows the page without scrolling sideways."""
    path = tmp_path / "results/mine/report.html"
    path.write_text(page("Experiment I", "Experiment I", "Scoreboard"))
    visible = """[...document.getElementById("scores").tBodies[0].rows]
        .filter(row => row.checkVisibility()).map(row => row.cells[0].dataset.sort)"""
    with browser.opened(path.as_uri(), tmp_path / "browser", width=width) as opened:
        assert opened.ask("document.documentElement.scrollWidth") <= width
        assert opened.ask(visible) == []
        wanted = {"disagrees": ["e2.c_c"], "agrees": ["e1.a_b"], "tension": ["e3.d"]}
        for verdict, ids in wanted.items():
            opened.ask(f"document.querySelector('[data-only={verdict}]').click()")
            assert opened.ask(visible) == ids
        opened.ask("document.querySelector('a.row[data-id=\"e2.c_c\"]').click()")
        assert opened.ask(visible) == ["e2.c_c"]
        assert opened.ask("document.getElementById('count').textContent") == "1 of 4 rows"
        assert opened.complaints() == []
