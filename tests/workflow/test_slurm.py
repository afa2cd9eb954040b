"""The profile for clusters, on a real SLURM: the same bytes, few jobs, more memory when needed."""

import sys

import pytest
import yaml
from own_data import SHARED, found_in, overlay
from real_workflow import ROOT, SMOKE, alone
from slurm_cluster import cluster, why_not
from stage.compare import compare
from stage.listing import definitions

PROFILE = ("--workflow-profile", "profiles/slurm")
# a cluster of one machine answers at once, and has no shared disk to wait for
AT_ONCE = (
    *("--slurm-init-seconds-before-status-checks", "2"),
    *("--seconds-between-status-checks", "2"),
    *("--latency-wait", "5"),
)

# The first try has too little memory for it. It stays long enough to be seen by SLURM, which
# looks once a second.
HUNGRY = """
include: "workflow/rules/common.smk"

rule hungry:
    output:
        "results/hungry.txt",
    resources:
        **needs(gb=1),
    shell:
        "{python} hungry.py {{output}}"
"""
MEAL = """
import os, subprocess, sys, time
from pathlib import Path

meal = bytearray(1300 * 10**6)
meal[::4096] = b"x" * len(meal[::4096])
time.sleep(5)
asked = ["squeue", "--noheader", "--format=%m", "--jobs", os.environ["SLURM_JOB_ID"]]
Path(sys.argv[1]).write_text(subprocess.check_output(asked, text=True))
"""


@pytest.fixture
def slurm(shared):
    """Start SLURM for one test and return the folder of its state."""
    with alone(shared / "slurm.lock"):
        reason = why_not()
        if reason:
            pytest.skip(reason)
        with cluster() as folder:
            yield folder


def ended(slurm):
    """Return the final state of each SLURM job, in order."""
    lines = (slurm / "jobs.txt").read_text().splitlines()
    jobs = [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in lines]
    return [job["JobState"] for job in sorted(jobs, key=lambda job: int(job["JobId"]))]


@pytest.mark.slow
def test_a_cluster_gives_the_same_bytes(finished, project, slurm):
    project.snakemake(*PROFILE, *AT_ONCE, *SMOKE)
    found = compare(finished.root / "results/smoke", project.root / "results/smoke")
    assert found.differences == []
    assert found.compared > 100
    # every block had the memory and time it asked for, and the small ones went together
    states = ended(slurm)
    assert set(states) == {"COMPLETED"}
    steps = sum(finished.planned("--forceall", *SMOKE).values())
    assert 10 < len(states) < steps / 2
    # the submitted run is complete, for a local one as well
    assert project.planned(*SMOKE) == {}


@pytest.mark.slow
def test_a_job_out_of_memory_is_tried_again_with_more(project, slurm):
    (project.root / "hungry.smk").write_text(HUNGRY.format(python=sys.executable))
    (project.root / "hungry.py").write_text(MEAL)
    done = project.snakemake("--snakefile", "hungry.smk", "hungry", *PROFILE, *AT_ONCE)
    assert "exceeded memory limit" in done.stdout
    assert ended(slurm) == ["FAILED", "COMPLETED"]
    assert (project.root / "results/hungry.txt").read_text() == "2000M\n"


def rules_with(words):
    """Return the names of the rules that have some words in their definition."""
    found = definitions(sorted((ROOT / "workflow/rules").glob("*.smk")))
    return {name for name, rule in found.items() if words in rule.text}


def test_rules_that_work_say_what_they_need():
    """Without, a rule would run on the machine where a user logs in."""
    working = rules_with("    benchmark:") | rules_with("**compiled(")
    assert len(working) > 15
    assert working <= rules_with("**needs(")


def test_the_profile_groups_rules_that_are_submitted():
    profile = yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text())
    groups = dict(pair.split("=") for pair in profile["groups"])
    assert set(groups) <= rules_with("**needs(")
    assert {pair.split("=")[0] for pair in profile["group-components"]} == set(groups.values())


@pytest.mark.slow
def test_own_data_are_shared_by_the_jobs_of_a_cluster(project, slurm):
    folder, found = project.root / "results/own/score", {}
    wanted = [f"results/own/score/{name}" for name in ("scores.parquet", "global.json")]
    # on this machine alone, cut in another way
    for jobs, draws, words in ((3, 40, (*PROFILE, *AT_ONCE)), (1, 80, ("--forceall",))):
        more = SHARED.replace("draws_per_job: 40", f"draws_per_job: {draws}") + f"  jobs: {jobs}\n"
        project.snakemake(*wanted, *words, *overlay(project, "own.yaml", more))
        found[jobs] = found_in(folder)
    assert {path.name for path in (folder / "events").iterdir()} == {"0.npz", "1.npz", "2.npz"}
    assert set(ended(slurm)) == {"COMPLETED"}
    assert {"scores.parquet", "global.json", "ranking.csv"} <= set(found[1])
    assert found[1] == found[3]
