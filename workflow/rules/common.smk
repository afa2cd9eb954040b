# Helpers only: where results go, what a rule's script imports, how a bad config is told.
import os
import re
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import yaml
from snakemake.utils import update_config

# Not workflow.basedir: another Snakefile may use these rules as a module.
HOME = Path(workflow.current_basedir.get_path_or_uri(secret_free=False)).parents[1]
IS_MODULE = Path(workflow.main_snakefile).resolve() != HOME / "Snakefile"
WORKFLOW = HOME / "workflow"
sys.path.insert(0, str(WORKFLOW))

from localizer.own.places import parted  # noqa: E402
from stage import kills, listing, provenance, terminal, tracking  # noqa: E402
from stage.configuration import check  # noqa: E402

SHIPPED = Path(os.path.relpath(HOME / "config/config.yaml"))


def refuse(mistakes):
    """Stop with one sentence for each mistake in the configuration.

    To an exception of its own Snakemake would add where in this file it was raised.
    """
    if mistakes:
        sys.exit("The configuration is not valid:\n" + "\n".join(mistakes))


refuse(
    [
        said
        for path in (SHIPPED, *workflow.configfiles)
        for said in check.unreadable(Path(path))
    ]
)


# what is given, over what is shipped; `configfile:` would be skipped in a module
given = {**config}
config.update(yaml.safe_load(SHIPPED.read_text(encoding="utf-8")))
update_config(config, given)
refuse(check.problems(config))
# the defaults of a user's own data, and how all the work is cut into jobs
resolved, JOBS = check.resolved(config)
config.update(resolved)

# Compiled kernels are kept between jobs; the rule compile_kernels fills this folder
# before a sweep and the sweep's jobs only read it.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(".cache/numba").resolve()))

# Only the paper's own statistics can be held against the paper.
OTHER_SIZES = (
    f"{config['run']}: not the paper's statistics"
    if check.differs(config, SHIPPED)
    else ""
)

RESULTS = f"results/{config['run']}"
REPORTED = []  # what the report shows, in the order of the rules
FIGURES = {}  # by the module that draws them, and by name
if not IS_MODULE:
    TERMINAL = terminal.take_over(workflow, Path(RESULTS), config["run"])
terminal.hand_on(workflow.config_settings.configfiles)


def result(path):
    """A path below the run's results."""
    return f"{RESULTS}/{path}"


def shipped(path):
    """A file of the project, wherever the run is."""
    return os.path.relpath(HOME / path)


@cache
def code(script):
    """The modules behind a script: inputs of its rule, so that a change reruns it."""
    modules = tracking.modules_of(WORKFLOW / "scripts" / script, WORKFLOW)
    return [os.path.relpath(module) for module in modules]


def modules_of_the_package():
    """The files of the package itself, in which the paper's equations are."""
    return [
        os.path.relpath(path) for path in sorted((WORKFLOW / "localizer").rglob("*.py"))
    ]


def compiled(script, *named):
    """The modules behind a script, and their compiled kernels: there before its first job begins.

    The kernels depend on nothing that the script does not depend on, so they add no rerun.
    ``named`` are files that the script loads by their names.
    """
    files = [script, *named]
    modules = sorted({path for file in files for path in code(file)})
    names = [
        tracking.with_kernels(WORKFLOW / "scripts" / file, WORKFLOW) for file in files
    ]
    kernels = [result(f"kernels/{name}.txt") for name in sorted(set().union(*names))]
    return {"code": modules, "compiled": kernels}


def competitor_code(wildcards):
    """The modules behind the scores of one competitor, and their compiled kernels."""
    file = f"../localizer/comparison/competitors/{wildcards.competitor}.py"
    return compiled("comparison_scores.py", file)


def compared(version, path):
    """The files of all parts and competitors of a version."""
    return [
        result(path.format(version=version, part=part, competitor=name))
        for part in COMPARISON_PARTS[version]
        for name in COMPETITORS[version]
    ]


def kernel_module(wildcards):
    """The file of a module with compiled kernels, from the folder of the scripts."""
    return f"../localizer/{wildcards.module.replace('.', '/')}.py"


def needs(gb=1, minutes=10):
    """What a job asks of a cluster: memory and time, twice as much each time it is tried again.

    Measured at the paper's size, with room to spare; the two Snakemakes (0.35 GB) that wrap
    a job there count as well. A run on one machine is held to the memory only where
    ``--resources mem_mb=...`` says how much there is.
    """
    return {
        "mem_mb": lambda wildcards, attempt: 1000 * gb * 2 ** (attempt - 1),
        "runtime": lambda wildcards, attempt: minutes * 2 ** (attempt - 1),
    }


def shown(path, category, title, *, caption=None):
    """A result that the report shows, with the caption of the same name unless one is named."""
    caption = f"{caption or Path(path).stem}.rst"
    REPORTED.append(
        {
            "file": result(path),
            "caption": shipped(f"workflow/report/{caption}"),
            "category": category,
            "title": title,
        }
    )
    return report(
        result(path),
        caption=f"../report/{caption}",
        category=category,
        labels={"title": title},
    )


def draws(path):
    """Draws of a witness: their rows, and the heads of their scores, to be judged later."""
    return {"rows": result(f"{path}.csv"), "heads": result(f"{path}.npz")}


def drawn(title, *, chapter=None, options=None, **tables):
    """What a figure is drawn from; its rule is in figures.smk."""
    content = {"title": title, "chapter": chapter, "tables": tables}
    return SimpleNamespace(**content, options=options or {})


def figure_rule(name):
    """The name of the rule that draws a figure, fig05 for fig05_nscan."""
    return name[:5] if name.startswith("fig") else name


def figure(name, category, title, tables=()):
    """The files of a figure, of which the report shows the png.

    A copy of each of its ``tables`` lies beside it: the first under the figure's name, the
    others with their own names added. The published numbers are no result.
    """
    first, *others = [name for name in tables if name != "published"] or [None]
    return [
        shown(f"figures/{name}.png", category, title),
        result(f"figures/{name}.pdf"),
        *([result(f"figures/{name}.csv")] if first else []),
        *(result(f"figures/{name}_{other}.csv") for other in others),
    ]


def drawings(module):
    """The figures that a module of localizer/figures draws."""
    return expand(result("figures/{name}.pdf"), name=FIGURES[module])


def table(name, category, title):
    """A table that the report shows."""
    return shown(f"tables/{name}.csv", category, title)


def rule_files():
    """The files that define the rules."""
    paths = sorted((WORKFLOW / "rules").glob("*.smk"))
    return [os.path.relpath(path) for path in paths if path.name != "common.smk"]


@cache
def makers():
    """The rule and the script behind each result that a rule without wildcards makes."""
    scripts = listing.scripts(listing.definitions(rule_files()))
    return {
        str(path): {"rule": name, "script": script}
        for name, script in scripts.items()
        for path in getattr(rules, name).output
    }


def reported(own=False):
    """What the report shows, with what made it; a user's own data have a page of their own."""
    return [
        {**item, **makers()[item["file"]]}
        for item in REPORTED
        if item["file"].startswith(result("score/")) == own
    ]


def tables(ending):
    """The tables that the report shows, in the form with this ending."""
    paths = [Path(item["file"]) for item in REPORTED]
    return [
        str(path.with_suffix(ending)) for path in paths if path.parent.name == "tables"
    ]


def own_table(which):
    """The file of a user's table; where none is named, what Snakemake then misses says so."""
    unnamed = f"score.{which} is not given: copy config/own.yaml and name your files"
    return parted(config["score"].get(which, unnamed))[0]


def own_module(statistic):
    """The file of a user's own statistic, so that a change of it reruns what uses it."""
    if ":" not in statistic:
        return []
    from localizer.estimators import own_statistic  # slow to import, and seldom needed

    file = own_statistic.source(statistic)
    return [os.path.relpath(file)] if file else []


def your(name, chapter, title):
    """A result on a user's own data, for the page about it."""
    caption = f"score_{Path(name).stem}"
    return shown(f"score/{name}", chapter, title, caption=caption)


def scored():
    """What the page on a user's own data shows."""
    asked = {
        "score_statistics": config["score"]["statistics"]["names"],
        "score_nuisances": config["score"]["variations"],
    }
    return [item for item in reported(own=True) if asked.get(item["rule"], True)]


def page_templates():
    """What the pages have in common."""
    names = ("page", "number", "scoreboard")
    return [os.path.relpath(WORKFLOW / "report" / f"{name}.html.j2") for name in names]


def read_by_the_paper(function):
    """What its sources name in calls of a function that reads results (paper/lib)."""
    text = "".join(Path(part).read_text(encoding="utf-8") for part in PAPER_PARTS)
    return sorted(set(re.findall(rf'\b{function}\(\s*"(.+?)"', text)))


def listed_in_the_crate(wildcards):
    """The results that the crate lists: all that the report shows, and the pages themselves."""
    figures = [item["file"] for item in reported()]
    return [rules.report.output[0], *rules.paper.output, *DOWNLOADS, *figures]


def put_on_record():
    """Refresh provenance.json; on a full disk the jobs have said so already."""
    with suppress(OSError):
        provenance.refresh(config, Path(RESULTS))


def say_how_it_went():
    """Put the run on record, also one of a single target, and end with what it found."""
    put_on_record()
    if TERMINAL:
        TERMINAL.end()
    else:
        print(*terminal.answer(workflow.dag, Path(RESULTS)), sep="\n", file=sys.stderr)


def say_what_failed():
    """Put the failed run on record, and say why it failed, also for jobs that could not."""
    interrupted = TERMINAL and TERMINAL.interrupted
    sentences = []
    with suppress(OSError):
        sentences = [] if interrupted else kills.killed(Path(RESULTS))
    put_on_record()
    if TERMINAL:
        TERMINAL.fail(sentences)
    else:
        print(*sentences, sep="\n", file=sys.stderr)
