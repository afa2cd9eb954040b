"""The conda environments and the lock pin the same versions, and every spec parses."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from rattler import MatchSpec
from stage.tracking import modules_of

ENVS = Path(__file__).resolve().parents[2] / "envs"
YAMLS = sorted(ENVS.glob("*.yaml"))
LOCKS = sorted(ENVS.glob("*.lock"))
#: packages at least, so that an empty lock is no sound one
SMALLEST = {"requirements": 50, "dev": 60, "bench": 8, "installer": 1}
#: packages that conda-forge calls otherwise
CONDA_TO_PYPI = {"matplotlib-base": "matplotlib", "typst-py": "typst"}
#: packages that are imported by another name
IMPORT_TO_PYPI = {"yaml": "pyyaml", "pydantic_core": "pydantic", "sklearn": "scikit-learn"}
#: what no module imports and a run needs all the same, and why
UNIMPORTED = {
    "snakemake": "it runs the workflow",
    "snakemake-executor-plugin-slurm": "profiles/slurm names it",
    "pygments": "`snakemake --report` shows code with it",
}
WORKFLOW = ENVS.parent / "workflow"


def imported(files):
    """Return what some modules import that is neither Python's nor ours, by its name on PyPI."""
    names = set()
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module.split(".")[0])
    others = names - set(sys.stdlib_module_names) - {"localizer", "stage", "_packages"}
    return {IMPORT_TO_PYPI.get(name, name) for name in others}


def locked(lock="requirements.lock"):
    """Return the versions of a lock by name."""
    lines = (ENVS / lock).read_text().splitlines()
    specs = [line.rstrip("\\ ") for line in lines if re.match(r"^[A-Za-z0-9]", line)]
    requirements = [Requirement(spec) for spec in specs]
    return {one.name: str(one.specifier).removeprefix("==") for one in requirements}


def pinned(path):
    return yaml.safe_load(path.read_text())["dependencies"]


@pytest.mark.parametrize("path", YAMLS, ids=lambda path: path.stem)
def test_versions_agree_with_the_lock(path):
    versions = locked()
    for spec in pinned(path):
        name, version = spec.split("=")
        if name == "python":
            assert version == "3.11"
            continue
        assert versions[CONDA_TO_PYPI.get(name, name)] == version, spec


@pytest.mark.parametrize("path", YAMLS, ids=lambda path: path.stem)
def test_every_spec_is_a_conda_match_spec(path):
    for spec in pinned(path):
        parsed = MatchSpec(spec)
        assert parsed.name is not None
        assert parsed.version is not None


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_a_lock_is_exact_hashed_and_without_addresses(path):
    text = path.read_text()
    assert "://" not in text
    entries = re.split(r"\n(?=[A-Za-z0-9])", text.strip())
    assert len(entries) >= SMALLEST[path.stem]
    for entry in entries:
        assert "==" in entry.splitlines()[0]
        assert "--hash=sha256:" in entry, entry.splitlines()[0]


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_every_direct_requirement_is_locked(path):
    wanted = path.with_suffix(".in").read_text().splitlines()
    names = {Requirement(line).name.lower() for line in wanted if line and line[0] not in "#-"}
    assert names <= {name.lower() for name in locked(path.name)}


def test_the_package_declares_what_it_imports():
    project = tomllib.loads((ENVS.parent / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    declared = [*project["dependencies"], *(name for extra in extras for name in extra)]
    assert sorted(declared) == sorted(imported((WORKFLOW / "localizer").rglob("*.py")))


def test_a_run_declares_what_it_imports():
    lines = (ENVS / "requirements.in").read_text().splitlines()
    declared = {Requirement(line).name for line in lines if line and line[0] != "#"}
    # the surrogate is fitted once, by those who change it
    modules = {*WORKFLOW.rglob("*.py")} - {WORKFLOW / "scripts/fit_surrogate.py"}
    assert declared - set(UNIMPORTED) == imported(modules)


def test_the_environment_of_the_comparison_holds_what_a_competitor_imports():
    folder = WORKFLOW / "localizer" / "comparison" / "competitors"
    scripts = {WORKFLOW / "scripts" / "comparison_scores.py", *folder.glob("[!_]*.py")}
    modules = {module for script in scripts for module in modules_of(script, WORKFLOW)}
    names = {spec.split("=")[0] for spec in pinned(ENVS / "comparison.yaml")}
    assert imported(scripts | modules) <= {CONDA_TO_PYPI.get(name, name) for name in names}


def test_the_conda_environment_holds_what_its_scripts_import():
    # paper.yaml and comparison.yaml are for one script each; the surrogate is fitted by hand
    scripts = {*(WORKFLOW / "scripts").glob("[!_]*.py")} - {
        WORKFLOW / "scripts" / name
        for name in ("paper.py", "comparison_scores.py", "fit_surrogate.py")
    }
    modules = {module for script in scripts for module in modules_of(script, WORKFLOW)}
    names = {spec.split("=")[0] for spec in pinned(ENVS / "analysis.yaml")}
    assert imported(scripts | modules) <= {CONDA_TO_PYPI.get(name, name) for name in names}


def test_the_tools_leave_the_packages_of_a_run_as_they_are():
    run, dev = locked(), locked("dev.lock")
    assert {name: dev[name] for name in run} == run


def test_every_rule_has_its_environment():
    """A rule with a script has a conda file, and that file is one of these."""
    for rules in (ENVS.parent / "workflow" / "rules").glob("*.smk"):
        text = rules.read_text()
        assert text.count("    script:") == text.count("    conda:"), rules.name
        for name in re.findall(r'"\.\./\.\./envs/(.+?)"', text):
            assert (ENVS / name).is_file(), name
