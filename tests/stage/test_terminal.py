"""The terminal: how far a run is, the time to go, and the answer or the reason at the end."""

import io
import json
import logging
from types import SimpleNamespace

import pytest
from stage import terminal


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


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a terminal that is told what Snakemake tells, its stream and its clock."""
    monkeypatch.setattr("sys.argv", COMMAND)

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
    # this machine is twice as fast: 50 s and 5 s are left
    assert stream.getvalue().splitlines()[1:] == [" 48 %, 55 s to go, 1 of 3 jobs"]
    clock.now = 51.0
    begin(speaker, 1, "slow", part="1")
    assert len(stream.getvalue().splitlines()) == 2  # too soon for another line
    clock.now = 71.0
    tell(speaker, "job_finished", job_id=9)
    assert stream.getvalue().splitlines()[2].endswith("35 s to go, 1 of 3 jobs: slow (part=1)")


def test_what_waits_for_another_cannot_run_beside_it():
    needs = {0: ("a", 1, []), 1: ("a", 1, [0]), 2: ("b", 1, [])}
    estimate = terminal.Estimate({"a": 10 - terminal.START, "b": 2 - terminal.START}, needs, 4)
    assert estimate.to_go({}) == pytest.approx(20.0)
    assert estimate.to_go({0: 4.0}) == pytest.approx(16.0)
    estimate.finish(0, 10.0)
    estimate.finish(1, 10.0)
    assert estimate.to_go({}) == pytest.approx(2.0)


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
    again = "snakemake --cores 1 --configfile 'config/my own.yaml'"
    assert said[-3] == f"The same command goes on from here: {again}"
    assert "CalledProcessError" not in stream.getvalue()


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
    assert said[1].startswith("The same command goes on from here: snakemake")
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
    assert terminal.expected("smoke", tmp_path, shipped) == {"a": 1.0, "b": 50.0}
    assert terminal.expected("mine", tmp_path, shipped) == {"a": 100.0, "b": 50.0}
    (tmp_path / "logs" / "a").mkdir(parents=True)
    for part, seconds in enumerate((2.0, 4.0)):
        record = {"rule": "a", "seconds": seconds}
        (tmp_path / "logs" / "a" / f"{part}.json").write_text(json.dumps(record))
    (tmp_path / "logs" / "b.json").write_text("{")
    assert terminal.expected("mine", tmp_path, shipped) == {"a": 3.0, "b": 50.0}


def test_the_end_is_the_verdict_the_file_and_the_data(tmp_path):
    (tmp_path / "scoreboard.txt").write_text("Scoreboard: 3 agrees.\nmore\n")
    (tmp_path / "report.html").touch()
    (tmp_path / "lhco").mkdir()
    edition = {"name": "subset", "why": "subset, the best that can be had: fewer; full cannot"}
    (tmp_path / "lhco" / "edition.json").write_text(json.dumps(edition))
    rules = ("scoreboard", "report", "lhco_edition")
    assert terminal.closing(tmp_path, rules, []) == [
        "Scoreboard: 3 agrees.",
        f"Open {tmp_path / 'report.html'}",
        "LHC Olympics data: edition subset, fewer.",
    ]
    assert terminal.closing(tmp_path, ["fig04"], ["a.png", "b", "c", "d", "e"]) == [
        "Files: a.png, b, c, and 2 more"
    ]
    assert terminal.closing(tmp_path, ["fig04"], ["a.png"]) == ["Files: a.png"]
