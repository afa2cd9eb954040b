"""What the documentation says is true: links lead somewhere, commands run, numbers are current.

A fenced block without a language holds commands; each distinct one runs once, expensive ones as
dry runs. A yaml block is a configuration and must be valid.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import tomllib
from itertools import chain, pairwise, product
from pathlib import Path

import localizer
import numpy as np
import pandas as pd
import pytest
import yaml
from localizer.own import problem
from localizer.verdicts import board
from real_workflow import SMOKE, copy_of_the_sources
from snakemake.utils import update_config
from stage.configuration import check

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "config/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
README = ROOT / "README.md"
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.M | re.S)
#: commands that a dry run cannot try, and why
SKIPPED = {
    "source .venv/bin/activate": "the tests run in an environment already",
    "snakemake --cores all --sdm conda": "even a dry run needs conda",
    "snakemake --lint": "`make lint` runs it",
}


def name_of(page):
    return str(page.relative_to(ROOT))


def blocks(page, language):
    """Return the fenced blocks of a page that are in this language, without their indentation."""
    return [
        textwrap.dedent(text) for _, tag, text in BLOCK.findall(page.read_text()) if tag == language
    ]


def prose(page):
    """Return a page without its blocks, on one line."""
    return " ".join(BLOCK.sub("", page.read_text()).split())


def spans(page):
    """Return what stands in single backticks."""
    return re.findall(r"`([^`]+)`", prose(page))


def commands(page):
    """Return the commands of a page, from its blocks and from its sentences."""
    lines = "".join(blocks(page, "")).splitlines()
    told = [line.split("  #")[0].strip() for line in lines]
    told += [span for span in spans(page) if re.match(r"(make|snakemake) \S*[a-z]", span)]
    if name_of(page) == "docs/cluster.md":
        options = [span for span in spans(page) if re.match(r"--\S+ ", span)]
        told.append(" ".join(["snakemake --workflow-profile profiles/slurm", *options]))
    return [command for command in told if command]


def meaning(command):
    """Return what distinguishes a command from others: its words, but neither cores nor dry run."""
    words = command.replace("--cores all", "").split()
    return " ".join(word for word in words if word != "-n") or command


def distinct():
    """Return the commands of all pages with the page that says them first."""
    found = {}
    for page in PAGES:
        for command in commands(page):
            # two pages may mean different files by the same name
            own = name_of(page) if "config/mine.yaml" in command else ""
            found.setdefault((own, meaning(command)), (page, command))
    return list(found.values())


# --- links and words ---------------------------------------------------------------


def anchors(page):
    """Return the anchors that a page's headings get."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", page.read_text()), re.M)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def links(page):
    """Return the links of a page to files: where to, and to which heading."""
    found = re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", BLOCK.sub("", page.read_text()))
    return [((page.parent / path).resolve() if path else page, anchor) for path, anchor in found]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for target, anchor in links(page):
        assert target.exists(), f"{name_of(page)} links to {target}"
        assert not anchor or anchor in anchors(target), f"{name_of(page)} links to #{anchor}"


def test_every_page_is_found_from_the_readme():
    seen, waiting = set(), [README]
    while waiting:
        page = waiting.pop()
        if page not in seen and page.suffix == ".md":
            seen.add(page)
            waiting += [target for target, _ in links(page)]
    assert not set(PAGES) - seen


def test_every_picture_is_shown_somewhere():
    shown = {target for page in PAGES for target, _ in links(page)}
    pictures = {path for path in (ROOT / "docs").iterdir() if path.suffix in (".png", ".svg")}
    assert pictures <= shown
    assert all(path.stat().st_size < 200_000 for path in pictures)


def test_the_readme_is_as_long_as_a_readme():
    assert 600 <= len(README.read_text().split()) <= 900


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_is_named_by_its_path_is_there(page):
    """A path of the repository in backticks; placeholders and what a run makes are none."""
    folders = "workflow|docs|tests|envs|resources|paper|profiles|\\.github"
    for span in spans(page):
        if re.fullmatch(rf"(?:{folders})/[\w./-]+", span) and "mine" not in span:
            assert (ROOT / span).exists(), f"{name_of(page)} names {span}"


def test_every_module_of_the_table_of_equations_is_there():
    cells = re.findall(r"^\|.*\| (`.+) \|$", (ROOT / "docs/equations.md").read_text(), re.M)
    modules = [module for cell in cells for module in re.findall(r"`(\w+/\w+)`", cell)]
    assert len(modules) > 30
    for module in modules:
        assert (ROOT / "workflow/localizer" / f"{module}.py").is_file(), module


def first_cells(text):
    """Return what stands in backticks in the first column of the tables of a text."""
    return re.findall(r"^\| `([^`]+)` \|", text, re.M)


def test_the_architecture_names_every_folder():
    folders, layers = (ROOT / "docs/architecture.md").read_text().split("## The layers")
    tracked = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*.*")]
    if (ROOT / ".git").exists():  # a copy of the sources has nothing else in it
        words = ["git", "ls-files"]
        listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
        tracked = listed.stdout.splitlines()
    above = {Path(name).parts[0] for name in tracked if "/" in name and name[0] != "."}
    below = {"/".join(Path(n).parts[:2]) for n in tracked if re.match(r"workflow/\w+/", n)}
    assert sorted(first_cells(folders)) == sorted(above | below)
    packages = {Path(n).parts[2] for n in tracked if re.match(r"workflow/localizer/\w+/", n)}
    assert sorted(first_cells(layers)) == sorted(packages)


def test_the_architecture_shows_the_layers_that_lint_holds():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    held = [layer.split(" | ") for layer in contracts["contracts"][0]["layers"]]
    page = ROOT / "docs/architecture.md"
    assert first_cells(page.read_text().split("## The layers")[1]) == [*chain(*held)]
    drawn = re.findall(r"(\w+) --> (\w+)", *blocks(page, "mermaid"))
    assert drawn == [pair for above, below in pairwise(held) for pair in product(above, below)]


# --- numbers -----------------------------------------------------------------------


@pytest.mark.parametrize("page", [README, ROOT / "docs/verdicts.md"], ids=name_of)
def test_the_tally_is_the_one_on_record(page):
    said = re.search(
        r"(\d+) of (\d+) rows agree, (\d+) are borderline, (\d+) are in tension(?:,| and) (\d+) "
        r"disagree(?:\. The other| and) (\d+) (?:cannot be compared|are not comparable)"
        r".*predicts ([0-9.]+) tensions\. A further (\d+) rows are identities",
        prose(page),
    )
    assert said, "the tally is not where it was"
    scores = pd.read_csv(ROOT / "tests/golden/subset.csv")
    count = board.tally(scores)
    agrees, *rest = (count[name] for name in board.VERDICTS)
    chance, identities = f"{count['tensions_by_chance']:.1f}", count["identities"]
    assert not count["identities_failed"]
    numbers = agrees, agrees + sum(rest), *rest, chance, identities
    assert said.groups() == tuple(map(str, numbers))
    assert len(scores) == len(pd.read_csv(ROOT / "resources/published.csv"))


def test_every_claim_that_does_not_hold_is_discussed():
    text = (ROOT / "docs/verdicts.md").read_text()
    verdicts = pd.read_csv(ROOT / "tests/golden/subset.csv")["verdict"]
    for title, named in (
        ("The claims that do not hold", ["disagrees"]),
        ("In tension, or borderline", ["tension", "borderline"]),
    ):
        chapter = text.split(f"## {title}")[1].split("\n## ")[0]
        rows = [line for line in chapter.splitlines() if line.startswith("| ")][2:]
        assert len(rows) == verdicts.isin(named).sum(), title


# --- commands ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """Return what gives, for each page, a copy of the project with the files that it speaks of."""
    made = {}

    def copy(page):
        if page not in made:
            made[page] = copy_of_the_sources(tmp_path_factory.mktemp("docs") / "project")
            furnish(page, made[page].root)
        return made[page]

    return copy


def furnish(page, root):
    """Write the files that a reader of the page has: configurations, tables, a statistic."""
    (root / "config/mine.yaml").write_text("run: mine\n")
    for text in blocks(page, "yaml"):
        named = re.match(r"# (config/\w+\.yaml)\n", text)
        if named or "run:" in text:
            (root / (named[1] if named else "config/mine.yaml")).write_text(text)
    for text in blocks(page, "python"):
        if "def tail" in text:
            (root / "my_statistics.py").write_text(text)
    (root / "data").mkdir()
    for name in ("june", "may", "scale_up", "wider"):
        rows = np.random.default_rng(len(name)).normal(size=(50, 3))
        table = pd.DataFrame(rows, columns=["speed", "load", "angle"])
        table.to_csv(root / f"data/{name}.csv", index_label="event")


def run(command, root):
    """Run a command in a shell, as a reader would, with the tools of these tests."""
    inherited = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    variables = {name: value for name, value in os.environ.items() if name not in inherited}
    variables["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{variables['PATH']}"
    return subprocess.run(
        command,
        shell=True,
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
        env=variables,
    )


def cases():
    """Return the commands as parameters; a Snakemake that the README does not start is slow."""
    quick = commands(README)
    return [
        pytest.param(
            page,
            command,
            marks=[] if command in quick or "snakemake" not in command else [pytest.mark.slow],
            id=f"{page.stem}: {command}",
        )
        for page, command in distinct()
        if command not in SKIPPED
    ]


def test_what_is_not_tried_is_still_said():
    assert set(SKIPPED) <= {command for page in PAGES for command in commands(page)}


@pytest.mark.parametrize(("page", "command"), cases())
def test_commands_run(page, command, copies):
    project = copies(page)
    command = command.replace("/path/to", str(project.root.parent / "path"))
    words = [word for word in shlex.split(command) if not re.match(r"[A-Z_]+=", word)]
    if words[0] == "snakemake" and {"--unlock", "--rulegraph"} & set(words):
        done = run(command, project.root)
        assert done.returncode == 0, done.stdout
        assert "--rulegraph" not in words or "flowchart" in done.stdout
    elif words[0] == "snakemake":
        done = run(command if "-n" in words else f"{command} --dry-run", project.root)
        assert done.returncode == 0, done.stdout[-3000:]
        assert "Job stats:" in done.stdout, done.stdout[-3000:]
    elif words[0] == "make":
        done = run(f"{command} --dry-run", project.root)
        assert done.returncode == 0, done.stdout
        assert "Nothing to be done" not in done.stdout
    elif words[0] == "find":
        check_seals(command, project.root)
    else:
        raise AssertionError(f"{command}: say here how it can be tried")


def check_seals(command, root):
    """Check that it says nothing of a sound run, and names a file that was changed."""
    seals = root / "results/paper/seals"
    (seals / "below").mkdir(parents=True)
    made = root / "results/paper/numbers.json"
    made.write_text("{}\n")
    digest = run("sha256sum results/paper/numbers.json", root).stdout
    (seals / "below/one").write_text(digest)
    done = run(command, root)
    assert (done.returncode, done.stdout) == (0, "")
    made.write_text("[]\n")
    done = run(command, root)
    assert done.returncode
    assert "results/paper/numbers.json: FAILED" in done.stdout
    shutil.rmtree(root / "results/paper")


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "yaml")], ids=name_of)
def test_configurations_are_valid(page, copies, monkeypatch):
    root = copies(page).root
    monkeypatch.chdir(root)
    monkeypatch.syspath_prepend(root)
    for text in blocks(page, "yaml"):
        config = yaml.safe_load((root / "config/config.yaml").read_text())
        if "run:" not in text:  # keys to add to the page's own file
            update_config(config, yaml.safe_load((root / "config/mine.yaml").read_text()))
        update_config(config, yaml.safe_load(text))
        assert check.problems(config) == [], text


@pytest.mark.parametrize("page", [README, ROOT / "docs/own-data.md"], ids=name_of)
def test_no_column_of_an_example_has_the_name_of_a_result(page):
    sections = [yaml.safe_load(text).get("score", {}) for text in blocks(page, "yaml")]
    columns = {name for section in sections for name in section.get("columns", [])}
    assert columns
    assert not columns & set(problem._RESULTS)


@pytest.mark.slow
def test_the_last_configuration_file_wins(copies):
    page = ROOT / "docs/change-a-parameter.md"
    files = ("--configfile", "config/smoke.yaml", "config/mine.yaml")
    done = copies(page).snakemake("exp1_toys", "--dry-run", "--verbose", *files)
    assert "results/mine/experiment1/toys/000012.csv" in done.stdout  # sizes of the smoke run


@pytest.mark.slow
def test_a_target_after_the_configuration_is_taken_for_a_file(copies):
    page = ROOT / "docs/change-a-parameter.md"
    words = ("--dry-run", "--configfile", "config/mine.yaml", "experiment1")
    done = copies(page).snakemake(*words, check=False)
    assert done.returncode
    assert "No such file or directory: 'experiment1'" in done.stdout


@pytest.mark.slow
def test_the_recipe_for_a_figure_makes_one(tmp_path):
    page = ROOT / "docs/extending.md"
    (drawing, _), (rule,) = blocks(page, "python"), blocks(page, "snakemake")
    project = copy_of_the_sources(tmp_path / "project")
    with (project.root / "workflow/localizer/figures/experiment1.py").open("a") as file:
        file.write(f"\n\n{drawing}")
    table = 'FIGURES["experiment1"] = {\n'
    project.edit("workflow/rules/experiment1.smk", table, table + rule)
    (project.root / "workflow/report/supp_mine.rst").write_text("A caption.\n")
    assert project.planned("experiment1", *SMOKE)["supp_mine"] == 1
    project.snakemake("supp_mine", *SMOKE)
    assert (project.root / "results/smoke/figures/supp_mine.pdf").stat().st_size > 1000


def test_the_finding_of_the_recipe_is_one_of_the_project():
    _, finding = blocks(ROOT / "docs/extending.md", "python")
    assert finding in (ROOT / "workflow/localizer/verdicts/findings1.py").read_text()


# --- what stands beside the documentation ------------------------------------------


def test_the_hooks_are_what_make_lint_runs():
    makefile = (ROOT / "Makefile").read_text()
    recipe = re.search(r"^lint:.*\n((?:\t.*\n)+)", makefile, re.M)[1]
    linted = {tuple(line.split("/", 1)[1].split()[:2]) for line in recipe.splitlines()}
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    entries = [hook["entry"].split("bin/", 1)[1] for hook in repository["hooks"]]
    assert {tuple(entry.split()[:2]) for entry in entries} == linted


def test_the_github_workflows_call_what_exists():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    paths = sorted((ROOT / ".github/workflows").glob("*.yaml"))
    assert len(paths) == 2
    for path in paths:
        for called in re.findall(r"\bmake ([a-z-]+)", path.read_text()):
            assert called in targets, f"{path.name}: make {called}"


def test_the_citation_names_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert citation["version"] == localizer.__version__
    assert citation["license"] == project["license"]


# --- python ------------------------------------------------------------------------


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Change to a folder with tables of the names that the pages use."""
    monkeypatch.chdir(tmp_path)
    rng = localizer.stream(1, "test_docs")
    usual = pd.DataFrame(rng.normal(size=(300, 2)), columns=["speed", "load"])
    other = pd.DataFrame(rng.normal(size=(200, 2)), columns=["speed", "load"])
    other.iloc[:30] = [1.5, 1.5] + 0.1 * other.iloc[:30].to_numpy()
    for name, table in {
        **{"may": usual, "june": other, "reference": usual, "sample": other},
        **{"scale_up": 1.2 * usual, "wider": usual.add([0.0, 0.5])},
    }.items():
        table.to_csv(f"{name}.csv", index=False)


def executed(page):
    """Run the blocks of a page in Python and return what they define."""
    names = {"__name__": "__docs__"}
    for text in blocks(ROOT / page, "python"):
        exec(compile(text, page, "exec"), names)
    return names


@pytest.mark.usefixtures("tables")
def test_the_lines_for_own_data_find_what_is_there(capsys):
    names = executed("docs/own-data.md")
    assert names["result"].p_value < 0.01
    assert (names["result"].top(10).index < 30).all()
    assert Path("june.html").exists()
    assert "departs" in capsys.readouterr().out
    assert names["tail"](np.array([[1.0, 2.0]]), np.array([[0.0, 3.0]])) == 0.5


@pytest.mark.usefixtures("tables")
def test_the_lines_for_a_wrong_reference_run(capsys):
    names = executed("docs/imperfect-reference.md")
    assert names["result"].nuisances.table["variation"].tolist() == ["energy scale", "resolution"]
    assert "energy scale" in capsys.readouterr().out


def test_the_competitor_of_the_documentation_finds_a_clump():
    competitor = executed("docs/comparison.md")
    rng = localizer.stream(1, "test_docs", "competitor")
    sample, reference = rng.normal(size=(400, 2)), rng.normal(size=(400, 2))
    sample[:60] = 1.0 + 0.1 * sample[:60]
    scores = competitor["score"](sample, reference, rng)
    assert localizer.auc(scores, np.arange(400) < 60) > 0.85
