"""The real DAG: what runs, what reruns after a change, and what a mistake looks like."""

import json
import subprocess
import sys

import pytest
from real_workflow import SMOKE

ALWAYS = {"provenance", "report", "crate", "paper", "all"}
"""What follows whenever any result is new."""


def test_a_finished_run_has_nothing_to_do(finished):
    assert finished.planned(*SMOKE) == {}


def test_the_published_digits_come_out(finished):
    numbers = json.loads((finished.root / "results/smoke/experiment1/targets.json").read_text())
    assert f"{numbers['D_SB']:.5f}" == "0.46086"
    assert f"{numbers['class_separation']:.4e}" == "9.2172e-04"


def test_a_changed_module_reruns_the_rules_that_use_it(branch):
    """Every rule that lists the module runs; any other runs only because its input is new."""
    module = "workflow/localizer/models/gaussian.py"
    using = {
        job for job, inputs in said_of(branch, "input", "--forceall").items() if module in inputs
    }
    assert any("experiment1/targets.json" in job for job in using)
    branch.edit(module, '"""Closed forms', '"""The closed forms')
    reasons = said_of(branch, "reason")
    assert using <= set(reasons)
    assert {job for job, reason in reasons.items() if module in reason} <= using
    # the target itself is planned too: nothing is lost on the way
    assert "all" in branch.planned(*SMOKE)


def test_a_changed_style_reruns_figures_only(branch):
    branch.edit("workflow/localizer/figures/style.py", '"font.size": 8', '"font.size": 9')
    planned = set(branch.planned(*SMOKE)) - ALWAYS
    everything = set(branch.planned(*SMOKE, "--forceall")) - ALWAYS
    figures = {name for name in everything if name.startswith(("fig", "supp_"))}
    assert len(figures) >= 9
    # the map of the manuscript reads the citations in every module
    assert planned - {"manuscript"} == figures


def test_a_changed_parameter_reruns_what_depends_on_it(branch):
    branch.edit("config/config.yaml", "    h: 1.0           #", "    h: 1.1           #")
    planned = set(branch.planned(*SMOKE))
    assert {"exp1_targets", "exp1_toys_part", "exp1_forced", "fig03", "scoreboard"} <= planned
    assert not any(name.startswith(("exp2", "exp3", "lhco", "compile")) for name in planned)


#: what judges finished scores, and what follows from the judgement
JUDGES = {"exp3_performance", "exp3_sweep", "exp3_scatter", "exp3_choices"}
FOLLOW_A_FLOOR = {
    *("exp3_scaling", "exp3_findings", "scoreboard", "supp_scoreboard"),
    *("manuscript", "latex_tables"),
    *("fig07", "fig08", "fig09"),
    *(f"supp_lhco_{name}" for name in ("bandwidths", "sic_floor", "scatter", "references")),
    "supp_lhco_surrogate",
}


def test_a_changed_sic_floor_reruns_what_judges_and_figures_only(branch):
    """No features, no witness, no batches: scores that are kept are judged anew."""
    branch.edit("config/smoke.yaml", "  sic_floor: 5\n  sic", "  sic_floor: 6\n  sic")
    planned = set(branch.planned(*SMOKE)) - ALWAYS
    # the study of a wrong reference is small, and judges while it draws
    assert planned == JUDGES | FOLLOW_A_FLOOR | {"nuisances_scan", "supp_lhco_nuisances"}


def test_a_parameter_of_one_study_leaves_the_others(branch):
    branch.edit("config/smoke.yaml", "    contexts: 200\n", "    contexts: 210\n")
    planned = set(branch.planned(*SMOKE))
    assert planned - ALWAYS == {
        "exp1_null_probe",
        "exp1_findings",
        "scoreboard",
        "supp_scoreboard",
        "manuscript",
    }


def test_touching_a_file_reruns_nothing(branch):
    (branch.root / "workflow/localizer/models/gaussian.py").touch()
    assert branch.planned(*SMOKE) == {}


def test_another_run_has_results_of_its_own(branch):
    assert "exp1_targets" in branch.planned(*SMOKE, "--config", "run=mine")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--config", "sede=3"), "sede is not a key; did you mean seed?"),
        (("--config", "seed=-3"), "seed is -3; it must be at least 0."),
        (("--config", "seed=three"), 'seed is "three"; it must be a whole number.'),
    ],
)
def test_a_mistake_is_one_sentence_and_no_traceback(project, words, says):
    done = project.snakemake("--dry-run", *words, check=False)
    assert done.returncode != 0
    *_, refused, last = done.stdout.splitlines()
    assert refused == "The configuration is not valid:"
    assert says in last
    assert "Traceback" not in done.stdout


def test_an_unreadable_overlay_is_refused(project):
    """Snakemake reads what --configfile names, before the workflow can say anything."""
    (project.root / "config" / "broken.yaml").write_text("seed: [1,\n")
    done = project.snakemake("--dry-run", "--configfile", "config/broken.yaml", check=False)
    assert done.returncode != 0
    assert "Config file is not valid JSON or YAML" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "config/config.yaml cannot be read: No such file or directory."),
        (b"seed: [1,\n", "config/config.yaml, line 2, column 1 is not valid YAML:"),
        (b"- 1\n", "config/config.yaml must hold keys and values"),
        (b"seed: \xff\n", "config/config.yaml is not a text file in UTF-8."),
    ],
)
def test_an_unreadable_configuration_is_named(project, content, says):
    path = project.root / "config" / "config.yaml"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    done = project.snakemake("--dry-run", check=False)
    assert done.returncode != 0
    assert says in done.stdout
    assert "Traceback" not in done.stdout


def test_a_failed_job_shows_its_reason_and_the_end_of_its_log(project):
    project.edit(
        "workflow/localizer/models/gaussian.py",
        'checks.positive(self.h, "h")',
        'raise ValueError("h is out of sorts")',
    )
    done = project.snakemake("exp1_targets", *SMOKE, check=False)
    assert done.returncode != 0
    assert "exp1_targets failed: h is out of sorts" in done.stdout
    assert "| ValueError: h is out of sorts" in done.stdout
    *_, again, last = done.stdout.strip().splitlines()
    assert again.endswith(f"exp1_targets {' '.join(SMOKE)}")
    assert last == "exp1_targets failed: h is out of sorts"
    assert not (project.root / "results/smoke/experiment1/targets.json").exists()


def said_of(project, what, *words):
    """Return what a dry run says (``input`` or ``reason``) of each job, by its output."""
    said = project.snakemake("--dry-run", "--verbose", *words, *SMOKE).stdout
    found = {}
    for block in said.split("\nrule ")[1:]:
        lines = dict(line.strip().split(": ", 1) for line in block.splitlines() if ": " in line)
        if "output" in lines:
            found[lines["output"]] = lines.get(what, "")
    return found


def test_no_rule_reads_a_table_beside_a_figure(project):
    """What lies there is a copy, for readers; a verdict or a rule reads the table itself."""
    inputs = said_of(project, "input")
    assert len(inputs) > 90
    for job, listed in inputs.items():
        beside = [path for path in listed.split(", ") if "/figures/" in path]
        assert not [path for path in beside if path.endswith(".csv")], job


def test_every_figure_lies_beside_all_that_it_draws(project):
    """One csv for each table that its rule reads, of whatever rule made it."""
    inputs = said_of(project, "input")
    pictures = [job for job in inputs if ".png, " in job]
    assert len(pictures) > 25
    for made in pictures:
        tables = [path for path in inputs[made].split(", ") if path.endswith(".csv")]
        drawn = [path for path in tables if not path.endswith("published.csv")]
        assert made.count(".csv") >= len(drawn) > 0, made


def test_what_needs_no_cores_asks_for_none(project):
    """``snakemake --unlock`` is what the README tells a user whose run was killed."""
    words = [sys.executable, "-m", "snakemake", "--unlock"]
    done = subprocess.run(words, cwd=project.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
