"""The report in a real browser: it opens without an error, shows every figure, and sorts."""

import json
import re
import shutil
import subprocess
from urllib.parse import unquote

import pandas as pd
import pytest
from real_workflow import SMOKE

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)

# Appended to a copy of the page: uses it as a reader would, and writes down what it saw.
PROBE = """
<script>
window.addEventListener("load", () => {
  const sorted = (table, place) => {
    const button = table.querySelectorAll("th button")[place];
    const column = () => [...table.tBodies[0].rows].map(row => row.cells[place].dataset.sort);
    button.click(); const up = column(); button.click(); const down = column();
    return {up, down};
  };
  const scores = document.getElementById("scores");
  const visible = () => [...scores.tBodies[0].rows].filter(row => row.checkVisibility());
  const buttons = [...document.querySelectorAll(".filters button")];
  const filtered = {folded: visible().length, verdicts: {}};
  scores.closest("details").open = true;
  filtered.all = visible().length;
  for (const button of buttons) {
    button.click();
    filtered.verdicts[button.dataset.verdict] = visible().map(row => row.dataset.verdict);
    button.click();
  }
  const choose = (id, value, event) => {
    const element = document.getElementById(id);
    element.value = value; element.dispatchEvent(new Event(event));
  };
  choose("experiment", "II", "change");
  filtered.experiments = visible().map(row => row.dataset.experiment);
  choose("words", "LOO witness", "input");
  filtered.words = visible().map(row => row.textContent.toLowerCase());
  filtered.said = document.getElementById("count").textContent;
  choose("experiment", "", "change"); choose("words", "", "input");
  filtered.again = visible().length;
  const figures = [...document.images];
  const seen = {
    errors: window.seenErrors,
    pictures: figures.map(image => image.complete && image.naturalWidth > 0),
    titles: figures.map(image => image.closest("section").id),
    outside: [...document.querySelectorAll("[src],link[href]")]
      .map(e => e.getAttribute("src") || e.getAttribute("href"))
      .filter(address => !address.startsWith("data:")),
    anchors: [...document.querySelectorAll("a[href^='#']")].map(a => a.getAttribute("href"))
      .filter(anchor => !document.querySelector(anchor)),
    chapters: [...document.querySelectorAll("main h2")].map(h => h.textContent),
    rules: document.querySelectorAll("details.rule").length,
    table: sorted(document.querySelector("#exp1_targets table"), 0),
    scores: sorted(scores, 2),
    filtered,
  };
  addEventListener("hashchange", () => setTimeout(() => {
    seen.opened = document.getElementById("rule-fig04").open;
    document.body.innerHTML = "<pre id=seen></pre>";
    const text = encodeURIComponent(JSON.stringify(seen));
    document.getElementById("seen").textContent = "SEEN" + text + "SEEN";
  }));
  document.querySelector("#fig04_marginal_pair a[href='#rule-fig04']").click();
});
</script>
"""
WATCH = """<script>
window.seenErrors = [];
window.addEventListener("error", event => window.seenErrors.push(event.message));
</script>"""


@pytest.mark.skipif(not BROWSER, reason="no chromium on this machine")
def test_the_page_in_a_browser(finished, tmp_path):
    page = (finished.root / "results/smoke/report.html").read_text()
    copy = tmp_path / "report.html"
    copy.write_text(
        page.replace("<head>", "<head>" + WATCH, 1).replace("</body>", PROBE + "</body>")
    )
    done = subprocess.run(
        [
            BROWSER,
            *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            f"--user-data-dir={tmp_path / 'profile'}",
            "--enable-logging=stderr",
            "--virtual-time-budget=5000",
            "--dump-dom",
            copy.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    seen = json.loads(unquote(re.search("SEEN(.*)SEEN", done.stdout).group(1)))
    assert seen["errors"] == []
    assert all(seen["pictures"])
    pictures = {path.stem for path in (finished.root / "results/smoke/figures").glob("*.png")}
    assert pictures <= set(seen["titles"])
    assert seen["titles"].count("gallery") == 9
    assert seen["outside"] == []
    assert seen["anchors"] == []
    assert seen["chapters"][0] == "Scoreboard"
    assert seen["chapters"][-2:] == ["How it was made", "Provenance"]
    assert seen["rules"] > 70
    assert seen["opened"]

    table = {name: list(map(float, column)) for name, column in seen["table"].items()}
    assert table["up"] == sorted(table["up"])
    assert table["down"] == table["up"][::-1]
    assert len(set(table["up"])) > 1
    # a statement has no published value, and stays at the end
    published = [float(text) for text in seen["scores"]["up"] if text]
    assert published == sorted(published)
    assert seen["scores"]["up"][len(published) :] == [""] * (
        len(seen["scores"]["up"]) - len(published)
    )
    assert len(published) > 80

    scores = pd.read_csv(finished.root / "results/smoke/scoreboard.csv", dtype=str)
    filtered = seen["filtered"]
    assert filtered["folded"] == 0
    assert filtered["all"] == filtered["again"] == len(scores)
    counted = scores["verdict"].mask(
        (scores["kind"] == "identity") & (scores["verdict"] == "agrees"), "identity"
    )
    assert set(filtered["verdicts"]) >= set(counted)
    for verdict, left in filtered["verdicts"].items():
        assert left == [verdict] * (counted == verdict).sum()
    assert filtered["experiments"] == ["II"] * (scores["experiment"] == "II").sum()
    assert 0 < len(filtered["words"]) < len(filtered["experiments"])
    assert all("loo" in text and "witness" in text for text in filtered["words"])
    assert filtered["said"] == f"{len(filtered['words'])} of {len(scores)} rows"


def test_every_link_leads_to_what_it_names(finished):
    results = finished.root / "results/smoke"
    page = (results / "report.html").read_text()
    definitions = set(re.findall(r'href="\.\./\.\./([^"#]+)#L(\d+)"', page))
    assert len(definitions) > 70
    for file, line in definitions:
        text = (finished.root / file).read_text().splitlines()[int(line) - 1]
        # a figure is an entry of its experiment's table, a figure's rule follows from it
        figure = r'    "(fig|supp)\w+": drawn\(.*'
        assert re.fullmatch(rf"(use )?rule \w+( as \w+ with)?:|{figure}", text)
    # each figure and table names the rule that made it, at the line where that begins
    for rule, file, line in re.findall(
        r'href="#rule-(\w+)"><code>\w+</code></a>\s+\(<a class="definition" '
        r'href="\.\./\.\./([^"#]+)#L(\d+)"',
        page,
    ):
        assert re.search(
            rf"\b{rule}(\b|_)", (finished.root / file).read_text().splitlines()[int(line) - 1]
        )
    scripts = set(re.findall(r'class="script" href="\.\./\.\./([^"]+)"', page))
    assert len(scripts) > 10
    assert all((finished.root / script).exists() for script in scripts)
    downloads = set(re.findall(r'<a href="([^"#:]+)"(?: download)?>', page))
    downloads = {path for path in downloads if not path.startswith("../")}
    assert len(downloads) > 60
    assert [path for path in downloads if not (results / path).exists()] == []


def test_the_graph_in_the_docs_is_the_present_one(finished):
    said = finished.snakemake("--rulegraph", "mermaid-js", *SMOKE).stdout
    assert "\tid0[all]" in said
    for line in said[said.index("flowchart") :].strip().splitlines():
        if "-->" in line or "[" in line:
            assert line.strip() in (finished.root / "docs/dag.md").read_text(), "run `make docs`"


def test_every_reported_file_is_on_the_page(finished):
    page = (finished.root / "results/smoke/report.html").read_text()
    pictures = list((finished.root / "results/smoke/figures").glob("*.png"))
    assert pictures
    for path in pictures:
        assert f'<a href="figures/{path.name}" download>' in page
