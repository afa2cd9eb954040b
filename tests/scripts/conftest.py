"""A script of the workflow run in this process, with a stand-in for what Snakemake hands it."""

import json
import logging
import runpy
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pandas as pd
import pytest
from snakemake.iocontainers import Namedlist
from stage import files, provenance

SCRIPTS = Path(__file__).resolve().parents[2] / "workflow" / "scripts"


def listed(entries):
    """Return paths as Snakemake hands them over: one flat list, names for its stretches."""
    if not isinstance(entries, dict):
        return Namedlist(toclone=list(entries))
    flat = Namedlist()
    for name, paths in entries.items():
        several = isinstance(paths, list)
        start = len(flat)
        flat.extend(map(str, paths if several else [paths]))
        flat._set_name(name, start, len(flat) if several else None)
    return flat


def run_job(folder, script, *, input=(), output=(), params=(), wildcards=(), threads=1):  # noqa: A002
    """Run a script on files; ``folder`` is that of the run's results, where its log goes.

    ``input`` and ``output`` are paths, or lists of paths, by name, or a plain list.
    """
    name = Path(script).stem
    job = SimpleNamespace(
        rule=name,
        input=listed(input),
        output=listed(output),
        params=Namedlist(fromdict=dict(params)),
        wildcards=Namedlist(fromdict=dict(wildcards)),
        log=listed([str(folder / "logs" / f"{name}.log")]),
        threads=threads,
    )
    root, before = logging.getLogger(), numba.get_num_threads()
    level, handlers = root.level, root.handlers[:]
    with pytest.MonkeyPatch.context() as patch:
        # the path as Snakemake sets it; what git says of the tree is no part of these tests
        patch.syspath_prepend(str(SCRIPTS))
        patch.setattr(provenance, "commit", dict)
        try:
            runpy.run_path(str(SCRIPTS / f"{name}.py"), init_globals={"snakemake": job})
        finally:
            logging.captureWarnings(False)
            root.setLevel(level)
            root.handlers[:] = handlers
            numba.set_num_threads(before)


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


@pytest.fixture
def run_script(tmp_path):
    """Return what runs a script on files below ``tmp_path``, see :func:`run_job`."""
    return lambda script, **words: run_job(tmp_path, script, **words)


@pytest.fixture(scope="session")
def run_on(tmp_path_factory):
    """Return what runs a script on contents of its inputs and gives those of its outputs.

    ``output`` maps the names of the outputs to their kinds (csv, npz, json); a string is the
    kind of the only one, whose content is then returned as it is.
    """

    def run(script, *, output="csv", wildcards=(), params=(), **contents):
        folder = tmp_path_factory.mktemp(script)
        kinds = {"only": output} if isinstance(output, str) else output
        made = {name: folder / f"{name}_made.{kind}" for name, kind in kinds.items()}
        inputs = {name: write(one, folder, name) for name, one in contents.items()}
        run_job(folder, script, input=inputs, output=made, params=params, wildcards=wildcards)
        found = {name: read(path) for name, path in made.items()}
        return found["only"] if isinstance(output, str) else SimpleNamespace(**found)

    return run


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
