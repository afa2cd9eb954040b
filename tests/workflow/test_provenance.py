"""What provenance.json holds."""

import json

from real_workflow import SMOKE


def test_provenance_of_a_full_run(finished):
    content = json.loads((finished.root / "results/smoke/provenance.json").read_text())
    assert content["config"]["run"] == "smoke"
    assert content["versions"]["numpy"]
    rules = {stage["rule"] for stage in content["stages"]}
    assert {"exp1_targets", "exp2_toys", "fig04"} <= rules
    for stage in content["stages"]:
        assert stage["seconds"] >= 0
        assert stage["peak_memory_mib"] > 1
        assert "commit" in stage


def test_a_single_target_is_on_record(project):
    project.snakemake("exp1_targets", *SMOKE)
    content = json.loads((project.root / "results/smoke/provenance.json").read_text())
    assert [stage["rule"] for stage in content["stages"]] == ["exp1_targets"]


def test_a_failed_run_is_on_record(project):
    project.edit(
        "workflow/localizer/base/metrics.py", "    return ranking(", "    raise OSError\n    ("
    )
    done = project.snakemake("exp1_targets", "exp1_toys", *SMOKE, check=False)
    assert done.returncode != 0
    content = json.loads((project.root / "results/smoke/provenance.json").read_text())
    assert "exp1_targets" in {stage["rule"] for stage in content["stages"]}
