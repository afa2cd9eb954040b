"""The record of a run: units, the processor's name, and which records it is made of."""

import hashlib
import json
import os
import platform
import subprocess
from types import SimpleNamespace

import pytest
from stage import files, provenance


@pytest.mark.parametrize(("system", "unit"), [("linux", 1024), ("darwin", 1024**2)])
def test_memory_is_in_mib(monkeypatch, system, unit):
    usage = SimpleNamespace(ru_maxrss=3 * unit)
    monkeypatch.setattr(provenance.resource, "getrusage", lambda _: usage)
    monkeypatch.setattr(provenance.sys, "platform", system)
    assert provenance.peak_memory() == 3.0


def test_processor_time_is_that_of_user_and_system_and_of_children(monkeypatch):
    usage = {
        provenance.resource.RUSAGE_SELF: SimpleNamespace(ru_utime=1.0, ru_stime=0.5),
        provenance.resource.RUSAGE_CHILDREN: SimpleNamespace(ru_utime=4.0, ru_stime=0.25),
    }
    monkeypatch.setattr(provenance.resource, "getrusage", usage.__getitem__)
    assert provenance.processor_seconds() == 5.75


def test_the_name_of_the_processor(monkeypatch, tmp_path):
    listed = tmp_path / "cpuinfo"
    monkeypatch.setattr(provenance, "Path", lambda _: listed)
    unknown = platform.processor() or platform.machine()
    assert provenance._processor() == unknown
    listed.write_text("processor\t: 0\nBogoMIPS\t: 50.00\n")
    assert provenance._processor() == unknown
    listed.write_text("processor\t: 0\nmodel name\t: A Chip: 3 GHz \nmodel name\t: Another\n")
    assert provenance._processor() == "A Chip: 3 GHz"


@pytest.fixture
def repository(monkeypatch, tmp_path):
    """Return a folder with one file, which may become the checkout that is asked."""
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "a").write_text("1")

    def commit():
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        for words in (["init", "-q"], ["add", "a"], [*who, "commit", "-q", "-m", "first"]):
            subprocess.run(["git", *words], cwd=tmp_path, check=True)

    return SimpleNamespace(root=tmp_path, commit=commit)


def test_a_tree_with_changes_is_not_clean(repository):
    """Files that git does not know are no changes; outside a checkout nothing is known."""
    assert provenance.commit() == {"commit": None, "clean": None}
    repository.commit()
    head = provenance.commit()
    assert len(head["commit"]) == 40
    assert head["clean"] is True
    (repository.root / "b").write_text("new")
    assert provenance.commit() == head
    (repository.root / "a").write_text("2")
    assert provenance.commit() == {**head, "clean": False}


def test_the_software_heritage_identifier_is_that_of_the_tree(repository):
    """Its hash by hand, from what the tree holds; none where files differ from the commit."""

    def git_hash(kind, content):
        return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content)

    assert provenance.swhid() is None
    repository.commit()
    tree = git_hash("tree", b"100644 a\0" + git_hash("blob", b"1").digest())
    assert provenance.swhid() == f"swh:1:dir:{tree.hexdigest()}"
    (repository.root / "a").write_text("2")
    assert provenance.swhid() is None


def test_a_package_that_is_missing_is_said(monkeypatch):
    monkeypatch.setattr(provenance, "PACKAGES", ("numpy", "no-such-package"))
    found = provenance.versions()
    assert list(found) == ["python", "numpy", "no-such-package"]
    assert found["no-such-package"] == "not installed"


def test_records_are_in_the_order_of_rules_and_jobs(tmp_path):
    for number, (rule, job) in enumerate((("b", ""), ("a", "part=1"), ("a", "part=0"))):
        record = {"rule": rule, "job": job, "number": number}
        files.write_json(record, tmp_path / "logs" / rule / f"{number}.json")
    files.write_json({"name": "subset"}, tmp_path / "lhco" / "edition.json")
    found = provenance.collect({"seed": 2}, tmp_path)
    assert [stage["number"] for stage in found["stages"]] == [2, 1, 0]
    assert (found["edition"], found["data"]) == ({"name": "subset"}, None)
    assert found["machine"]["cores"] == os.cpu_count()


def test_a_new_record_renews_the_provenance(tmp_path):
    def number_of_stages():
        return len(json.loads((tmp_path / "provenance.json").read_text())["stages"])

    provenance.refresh({"seed": 3}, tmp_path)
    assert not (tmp_path / "provenance.json").exists()
    for number in (1, 2):
        path = tmp_path / "logs" / f"{number}.json"
        files.write_json({"rule": "a", "job": ""}, path)
        os.utime(path, (2e9 + number, 2e9 + number))
        provenance.refresh({"seed": 3}, tmp_path)
        assert number_of_stages() == number
        os.utime(tmp_path / "provenance.json", (2e9 + number, 2e9 + number))
    # nothing new: what stands there stays
    files.write_text("{}", tmp_path / "provenance.json")
    os.utime(tmp_path / "provenance.json", (2e9 + 2, 2e9 + 2))
    provenance.refresh({"seed": 3}, tmp_path)
    assert (tmp_path / "provenance.json").read_text() == "{}"
