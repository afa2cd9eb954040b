"""The terminal: how far a run is, the time to go, and the answer or the reason at the end."""

import csv
import io
import json
import logging
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from stage import estimate, terminal

ROOT = Path(__file__).resolve().parents[2]
#: rules that collect the results of others and run nothing
COLLECTING = {
    *("experiment1", "experiment2", "experiment3", "nuisances", "comparison"),
    *("other_statistics", "score"),
}


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Job(SimpleNamespace):
    __hash__ = object.__hash__


def job(number, rule):
    return Job(jobid=number, rule=SimpleNamespace(name=rule), threads=1, output=["a.csv"])


class Dag:
    def __init__(self, *jobs):
        self.jobs, self.targetjobs = jobs, jobs[-1:]
        self.dependencies = {one: [] for one in jobs}

    def needrun_jobs(self):
        return iter(self.jobs)

    def toposorted(self, jobs):
        assert len(jobs) == len(self.jobs), "Snakemake goes through them twice"
        return [self.jobs]


COMMAND = ["bin/snakemake", "--cores", "1", "--configfile", "config/my own.yaml"]


REPEATED = "bin/snakemake --cores 1 --configfile 'config/my own.yaml'"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a terminal that is told what Snakemake tells, its stream and its clock."""
    monkeypatch.setattr("sys.argv", COMMAND)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")

    def start(*jobs, dryrun=False, before=None, cores=1, live=False):
        manager = SimpleNamespace(get_logfile=lambda: [])
        workflow = SimpleNamespace(
            dag=Dag(*jobs), dryrun=dryrun, cores=cores, local_exec=True, logger_manager=manager
        )
        stream, clock = io.StringIO(), Clock()
        stream.isatty = lambda: live
        speaker = terminal.Terminal(workflow, tmp_path, before or {}, stream, clock)
        return speaker, stream, clock

    return start


def tell(speaker, event=None, msg="", **extra):
    record = logging.LogRecord("snakemake", logging.INFO, "", 0, msg, (), None)
    record.__dict__.update(extra, event=event)
    speaker.handle(record)


def begin(speaker, number, rule, **wildcards):
    tell(speaker, "job_info", jobid=number, rule_name=rule, wildcards=wildcards, reason="")


def test_what_snakemake_says_of_itself_is_left_out(run):
    speaker, stream, _ = run(job(0, "a"))
    for text in ("Building DAG of jobs...", "Using shell: /bin/bash", "Select jobs to execute..."):
        tell(speaker, msg=text)
    tell(speaker, "progress", done=1, total=2)
    assert stream.getvalue() == ""
    tell(speaker, msg="Unlocked working directory.")
    assert stream.getvalue() == "Unlocked working directory.\n"


def test_a_run_says_how_far_it_is_and_the_time_to_go(run):
    before = {"slow": 98.5, "quick": 8.5}
    speaker, stream, clock = run(job(0, "slow"), job(1, "slow"), job(2, "quick"), before=before)
    tell(speaker, "run_info")
    assert stream.getvalue() == "3 jobs on 1 core, about 4 min.\n"  # 100 + 100 + 10 s
    begin(speaker, 0, "slow", part="0")
    clock.now = 50.0
    tell(speaker, "job_finished", job_id=0)
    # 50 s of 100 after one of prior belief: the pace is 110/160, 50 s and 6.9 s are left
    assert stream.getvalue().splitlines()[1:] == [" 47 %, 57 s to go, 1 of 3 jobs"]
    clock.now = 51.0
    begin(speaker, 1, "slow", part="1")
    assert len(stream.getvalue().splitlines()) == 2  # too soon for another line
    clock.now = 71.0
    tell(speaker, "job_finished", job_id=9)
    assert stream.getvalue().splitlines()[2].endswith("37 s to go, 1 of 3 jobs: slow (part=1)")


def test_what_waits_for_another_cannot_run_beside_it():
    needs = {0: ("a", 1, []), 1: ("a", 1, [0]), 2: ("b", 1, [])}
    found = estimate.Estimate({"a": 10 - estimate.START, "b": 2 - estimate.START}, needs, 4)
    assert found.to_go({}) == pytest.approx(20.0)
    assert found.to_go({0: 4.0}) == pytest.approx(16.0)
    found.finish(0, 10.0)
    found.finish(1, 10.0)
    assert found.to_go({}) == pytest.approx(2.0)


def runs(found, jobs, seconds):
    """Let some jobs be done, each in so many seconds."""
    for number in jobs:
        found.finish(number, seconds)


def test_short_jobs_on_a_busy_machine_do_not_promise_hours():
    """Twenty jobs of 2 s take 10 s each; a hundred of 20 s wait, and then take 30 s each."""
    needs = {n: ("short" if n < 20 else "long", 1, []) for n in range(120)}
    before = {"short": 2 - estimate.START, "long": 20 - estimate.START}
    found = estimate.Estimate(before, needs, 1)
    assert found.to_go({}) == pytest.approx(2040.0)
    runs(found, range(20), 10.0)
    assert 2000 < found.to_go({}) < 6000  # 10000 at five times the usual time
    runs(found, range(20, 30), 30.0)
    assert found.to_go({}) == pytest.approx(90 * 30, rel=0.3)
    runs(found, range(30, 50), 30.0)
    assert found.to_go({}) == pytest.approx(70 * 30, rel=0.1)


def test_the_pace_is_that_of_late():
    """After a change of the load the time to go is right again within ten minutes."""
    needs = {n: ("a", 1, []) for n in range(300)}
    found = estimate.Estimate({"a": 10 - estimate.START}, needs, 1)
    runs(found, range(60), 10.0)
    runs(found, range(60, 90), 30.0)
    assert found.to_go({}) == pytest.approx(210 * 30, rel=0.25)
    runs(found, range(90, 140), 10.0)
    assert found.to_go({}) == pytest.approx(160 * 10, rel=0.25)


def test_every_rule_has_a_measured_time_or_a_default():
    """And no row is of a rule that is gone: see stage/estimate.py on how to renew them."""
    paths = sorted((ROOT / "workflow/rules").glob("*.smk"))
    text = "".join(path.read_text() for path in paths)
    figures = re.findall(r'^    "((?:fig|supp)\w+)": drawn', text, re.M)
    rules = set(re.findall(r"^ *rule (\w+):$", text, re.M))
    rules |= {name[:5] if name.startswith("fig") else name for name in figures}
    rules |= set(re.findall(r"^use rule \w+ as (\w+)", text, re.M))
    with estimate.MEASURED.open(newline="") as file:
        rows = {row["rule"] for row in csv.DictReader(file)}
    assert rows - rules == set()
    assert rules - rows - COLLECTING == set()


def test_without_any_measurement_no_time_is_claimed(run):
    speaker, stream, _ = run(job(0, "a"))
    tell(speaker, "run_info")
    assert stream.getvalue() == "1 job on 1 core.\n"


def test_on_a_terminal_one_line_is_written_anew(run):
    speaker, stream, _ = run(job(0, "a"), live=True)
    tell(speaker, "run_info")
    begin(speaker, 0, "a")
    assert stream.getvalue().endswith("\r\x1b[K0 of 1 jobs: a")


def test_the_reason_of_a_failure_comes_last(run, tmp_path):
    log = tmp_path / "a.log"
    log.write_text("a begins\na (part=1) failed: h is out of sorts\nTraceback\nValueError\n")
    speaker, stream, _ = run(job(0, "a"))
    tell(speaker, "run_info")
    begin(speaker, 0, "a", part="1")
    tell(speaker, "error", msg="RuleException:\nCalledProcessError in file x, line 3:")
    tell(speaker, "job_error", jobid=0, rule_name="a", log=[f"{log} (check log file(s))"])
    tell(speaker, msg="Exiting because a job execution failed. Look below for error messages")
    speaker.fail(["b failed: it was killed"])
    tell(speaker, msg="Complete log(s): /x")
    tell(speaker, "error", msg="WorkflowError:\nAt least one job did not complete successfully.")
    said = stream.getvalue().splitlines()
    assert said[-2:] == ["b failed: it was killed", "a (part=1) failed: h is out of sorts"]
    assert said[-3] == f"To continue, repeat the command: {REPEATED}"
    assert "CalledProcessError" not in stream.getvalue()


def test_the_command_to_repeat_is_one_that_works(tmp_path, monkeypatch):
    """`make` starts a program that is not on the PATH of the shell."""
    for folder in ("bin", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "snakemake").touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", COMMAND)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert terminal.same_command() == REPEATED.removeprefix("bin/")
    monkeypatch.setenv("PATH", str(tmp_path / "other"))
    assert terminal.same_command() == REPEATED
    monkeypatch.setenv("PATH", "")
    assert terminal.same_command() == REPEATED
    # python -m snakemake
    monkeypatch.setattr("sys.argv", ["lib/snakemake/__main__.py", "-n"])
    assert terminal.same_command() == "snakemake -n"


def test_an_error_of_snakemakes_own_is_shown(run):
    speaker, stream, _ = run(job(0, "a"))
    tell(speaker, "error", msg="MissingInputException in rule a:\nx.csv")
    assert "MissingInputException in rule a" in stream.getvalue()


def test_a_failure_without_a_log_names_the_rule(tmp_path):
    assert terminal.sentence("a", []) == "a failed; see above"
    assert terminal.sentence("a", [str(tmp_path / "no.log")]).startswith("a failed; see /")


def test_an_interrupt_is_one_sentence(run):
    speaker, stream, _ = run(job(0, "a"))
    tell(speaker, "run_info")
    begin(speaker, 0, "a")
    tell(speaker, "job_error", jobid=0, rule_name="a", log=[])
    tell(speaker, msg="Terminating processes on user request, this might take some time.")
    tell(speaker, "error", msg="RuleException:\nKeyboardInterrupt")
    speaker.fail([])
    said = stream.getvalue().splitlines()[1:]
    assert said[0] == "Interrupted; waiting for the running jobs to end."
    assert said[1].startswith(f"To continue, repeat the command: {REPEATED}")
    assert len(said) == 2


def test_a_dry_run_gives_a_reason_for_each_rule(run):
    speaker, stream, _ = run(job(0, "a"), dryrun=True)
    tell(speaker, "run_info", msg="Job stats:\nfirst")
    for reason in ("Missing output files: x, y", "Code has changed since last execution"):
        tell(speaker, "job_info", rule_name="a", reason=reason)
    tell(speaker, "run_info", msg="Job stats:\nsecond")
    assert stream.getvalue() == (
        "a (2 jobs): Missing output files: x and 1 more\n\nJob stats:\nsecond\n"
    )


def test_times_come_from_the_last_run_here(tmp_path):
    shipped = tmp_path / "shipped.csv"
    shipped.write_text("run,rule,seconds\npaper,a,100\npaper,b,50\nsmoke,a,1\n")
    assert estimate.expected("smoke", tmp_path, shipped) == {"a": 1.0, "b": 50.0}
    assert estimate.expected("mine", tmp_path, shipped) == {"a": 100.0, "b": 50.0}
    (tmp_path / "logs" / "a").mkdir(parents=True)
    for part, seconds in enumerate((2.0, 4.0)):
        record = {"rule": "a", "seconds": seconds}
        (tmp_path / "logs" / "a" / f"{part}.json").write_text(json.dumps(record))
    (tmp_path / "logs" / "b.json").write_text("{")
    assert estimate.expected("mine", tmp_path, shipped) == {"a": 3.0, "b": 50.0}


def test_the_end_is_the_verdict_the_file_and_the_data(tmp_path):
    (tmp_path / "scoreboard.txt").write_text("Scoreboard: 3 agrees.\nmore\n")
    (tmp_path / "report.html").touch()
    (tmp_path / "lhco").mkdir()
    edition = {"name": "subset", "why": "subset, the best available: fewer: 3; full cannot"}
    (tmp_path / "lhco" / "edition.json").write_text(json.dumps(edition))
    rules = ("scoreboard", "report", "lhco_edition")
    assert terminal.closing(tmp_path, rules, []) == [
        "Scoreboard: 3 agrees.",
        f"Open {tmp_path / 'report.html'}",
        "LHC Olympics data: edition subset, fewer: 3.",
    ]
    assert terminal.closing(tmp_path, ["fig04"], ["a.png", "b", "c", "d", "e"]) == [
        "Files: a.png, b, c, and 2 more"
    ]
    assert terminal.closing(tmp_path, ["fig04"], ["a.png"]) == ["Files: a.png"]


def test_a_job_without_threads_takes_one_core():
    """On two cores 30 s of one core are 15 s; a group of jobs does not say what it takes."""
    needs = {0: ("a", 1, []), 1: ("a", 1, []), 2: ("a", 2, [])}
    before = {"a": 10 - estimate.START}
    assert estimate.Estimate(before, needs, 2).to_go({}) == pytest.approx(20.0)
    assert estimate.Estimate(before, {0: ("a", 8, [])}, 2).to_go({}) == pytest.approx(10.0)


def test_the_cores_of_a_group_of_jobs(run):
    grouped = job(0, "a")
    del grouped.threads
    others = [job(number, "a") for number in (1, 2)]
    speaker, stream, _ = run(grouped, *others, before={"a": 98.5}, cores=3)
    tell(speaker, "run_info")
    assert stream.getvalue() == "3 jobs on 3 cores, about 2 min.\n"
    assert [cores for _, cores, _ in speaker._estimate.needs.values()] == [1, 1, 1]


def test_on_a_cluster_a_job_is_one(run):
    large = job(0, "a")
    large.threads = 8
    speaker, _, _ = run(large)
    speaker._workflow.local_exec = False
    tell(speaker, "run_info")
    assert [cores for _, cores, _ in speaker._estimate.needs.values()] == [1]


def test_a_long_silence_is_broken(run):
    """Once a second it is looked whether the last line is a minute old."""
    speaker, stream, clock = run()
    speaker._estimate = estimate.Estimate({}, {0: ("a", 1, [])}, 1)
    speaker._running[0] = "a", 0.0
    times = iter([59.0, 60.0, 61.0])

    def wait(seconds):
        assert seconds == 1.0
        clock.now = next(times, None)
        return clock.now is None

    speaker._over = SimpleNamespace(wait=wait)
    speaker._tick()
    assert stream.getvalue() == "0 of 1 jobs: a\n"


def test_the_last_job_makes_it_complete(run):
    speaker, stream, clock = run(job(0, "a"), before={"a": 8.5})
    tell(speaker, "run_info")
    begin(speaker, 0, "a")
    clock.now = 12.0
    tell(speaker, "job_finished", job_id=0)
    assert stream.getvalue().splitlines()[-1] == "100 %, 0 s to go, 1 of 1 jobs"


def test_a_run_ends_with_its_time_and_its_answer(run, tmp_path):
    (tmp_path / "scoreboard.txt").write_text("Scoreboard: 3 agrees.\nmore\n")
    speaker, stream, clock = run(job(0, "a"), job(1, "scoreboard"))
    tell(speaker, "run_info")
    clock.now = 301.0
    speaker.end()
    assert stream.getvalue().splitlines()[1:] == [
        "Done in 5 min.",
        "Scoreboard: 3 agrees.",
        "Files: a.csv",
    ]
    assert speaker._over.is_set()


def test_a_run_of_ones_own_data_ends_with_its_answer(tmp_path):
    folder = tmp_path / "score"
    folder.mkdir()
    about = {"used": {"sample": 12, "reference": 34}, "sample": "a.csv", "reference": "b.csv"}
    (folder / "problem.json").write_text(json.dumps(about))
    (folder / "global.json").write_text(json.dumps({"answer": "They differ."}))
    expected = [
        "They differ.",
        f"Open {folder / 'report.html'}",
        "Data: 12 events of a.csv against 34 of b.csv.",
    ]
    assert terminal.closing(tmp_path, ["score_page"], ["x"]) == expected
    (folder / "variations.json").write_text(json.dumps({"answer": "It is the reference."}))
    assert terminal.closing(tmp_path, ["score_page"], ["x"]) == expected
    with_variations = terminal.closing(tmp_path, ["score_page", "score_nuisances"], ["x"])
    assert with_variations == ["They differ. It is the reference.", *expected[1:]]
    assert terminal.closing(tmp_path, ["score_page", "report"], ["x"]) == ["Files: x"]


def test_options_for_which_snakemake_speaks_for_itself(tmp_path, monkeypatch):
    logger = logging.getLogger("snakemake.logging")
    handler = logging.NullHandler()
    handler.name = terminal.OWN_HANDLER
    monkeypatch.setattr(logger, "handlers", [handler])
    names = ("verbose", "quiet", "printshellcmds", "debug_dag")
    for asked in (None, *names):
        settings = SimpleNamespace(**{name: name == asked for name in names}, stdout=False)
        workflow = SimpleNamespace(output_settings=settings, is_main_process=True)
        if asked:
            assert terminal.take_over(workflow, tmp_path, "paper") is None
            assert logger.handlers == [handler]
    workflow.is_main_process = False
    assert terminal.take_over(workflow, tmp_path, "paper") is None
    settings = SimpleNamespace(**dict.fromkeys(names, False), stdout=True)
    workflow = SimpleNamespace(output_settings=settings, is_main_process=True)
    speaker = terminal.take_over(workflow, tmp_path, "paper")
    assert logger.handlers == [speaker]


def test_a_long_line_is_cut():
    assert terminal._cut("abcdef", 6) == "abcdef"
    assert terminal._cut("abcdefg", 6) == "abc..."
    assert terminal.duration(89.4) == "89 s"
    assert terminal.duration(90) == "2 min"
    assert terminal.duration(3599) == "1 h 0 min"


def test_nothing_to_do_is_an_end_too(run, tmp_path):
    (tmp_path / "scoreboard.txt").write_text("Scoreboard: 3 agrees.\n")
    nothing = "Nothing to be done (all requested files are present and up to date)."
    speaker, stream, _ = run(job(0, "scoreboard"))
    tell(speaker, msg=nothing)
    assert stream.getvalue().splitlines() == [nothing, "Scoreboard: 3 agrees.", "Files: a.csv"]
    speaker, stream, _ = run(job(0, "scoreboard"), dryrun=True)
    tell(speaker, msg=nothing)
    assert stream.getvalue().splitlines() == [nothing]


def test_what_is_said_after_a_failure_is_shown_but_not_after_an_interrupt(run):
    speaker, stream, _ = run(job(0, "a"))
    tell(speaker, "run_info")
    tell(speaker, "job_error", jobid=0, rule_name="a", log=[])
    tell(speaker, msg="Retrying once more.")
    assert stream.getvalue().endswith("Retrying once more.\n")
    tell(speaker, msg="Will exit after finishing currently running jobs.")
    said = stream.getvalue()
    tell(speaker, msg="Something else.")
    assert stream.getvalue() == said


def test_a_failure_before_the_first_job_keeps_none(run):
    speaker, stream, _ = run(job(0, "a"), job(1, "a"))
    speaker.fail(["no"])
    assert stream.getvalue().splitlines()[1].startswith("To continue, repeat the command")
    tell(speaker, "run_info")
    tell(speaker, "job_finished", job_id=0)
    speaker.fail(["no"])
    assert stream.getvalue().splitlines()[-2].startswith("1 job of this run is kept. To continue")
    tell(speaker, "job_finished", job_id=1)
    speaker.fail(["no"])
    assert stream.getvalue().splitlines()[-2].startswith("2 jobs of this run are kept. To continue")


def test_a_mistake_in_ones_own_tables_is_to_be_corrected_first(run):
    """The same command would fail again; if another job failed too, the advice is the usual one."""
    speaker, stream, _ = run(job(0, "a"), job(1, terminal.READS_YOUR_TABLES), job(2, "a"))
    tell(speaker, "run_info")
    tell(speaker, "job_finished", job_id=0)
    tell(speaker, "job_error", jobid=1, rule_name=terminal.READS_YOUR_TABLES, log=[])
    speaker.fail([])
    *_, advice, why = stream.getvalue().splitlines()
    assert advice == f"Correct what is named below, then repeat the command: {REPEATED}"
    assert why.startswith("score_problem failed")
    tell(speaker, "job_error", jobid=2, rule_name="a", log=[])
    speaker.fail([])
    assert stream.getvalue().splitlines()[-3].startswith("1 job of this run is kept. To continue")


def test_the_rule_that_reads_ones_own_tables_is_there():
    text = (ROOT / "workflow/rules/score.smk").read_text()
    assert f"rule {terminal.READS_YOUR_TABLES}:" in text


def test_a_dry_run_counts_from_two_jobs_on(run):
    speaker, stream, _ = run(job(0, "a"), dryrun=True)
    tell(speaker, "job_info", rule_name="a", reason="Missing output files: x")
    tell(speaker, "run_info", msg="Job stats:")
    assert stream.getvalue() == "a: Missing output files: x\n\nJob stats:\n"


def test_a_job_takes_from_its_start_to_its_end(run):
    speaker, _, clock = run(job(0, "a"), job(1, "a"), before={"a": 1.0})
    tell(speaker, "run_info")
    clock.now = 10.0
    begin(speaker, 0, "a")
    clock.now = 14.0
    tell(speaker, "job_finished", job_id=0)
    assert speaker._estimate.to_go({}) == pytest.approx(4.0)


def test_only_the_records_of_the_logs_are_times(tmp_path):
    (tmp_path / "logs").mkdir()
    for name, seconds in (("logs/a.json", 2.0), ("numbers.json", 9.0), ("logs/.a.json", 9.0)):
        (tmp_path / name).write_text(json.dumps({"rule": "a", "seconds": seconds}))
    assert estimate.measured(tmp_path) == {"a": 2.0}
