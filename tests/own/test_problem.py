"""Two tables become one problem: features, labels and names; every mistake is one sentence."""

import numpy as np
import pandas as pd
import pytest
from localizer.own import input_tables, problem, tables
from localizer.own.problem import select


@pytest.fixture(params=[7, tables.BLOCK], ids=["in blocks", "at once"], autouse=True)
def block(request, monkeypatch):
    """Read the tables in blocks of so many rows; nothing may depend on it."""
    monkeypatch.setattr(tables, "BLOCK", request.param)


@pytest.fixture
def frame():
    rng = np.random.default_rng(1)
    return pd.DataFrame(rng.normal(size=(40, 3)), columns=["x0", "x1", "x2"])


def other(frame):
    return frame + 10.0


def test_features_label_and_names(frame):
    sample = frame.assign(found=[0, 1] * 20, name=[f"event {i}" for i in range(40)])
    problem = select(sample, other(frame), label="found", event_id="name")
    assert problem.features == ("x0", "x1", "x2")
    assert problem.label is not None
    assert problem.label.tolist() == [False, True] * 20
    assert problem.names[3] == "event 3"
    np.testing.assert_array_equal(problem.reference, other(frame).to_numpy())
    chosen = select(sample, other(frame), columns=["x2", "x0"])
    np.testing.assert_array_equal(chosen.sample, frame[["x2", "x0"]].to_numpy())
    assert chosen.label is None
    assert chosen.names.tolist() == list(range(40))


def test_names_that_repeat_are_refused(frame):
    sample = frame.assign(name=["a", "b", "a", "a", "b", *map(str, range(35))])
    with pytest.raises(ValueError, match=r"column name names 3 events a \(and repeats 2 names"):
        select(sample, other(frame), event_id="name")


@pytest.mark.parametrize("day", ["2024-05-17", "17.5.2024 12:30", pd.Timestamp("2024-05-17")])
def test_dates_are_called_dates(frame, day):
    problem = select(frame.assign(day=day), other(frame).assign(day=day))
    assert problem.left_out["day"].startswith("it holds dates, as ")
    assert "days since the first" in problem.left_out["day"]


def test_text_and_constants_are_left_out_and_said(frame):
    more = {"shift": "day", "version": 3.0}
    problem = select(frame.assign(**more), other(frame).assign(**more))
    assert problem.features == ("x0", "x1", "x2")
    assert "text" in problem.left_out["shift"]
    assert "constant" in problem.left_out["version"]


REFUSED = {
    "missing": (lambda f: (f, other(f)), {"columns": ["x0", "x9"]}, "no column x9; did you mean"),
    "missing there": (
        lambda f: (f.assign(y=f.x0), other(f)),
        {"columns": ["y"]},
        "the reference has no column y",
    ),
    "label": (lambda f: (f, other(f)), {"label": "found"}, "score.label: the sample has no column"),
    "not two-valued": (
        lambda f: (f.assign(found=range(40)), other(f)),
        {"label": "found"},
        "must hold 0 and 1, both of them, it holds",
    ),
    "one-valued": (
        lambda f: (f.assign(found=0), other(f)),
        {"label": "found"},
        "must hold 0 and 1, both of them, it holds",
    ),
    "text": (
        lambda f: (f.assign(t="a"), other(f).assign(t="b")),
        {"columns": ["x0", "t"]},
        "t cannot be used: it holds text, as 'a'",
    ),
    "constant": (
        lambda f: (f.assign(c=1.0), other(f).assign(c=1.0)),
        {"columns": ["x0", "c"]},
        "c cannot be used: it is constant",
    ),
    "different columns": (
        lambda f: (f.assign(y=f.x0), other(f)),
        {},
        r"different columns: y \(y only in the sample\)",
    ),
    "nothing shared": (
        lambda f: (f[["x0"]].assign(x0=1.0), f[["x0"]].assign(x0=1.0)),
        {},
        "share no column of numbers that varies",
    ),
    "NaN": (
        lambda f: (f.assign(x1=np.where(f.index < 3, np.nan, f.x1)), other(f)),
        {},
        r"the sample has missing or infinite values \(x1 3 of 40\)",
    ),
    "infinite": (
        lambda f: (f, other(f).assign(x2=np.inf)),
        {},
        r"the reference has missing or infinite values \(x2 40 of 40\)",
    ),
    "empty": (lambda f: (f[:0], other(f)), {}, "the sample holds 0 events; at least 10"),
    "empty, of whole numbers": (
        lambda f: (f[:0].astype(int), other(f)[:0].astype(int)),
        {},
        "the sample holds 0 events; at least 10",
    ),
    "tiny": (lambda f: (f, other(f)[:9]), {}, "the reference holds 9 events; at least 10"),
    "a result's name": (
        lambda f: (f.assign(rank=f.x0), other(f).assign(rank=f.x1)),
        {},
        "column rank has the name of a result",
    ),
    "complex": (
        lambda f: (f.assign(z=f.x0 + 1j), other(f).assign(z=f.x1 + 1j)),
        {"columns": ["x0", "z"]},
        "z cannot be used: it holds complex numbers",
    ),
    "label as a feature": (
        lambda f: (f.assign(found=[0, 1] * 20), other(f).assign(found=f.x0)),
        {"columns": ["x0", "found"], "label": "found"},
        "score.label: column found is a feature of score.columns too",
    ),
    "shared": (lambda f: (f, pd.concat([other(f), f[:7]])), {}, "7 events of the sample are also"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_tables_are_refused_in_one_sentence(frame, case):
    made, options, sentence = REFUSED[case]
    with pytest.raises(ValueError, match=sentence) as told:
        select(*made(frame), **options)
    assert "\n" not in str(told.value)


def test_shared_events_may_be_allowed(frame):
    problem = select(frame, frame, shared_events="allow")
    np.testing.assert_array_equal(problem.sample, problem.reference)


def test_the_index_of_a_saved_table_is_no_feature(frame, tmp_path):
    frame.to_csv(tmp_path / "new.csv")
    other(frame)[:30].to_csv(tmp_path / "old.csv")
    problem = select(
        input_tables.read(f"{tmp_path}/new.csv"), input_tables.read(f"{tmp_path}/old.csv")
    )
    assert problem.features == ("x0", "x1", "x2")
    assert problem.left_out == {"Unnamed: 0": "it numbers the rows"}
    numbered = frame.assign(run=np.arange(7, 47))
    assert "run" in select(numbered, other(numbered).assign(run=numbered.run)).left_out


def test_columns_without_words_for_names(frame, tmp_path):
    plain = pd.DataFrame(frame.to_numpy())
    for place in ("a.csv", "a.parquet"):
        path = tmp_path / place
        plain.to_csv(path, index=False) if place == "a.csv" else plain.to_parquet(path)
        table = input_tables.read(str(path)).frame()
        chosen = select(table, table + 10.0, columns=["2", "0"])
        np.testing.assert_array_equal(chosen.sample, plain[[2, 0]].to_numpy())


def test_names_of_events_that_a_file_can_hold(frame):
    for ids in (
        [2**70 + i for i in range(40)],
        [*range(39), "last"],
        np.arange(40, dtype=">i8"),
        np.arange(40, dtype=np.uint64) + np.uint64(2**63),
    ):
        problem = select(
            frame.assign(name=pd.Series(ids)), other(frame), columns=["x0"], event_id="name"
        )
        problem.names.to_frame().to_parquet("/dev/null")
        assert str(problem.names[3]) == str(ids[3])


def test_names_in_a_csv_stay_as_they_are_written(frame, tmp_path):
    written = ["007", "1E2", str(2**63 + 5), *(f"e{i}" for i in range(37))]
    path = tmp_path / "a.csv"
    frame.assign(name=written).to_csv(path, index=False)
    table = input_tables.read(str(path), event_id="name")
    problem = select(table, other(frame), columns=["x0"], event_id="name")
    assert problem.names.tolist() == written
    assert table.frame()["x0"].dtype == np.float64


@pytest.mark.parametrize("gap", ["", None, np.nan, pd.NA])
def test_an_event_without_a_name_is_told(frame, tmp_path, gap):
    ids = pd.Series([gap, *map(str, range(39))])
    with pytest.raises(ValueError, match="column name is empty or NA for 1 of 40 events"):
        select(frame.assign(name=ids), other(frame), columns=["x0"], event_id="name")
    frame.assign(name=ids).to_csv(tmp_path / "a.csv", index=False)
    table = input_tables.read(str(tmp_path / "a.csv"), event_id="name")
    with pytest.raises(ValueError, match="column name is empty or NA for 1 of 40 events"):
        select(table, other(frame), columns=["x0"], event_id="name")


def test_some_events_are_kept_and_all_are_checked(frame):
    rows = {"sample": np.array([3, 8, 21, 22, 39]), "reference": np.array([0, 6, 7, 30])}
    sample = frame.assign(found=[0, 1] * 20, name=[f"e{i}" for i in range(40)])

    def kept(sample, reference):
        return select(
            *(sample, reference),
            **{"label": "found", "event_id": "name"},
            columns=["x2", "x0"],
            keep=lambda which, size: rows[which][rows[which] < size],
        )

    found = kept(sample, other(frame))
    for which, table in (("sample", sample), ("reference", other(frame))):
        chosen = table.iloc[rows[which]][["x2", "x0"]]
        np.testing.assert_array_equal(getattr(found, which), chosen.to_numpy())
    assert found.rows == {"sample": 40, "reference": 40}
    assert found.names.tolist() == ["e3", "e8", "e21", "e22", "e39"]
    assert found.label.tolist() == [True, False, True, False, True]
    with pytest.raises(ValueError, match=r"missing or infinite values \(x0 1 of 40\)"):
        kept(sample.assign(x0=sample["x0"].where(sample.index != 4)), other(frame))
    with pytest.raises(ValueError, match="1 events of the sample are also in the reference"):
        kept(sample, pd.concat([other(frame), frame[5:6]]))


def test_shared_events_are_those_of_the_sample(frame):
    """Two of them may be equal to one of the reference."""
    sample = pd.concat([frame, frame[5:6]], ignore_index=True)
    with pytest.raises(ValueError, match="2 events of the sample are also in the reference"):
        select(sample, pd.concat([other(frame), frame[5:6]]))


def test_rows_with_one_fingerprint_are_compared_themselves(frame, monkeypatch):
    monkeypatch.setattr(
        problem.pd.util, "hash_pandas_object", lambda rows, **_: np.zeros(len(rows), np.uint64)
    )
    select(frame, other(frame))
    with pytest.raises(ValueError, match="2 events of the sample are also in the reference"):
        # minus zero is zero
        select(
            frame.assign(x0=frame["x0"].where(frame.index > 0, 0.0)),
            pd.concat([other(frame), frame[:2].assign(x0=[-0.0, frame["x0"][1]])]),
        )


def test_a_count_of_rows_that_breaks_off_is_a_feature(frame):
    count = np.arange(5, 45)
    numbered = frame.assign(run=count)
    assert select(numbered, other(frame).assign(run=count)).left_out == {
        "run": "it numbers the rows"
    }
    broken = np.where(np.arange(40) < 30, count, count + 1)
    assert "run" in select(numbered, other(frame).assign(run=broken)).features
    assert "run" in select(numbered, other(frame).assign(run=count + 0.5)).features
    # asked for by its name, it is a feature
    chosen = select(numbered, other(frame).assign(run=count), columns=["x0", "run"])
    assert chosen.features == ("x0", "run")


def test_columns_of_pandas_with_gaps(frame):
    whole = frame.assign(n=pd.array([*range(1, 41)], dtype="Int64"), b=pd.array([True, False] * 20))
    found = select(whole, other(frame).assign(n=whole.n * 2, b=whole.b))
    assert found.features == ("x0", "x1", "x2", "n", "b")
    assert found.sample[:, 4].tolist() == [1.0, 0.0] * 20
    gap = whole.assign(n=whole["n"].where(whole.index != 11))
    with pytest.raises(ValueError, match=r"the sample has missing or infinite values \(n 1 of 40"):
        select(gap, other(frame).assign(n=whole.n * 2, b=whole.b))
