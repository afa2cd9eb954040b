"""A script of the workflow run in this process, with a stand-in for what Snakemake hands it."""

import logging
import runpy
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest
from snakemake.iocontainers import Namedlist

SCRIPTS = Path(__file__).resolve().parents[2] / "workflow" / "scripts"


def files(entries):
    """Return paths as Snakemake hands them over: one flat list, names for its stretches."""
    if not isinstance(entries, dict):
        return Namedlist(toclone=list(entries))
    flat = Namedlist()
    for name, paths in entries.items():
        several = isinstance(paths, list)
        start = len(flat)
        flat.extend(paths if several else [paths])
        flat._set_name(name, start, len(flat) if several else None)
    return flat


@pytest.fixture
def run_script(tmp_path):
    """Return what runs a script on inputs, outputs and params as its rule names them.

    ``input`` and ``output`` are paths, or lists of paths, by name, or a plain list. The log
    is ``logs/<script>.log`` in ``tmp_path``, which so is the folder of the run's results.
    """
    root = logging.getLogger()
    level, handlers, threads = root.level, root.handlers[:], numba.get_num_threads()

    def run(script, *, input=(), output=(), params=(), wildcards=(), threads=1):  # noqa: A002
        job = SimpleNamespace(
            rule=Path(script).stem,
            input=files(input),
            output=files(output),
            params=Namedlist(fromdict=dict(params)),
            wildcards=Namedlist(fromdict=dict(wildcards)),
            log=files([str(tmp_path / "logs" / f"{Path(script).stem}.log")]),
            threads=threads,
        )
        runpy.run_path(str(SCRIPTS / script), init_globals={"snakemake": job})

    yield run
    logging.captureWarnings(False)
    root.setLevel(level)
    root.handlers[:] = handlers
    numba.set_num_threads(threads)
