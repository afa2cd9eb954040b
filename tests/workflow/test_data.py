"""Which LHC Olympics events one is looking at: never a mystery, never a mixture."""

import hashlib
import json
import os
from pathlib import Path

import pandas as pd
import pytest

MIRROR = os.environ.get("LHCO_MIRROR", "")
with_events = pytest.mark.skipif(
    not Path(MIRROR or "none").is_dir(), reason="LHCO_MIRROR names no directory of real events"
)


def edition(project):
    return json.loads((project.root / "results/paper/lhco/edition.json").read_text())


def counts(project):
    table = pd.read_csv(project.root / "results/paper/tables/lhco_samples.csv")
    return dict(zip(table["sample"], table["events"], strict=True))


@pytest.fixture
def project(project, closed_port):
    """Return a copy of the sources in which every file's own address is one where nobody answers.

    A port on loopback where nobody listens stands for a network that is not there.
    """
    return project.without_addresses(closed_port)


@with_events
def test_with_the_mirror_the_events_are_the_papers(project):
    done = project.snakemake("lhco_samples", LHCO_MIRROR=MIRROR)
    assert edition(project)["name"] == "subset"
    assert "edition SUBSET, not the full one" in done.stdout
    assert counts(project) == {
        "mixed_background": 121352,
        "mixed_signal": 772,
        "reference": 30000,
        "evaluation_background": 10000,
        "evaluation_signal": 20000,
    }
    files = json.loads((project.root / "results/paper/lhco/files.json").read_text())
    digest = "8396ee7d5ced347cf533bd382ff4b0e5cdba8a02a5eb7273a96af0b819045bd2"
    assert files["resources/lhco/innerdata_train.npy"] == digest
    events = project.root / "results/paper/lhco/events"
    used = events / "innerdata_train.npy"
    assert hashlib.sha256(used.read_bytes()).hexdigest() == digest
    assert (events / "separated_data/innerdata_extrabkg_train.npy").read_bytes() == b""
    # a finished run needs neither mirror nor network
    assert "Nothing to be done" in project.snakemake("-n", "lhco_samples", LHCO_MIRROR="").stdout
    # a deleted file is made again when it is asked for, and what is made from it
    used.unlink()
    asked = "results/paper/lhco/events/innerdata_train.npy"
    assert set(project.planned(asked)) == {"lhco_files"}
    project.snakemake(asked, LHCO_MIRROR="")
    assert hashlib.sha256(used.read_bytes()).hexdigest() == digest


def test_without_mirror_and_network_there_is_the_surrogate(project):
    done = project.snakemake("lhco_samples", LHCO_MIRROR="")
    assert edition(project)["name"] == "surrogate"
    assert "edition SURROGATE, not the full one" in done.stdout
    assert "To choose again: snakemake --cores all --forcerun lhco_edition." in done.stdout
    assert counts(project)["reference"] == 272858
    assert counts(project)["mixed_signal"] == 772
    # the files that it does not use are declared too, and made again when asked for
    asked = "results/paper/lhco/events/innerdata_train.npy"
    (project.root / asked).unlink()
    project.snakemake(asked, LHCO_MIRROR="")
    assert (project.root / asked).read_bytes() == b""


def test_a_named_edition_that_cannot_be_had_is_refused(project):
    project.edit("config/config.yaml", "source: auto ", "source: full ")
    done = project.snakemake("lhco_samples", check=False, LHCO_MIRROR="")
    assert done.returncode != 0
    assert "the edition full of the LHC Olympics sample is not available" in done.stdout
    assert "LHCO_MIRROR" in done.stdout
    assert not (project.root / "results/paper/lhco/edition.json").exists()


def test_nothing_asks_the_network_while_the_dag_is_parsed(project):
    """A dry run with addresses that would hang answers at once, and plans the data rules."""
    assert "lhco_edition" in project.planned("lhco_coordinates")
