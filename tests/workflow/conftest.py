"""What tests of the real workflow share: a copy of the project, and one finished smoke run."""

import shutil

import pytest
from real_workflow import SMOKE, Project, alone, copy_of_the_sources


@pytest.fixture
def project(tmp_path):
    """Return a fresh copy of the sources."""
    return copy_of_the_sources(tmp_path / "project")


@pytest.fixture(scope="session")
def shared(tmp_path_factory, worker_id):
    """Return the folder that all workers of the test run share."""
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


@pytest.fixture(scope="session")
def finished(shared):
    """Return one finished smoke run, made once for all workers; tests must not change it."""
    done, complete = Project(shared / "finished"), shared / "finished.complete"
    with alone(shared / "finished.lock"):
        if not done.root.exists():
            copy_of_the_sources(done.root).snakemake(*SMOKE)
            complete.touch()
    assert complete.exists(), "the smoke run that all tests share has failed; see the first failure"
    return done


@pytest.fixture
def branch(finished, tmp_path):
    """Return a copy of the finished run that a test may change."""
    shutil.copytree(finished.root, tmp_path / "project", symlinks=True)
    return Project(tmp_path / "project")
