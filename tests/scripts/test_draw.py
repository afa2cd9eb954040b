"""The script that draws a figure: which function, on which tables, and what lies beside it."""

import pandas as pd
import pytest
from localizer.figures import experiment1, experiment3


@pytest.fixture
def drawn(monkeypatch):
    """Let two functions note what they are given, and draw an empty figure."""
    from matplotlib.figure import Figure

    noted = {}

    class Drawing:
        def __init__(self, **given):
            noted.update(given)

        def __enter__(self):
            return Figure()

        def __exit__(self, *_):
            noted["ended"] = True

    monkeypatch.setattr(experiment1, "mscan", Drawing)
    monkeypatch.setattr(experiment3, "sic_floor", Drawing)
    monkeypatch.setattr(experiment3, "stamp", lambda _, edition: noted.update(stamp=edition))
    return noted


def draw(run_script, folder, name, module, *, tables, beside=("",), edition=(), params=()):
    paths = {}
    for key, table in tables.items():
        paths[key] = folder / f"{key}.csv"
        table.to_csv(paths[key], index=False)
    made = [folder / f"{name}{ending}" for ending in (".png", ".pdf")]
    made += [folder / f"{name}{ending}.csv" for ending in beside]
    inputs = {**paths, "code": [], "module": f"figures/{module}.py", "edition": list(edition)}
    run_script("draw", input=inputs, output=list(map(str, made)), params=params)
    return made


def test_the_tables_lie_beside_the_figure(run_script, tmp_path, drawn):
    tables = {
        name: pd.DataFrame({"m": [number]})
        for number, name in enumerate(("points", "curve", "targets"))
    }
    beside = ("", "_curve", "_targets")
    made = draw(run_script, tmp_path, "fig03_mscan", "experiment1", tables=tables, beside=beside)
    assert all(path.stat().st_size for path in made)
    assert [pd.read_csv(path)["m"].tolist() for path in made[2:]] == [[0], [1], [2]]
    assert {name: drawn[name]["m"].tolist() for name in tables} == {
        **{"points": [0], "curve": [1], "targets": [2]}
    }
    assert "stamp" not in drawn


def test_the_edition_stands_on_the_figure(run_script, tmp_path, drawn):
    edition = tmp_path / "edition.json"
    edition.write_text('{"name": "tiny"}')
    draw(
        run_script,
        tmp_path,
        "supp_lhco_sic_floor",
        "experiment3",
        tables={"scan": pd.DataFrame({"floor": [1]}), "published": pd.DataFrame({"id": ["a"]})},
        edition=[str(edition)],
        params={"floor": 7},
    )
    assert drawn["stamp"] == "tiny"
    assert drawn["floor"] == 7
    assert drawn["ended"]
