"""The modules listed for a script are the modules that it really imports."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from stage import tracking

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
SCRIPTS = sorted((WORKFLOW / "scripts").glob("[!_]*.py"))


# For each script: run its import statements as if no module of ours had been loaded before, and
# list those that are. What others have written stays loaded; most of the time would go there.
PROGRAM = """
import ast, functools, json, os, sys
from importlib.machinery import SourceFileLoader

root, *scripts = sys.argv[1:]
sys.path[:0] = [root, os.path.dirname(scripts[0])]
# where no bytecode may be written, each module would be compiled again for each script
compiled = functools.cache(SourceFileLoader.source_to_code)
SourceFileLoader.source_to_code = lambda loader, data, path: compiled(None, data, path)


def ours():
    files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
    files.pop("_packages", None)  # leads to the modules, is none of them
    return {name: file for name, file in files.items() if file and file.startswith(root)}


found = {}
for script in scripts:
    for name in ours():
        del sys.modules[name]
    with open(script, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    tree.body = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    exec(compile(tree, script, "exec"), {"__name__": "__main__"})
    found[script] = sorted(set(ours().values()))
print(json.dumps(found))
"""


def imported_by(scripts, root):
    """Return the files below ``root`` that each script's import statements load."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(root), *map(str, scripts)],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def really_imported():
    return imported_by(SCRIPTS, WORKFLOW)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_closure_is_what_is_imported(script, really_imported):
    listed = [str(path) for path in tracking.modules_of(script, WORKFLOW)]
    assert listed == really_imported[str(script)]


def test_a_script_loads_nothing_for_the_next_one(tmp_path):
    """One interpreter looks at all of them, each as if it were the first."""
    package = tmp_path / "package"
    package.mkdir()
    for name in ("__init__", "a", "b"):
        (package / f"{name}.py").write_text("")
    (package / "c.py").write_text("import package.a\n")
    scripts = {"1": ["a"], "2": ["b"], "3": ["a", "c"], "4": [], "5": ["a", "c"]}
    for name, modules in scripts.items():
        # c imports a, also where a was loaded for an earlier script
        lines = [f"import package.{module}\n" for module in modules[-1:]]
        (tmp_path / f"{name}.py").write_text("".join(lines))
    found = imported_by([tmp_path / f"{name}.py" for name in scripts], tmp_path)
    assert [[Path(file).stem for file in files] for files in found.values()] == [
        (["__init__", *modules] if modules else []) for modules in scripts.values()
    ]


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
