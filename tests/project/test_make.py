"""The Makefile: when the environment is built, with which Python, and what `compare` answers."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCK, DEV = "envs/requirements.lock", "envs/dev.lock"


@pytest.fixture
def folder(tmp_path):
    """Return a folder with the Makefile, the sources and a lock of nothing."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "workflow").symlink_to(ROOT / "workflow")
    (tmp_path / "envs").mkdir()
    for name in (LOCK, DEV):
        (tmp_path / name).touch()
    shutil.copy(ROOT / "envs/installer.lock", tmp_path / "envs")
    return tmp_path


def make(folder, *words):
    """Run make as a user would, not as a part of another make."""
    inherited = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    return subprocess.run(
        ["make", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
        env={name: value for name, value in os.environ.items() if name not in inherited},
    )


def wheel(folder, version):
    """Make a package of one line in ``folder``, and return the line of a lock that pins it."""
    path = folder / f"tiny-{version}-py3-none-any.whl"
    about = f"tiny-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("tiny.py", f"print({version!r})\n")
        file.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n"
        )
        file.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{about}/RECORD", "")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"tiny @ {path.as_uri()} --hash=sha256:{digest}\n"


def installed(folder):
    """Return what the package says that `make setup` has installed."""
    words = [folder / ".venv/bin/python", "-c", "import tiny"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
def test_the_environment_is_built_when_the_lock_changes_and_only_then(folder):
    one, two = wheel(folder, "1.0"), wheel(folder, "2.0")
    lock, left = folder / LOCK, folder / ".venv" / "left by the user"

    def setup():
        return make(folder, "setup", f"PYTHON={sys.executable}")

    # a file that is not the one that was locked: refused, and the environment is not complete
    lock.write_text(one[:-9] + "00000000\n")
    done = setup()
    assert done.returncode
    assert "Set up." not in done.stdout
    lock.write_text(one)
    done = setup()
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[:2] == [
        "Setting up .venv (once)",
        "  installing envs/requirements.lock",
    ]
    assert installed(folder) == "1.0"

    left.touch()
    os.utime(lock)  # the date alone is no change
    done = setup()
    assert (done.returncode, done.stdout) == (0, "")
    assert left.exists()

    lock.write_text(two)
    done = setup()
    assert done.returncode == 0, done.stdout
    assert "Set up." in done.stdout
    assert installed(folder) == "2.0"
    assert not left.exists()


def python_of(folder, *version):
    """Return a stand-in for a Python of this version; whatever it runs but a line, it notes."""
    path = folder.parent / f"python{'.'.join(map(str, version))}"
    path.write_text(f"""#!{sys.executable}
import sys
if sys.argv[1] == "-c":
    sys.version_info = (*{version}, 0, "final", 0)
    exec(sys.argv[2])
else:
    open({str(path) + ".asked"!r}, "a").write(" ".join(sys.argv[1:]))
    sys.exit(1)
""")
    path.chmod(0o755)
    return path


@pytest.fixture
def inner(folder):
    """Return the folder one level down, so that the stand-ins are not in it."""
    moved = folder / "project"
    moved.mkdir()
    for name in ("Makefile", "workflow", "envs"):
        (folder / name).rename(moved / name)
    return moved


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.glob("**/*"))


def test_too_old_a_python_is_one_sentence_and_leaves_nothing(inner):
    python, before = python_of(inner, 3, 10), everything(inner)
    done = make(inner, "setup", f"PYTHON={python}")
    assert done.returncode == 2
    said = done.stdout.splitlines()
    assert said[0] == (
        f"{python} is older than Python 3.11; say which one to use: make PYTHON=python3.11"
    )
    assert all(line.startswith("make") for line in said[1:])
    assert everything(inner) == before
    assert not Path(f"{python}.asked").exists()


def test_the_oldest_python_that_is_promised_is_taken(inner):
    python = python_of(inner, 3, 11)
    done = make(inner, "setup", f"PYTHON={python}")
    assert Path(f"{python}.asked").read_text() == "-m venv --clear .venv"
    # this stand-in cannot make one
    assert done.returncode == 2
    assert f"{python} cannot make a virtual environment; on Debian: apt install" in done.stdout


@pytest.fixture
def compare(folder):
    """Return what runs `make compare` in a folder that is set up."""
    (folder / ".venv").mkdir()
    shutil.copy(folder / LOCK, folder / ".venv" / "built-from.lock")
    return lambda *words: make(folder, "compare", f"BIN={Path(sys.executable).parent}", *words)


@pytest.mark.parametrize("words", [(), ("A=results/one",), ("B=results/two",)])
def test_compare_without_two_folders_asks_which(compare, words):
    done = compare(*words)
    assert done.returncode == 2
    said = done.stdout.splitlines()
    assert said[0] == (
        "make compare needs two results folders: make compare A=results/one B=results/two"
    )
    assert all(line.startswith("make:") for line in said[1:])


def test_compare_names_the_folder_that_does_not_exist(compare, folder):
    (folder / "here").mkdir()
    (folder / "here" / "a.csv").write_text("x\n1\n")
    done = compare("A=here", "B=results/nowhere")
    assert done.returncode == 2
    said = done.stdout.splitlines()
    assert said[0] == "results/nowhere is not a folder with results"
    assert all(line.startswith("make:") for line in said[1:])


def test_compare_hands_on_its_folders_and_the_tolerance(compare, folder):
    for name, value in (("one", 1.0), ("other one", 1.0 + 1e-10)):
        (folder / name).mkdir()
        (folder / name / "a.csv").write_text(f"x\n{value!r}\n")
    words = ("A=one", "B=other one")
    assert compare(*words).returncode == 2
    done = compare(*words, "TOLERANCE=1e-9")
    assert done.returncode == 0, done.stdout
    assert "differences: 0" in done.stdout
