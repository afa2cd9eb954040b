"""Registry, editions, samples and the raw route of the LHC Olympics events."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import json
import os
import pickle
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pytest
from localizer.base import checks
from localizer.base.randomness import stream
from localizer.lhco import download, editions, raw, registry, samples, surrogate
from localizer.lhco.editions import Edition, EditionError, resolve
from localizer.lhco.registry import DataFile
from localizer.lhco.samples import Counts, Events, Samples

RESOURCES = Path(__file__).resolve().parents[2] / "resources" / "lhco"
SHIPPED = (RESOURCES / "registry.csv").read_text()
MIRROR = os.environ.get("LHCO_MIRROR", "")
real_events = pytest.mark.skipif(
    not Path(MIRROR).is_dir() or not MIRROR,
    reason="the real events are needed: set LHCO_MIRROR to a directory that holds them",
)


# The registry


def test_the_shipped_registry_makes_the_papers_samples():
    files = registry.parse(SHIPPED)
    rows = {file.path: file.rows for file in files}
    paper = samples.PAPER
    mixed = rows["innerdata_train.npy"] + rows["innerdata_test.npy"]
    assert mixed == paper.mixed_background + paper.mixed_signal
    train, val, test = (
        rows[f"separated_data/innerdata_extrabkg_{name}.npy"] for name in ("train", "val", "test")
    )
    assert train + val == paper.reference
    both = rows["separated_data/innerdata_test.npy"]
    assert test + both == paper.evaluation_background + paper.evaluation_signal
    assert rows["events_anomalydetection_qcd_extra_inneronly_features.h5"] == (
        paper.reference + paper.evaluation_background
    )
    for file in files:
        if file.path.endswith(".npy"):
            # six columns of eight bytes below a header of 128
            assert file.size == 128 + 48 * file.rows
            assert file.git_sha1 is not None
        assert file.licence == "CC-BY-4.0"


def test_editions_of_the_shipped_registry():
    files = registry.parse(SHIPPED)
    full = {file.path for file in registry.of_edition(files, "full")}
    subset = {file.path for file in registry.of_edition(files, "subset")}
    zenodo = {file.path for file in registry.of_edition(files, "zenodo")}
    assert subset < full
    assert (len(full), len(subset), len(zenodo)) == (6, 3, 2)
    assert not full & zenodo
    with pytest.raises(ValueError, match="lists no file of the edition 'surrogate'"):
        registry.of_edition(files, "surrogate")


def test_reading_and_parsing_agree(tmp_path):
    path = tmp_path / "registry.csv"
    path.write_text(SHIPPED)
    assert registry.read(path) == registry.parse(SHIPPED)
    with pytest.raises(ValueError, match="does not exist"):
        registry.read(tmp_path / "none.csv")
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="not a text file"):
        registry.read(path)


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        ("path", "../innerdata.npy", "plain relative path"),
        ("path", "/innerdata.npy", "plain relative path"),
        ("path", "a//b.npy", "plain relative path"),
        ("path", "", "must be a word"),
        ("path", "innerdata_test.npy", "listed twice"),
        ("address", "http://example.org/x", "https address"),
        ("address", "https://example.org", "https address"),
        ("bytes", "12.5", "whole number"),
        ("bytes", "0", "whole number"),
        ("rows", "", "whole number"),
        ("rows", "many", "whole number"),
        ("git_sha1", "abc", "40 hexadecimal digits"),
        ("sha256", "g" * 64, "64 hexadecimal digits"),
        ("md5_unverified", "A" * 32, "32 hexadecimal digits"),
        ("licence", "", "must be a word"),
        ("sample", " mixed", "must be a word"),
        ("editions", "full best", "must be some of"),
        ("editions", "full full", "must be some of"),
    ],
)
def test_a_bad_field_is_named(column, value, why):
    lines = SHIPPED.splitlines()
    # not the first file, so that another can be repeated
    line = 4
    fields = lines[line - 1].split(",")
    fields[registry.COLUMNS.index(column)] = value
    lines[line - 1] = ",".join(fields)
    with pytest.raises(ValueError, match=f"line {line}, column {column} of the registry: .*{why}"):
        registry.parse("\n".join(lines))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "line 1 of the registry must name the columns"),
        (SHIPPED.replace("git_sha1", "sha1", 1), "line 1"),
        (SHIPPED + "a,b\n", "must have 13 fields, it has 2"),
        (SHIPPED.splitlines()[0], "lists no files"),
    ],
)
def test_a_bad_registry(text, why):
    with pytest.raises(ValueError, match=why):
        registry.parse(text)


# Samples


def some_events(name: str, n: int) -> Events:
    rng = stream(1, "lhco", name)
    return Events(mass=rng.uniform(3.31, 3.69, n), x=rng.random((n, 4)))


def some_samples(**changes: Any) -> Samples:
    parts: dict[str, Any] = {
        "mixed": some_events("mixed", 50),
        "labels": np.arange(50) >= 45,
        "reference": some_events("reference", 60),
        "evaluation_background": some_events("background", 70),
        "evaluation_signal": some_events("signal", 20),
    }
    return Samples(**{**parts, **changes})


def test_counts():
    assert some_samples().counts == Counts(45, 5, 60, 70, 20)


def joined(one: Events, other: Events) -> Events:
    return Events(np.concatenate([one.mass, other.mass]), np.concatenate([one.x, other.x]))


NAMES = {
    "mixed": "mixed sample",
    "reference": "reference",
    "evaluation_background": "evaluation background",
    "evaluation_signal": "evaluation signal",
}


@pytest.mark.parametrize(
    ("one", "other"), [(a, b) for i, a in enumerate(NAMES) for b in list(NAMES)[i + 1 :]]
)
def test_an_event_in_two_samples_is_refused(one, other):
    good = some_samples()
    source: Events = getattr(good, one)
    two = Events(source.mass[3:5], source.x[3:5])
    with pytest.raises(
        ValueError, match=f"the {NAMES[one]} and the {NAMES[other]} have 2 events in common"
    ):
        some_samples(**{other: joined(getattr(good, other), two)})


def test_events_that_share_a_mass_only_are_different():
    good = some_samples()
    twin = Events(good.mixed.mass[:60], good.reference.x[:50])
    assert samples.overlap(good.mixed, twin) == 0
    some_samples(reference=twin)


@pytest.mark.parametrize(
    ("mass", "x", "why"),
    [
        ([3.3], np.ones((1, 4)), "strictly between 3.3 and 3.7 TeV, 1 events"),
        ([3.7], np.ones((1, 4)), "strictly between"),
        ([3.5], np.ones((1, 5)), "x must have 4 features"),
        ([3.5, 3.6], np.ones((1, 4)), "mass must have 1 entries"),
        ([3.5], [[1.0, np.nan, 1.0, 1.0]], "x must be finite"),
        ([np.nan], np.ones((1, 4)), "mass must be finite"),
    ],
)
def test_bad_events(mass, x, why):
    with pytest.raises(ValueError, match=why):
        Events(mass, x)


def test_labels_must_hold_both_classes():
    with pytest.raises(ValueError, match="there is no signal"):
        some_samples(labels=np.zeros(50))
    with pytest.raises(ValueError, match="labels must have 50 entries"):
        some_samples(labels=np.arange(49) > 40)


def table_of(events: Events, label: float | np.ndarray) -> np.ndarray:
    return np.column_stack([events.mass, events.x, np.broadcast_to(label, len(events))])


SMALL = {
    "full": Counts(90, 10, 50, 70, 20),
    "subset": Counts(90, 10, 24, 16, 20),
    "zenodo": Counts(90, 10, 50, 70, 20),
}


@pytest.fixture
def tables(monkeypatch) -> dict[str, np.ndarray]:
    """Return files of a small sample in the public layout."""
    monkeypatch.setattr(samples, "COUNTS", SMALL)
    mixed = table_of(some_events("mixed", 100), np.arange(100) % 10 == 7)
    extra = table_of(some_events("extra", 40), 0)
    signal = table_of(some_events("signal", 20), 1)
    background = {
        name: table_of(some_events(name, n), 0) for name, n in (("train", 20), ("val", 30))
    } | {"test": table_of(some_events("test", 30), 0)}
    return {
        "innerdata_train.npy": mixed[:60],
        "innerdata_test.npy": mixed[60:],
        "separated_data/innerdata_test.npy": np.concatenate([extra, signal]),
        **{f"separated_data/innerdata_extrabkg_{n}.npy": t for n, t in background.items()},
    }


def test_the_full_edition_takes_the_right_rows(tables):
    found = samples.from_tables(tables, "full")
    assert found.counts == SMALL["full"]
    np.testing.assert_array_equal(found.mixed.mass[60:], tables["innerdata_test.npy"][:, 0])
    np.testing.assert_array_equal(found.labels, np.arange(100) % 10 == 7)
    train = tables["separated_data/innerdata_extrabkg_train.npy"]
    val = tables["separated_data/innerdata_extrabkg_val.npy"]
    np.testing.assert_array_equal(found.reference.x, np.concatenate([train, val])[:, 1:5])
    test = tables["separated_data/innerdata_extrabkg_test.npy"]
    both = tables["separated_data/innerdata_test.npy"]
    np.testing.assert_array_equal(
        found.evaluation_background.x, np.concatenate([test, both[:40]])[:, 1:5]
    )
    np.testing.assert_array_equal(found.evaluation_signal.x, both[40:, 1:5])


def test_the_subset_divides_the_extra_background(tables):
    found = samples.from_tables(tables, "subset")
    both = tables["separated_data/innerdata_test.npy"]
    np.testing.assert_array_equal(found.reference.x, both[:24, 1:5])
    np.testing.assert_array_equal(found.evaluation_background.x, both[24:40, 1:5])
    np.testing.assert_array_equal(found.evaluation_signal.x, both[40:, 1:5])


def test_wrong_labels_and_counts_are_refused(tables):
    name = "separated_data/innerdata_extrabkg_val.npy"
    wrong = {**tables, name: tables[name].copy()}
    wrong[name][3, -1] = 1
    with pytest.raises(ValueError, match="the reference must have the label 0, 1 events do not"):
        samples.from_tables(wrong, "full")
    both = "separated_data/innerdata_test.npy"
    swapped = {**tables, both: tables[both][::-1]}
    with pytest.raises(ValueError, match="must have the label"):
        samples.from_tables(swapped, "subset")
    short = {**tables, name: tables[name][:-1]}
    with pytest.raises(ValueError, match="reference of the edition full must hold 50 events, it"):
        samples.from_tables(short, "full")
    with pytest.raises(ValueError, match="edition must be full or subset"):
        samples.from_tables(tables, "zenodo")
    with pytest.raises(ValueError, match="edition must be one of"):
        samples.from_tables(tables, "best")


def test_the_papers_counts():
    assert samples.expected("full") == Counts(121_352, 772, 272_858, 340_000, 20_000)
    assert samples.expected("zenodo") == samples.expected("full")
    assert samples.expected("subset") == Counts(121_352, 772, 30_000, 10_000, 20_000)


def test_a_table_survives_its_file(tmp_path):
    table = table_of(some_events("mixed", 10), np.arange(10) % 2)
    np.save(tmp_path / "a.npy", table)
    np.testing.assert_array_equal(samples.read_table(tmp_path / "a.npy"), table)


class Trap:
    """Unpickling it would be noticed."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (pytest.fail, ("a pickle was loaded",))


def bad_files() -> dict[str, tuple[Any, str]]:
    good = table_of(some_events("mixed", 10), np.arange(10) % 2)
    holed = good.copy()
    holed[2, 3] = np.nan
    mislabelled = good.copy()
    mislabelled[:, -1] += 1
    return {
        "nan": (holed, "must be finite, 1 of its values"),
        "columns": (good[:, :5], "must have the 6 columns mJJ"),
        "flat": (good.ravel(), "must have the 6 columns"),
        "dtype": (good.astype(np.float32), "must hold float64 numbers, it holds float32"),
        "label": (mislabelled, "labels of .* must be 0"),
        "empty": (good[:0], "at least 1 events"),
    }


@pytest.mark.parametrize("name", list(bad_files()))
def test_bad_tables(tmp_path, name):
    content, why = bad_files()[name]
    np.save(tmp_path / "a.npy", content)
    with pytest.raises(ValueError, match=why):
        samples.read_table(tmp_path / "a.npy")


def test_pickles_and_other_files_are_never_loaded(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.array([Trap()], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"not a plain \.npy file"):
        samples.read_table(path)
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ValueError, match=r"not a plain \.npy file"):
        samples.read_table(path)
    np.savez(tmp_path / "a.npz", a=np.ones(3))
    with pytest.raises(ValueError, match=r"not a plain \.npy file"):
        samples.read_table(tmp_path / "a.npz")
    with pytest.raises(ValueError, match="does not exist"):
        samples.read_table(tmp_path / "b.npy")
    np.save(path, np.ones((10, 6)))
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ValueError, match=r"not a plain \.npy file"):
        samples.read_table(path)


# Editions


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def published(tmp_path) -> Iterator[tuple[Path, str]]:
    """Yield a folder and the address at which a server on this machine publishes it."""
    folder = tmp_path / "published"
    folder.mkdir()
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=str(folder))
    )
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join(10)
    server.server_close()


@pytest.fixture
def unreachable(closed_port) -> str:
    return f"http://127.0.0.1:{closed_port}"


def content_of(path: str) -> bytes:
    start = b"\x93NUMPY" if path.endswith(".npy") else b"\x89HDF\r\n\x1a\n"
    return start + path.encode()


def listed(base: str) -> tuple[DataFile, ...]:
    """Return the shipped registry with small contents, published at ``base``."""
    files = []
    for file in registry.parse(SHIPPED):
        content = content_of(file.path)
        changes: dict[str, Any] = {"address": f"{base}/{file.path}", "md5_unverified": None}
        if file.path.endswith(".npy"):
            blob = b"blob %d\0" % len(content) + content
            changes |= {
                "size": len(content),
                "git_sha1": hashlib.sha1(blob).hexdigest(),
                "sha256": None,
            }
        files.append(replace(file, **changes))
    return tuple(files)


def put(folder: Path, files: tuple[DataFile, ...], edition: str, *, but: str = "") -> None:
    for file in registry.of_edition(files, edition):
        if file.path != but:
            (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
            (folder / file.path).write_bytes(content_of(file.path))


def test_full_when_everything_is_here(tmp_path, unreachable):
    files = listed(unreachable)
    put(tmp_path, files, "full")
    for source in ("auto", "full"):
        edition = resolve(source, files, tmp_path)
        assert (edition.name, edition.asked) == ("full", source)
        assert {found.where for found in edition.files} == {"here"}
        assert len(edition.files) == 6


def test_full_from_a_mirror_directory(tmp_path, unreachable):
    files = listed(unreachable)
    put(tmp_path / "mirror", files, "full")
    edition = resolve("auto", files, tmp_path / "here", mirror=str(tmp_path / "mirror"))
    assert edition.name == "full"
    assert {found.where for found in edition.files} == {"mirror"}


def test_full_from_the_network(tmp_path, published):
    folder, base = published
    files = listed(base)
    put(folder, files, "full")
    edition = resolve("auto", files, tmp_path / "here")
    assert edition.name == "full"
    assert {found.where for found in edition.files} == {"network"}


def test_what_the_mirror_lacks_may_come_from_the_network(tmp_path, published):
    folder, base = published
    files = listed(base)
    put(folder, files, "full")
    put(tmp_path / "mirror", files, "subset")
    edition = resolve("auto", files, tmp_path / "here", mirror=str(tmp_path / "mirror"))
    assert edition.name == "full"
    assert sorted(found.where for found in edition.files) == ["mirror"] * 3 + ["network"] * 3


def test_full_from_a_mirror_address(tmp_path, published, unreachable):
    folder, base = published
    files = listed(unreachable)
    put(folder / "copy", files, "full")
    edition = resolve("full", files, tmp_path / "here", mirror=f"{base}/copy")
    assert {found.where for found in edition.files} == {"mirror"}


def test_subset_when_only_that_can_be_had(tmp_path, published, unreachable):
    folder, base = published
    for files, mirror in ((listed(base), None), (listed(unreachable), str(folder))):
        put(folder, files, "full", but="separated_data/innerdata_extrabkg_val.npy")
        edition = resolve("auto", files, tmp_path / "here", mirror=mirror)
        assert edition.name == "subset"
        assert len(edition.files) == 3
        assert "full is not available: separated_data/innerdata_extrabkg_val.npy" in edition.why
        assert "30000 reference" in edition.why


def test_surrogate_when_nothing_can_be_had(tmp_path, unreachable):
    edition = resolve("auto", listed(unreachable), tmp_path)
    assert edition.name == "surrogate"
    assert edition.files == ()
    assert "full is not available" in edition.why
    assert "subset is not available" in edition.why
    assert "no connection" in edition.why


def test_a_damaged_file_does_not_count(tmp_path, unreachable):
    files = listed(unreachable)
    put(tmp_path, files, "full")
    (tmp_path / "innerdata_train.npy").write_bytes(content_of("innerdata_trait.npy"))
    edition = resolve("auto", files, tmp_path)
    assert edition.name == "surrogate"
    assert "expected git blob SHA-1" in edition.why


@pytest.mark.parametrize("source", ["full", "subset", "zenodo"])
def test_a_named_edition_never_falls_back(tmp_path, source, unreachable):
    files = listed(unreachable)
    if source == "full":
        put(tmp_path, files, "subset")
    with pytest.raises(EditionError) as caught:
        resolve(source, files, tmp_path)
    message = str(caught.value)
    assert f"the edition {source} of the LHC Olympics sample is not available" in message
    for way in ("run again", "by hand", "LHCO_MIRROR"):
        assert way in message


def test_named_editions_are_had(tmp_path, unreachable):
    files = listed(unreachable)
    put(tmp_path, files, "full")
    put(tmp_path, files, "zenodo")
    assert resolve("zenodo", files, tmp_path).name == "zenodo"
    assert resolve("subset", files, tmp_path).name == "subset"
    drawn = resolve("surrogate", files, tmp_path)
    assert drawn.name == "surrogate"
    assert "as requested" in drawn.why


@pytest.fixture
def asked(monkeypatch) -> list[str]:
    """Return the list of addresses that will have been asked."""
    listing: list[str] = []
    honest = download.obstacle

    def listening(address: str, file: DataFile, *, seconds: float) -> str | None:
        listing.append(address)
        return honest(address, file, seconds=seconds)

    monkeypatch.setattr(download, "obstacle", listening)
    return listing


def test_a_host_that_cannot_be_reached_is_asked_once(tmp_path, asked, unreachable):
    assert resolve("auto", listed(unreachable), tmp_path).name == "surrogate"
    assert len(asked) == 1


def test_a_host_is_asked_once_for_a_named_edition(tmp_path, asked, unreachable):
    with pytest.raises(EditionError, match=r"and \d more files"):
        resolve("full", listed(unreachable), tmp_path)
    assert len(asked) == 1


def test_a_host_that_keeps_silent_is_asked_once(tmp_path, asked):
    # A listening socket that nobody accepts from: connections open, no answer comes.
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(16)
        files = listed(f"http://127.0.0.1:{silent.getsockname()[1]}")
        edition = resolve("auto", files, tmp_path, seconds=0.4)
    assert edition.name == "surrogate"
    assert download.SILENCE in edition.why
    assert len(asked) == 1


def test_no_more_time_than_allowed_is_spent_connecting(tmp_path, monkeypatch):
    clock = [0.0]

    def slow(_address: str, _file: DataFile, *, seconds: float) -> str | None:
        assert 0 < seconds <= 10 - clock[0] + 1e-9
        clock[0] += min(seconds, 4.0)
        return None

    monkeypatch.setattr(download, "obstacle", slow)
    monkeypatch.setattr(editions.time, "monotonic", lambda: clock[0])
    edition = resolve("auto", listed("https://example.org"), tmp_path)
    assert clock[0] <= 10
    assert edition.name == "subset"
    assert "the time limit for connecting was used up" in edition.why


@pytest.mark.parametrize(
    ("source", "given", "seconds"),
    [("auto", None, 10), ("full", None, 25), ("zenodo", None, 25), ("full", 3.0, 3)],
)
def test_how_long_an_edition_is_tried(tmp_path, monkeypatch, source, given, seconds):
    allowed: list[float] = []

    def silent(_address: str, _file: DataFile, *, seconds: float) -> str:
        allowed.append(seconds)
        return download.SILENCE

    monkeypatch.setattr(download, "obstacle", silent)
    with contextlib.suppress(EditionError):
        resolve(source, listed("https://example.org"), tmp_path, seconds=given)
    assert allowed == [seconds]


def test_a_file_is_looked_for_here_then_in_the_mirror_then_at_its_address(
    tmp_path, asked, unreachable
):
    files = listed(unreachable)
    here, mirror = tmp_path / "here", tmp_path / "mirror"
    put(here, files, "full", but="innerdata_train.npy")
    put(mirror, files, "full", but="innerdata_test.npy")
    edition = resolve("full", files, here, mirror=str(mirror))
    where = {found.path: found.where for found in edition.files}
    assert where.pop("innerdata_train.npy") == "mirror"
    assert set(where.values()) == {"here"}
    # no other file was asked for, and the one not at its address
    assert asked == [(mirror / "innerdata_train.npy").as_uri()]
    (mirror / "innerdata_train.npy").unlink()
    asked.clear()
    with pytest.raises(EditionError, match=r"it is not there, http://127\.0\.0\.1.*no connection"):
        resolve("full", files, here, mirror=str(mirror))
    assert asked == [(mirror / "innerdata_train.npy").as_uri(), files[0].address]


def test_an_edition_is_made_of_its_own_files_only(tmp_path, unreachable):
    files = listed(unreachable)
    # the raw files alone are no reason to leave what auto chooses from
    put(tmp_path, files, "zenodo")
    assert resolve("auto", files, tmp_path).name == "surrogate"
    put(tmp_path, files, "full")
    for source, name in (("auto", "full"), ("subset", "subset"), ("zenodo", "zenodo")):
        edition = resolve(source, files, tmp_path)
        assert edition.name == name
        own = [file.path for file in files if name in file.editions]
        assert [found.path for found in edition.files] == own


def test_the_record_survives_json(tmp_path, unreachable):
    files = listed(unreachable)
    put(tmp_path, files, "subset")
    edition = resolve("auto", files, tmp_path)
    text = json.dumps(edition.as_dict())
    assert Edition.from_dict(json.loads(text)) == edition
    assert "--forcerun lhco_edition" in edition.refresh


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"name": "full", "files": [{"nothing": 1}]},
        {"name": "best", "asked": "auto", "why": "", "files": [], "refresh": ""},
        {"name": "full", "asked": "auto", "why": "", "files": [], "refresh": "", "more": 1},
    ],
)
def test_bad_records(record):
    with pytest.raises(ValueError, match="edition"):
        Edition.from_dict(record)


def test_bad_sources(tmp_path, unreachable):
    with pytest.raises(ValueError, match="source must be one of auto, full"):
        resolve("best", listed(unreachable), tmp_path)
    with pytest.raises(ValueError, match="seconds must be positive"):
        resolve("auto", listed(unreachable), tmp_path, seconds=0)
    with pytest.raises(ValueError, match="not a directory"):
        resolve("auto", listed(unreachable), tmp_path, mirror="/no/such/place")


def test_loading_from_files(tmp_path, tables):
    files = registry.parse(SHIPPED)
    for path, table in tables.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        np.save(tmp_path / path, table)
    for edition in ("full", "subset"):
        loaded = editions.load(edition, tmp_path, files, seed=1)
        direct = samples.from_tables(tables, edition)
        assert loaded.counts == SMALL[edition]
        np.testing.assert_array_equal(loaded.reference.x, direct.reference.x)
    with pytest.raises(ValueError, match="lists no file of the edition 'best'"):
        editions.load("best", tmp_path, files, seed=1)


def test_loading_the_surrogate(monkeypatch):
    monkeypatch.setattr(samples, "COUNTS", {"surrogate": Counts(90, 10, 50, 70, 20)})
    files = registry.parse(SHIPPED)
    one, same, other = (
        editions.load("surrogate", RESOURCES, files, seed=seed) for seed in (1, 1, 2)
    )
    assert one.counts == Counts(90, 10, 50, 70, 20)
    np.testing.assert_array_equal(one.mixed.x, same.mixed.x)
    assert samples.overlap(one.mixed, other.mixed) == 0
    # each sample has a stream of its own: kinds and names are not exchanged
    generator = surrogate.parse((RESOURCES / "surrogate/parameters.json").read_text())
    for events, name, kind in (
        (one.reference, "reference", "qcd"),
        (one.evaluation_background, "evaluation", "qcd"),
        (one.evaluation_signal, "evaluation", "signal"),
        (Events(one.mixed.mass[one.labels], one.mixed.x[one.labels]), "mixed", "signal"),
    ):
        rng = stream(1, "lhco", "surrogate", name, kind)
        np.testing.assert_array_equal(
            table_of(events, 0)[:, :5], generator.sample(rng, len(events), kind)
        )


@real_events
def test_the_real_subset():
    files = registry.parse(SHIPPED)
    edition = resolve("subset", files, Path("/nowhere"), mirror=MIRROR)
    tables = {found.path: samples.read_table(Path(MIRROR) / found.path) for found in edition.files}
    found = samples.from_tables(tables, "subset")
    assert found.counts == samples.SUBSET
    # The order of the two tau21 is by jet mass: the lighter jet's is the larger one on average.
    assert found.reference.x[:, 2].mean() > found.reference.x[:, 3].mean()


# The raw route


def back_to_back(energy: float, m1: float, m2: float, direction: np.ndarray) -> np.ndarray:
    """Return two jets at rest together: their invariant mass is ``energy``."""
    p = np.sqrt((energy**2 - (m1 + m2) ** 2) * (energy**2 - (m1 - m2) ** 2)) / (2 * energy)
    unit = direction / np.linalg.norm(direction)
    return np.concatenate([p * unit, -p * unit])


def boosted(momenta: np.ndarray, m1: float, m2: float, beta: float) -> np.ndarray:
    """Return the two jets seen from a frame that moves along z: the invariant mass stays."""
    gamma = 1 / np.sqrt(1 - beta**2)
    result = momenta.copy()
    for jet, mass in ((0, m1), (1, m2)):
        p = momenta[3 * jet : 3 * jet + 3]
        energy = np.sqrt(p @ p + mass**2)
        result[3 * jet + 2] = gamma * (p[2] + beta * energy)
    return result


def raw_frame(masses: np.ndarray, *, labels: np.ndarray, key: str) -> pd.DataFrame:
    """Return events of known invariant mass in GeV, in the published columns."""
    rng = stream(2, "lhco", "raw", key)
    rows = []
    for mass in masses:
        m1, m2 = rng.uniform(20, 500, 2)
        p = boosted(
            back_to_back(mass, m1, m2, rng.standard_normal(3)), m1, m2, rng.uniform(-0.5, 0.5)
        )
        taus = np.sort(rng.uniform(0.01, 1, (2, 3)))[:, ::-1]
        rows.append([*p[:3], m1, *taus[0], *p[3:], m2, *taus[1]])
    names = [
        f"{name}{jet}"
        for jet in (1, 2)
        for name in ("pxj", "pyj", "pzj", "mj", "tau1j", "tau2j", "tau3j")
    ]
    return pd.DataFrame(rows, columns=names).assign(label=labels.astype(float))


LAYOUTS: dict[str, dict[str, Any]] = {
    "fixed": {},
    "table": {"format": "table"},
    "data columns": {"format": "table", "data_columns": True},
    "some data columns": {"format": "table", "data_columns": ["label", "mj2"]},
}


@pytest.mark.parametrize("layout", list(LAYOUTS))
@pytest.mark.parametrize("whole", [False, True])
def test_every_pandas_layout_is_read(tmp_path, layout, whole):
    frame = raw_frame(np.linspace(3000, 4000, 7), labels=np.arange(7) % 2, key="layout")
    if whole:
        frame["label"] = frame["label"].astype(int)
    frame.to_hdf(tmp_path / "a.h5", key="df", **LAYOUTS[layout])
    table = raw.read_features(tmp_path / "a.h5", labelled=True)
    for name, column in table.items():
        assert column.dtype == np.float64
        np.testing.assert_array_equal(column, frame[name])
    assert set(table) == {*raw.COLUMNS, "label"}


def test_known_answers():
    frame = raw_frame(np.array([3299.0, 3301, 3500, 3699, 3701]), labels=np.zeros(5), key="known")
    events, inside = raw.signal_region({name: frame[name].to_numpy() for name in frame})
    np.testing.assert_array_equal(inside, [False, True, True, True, False])
    np.testing.assert_allclose(events[:, 0], [3.301, 3.5, 3.699], rtol=1e-12)
    for event, (_, row) in zip(events, frame[inside].iterrows(), strict=True):
        light, heavy = (1, 2) if row["mj1"] < row["mj2"] else (2, 1)
        assert event[1] == pytest.approx(row[f"mj{light}"] / 1000, rel=1e-14)
        assert event[2] == pytest.approx((row[f"mj{heavy}"] - row[f"mj{light}"]) / 1000, rel=1e-12)
        for k, jet in ((3, light), (4, heavy)):
            ratio = row[f"tau2j{jet}"] / (1e-5 + row[f"tau1j{jet}"])
            assert event[k] == pytest.approx(ratio, rel=1e-14)


def test_one_event_by_hand():
    # Along x: E = sqrt(p^2 + m^2) are 1700 (1500, 800) and 1025 (1000, 225); the sum of the
    # momenta is 500, so that the mass is sqrt(2725^2 - 500^2); scaled by 1.3 it is 3.482 TeV.
    one = {name: np.zeros(1) for name in raw.COLUMNS}
    one |= {"pxj1": np.array([1500.0]), "mj1": np.array([800.0])}
    one |= {"pxj2": np.array([-1000.0]), "mj2": np.array([225.0])}
    one = {name: 1.3 * value for name, value in one.items()}
    one |= {"tau1j2": np.array([0.5]), "tau2j2": np.array([0.2]), "tau2j1": np.array([0.0])}
    events, _ = raw.signal_region(one)
    mass = 1.3 * np.sqrt(2725**2 - 500**2) / 1000
    # tau1 of the heavier jet is 0: the guard makes it 0 / 1e-5
    expected = [mass, 1.3 * 0.225, 1.3 * 0.575, 0.2 / 0.50001, 0.0]
    np.testing.assert_allclose(events, [expected], rtol=1e-14)


def test_the_order_of_the_jets_does_not_matter():
    frame = raw_frame(np.linspace(3310, 3690, 20), labels=np.zeros(20), key="order")
    table = {name: frame[name].to_numpy() for name in raw.COLUMNS}
    swapped = {name: table[name[:-1] + {"1": "2", "2": "1"}[name[-1]]] for name in table}
    np.testing.assert_allclose(
        raw.signal_region(swapped)[0], raw.signal_region(table)[0], rtol=1e-13
    )


def test_not_a_number():
    frame = raw_frame(np.array([3000.0, 3500.0]), labels=np.zeros(2), key="nan")
    for name, row, refused in (
        ("pxj1", 0, True),
        ("mj2", 1, True),
        ("tau1j1", 1, True),
        ("tau2j2", 1, True),
        # outside the region the subjettiness is never used
        ("tau1j1", 0, False),
    ):
        table = {c: frame[c].to_numpy().copy() for c in raw.COLUMNS}
        table[name][row] = np.nan
        if refused:
            with pytest.raises(ValueError, match=f"{name} must be finite"):
                raw.signal_region(table)
        else:
            assert len(raw.signal_region(table)[0]) == 1


def write_h5(path: Path, frame: pd.DataFrame) -> Path:
    frame.to_hdf(path, key="df", mode="w")
    return path


def test_bad_raw_files(tmp_path):
    path = tmp_path / "a.h5"
    frame = raw_frame(np.array([3500.0, 3600.0]), labels=np.array([0, 1]), key="bad")
    write_h5(path, frame.drop(columns=["mj1", "tau2j2"]))
    with pytest.raises(ValueError, match="lacks the columns mj1, tau2j2"):
        raw.read_features(path, labelled=True)
    write_h5(path, frame.drop(columns="label"))
    with pytest.raises(ValueError, match="lacks the columns label"):
        raw.read_features(path, labelled=True)
    assert "label" not in raw.read_features(path, labelled=False)
    path.write_bytes(write_h5(path, frame).read_bytes()[:2000])
    with pytest.raises(ValueError, match="not a complete HDF5 file"):
        raw.read_features(path, labelled=True)
    path.write_bytes(b"<html>")
    with pytest.raises(ValueError, match="not a complete HDF5 file"):
        raw.read_features(path, labelled=True)
    with pytest.raises(ValueError, match="not a complete HDF5 file"):
        raw.read_features(tmp_path / "none.h5", labelled=True)
    with h5py.File(path, "w") as file:
        file["a"] = np.ones(3)
    with pytest.raises(ValueError, match="not a table that pandas has written"):
        raw.read_features(path, labelled=True)
    with h5py.File(path, "w") as file:
        file.create_group("a")
        file.create_group("b")
    with pytest.raises(ValueError, match="must hold one table, it holds 2"):
        raw.read_features(path, labelled=True)


def test_text_in_a_column_is_refused(tmp_path):
    frame = raw_frame(np.array([3500.0]), labels=np.zeros(1), key="text")
    with h5py.File(write_h5(tmp_path / "a.h5", frame), "r+") as file:
        values = file["df/block0_values"][:]
        del file["df/block0_values"]
        file["df/block0_values"] = values.astype("S8")
    with pytest.raises(ValueError, match="must hold numbers"):
        raw.read_features(tmp_path / "a.h5", labelled=True)


def test_pickled_names_cannot_run_code(tmp_path):
    frame = raw_frame(np.array([3500.0]), labels=np.zeros(1), key="trap")
    path = tmp_path / "a.h5"
    frame.to_hdf(path, key="df", format="table")
    with h5py.File(path, "r+") as file:
        file["df/table"].attrs["values_block_0_kind"] = np.bytes_(pickle.dumps(Trap(), protocol=0))
    with pytest.raises(ValueError, match="its column names refer to"):
        raw.read_features(path, labelled=True)


def test_from_features_to_samples(tmp_path, monkeypatch):
    monkeypatch.setattr(samples, "COUNTS", SMALL)
    monkeypatch.setattr(raw, "INJECTED", 12)
    monkeypatch.setattr(raw, "FIRST_PART", 90)
    rng = stream(3, "lhco", "raw")
    # 90 of 100 background inside; 10 of the first 12 signal events, then 25 more
    background = rng.permutation(
        np.concatenate([rng.uniform(3310, 3690, 90), rng.uniform(4000, 5000, 10)])
    )
    first = np.insert(rng.uniform(3310, 3690, 10), 5, [3000.0, 3900.0])
    more = rng.uniform(3310, 3690, 25)
    labels = np.repeat([0, 1], [100, 37])
    main = raw_frame(np.concatenate([background, first, more]), labels=labels, key="main")
    extra = raw_frame(rng.uniform(3310, 3690, 120), labels=np.zeros(120), key="extra")
    tables = [{n: f[n].to_numpy() for n in f} for f in (main, extra)]
    found = raw.from_features(*tables, stream(4, "lhco", "split"))
    assert found.counts == SMALL["zenodo"]
    np.testing.assert_allclose(
        np.sort(found.mixed.mass[found.labels]),
        np.sort(first[(first > 3300) & (first < 3700)]) / 1000,
    )
    np.testing.assert_allclose(found.evaluation_signal.mass, more[:20] / 1000)
    qcd, _ = raw.signal_region(tables[1])
    # the last rows are all for evaluation; the others are shared, each used once
    np.testing.assert_array_equal(found.evaluation_background.mass[:30], qcd[90:, 0])
    shared = np.concatenate([found.reference.mass, found.evaluation_background.mass[30:]])
    np.testing.assert_array_equal(np.sort(shared), np.sort(qcd[:90, 0]))
    assert not np.array_equal(found.reference.mass, qcd[:50, 0])
    again = raw.from_features(*tables, stream(4, "lhco", "split"))
    np.testing.assert_array_equal(again.reference.mass, found.reference.mass)
    # the same events from files; the extra ones are read without their labels
    names = [file.path for file in registry.of_edition(registry.parse(SHIPPED), "zenodo")]
    write_h5(tmp_path / names[0], main)
    write_h5(tmp_path / names[1], extra.drop(columns="label"))
    loaded = editions.load("zenodo", tmp_path, registry.parse(SHIPPED), seed=5)
    np.testing.assert_array_equal(loaded.mixed.x, found.mixed.x)
    assert loaded.counts == found.counts
    tables[0]["label"] = np.zeros(137)
    with pytest.raises(ValueError, match="label must hold both classes"):
        raw.from_features(*tables, stream(4, "lhco", "split"))


@pytest.mark.parametrize(
    ("momentum", "inside"),
    [(1650.0, False), (1650.001, True), (1849.999, True), (1850.0, False)],
)
def test_the_borders_of_the_region_do_not_belong_to_it(momentum, inside):
    # back to back and massless: m_JJ is twice the momentum, to the last digit
    one = {name: np.zeros(1) for name in raw.COLUMNS}
    one |= {"pxj1": np.array([momentum]), "pxj2": np.array([-momentum])}
    with contextlib.nullcontext() if inside else pytest.raises(ValueError, match="at least"):
        checks.points(raw.signal_region(one)[0], "events")


def test_a_jet_without_tau1_is_guarded_and_equal_jets_keep_their_order():
    one = {name: np.zeros(1) for name in raw.COLUMNS}
    one |= {"pxj1": np.array([1700.0]), "pxj2": np.array([-1700.0])}
    one |= {"mj1": np.array([100.0]), "mj2": np.array([100.0])}
    one |= {"tau2j1": np.array([3e-5]), "tau2j2": np.array([0.5]), "tau1j2": np.array([1.0])}
    events, _ = raw.signal_region(one)
    np.testing.assert_allclose(events[0, 1:], [0.1, 0.0, 3.0, 0.5 / 1.00001], rtol=1e-12)


def test_the_sizes_of_the_raw_split():
    assert raw.INJECTED == 1000
    # of these rows 40000 go to the evaluation and the rest is the reference
    assert raw.FIRST_PART == samples.PAPER.reference + 40_000 == 312_858


@pytest.fixture
def features(monkeypatch) -> list[dict[str, np.ndarray]]:
    """Return small raw features, background and signal in turn, some outside the region."""
    monkeypatch.setattr(samples, "COUNTS", SMALL)
    monkeypatch.setattr(raw, "INJECTED", 12)
    monkeypatch.setattr(raw, "FIRST_PART", 96)
    rng = stream(5, "lhco", "raw")
    # of the first 12 signal events 10 are inside; the background is mixed in between
    signal = np.insert(rng.uniform(3310, 3690, 35), [3, 7], [3000.0, 3900.0])
    labels = np.zeros(137)
    labels[np.sort(rng.permutation(137)[:37])] = 1
    masses = np.empty(137)
    masses[labels == 1] = signal
    masses[labels == 0] = np.concatenate([rng.uniform(3310, 3690, 90), np.full(10, 4500.0)])
    # of the first 96 extra events 90 are inside, of the others 30
    extra = np.insert(rng.uniform(3310, 3690, 120), np.arange(5, 90, 15), 3000.0)
    return [
        {name: frame[name].to_numpy() for name in frame}
        for frame in (
            raw_frame(masses, labels=labels, key="first"),
            raw_frame(extra, labels=np.zeros(126), key="second"),
        )
    ]


def test_the_seed_deals_the_first_extra_events_and_nothing_else(features):
    one, other = (raw.from_features(*features, stream(s, "lhco", "split")) for s in (1, 2))
    qcd = raw.signal_region(features[1])[0]
    assert len(qcd) == 120
    for found, seed in ((one, 1), (other, 2)):
        dealt = stream(seed, "lhco", "split").permutation(qcd[:90])
        np.testing.assert_array_equal(table_of(found.reference, 0)[:, :5], dealt[:50])
        np.testing.assert_array_equal(
            table_of(found.evaluation_background, 0)[:, :5], np.concatenate([qcd[90:], dealt[50:]])
        )
    assert set(one.reference.mass) != set(other.reference.mass)
    for name in ("mixed", "evaluation_signal"):
        np.testing.assert_array_equal(getattr(one, name).x, getattr(other, name).x)
    np.testing.assert_array_equal(one.labels, other.labels)


def test_the_first_signal_events_of_the_file_are_injected(features):
    found = raw.from_features(*features, stream(1, "lhco", "split"))
    events, inside = raw.signal_region(features[0])
    signal = events[features[0]["label"][inside] == 1, 0]
    np.testing.assert_array_equal(found.mixed.mass[found.labels], signal[:10])
    np.testing.assert_array_equal(found.evaluation_signal.mass, signal[10:30])
    # the mixed sample keeps the order of the file
    order = np.searchsorted(np.sort(events[:, 0]), found.mixed.mass)
    places = np.argsort(np.argsort(events[:, 0]))
    np.testing.assert_array_equal(order, places[np.isin(events[:, 0], found.mixed.mass)])


def test_the_zenodo_edition_is_split_by_its_own_stream(features, monkeypatch):
    monkeypatch.setattr(
        raw, "read_features", lambda _path, labelled: features[0] if labelled else features[1]
    )
    for seed in (5, 6):
        loaded = editions.load("zenodo", Path("/nowhere"), registry.parse(SHIPPED), seed=seed)
        direct = raw.from_features(*features, stream(seed, "lhco", "zenodo"))
        np.testing.assert_array_equal(loaded.reference.x, direct.reference.x)
