"""The scripts of the experiments, run as Snakemake runs them, on small tables in this process."""

import json
import logging
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from stage import files, provenance

SCRIPTS = Path(__file__).resolve().parents[2] / "workflow" / "scripts"


class Named(list):
    """The files of a rule: in a row, by number and by name, as Snakemake hands them over."""

    def __init__(self, **named):
        super().__init__()
        for name, path in named.items():
            setattr(self, name, path)
            self.extend(path if isinstance(path, list) else [path])


def write(content, folder, name):
    """Write a table, arrays, a text or anything else (as JSON) and return the path."""
    if isinstance(content, list):
        return [write(one, folder, f"{name}{i}") for i, one in enumerate(content)]
    if isinstance(content, pd.DataFrame):
        files.write_csv(content, path := folder / f"{name}.csv")
    elif isinstance(content, str):
        files.write_text(content, path := folder / f"{name}.txt")
    elif any(isinstance(value, np.ndarray) for value in content.values()):
        files.write_npz(content, path := folder / f"{name}.npz")
    else:
        files.write_json(content, path := folder / f"{name}.json")
    return str(path)


def read(path):
    readers = {".csv": pd.read_csv, ".npz": files.read_npz}
    return readers.get(path.suffix, lambda path: json.loads(path.read_text()))(path)


@pytest.fixture(scope="session")
def run_script(tmp_path_factory):
    """Return what runs a script on contents of its inputs and gives those of its outputs.

    ``output`` maps the names of the outputs to their kinds (csv, npz, json); a string is the
    kind of the only one, whose content is then returned as it is.
    """

    def run(script, *, output="csv", wildcards=None, params=None, **contents):
        folder = tmp_path_factory.mktemp(script)
        kinds = {"only": output} if isinstance(output, str) else output
        made = {name: folder / f"{name}_made.{kind}" for name, kind in kinds.items()}
        stand_in = SimpleNamespace(
            rule=script,
            wildcards=Wildcards(wildcards or {}),
            log=[str(folder / "logs" / f"{script}.log")],
            input=Named(**{name: write(one, folder, name) for name, one in contents.items()}),
            output=Named(**{name: str(path) for name, path in made.items()}),
            params=SimpleNamespace(**(params or {})),
            threads=1,
        )
        handlers = logging.root.handlers[:]
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(str(SCRIPTS))
            # what git says of the tree is no part of these tests
            patch.setattr(provenance, "commit", dict)
            try:
                runpy.run_path(str(SCRIPTS / f"{script}.py"), {"snakemake": stand_in})
            finally:
                logging.captureWarnings(False)
                logging.root.handlers[:] = handlers
        found = {name: read(path) for name, path in made.items()}
        return found["only"] if isinstance(output, str) else SimpleNamespace(**found)

    return run


class Wildcards(dict):
    """Wildcards by name."""

    __getattr__ = dict.__getitem__


@pytest.fixture
def same():
    """Return what compares a table that was written and read with the one it should be."""

    def compare(found, expected):
        pd.testing.assert_frame_equal(
            found.reset_index(drop=True),
            expected.reset_index(drop=True),
            check_dtype=False,
            rtol=1e-12,
            atol=1e-300,
        )

    return compare
