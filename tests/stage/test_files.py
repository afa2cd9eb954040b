"""Results appear complete or not at all, with bytes that depend on the content alone."""

import ast
import errno
import math
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from localizer.figures import style
from stage import files


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_an_error_in_the_middle_leaves_the_old_file(tmp_path):
    target = tmp_path / "a.txt"
    files.write_text("old", target)

    def interrupted():
        with files.complete(target) as temporary:
            temporary.write_text("half of the n")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        interrupted()
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_folders_are_made(tmp_path):
    files.write_json({"a": 1}, tmp_path / "b" / "c" / "d.json")
    assert (tmp_path / "b" / "c" / "d.json").read_text() == '{\n  "a": 1\n}\n'


def test_nan_is_no_json(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.write_json({"a": math.nan}, tmp_path / "a.json")
    assert names(tmp_path) == []


def test_csv_keeps_every_digit(tmp_path):
    values = np.array([1 / 3, 1e-300, np.nextafter(1, 2), -0.1])
    files.write_csv(pd.DataFrame({"x": values}), tmp_path / "a.csv")
    assert np.array_equal(pd.read_csv(tmp_path / "a.csv")["x"], values)


def test_npz_round_trip_and_no_pickles(tmp_path):
    files.write_npz({"x": np.arange(3), "y": np.eye(2)}, tmp_path / "a.npz")
    back = files.read_npz(tmp_path / "a.npz")
    assert list(back) == ["x", "y"]
    assert np.array_equal(back["y"], np.eye(2))
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        files.write_npz({"x": np.array([{}], dtype=object)}, tmp_path / "b.npz")
    assert names(tmp_path) == ["a.npz"]


def test_same_content_same_bytes(tmp_path):
    """Written at two different seconds: no date goes into the files."""

    def write(folder):
        files.write_npz({"x": np.arange(5)}, folder / "a.npz")
        with style.canvas() as (figure, axes):
            axes.plot([1, 2], [3, 4])
            files.write_figure(figure, folder / "a.pdf", folder / "a.png")

    write(tmp_path / "one")
    time.sleep(2.1)
    write(tmp_path / "two")
    for name in ("a.npz", "a.pdf", "a.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


WRITERS = {
    "a.txt": lambda path: files.write_text("x" * 300_000, path),
    "a.json": lambda path: files.write_json(list(range(100_000)), path),
    "a.csv": lambda path: files.write_csv(pd.DataFrame({"x": np.arange(100_000)}), path),
    "a.npz": lambda path: files.write_npz({"x": np.zeros(1000), "y": np.zeros(100_000)}, path),
    "a.pdf": lambda path: _draw(path),
    "a.png": lambda path: _draw(path),
}


def _draw(path):
    """Draw something that does not compress."""
    noise = np.random.default_rng(1).random((400, 400, 3))
    with style.canvas() as (figure, axes):
        axes.imshow(noise, interpolation="none")
        files.write_figure(figure, path)


@pytest.fixture
def small_disk(tmp_path):
    """Return a folder on a disk of 128 KiB, and a function that makes it read-only."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small disk")

    def read_only():
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)

    yield folder, read_only
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_nothing_and_is_named(small_disk, name):
    folder, _ = small_disk
    target = folder / name
    with pytest.raises(OSError, match=f"{target} cannot be written: No space left") as raised:
        WRITERS[name](target)
    assert raised.value.errno == errno.ENOSPC
    assert names(folder) == []


@pytest.mark.parametrize("name", WRITERS)
def test_a_read_only_folder_is_named(small_disk, name):
    folder, read_only = small_disk
    read_only()
    with pytest.raises(OSError, match=f"{folder / name} cannot be written: Read-only"):
        WRITERS[name](folder / name)
    with pytest.raises(OSError, match="cannot be written: Read-only"):
        files.write_text("", folder / "new" / "a.txt")
    assert names(folder) == []


def test_every_writer_leaves_the_old_file_when_killed(tmp_path):
    """A process that dies while it writes: the target is what it was."""
    target = tmp_path / "a.csv"
    files.write_text("old", target)
    program = (
        "import os, signal; from stage import files\n"
        f"with files.complete({str(target)!r}) as temporary:\n"
        "    temporary.write_text('half'); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=WORKFLOW, check=False)
    assert done.returncode == -signal.SIGKILL
    assert target.read_text() == "old"
    assert len(names(tmp_path)) == 2
    files.remove_leftovers(target)
    assert names(tmp_path) == ["a.csv"]


WORKFLOW = Path(files.__file__).parents[1]
#: methods and functions that write to a path of their own
OTHER_WRITERS = {
    *("write_text", "write_bytes", "savefig", "to_csv", "to_json", "to_parquet", "to_hdf"),
    *("save", "savez", "savez_compressed", "savetxt", "dump", "copy", "copyfile", "copy2"),
    *("tofile", "imsave", "touch", "to_latex", "to_html", "move"),
}
#: what writes through a temporary name of its own, or no result
ALLOWED = {
    "stage/files.py": "the helper itself",
    "stage/__init__.py": "the log, which grows while the job runs",
    "stage/kills.py": "the same log, one sentence more",
    "stage/measure.py": "a switch of the kernel's, no file",
    "localizer/own/page.py": "a part that is renamed; the package does not know the stage",
    "localizer/own/result.py": "a picture in memory, for a notebook",
    "localizer/lhco/download.py": "a partial file that resumes, verified and renamed",
    "scripts/fit_surrogate.py": "run by hand, no rule",
}


def writes_of(source):
    """Yield the calls in a Python source that write to a path, with their lines."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        of_module = getattr(getattr(node.func, "value", None), "id", "")
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if of_module == "files" or "temporary" in ast.unparse(node):
            continue  # the helper, or what it yields
        if name == "open":
            given = [*node.args, *(word.value for word in node.keywords)]
            modes = [arg.value for arg in given if isinstance(arg, ast.Constant)]
            if any(isinstance(mode, str) and set(mode) & set("wax+") for mode in modes):
                yield f"line {node.lineno}: {ast.unparse(node)}"
        elif name in OTHER_WRITERS and (node.args or name == "touch"):
            if name == "move" and of_module != "shutil":
                continue  # what moves a distribution
            # without a path it returns a string, or copies an array
            yield f"line {node.lineno}: {ast.unparse(node)}"


def sources():
    found = [*WORKFLOW.rglob("*.py"), *WORKFLOW.rglob("*.smk"), WORKFLOW.parent / "Snakefile"]
    return sorted(found)


def test_whatever_writes_a_result_writes_it_complete():
    """stage.files is the only writer; a rule file's Python is looked at as text."""
    found = {}
    for path in sources():
        name = path.relative_to(WORKFLOW.parent).as_posix().removeprefix("workflow/")
        text = path.read_text()
        if path.suffix == ".py":
            writes = list(writes_of(text))
        else:
            writes = re.findall(r".*(?:open\(|write_|\bshell:|> *\{output).*", text)
        if writes and name not in ALLOWED:
            found[name] = writes
    assert found == {}


@pytest.mark.parametrize(
    "line",
    [
        "open(path, 'w')",
        "path.open(mode='ab')",
        "path.write_text(x)",
        "table.to_csv(path)",
        "np.savez(path, x=x)",
        "figure.savefig(path)",
        "shutil.copy(a, b)",
        "shutil.move(a, b)",
    ],
)
def test_the_search_for_other_writers_finds_them(line):
    assert list(writes_of(line))
    assert not list(
        writes_of("files.write_csv(table, path); open(path); path.open('rb'); x.copy()")
    )
