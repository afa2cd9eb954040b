"""The modules listed for a script are the modules that it really imports."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from stage import tracking

WORKFLOW = Path(__file__).resolve().parents[1] / "workflow"
SCRIPTS = sorted((WORKFLOW / "scripts").glob("*.py"))


def really_imported(script: Path) -> list[str]:
    """Run the script's import statements in a fresh interpreter and list what they loaded."""
    tree = ast.parse(script.read_text())
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    program = "\n".join(
        [
            "import json, sys",
            f"sys.path.insert(0, {str(WORKFLOW)!r})",
            *(ast.unparse(node) for node in imports),
            "loaded = [getattr(m, '__file__', None) for m in list(sys.modules.values())]",
            f"print(json.dumps([f for f in loaded if f and f.startswith({str(WORKFLOW)!r})]))",
        ]
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return sorted(set(json.loads(done.stdout)))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_closure_is_what_is_imported(script):
    listed = [str(path) for path in tracking.modules_of(script, WORKFLOW)]
    assert listed == really_imported(script)


def test_there_are_scripts():
    assert SCRIPTS


def test_closure_follows_packages_and_names(tmp_path):
    package = tmp_path / "localizer"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("from localizer import b\n")
    (package / "b.py").write_text("import numpy\nfrom localizer.c import thing\n")
    (package / "c.py").write_text("thing = 1\n")
    (package / "d.py").write_text("")
    script = tmp_path / "script.py"
    script.write_text("import localizer.a\n")
    names = [path.name for path in tracking.modules_of(script, tmp_path)]
    assert names == ["__init__.py", "a.py", "b.py", "c.py"]


def test_relative_imports_are_refused(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from . import a\n")
    with pytest.raises(ValueError, match="relative import"):
        tracking.modules_of(script, tmp_path)
