"""What the documentation says of the tree is true of it."""

import re
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "config" / "README.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
    for link in links:
        assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_the_readme_counts_the_published_rows():
    said = re.search(r"(\d+)\s+of\s+(\d+)\s+rows\s+agree", (ROOT / "README.md").read_text())
    assert said is not None
    assert int(said[2]) == len(pd.read_csv(ROOT / "resources" / "published.csv"))


def test_the_readme_names_rules_and_targets_that_exist():
    text = (ROOT / "README.md").read_text()
    rules = "\n".join(path.read_text() for path in (ROOT / "workflow" / "rules").glob("*.smk"))
    for target in re.findall(r"snakemake --cores all (\w+)(?=\s)", text):
        assert re.search(rf"^(use rule \w+ as |rule ){target}\b", rules, re.M), target
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"`make ([a-z][a-z-]*)", text)):
        assert re.search(rf"^{target}:", makefile, re.M), target
