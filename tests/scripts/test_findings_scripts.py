"""The scripts of the verdicts hand every table and every setting to the study that asks for it."""

import json

import pandas as pd
import pytest
from claims import PUBLISHED as ALL
from localizer.experiments.experiment2 import LatentModel
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory.scaling import PairMoments
from localizer.verdicts import (
    board,
    findings2_information,
    findings3,
    findings_context,
    findings_estimation,
    findings_interpretation,
    findings_marginal,
    findings_mmd,
    findings_projection,
    registry,
)

MODEL = {"mean": (1.5, 0.0), "sigma_s": 0.5, "epsilon": 0.02, "h": 1.0}
LATENT = {"d": 2, "sigma_s": 0.5, "epsilon": 0.02, "h": 1.0}
MOMENTS = {"N": 10, "replacement": True, "witness": 1.0, "pair": 2.0, "aligned": 0.5}
PUBLISHED = "id,experiment,where,quantity,kind,value,error,toys,claim\n"
ROWS = "a,I,sec. x,a number,ensemble,0.5,0.1,,\nb,I,sec. x,a claim,statement,,,,x < 1\n"
KNOWN = board.Published("a", "I", "sec. x", "a number", "ensemble", "0.5", "0.1", None)
CLAIM = board.Published("b", "I", "sec. x", "a claim", "statement", "", "", None, "x < 1")
#: what is simulated for the findings, by the name of the argument
STUDIES = {
    "marginals": findings_marginal,
    "projections": findings_projection,
    "draws": findings_mmd,
    "samples": findings_estimation,
    "few": findings_context,
    "choices": findings_interpretation,
}


@pytest.fixture
def run(tmp_path, run_script):
    """Return what runs a script on files that hold their own names."""

    def run(script, params, *, tables="", texts=None, outputs=("out",)):
        files = {
            name: f"name,auc_evaluation,m\n{name},0.25,640\n" for name in ("code", *tables.split())
        }
        for name, text in {**files, **(texts or {})}.items():
            (tmp_path / name).write_text(text)
        given = {name: str(tmp_path / name) for name in (*files, *(texts or {}))}
        if script == "scoreboard":
            given["findings"] = [given.pop("one"), given.pop("two")]
        made = {name: str(tmp_path / name) for name in outputs}
        run_script(script, input=given, output=made, params=params)
        return {name: (tmp_path / name).read_text() for name in outputs}

    return run


def plain(value):
    return value["name"].item() if isinstance(value, pd.DataFrame) else value


@pytest.fixture
def given(monkeypatch):
    """Record what the functions of a script are given: tables by their names, and studies."""
    seen = {}

    def record(*modules, **given):
        seen.update({name: plain(value) for name, value in given.items()})
        seen["ids"] = [*registry.makers(*modules)]
        return [board.Finding(name) for name in seen["ids"]]

    def study(name):
        return lambda *args, **options: (name, *map(plain, args), *options.items())

    monkeypatch.setattr(registry, "findings", record)
    monkeypatch.setattr(findings2_information, "signal_pairs", study("pairs"))
    monkeypatch.setattr(findings3, "measured_values", study("measured"))
    for name, module in STUDIES.items():
        monkeypatch.setattr(module, name, study(name))
    return seen


def names(written):
    return [finding["id"] for finding in json.loads(written["out"])]


def ids(experiment):
    """Return the ids of an experiment, two of which are judged with the theory."""
    elsewhere = {"e2.known_theta", "e2.no_shared_no_information"}
    own = {row.id for row in ALL.values() if row.experiment == experiment}
    return sorted(own | elsewhere if experiment == "-" else own - elsewhere)


def test_experiment1(run, given):
    params = {"model": MODEL, "m": 20, "seed": 3, "loo_toys": 50, "contexts": 7}
    tables = (
        "toys field scores scaling null_probe m_scan m_scan_probes efficiency generic "
        "self_influence"
    )
    written = run("exp1_findings", params, tables=tables)
    assert sorted(names(written)) == sorted(given.pop("ids")) == ids("I")
    named = {name: name for name in tables.split()}
    assert given == {**params, **named, "model": GaussianBenchmark(**MODEL)}


def test_experiment2(run, given):
    params = {"seed": 3, "model": LATENT, "N": 500, "published_toys": 9}
    params |= {"recovery_m": 20, "recovery_N": 400, "sizes": [100, 900]}
    tables = "toys scan targets runs context"
    written = run(
        "exp2_findings",
        params,
        tables=tables,
        texts={"numbers": '{"oracle": 1.0}', "published": PUBLISHED + ROWS},
    )
    assert sorted(names(written)) == sorted(given.pop("ids")) == ids("II")
    model = LatentModel(**LATENT)
    assert given == {
        **{**params, **{name: name for name in tables.split()}, "model": model},
        **{"numbers": {"oracle": 1.0}, "published": {"a": KNOWN, "b": CLAIM}},
        "pairs": ("pairs", 3, model),
    }


def test_experiment3(run, given):
    params = {"m": 100, "m_scan_R": 20, "fit_minimum": 4.0}
    tables = "counts witness bandwidths sweep lowest fits repeated surrogates seeds"
    written = run(
        "exp3_findings",
        params,
        tables=tables,
        texts={
            "numbers": json.dumps({"moments": MOMENTS, "dimension": 12, "edition": "subset"}),
            "published": PUBLISHED + ROWS,
            "law": '{"alpha_shown": 1.0}',
        },
    )
    assert sorted(names(written)) == sorted(given.pop("ids")) == ids("III")
    assert given == {
        **params,
        **{name: name for name in tables.split()},
        **{"published": {"a": KNOWN, "b": CLAIM}, "law": {"alpha_shown": 1.0}},
        **{"moments": PairMoments(**MOMENTS), "dimension": 12, "edition": "subset"},
        "measured": ("measured", "witness", "bandwidths", "sweep", "fits"),
    }


def test_theory(run, given):
    written = run("theory_findings", {"seed": 3, "model": MODEL})
    assert sorted(names(written)) == sorted(given.pop("ids")) == ids("-")
    model = GaussianBenchmark(**MODEL)
    studies = {name: (name, 3, model) for name in STUDIES}
    assert given == {"seed": 3, "model": model, **studies, "projections": ("projections", 3)}


@pytest.mark.parametrize(
    ("reason", "verdicts"),
    [("", ["agrees", "disagrees"]), ("smoke", ["not comparable"] * 2)],
)
def test_scoreboard(run, reason, verdicts):
    findings = (board.Finding("a", 0.6, 0.0, draws=(1.0,)), board.Finding("b", 2.0))
    texts = {
        name: json.dumps([finding.as_dict()])
        for name, finding in zip(("one", "two"), findings, strict=True)
    }
    made = run(
        "scoreboard",
        {"not_comparable": reason},
        texts={**texts, "published": PUBLISHED + ROWS},
        outputs=("csv", "tex", "tally", "numbers"),
    )
    lines = made["csv"].splitlines()
    assert lines[0] == ",".join(board.COLUMNS)
    assert [verdict in line for verdict, line in zip(verdicts, lines[1:], strict=True)] == [
        True
    ] * 2
    assert ("1 agrees, 0 borderline, 0 tension, 1 disagrees" in made["tally"]) == (not reason)
    numbers = json.loads(made["numbers"])
    assert numbers["a"]["value"] == 0.6
    assert numbers["b"]["value"] == 2.0
    assert "draws" not in numbers["a"]
    assert "disagrees" in made["tex"] or reason
