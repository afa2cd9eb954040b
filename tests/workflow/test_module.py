"""The rules in another Snakefile (`module ... use rule *`), and runs in another folder."""

import json

import numpy as np
import pandas as pd
import pytest
from real_workflow import ROOT, Project

SNAKEFILE = """
configfile: "mine.yaml"


module localizer:
    snakefile:
        "{root}/Snakefile"
    config:
        config


use rule * from localizer


rule answer:
    default_target: True
    input:
        rules.score.input,
    output:
        "answer.txt",
    shell:
        "echo done > {{output}}"
"""
MINE = """
run: mine
score:
  sample: june.csv
  reference: may.csv
  calibration: {draws: 39, draws_per_job: 39}
"""


@pytest.fixture
def elsewhere(tmp_path):
    """Return a folder with two tables, a configuration and a Snakefile that uses the rules."""
    for number, name in enumerate(("june", "may")):
        rows = np.random.default_rng(number).normal(size=(60, 2))
        pd.DataFrame(rows, columns=["speed", "load"]).to_csv(tmp_path / f"{name}.csv")
    (tmp_path / "mine.yaml").write_text(MINE)
    (tmp_path / "Snakefile").write_text(SNAKEFILE.format(root=ROOT))
    return Project(tmp_path)


@pytest.mark.slow
def test_another_snakefile_uses_the_rules(elsewhere):
    elsewhere.snakemake()
    assert (elsewhere.root / "answer.txt").read_text() == "done\n"
    found = json.loads((elsewhere.root / "results/mine/score/global.json").read_text())
    assert 1 / 40 <= found["p_value"] <= 1
    assert (elsewhere.root / "results/mine/score/report.html").stat().st_size > 10_000


def test_a_mistake_is_told_in_a_module_too(elsewhere):
    done = elsewhere.snakemake("--dry-run", "--config", "sede=3", check=False)
    assert done.returncode
    assert "sede is not a key; did you mean seed?" in done.stdout


def test_a_run_in_another_folder_has_its_results_there(elsewhere):
    words = ("--snakefile", str(ROOT / "Snakefile"), "--configfile", "mine.yaml", "--dry-run")
    planned = elsewhere.planned("score", *words)
    assert planned["score_events"] == 1
    assert not (elsewhere.root / "config").exists()
