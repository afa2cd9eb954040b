# Helpers only: where results go, what a rule's script imports, how a bad config is told.
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

WORKFLOW = Path(workflow.basedir) / "workflow"
sys.path.insert(0, str(WORKFLOW))

from stage import cost, kills, provenance, settings, tracking  # noqa: E402


def refuse(mistakes):
    """Stop with one sentence for each mistake in the configuration."""
    if mistakes:
        raise WorkflowError("The configuration is refused:\n" + "\n".join(mistakes))


refuse(settings.unreadable(Path("config/config.yaml")))


configfile: "config/config.yaml"


refuse(settings.problems(config))

# Once, at the start: a job that parses the workflow anew stays silent.
if workflow.is_main_process and (said := cost.warning(config)):
    print(said, file=sys.stderr)

# Compiled kernels are kept between jobs; the rule compile_kernels fills this folder
# before a sweep and the sweep's jobs only read it.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(".cache/numba").resolve()))

# Only the paper's own statistics can be held against the paper.
OTHER_STATISTICS = (
    f"{config['run']}: not the paper's statistics"
    if settings.differs(config, Path("config/config.yaml"))
    else ""
)

RESULTS = f"results/{config['run']}"


def result(path):
    """A path below the run's results."""
    return f"{RESULTS}/{path}"


@cache
def code(script):
    """The modules behind a script: inputs of its rule, so that a change reruns it."""
    modules = tracking.modules_of(WORKFLOW / "scripts" / script, WORKFLOW)
    return [os.path.relpath(module) for module in modules]


def modules_of_the_package():
    """The files of the package itself, in which the paper's equations are."""
    return [
        os.path.relpath(path) for path in sorted((WORKFLOW / "localizer").glob("*.py"))
    ]


def compiled(script):
    """The compiled kernels behind a script: there before the first of its jobs begins.

    They depend on nothing that the script does not depend on, so they add no rerun.
    """
    modules = tracking.with_kernels(WORKFLOW / "scripts" / script, WORKFLOW)
    return [result(f"kernels/{module}.txt") for module in modules]


def jobs_of(total, size):
    """Cut 0 to total into ranges of ``size``; a job is named after its first number."""
    return {
        f"{first:06}": list(range(first, min(first + size, total)))
        for first in range(0, total, size)
    }


def jobs_to(checkpoints, group, most):
    """Cut a run of batches into jobs of whole groups and at most ``most`` batches.

    A job is named after its first batch and holds pieces, of which one ends at every
    checkpoint: its first batch, and where its pieces end.
    """
    most = max(group, most // group * group)
    ends, start = [], 0
    for stop in checkpoints:
        ends += [*range(start + most, stop, most), stop]
        start = stop
    jobs = [[0]]
    for end in ends:
        if end - jobs[-1][0] > most:
            jobs.append([jobs[-1][-1]])
        jobs[-1].append(end)
    return {f"{job[0]:08}": job for job in jobs}


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


def small():
    """The rules that need nothing worth a job on a cluster: joins, tables, figures, downloads."""
    return [each.name for each in workflow.rules if "mem_mb" not in each.resources]


def listed(value):
    """A single number as a list of one."""
    return value if isinstance(value, list) else [value]


def own_module(statistic):
    """The file of a user's own statistic, so that a change of it reruns what uses it."""
    if ":" not in statistic:
        return []
    from localizer import statistics  # slow to import, and seldom needed

    file = statistics.source(statistic)
    return [os.path.relpath(file)] if file else []


def shown(path, category, title, *, caption=None):
    """A result that the report shows, with the caption of the same name unless one is named."""
    caption = f"../report/{caption or Path(path).stem}.rst"
    labels = {"title": title}
    return report(result(path), caption=caption, category=category, labels=labels)


def your(name, chapter, title):
    """A result on a user's own data, for the page about it."""
    caption = f"score_{Path(name).stem}"
    return shown(f"score/{name}", chapter, title, caption=caption)


def figure(name, category, title):
    """The two files of a figure; the report shows the png."""
    return [
        shown(f"figures/{name}.png", category, title),
        result(f"figures/{name}.pdf"),
    ]


def table(name, category, title):
    """A table that the report shows."""
    return shown(f"tables/{name}.csv", category, title)


def made_by(each):
    """The names of a rule and of the script behind it."""
    script = os.path.relpath(WORKFLOW / "scripts" / Path(each.script).name)
    return {"rule": each.name, "script": script}


def maker(path):
    """The rule that makes a result, and its script."""
    return next(made_by(each) for each in workflow.rules if each.is_producer(path))


def reported(own=False):
    """What the rules have marked for the report: the page's content, in order.

    A user's own data have a page of their own.
    """
    return [
        {
            "file": str(output),
            "caption": os.path.relpath(
                WORKFLOW / "report" / Path(mark.caption.get_filename()).name
            ),
            "category": mark.category,
            "title": mark.labels["title"],
            **made_by(each),
        }
        for each in workflow.rules
        for output in each.output
        if (mark := getattr(output, "flags", {}).get("report"))
        and str(output).startswith(result("score/")) == own
    ]


def tables(ending):
    """The tables that the report shows, in the form with this ending."""
    paths = [Path(item["file"]) for item in reported()]
    return [
        str(path.with_suffix(ending)) for path in paths if path.parent.name == "tables"
    ]


def page_templates():
    """What the pages have in common."""
    names = ("page", "number", "scoreboard")
    return [os.path.relpath(WORKFLOW / "report" / f"{name}.html.j2") for name in names]


def rule_files():
    """The files that define the rules."""
    paths = sorted((WORKFLOW / "rules").glob("*.smk"))
    return [os.path.relpath(path) for path in paths if path.name != "common.smk"]


def rule_graph():
    """What each rule that the whole paper needs takes in, the rules behind its inputs.

    The jobs are followed from the target back, each once, because an input may depend
    on wildcards.
    """
    found, makers, waiting = {}, {}, [(workflow.get_rule("all"), {})]
    while waiting:
        job, wildcards = waiting.pop()
        behind = found.setdefault(job.name, set())
        for path in map(str, job.expand_input(wildcards)[0]):
            if path not in makers:
                makers[path] = next(
                    (each for each in workflow.rules if each.is_producer(path)), None
                )
                if makers[path]:
                    waiting.append((makers[path], makers[path].get_wildcards(path)))
            if makers[path]:
                behind.add(makers[path].name)
    return {name: sorted(behind) for name, behind in sorted(found.items())}


def put_on_record():
    """Refresh provenance.json; on a full disk the jobs have said so already."""
    with suppress(OSError):
        provenance.refresh(config, Path(RESULTS))


def say_how_it_went():
    """Put the run on record, also one of a single target, and say what it found."""
    put_on_record()
    tally = Path(result("scoreboard.txt"))
    if tally.exists():
        print(tally.read_text(), file=sys.stderr)


def say_what_failed():
    """Put the failed run on record, and speak for the jobs that could not."""
    with suppress(OSError):
        for sentence in kills.killed(Path(RESULTS)):
            print(f"\n{sentence}", file=sys.stderr)
    put_on_record()
