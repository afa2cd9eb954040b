"""The scripts of the verdicts hand every table and every setting to the study that asks for it."""

import json

import pandas as pd
import pytest
from localizer.experiments.experiment2 import LatentModel
from localizer.models.gaussian import GaussianBenchmark
from localizer.theory.scaling import PairMoments
from localizer.verdicts import (
    board,
    findings1,
    findings1_precision,
    findings2,
    findings3,
    findings3_batches,
    findings_context,
    findings_estimation,
    findings_interpretation,
    findings_marginal,
    findings_mmd,
    findings_projection,
)

MODEL = {"mean": (1.5, 0.0), "sigma_s": 0.5, "epsilon": 0.02, "h": 1.0}
LATENT = {"d": 2, "sigma_s": 0.5, "epsilon": 0.02, "h": 1.0}
MOMENTS = {"N": 10, "replacement": True, "witness": 1.0, "pair": 2.0, "aligned": 0.5}
PUBLISHED = "id,experiment,where,quantity,kind,value,error,toys,claim\n"
ROWS = "a,I,sec. x,a number,ensemble,0.5,0.1,,\nb,I,sec. x,a claim,statement,,,,x < 1\n"
KNOWN = board.Published("a", "I", "sec. x", "a number", "ensemble", "0.5", "0.1", None)
CLAIM = board.Published("b", "I", "sec. x", "a claim", "statement", "", "", None, "x < 1")
THEORY = (
    findings_marginal,
    findings_projection,
    findings_mmd,
    findings_estimation,
    findings_context,
    findings_interpretation,
)


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


@pytest.fixture
def calls(monkeypatch):
    """Return what records the calls of all studies of a module, tables by their names."""

    def plain(value):
        return value["name"].item() if isinstance(value, pd.DataFrame) else value

    def calls(*modules):
        seen = {}

        def recorder(name):
            def record(*args, **options):
                options = {key: plain(value) for key, value in options.items()}
                seen[name] = ([plain(value) for value in args], options)
                return [board.statement(name, 1.0)]

            return record

        for module in modules:
            for name in vars(module):
                if name.startswith("of_") or name == "measured_values":
                    monkeypatch.setattr(module, name, recorder(name))
        return seen

    return calls


def names(written):
    return [finding["id"] for finding in json.loads(written["out"])]


def test_experiment1(run, calls):
    seen = calls(findings1, findings1_precision)
    params = {"model": MODEL, "m": 20, "seed": 3, "loo_toys": 50, "contexts": 7}
    written = run(
        "exp1_findings",
        params,
        tables="toys field scores scaling null_probe m_scan m_scan_probes efficiency generic "
        "self_influence",
    )
    model = GaussianBenchmark(**MODEL)
    assert seen == {
        "of_targets": ([model, 20], {"seed": 3}),
        "of_toys": (["toys", model], {"m": 20, "loo_toys": 50, "seed": 3}),
        "of_field": (["field", model], {}),
        "of_resampling": (["scores", "scaling"], {}),
        "of_null_probe": (["null_probe", 7], {}),
        "of_m_scan": (["m_scan", "m_scan_probes", model], {"sizes": (5, 80, 160, 320, 640)}),
        "of_efficiency": (["efficiency", model], {}),
        "of_generic": (["generic", model], {"largest": 640}),
        "of_self_influence": (["self_influence"], {}),
    }
    assert names(written) == list(seen)


def test_experiment2(run, calls):
    seen = calls(findings2)
    params = {"seed": 3, "model": LATENT, "N": 500, "published_toys": 9}
    written = run(
        "exp2_findings",
        {**params, "recovery_m": 20, "recovery_N": 400, "sizes": [100, 900]},
        tables="toys scan targets runs context",
        texts={"numbers": '{"oracle": 1.0}', "published": PUBLISHED + ROWS},
    )
    model = LatentModel(**LATENT)
    # a claim in words has no number
    recovery = {"m": 20, "N": 400, "published": {"a": 0.5}}
    assert seen == {
        "of_toys": (["toys"], {"N": 500}),
        "of_n_scan": (["toys", "scan"], {"published_toys": 9}),
        "of_recovery": (["targets", "runs"], recovery),
        "of_context": (["context", {"oracle": 1.0}], {}),
        "of_model": ([3], {"model": model}),
        "of_origin": ([3], {"model": model, "sizes": (100, 500, 900)}),
        "of_fixed_scores": ([3], {"model": model, "N": 500}),
    }
    assert names(written) == list(seen)


def test_experiment3(run, calls):
    seen = calls(findings3, findings3_batches)
    written = run(
        "exp3_findings",
        {"m": 100, "m_scan_R": 20, "fit_minimum": 4.0},
        tables="counts witness bandwidths sweep fits repeated surrogates seeds",
        texts={
            "numbers": json.dumps({"moments": MOMENTS, "dimension": 12, "edition": "subset"}),
            "published": PUBLISHED + ROWS,
            "law": '{"deviation": 1.0}',
        },
    )
    rows = {"a": KNOWN, "b": CLAIM}
    measured = [board.statement("measured_values", 1.0)]
    law = ["sweep", "fits", "repeated", {"deviation": 1.0}, rows]
    correlations = ["sweep", PairMoments(**MOMENTS), "seeds", rows, "surrogates"]
    assert seen == {
        "measured_values": (["witness", "bandwidths", "sweep", "fits"], {}),
        "of_dimension": (["counts", 12], {}),
        "of_draws": ([measured, "surrogates", "seeds", rows], {"edition": "subset"}),
        "of_bandwidths": (["bandwidths", 0.25], {}),
        "of_correlations": (correlations, {"edition": "subset"}),
        "of_convergence": (["sweep", rows], {"m": 100, "m_scan_R": 20}),
        "of_scaling": (law, {"fit_minimum": 4.0}),
    }
    assert names(written) == list(seen)[1:]


def test_theory(run, calls):
    seen = calls(*THEORY)
    written = run("theory_findings", {"seed": 3, "model": MODEL})
    model = GaussianBenchmark(**MODEL)
    assert all(seen[name][0] == [3, model] for name in seen if name != "of_projections")
    assert seen["of_projections"] == ([3], {})
    assert not any(options for _, options in seen.values())
    assert sorted(names(written)) == sorted(seen) == sorted(STUDIES)


STUDIES = [name for module in THEORY for name in vars(module) if name.startswith("of_")]


@pytest.mark.parametrize(
    ("reason", "verdicts"),
    [("", ["agrees", "disagrees"]), ("smoke", ["not comparable"] * 2)],
)
def test_scoreboard(run, reason, verdicts):
    findings = (board.Finding("a", 0.6, 0.0, draws=(1.0,)), board.statement("b", 2.0))
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
