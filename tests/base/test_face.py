"""`import localizer`: what a user calls is there, and nothing is loaded before it is asked for."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import localizer
import pytest

WORKFLOW = Path(localizer.__file__).parents[1]


def test_every_name_is_that_of_its_module():
    for module, names in localizer._FACE.items():
        holder = import_module(f"localizer.{module}")
        for name in names:
            assert getattr(localizer, name) is getattr(holder, name)
    assert set(localizer.__all__) <= set(dir(localizer))
    assert len(localizer.__all__) == len(set(localizer.__all__))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'localizer' has no attribute 'scores'"):
        _ = localizer.scores


def loaded_by(program):
    """Return the modules of the package, and of numba by its name, that a program loads."""
    ask = "; import sys; print(*(name for name in sys.modules if name.split('.')[0] in "
    ask += "('localizer', 'numba')))"
    done = subprocess.run(
        [sys.executable, "-c", program + ask],
        env={"PYTHONPATH": str(WORKFLOW)},
        capture_output=True,
        text=True,
        check=True,
    )
    return {name for name in done.stdout.split() if name == "numba" or "numba" not in name}


def test_nothing_is_loaded_before_it_is_asked_for():
    assert loaded_by("import localizer") == {"localizer"}
    assert loaded_by("import localizer; localizer.__version__") == {
        *("localizer", "localizer.base", "localizer.base.version"),
    }
    assert "localizer.own" not in loaded_by("import localizer; localizer.auc([1, 2], [0, 1])")
