"""The paper of a real run: made by its rule, the same bytes again, honest on its face."""

import csv
import html
import json
import re
import shutil

import pytest
import typst
from real_workflow import SMOKE
from stage import typesetting


@pytest.fixture
def copy(finished, tmp_path):
    """Return a folder with the paper's sources and the smoke results, free to change."""
    shutil.copytree(finished.root / "paper", tmp_path / "paper")
    kept = shutil.ignore_patterns("*.npz", "logs", "benchmarks", "*.png", "report.html")
    shutil.copytree(
        finished.root / "results/smoke", tmp_path / "results/smoke", ignore=kept, symlinks=True
    )
    return tmp_path


def inputs_of(folder, *, other_sizes="smoke: not the paper's statistics"):
    provenance = json.loads((folder / "results/smoke/provenance.json").read_text())
    return {
        "results": "/results/smoke",
        "config": json.dumps(provenance["config"]),
        "other-sizes": other_sizes,
    }


def text_of(folder, **options):
    """Return what a reader sees, from the same sources as a page of HTML."""
    page = typst.compile(
        str(folder / "paper/main.typ"),
        root=str(folder),
        format="html",
        ignore_system_fonts=True,
        sys_inputs=inputs_of(folder, **options),
    ).decode()
    body = re.sub(r"<style>.*?</style>|<svg.*?</svg>", " ", page, flags=re.DOTALL)
    words = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())
    return re.sub(r"\s+([,.:;])", r"\1", words).replace("’", "'")


def rewrite(folder, change):
    """Change rows of the scoreboard of the copy."""
    path = folder / "results/smoke/scoreboard.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    rows = change(rows)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_the_rule_makes_the_same_bytes_again(branch):
    path = branch.root / "results/smoke/paper.pdf"
    first = path.read_bytes()
    assert first.startswith(b"%PDF")
    branch.snakemake("paper", "--forcerun", "paper", *SMOKE)
    assert path.read_bytes() == first


def test_a_changed_source_reruns_the_paper_and_not_the_page_that_links_to_it(branch):
    branch.edit("paper/sections/method.typ", "Four Monte Carlo", "These four Monte Carlo")
    assert set(branch.planned(*SMOKE)) == {"paper", "crate", "all"}


def test_a_mistake_in_a_source_is_one_sentence_and_spares_the_report(branch):
    results = branch.root / "results/smoke"
    # much has to be made again, while there is a core on which typesetting could fail
    for name in ("report.html", "provenance.json", "scoreboard.csv"):
        (results / name).unlink()
    branch.edit("paper/sections/method.typ", "= Definitions", "#nonsense\n= Definitions")
    done = branch.snakemake(*SMOKE, check=False)
    assert done.returncode != 0
    said = "paper failed: paper/sections/method.typ, line 3: unknown variable: nonsense"
    assert done.stdout.strip().splitlines()[-1] == said
    assert not (results / "paper.pdf").exists()
    assert (results / "report.html").exists()


def test_a_small_run_says_so_on_its_first_page(copy):
    face = text_of(copy)[:1500]
    assert "not the paper's statistics" in face
    assert "no verdict applies" in face
    assert "no claim is judged here" in text_of(copy)


@pytest.mark.parametrize("edition", ["full", "subset", "surrogate", "zenodo"])
def test_every_edition_is_named_on_the_first_page(copy, edition):
    (copy / "results/smoke/lhco/edition.json").write_text(json.dumps({"name": edition}))
    face = text_of(copy, other_sizes="")[:1500]
    assert f"edition {edition}," in face
    assert ("No real collider events" in face) == (edition == "surrogate")
    assert "not the paper's statistics" not in face


def test_a_failing_row_without_a_discussion_stands_there_with_its_note(copy):
    note = "a reason that only the workflow knows"

    def plant(rows):
        row = {**rows[0], "id": "e9.planted", "quantity": "a planted claim", "note": note}
        verdict = {"kind": "statement", "measure": "computed", "value": "False"}
        return [*rows, {**row, **verdict, "published": "", "verdict": "disagrees"}]

    rewrite(copy, plant)
    text = text_of(copy, other_sizes="")
    assert "A planted claim e9.planted" in text
    assert f"A{note[1:]}." in text


def test_a_discussion_stands_there_only_if_its_row_fails(copy):
    sentence = "The oracle cannot reach one half"
    assert sentence not in text_of(copy, other_sizes="")

    def fail(rows):
        return [
            {**r, "verdict": "disagrees"} if r["id"] == "e2.small_mu_oracle" else r for r in rows
        ]

    rewrite(copy, fail)
    assert sentence in text_of(copy, other_sizes="")


def test_missing_numbers_do_not_stop_it(copy):
    """At small sizes some rows have no finding; then none has."""
    (copy / "results/smoke/numbers.json").write_text("{}")
    pdf, _ = typesetting.compiled(copy / "paper/main.typ", root=copy, inputs=inputs_of(copy))
    assert pdf.startswith(b"%PDF")
