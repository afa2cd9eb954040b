"""The report in a real browser: it opens without an error, shows every figure, and sorts."""

import json
import re
import shutil
import subprocess

import pytest

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)

# Appended to a copy of the page: uses it as a reader would, and writes down what it saw.
PROBE = """
<script>
window.addEventListener("load", () => {
  const table = document.querySelector("#exp1_targets table");
  const head = table.querySelectorAll("th")[0];
  const column = () => [...table.tBodies[0].rows].map(row => Number(row.cells[0].textContent));
  head.click(); const up = column(); head.click(); const down = column();
  const seen = {
    errors: window.seenErrors,
    pictures: [...document.images].map(image => image.complete && image.naturalWidth > 0),
    outside: [...document.querySelectorAll("[src],link[href]")]
      .map(e => e.getAttribute("src") || e.getAttribute("href"))
      .filter(address => !address.startsWith("data:")),
    anchors: [...document.querySelectorAll("nav a")]
      .every(a => document.querySelector(a.getAttribute("href"))),
    up, down,
  };
  document.body.innerHTML = "<pre id=seen></pre>";
  document.getElementById("seen").textContent = "SEEN" + JSON.stringify(seen) + "SEEN";
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
            "--virtual-time-budget=5000",
            "--dump-dom",
            copy.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    seen = json.loads(re.search("SEEN(.*)SEEN", done.stdout).group(1).replace("&gt;", ">"))
    assert seen["errors"] == []
    assert seen["pictures"]
    assert all(seen["pictures"])
    assert seen["outside"] == []
    assert seen["anchors"]
    assert seen["up"] == sorted(seen["up"])
    assert seen["down"] == seen["up"][::-1]
    assert len(set(seen["up"])) > 1


def test_every_reported_file_is_on_the_page(finished):
    page = (finished.root / "results/smoke/report.html").read_text()
    pictures = list((finished.root / "results/smoke/figures").glob("*.png"))
    assert pictures
    for path in pictures:
        assert f"results/smoke/figures/{path.name}" in page
