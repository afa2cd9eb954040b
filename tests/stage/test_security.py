"""What is downloaded and configured can neither run code nor reach where it should not."""

import ast
import hashlib
import http.server
import io
import pickle
import re
import threading
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
import yaml
from localizer.lhco import addresses, download, editions, raw, registry, samples
from localizer.lhco.registry import DataFile
from real_workflow import copy_of_the_sources
from stage import files
from stage.configuration import check

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "workflow").rglob("*.py"))
RULES = [ROOT / "Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk"))]
SHIPPED = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
QUICK = download.Retry(tries=1, backoff=0.01, timeout=2.0)

# Code in the sources: nothing unpickled, evaluated or handed to a shell

UNPICKLES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "torch"}
FORBIDDEN = {
    *("eval", "exec", "compile", "__import__"),
    *("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"),
    *("pd.read_pickle", "pandas.read_pickle", "pd.read_hdf", "pandas.read_hdf"),
    *("yaml.load", "yaml.full_load", "yaml.unsafe_load", "yaml.load_all"),
}


def dotted(node):
    """Return ``a.b.c`` for the expression of that name, else nothing."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        above = dotted(node.value)
        return f"{above}.{node.attr}" if above else ""
    return ""


def dangers(source):
    """Yield what in a Python source could run code from a file or a text."""
    for node in ast.walk(ast.parse(source)):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        yield from (name for name in modules if name.split(".")[0] in UNPICKLES)
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func)
        if name in FORBIDDEN:
            yield name
        for option in node.keywords:
            given = option.value.value if isinstance(option.value, ast.Constant) else "unknown"
            if option.arg in ("allow_pickle", "shell") and given is not False:
                yield f"{name}({option.arg}=...)"
        # a list of words reaches a program as it stands; a text would be taken apart
        if name.startswith("subprocess.") and not isinstance(node.args[0], ast.List):
            yield f"{name}(text)"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_source_unpickles_evaluates_or_calls_a_shell(path):
    assert list(dangers(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from joblib import load",
        "import numpy as np\nnp.load('a.npy', allow_pickle=True)",
        "np.load('a.npy', allow_pickle=trust)",
        "import yaml\nyaml.load(text, Loader=yaml.Loader)",
        "pd.read_pickle('a')",
        "pd.read_hdf('a')",
        "eval('1')",
        "exec(text)",
        "os.system('ls')",
        "subprocess.run(['ls'], shell=True)",
        "subprocess.run(f'ls {name}')",
    ],
)
def test_the_search_finds_what_it_looks_for(source):
    assert list(dangers(source))


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_no_rule_has_a_shell_command(path):
    """A shell string could carry a config value or a file name; a script's arguments cannot."""
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"^\s*(?:shell|run|wrapper|cwl|notebook)\s*:", text, re.MULTILINE)
    assert not re.findall(r"\bshell\s*\(|os\.system|subprocess|\beval\(|\bexec\(", text)


# Data that would run code if it were unpickled


class Trap:
    """Creates a file when it is unpickled."""

    def __init__(self, marker):
        self.marker = str(marker)

    def __reduce__(self):
        return (open, (self.marker, "w"))


def pickled_array(marker):
    content = io.BytesIO()
    np.save(content, np.array([Trap(marker)], dtype=object), allow_pickle=True)
    return content.getvalue()


def entry(content, path="innerdata_train.npy", address="https://example.org/nowhere.npy"):
    """Return a registry entry whose size and checksum the content meets."""
    return DataFile(
        path=path,
        address=address,
        size=len(content),
        git_sha1=None,
        sha256=hashlib.sha256(content).hexdigest(),
        md5_unverified=None,
        rows=1,
        licence="CC-BY-4.0",
        sample="a trap",
        editions=("subset",),
    )


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_trap_works(tmp_path):
    """Without this, the tests below would prove nothing."""
    np.load(io.BytesIO(pickled_array(tmp_path / "marker")), allow_pickle=True)
    assert (tmp_path / "marker").exists()


def test_a_pickled_file_in_a_mirror_is_received_and_not_unpickled(tmp_path):
    """Its checksum is right, as if the registry's own author had been deceived."""
    marker, mirror, place = tmp_path / "marker", tmp_path / "mirror", tmp_path / "here"
    mirror.mkdir()
    content = pickled_array(marker)
    (mirror / "innerdata_train.npy").write_bytes(content)
    listed = (entry(content),)
    edition = editions.resolve("subset", listed, place, mirror=str(mirror))
    assert edition.name == "subset"
    download.fetch(listed[0], place, mirror=str(mirror), retry=QUICK)
    with pytest.raises(ValueError, match=r"is not a plain \.npy file: Object arrays"):
        editions.load("subset", place, listed, seed=1)
    assert not marker.exists()


def test_a_bare_pickle_with_the_name_of_a_table_is_not_loaded(tmp_path):
    path = tmp_path / "events.npy"
    path.write_bytes(pickle.dumps(Trap(tmp_path / "marker")))
    with pytest.raises(ValueError, match=r"is not a plain \.npy file"):
        samples.read_table(path)
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickled_column_names_are_read_and_not_unpickled(tmp_path, protocol):
    frame = pd.DataFrame({name: [1.0, 2.0] for name in raw.COLUMNS})
    path = tmp_path / "features.h5"
    frame.to_hdf(path, key="df", format="table")

    def names(content):
        with h5py.File(path, "r+") as file:
            attributes = file["df/table"].attrs
            attributes["values_block_0_kind"] = np.void(pickle.dumps(content, protocol=protocol))
        return raw.read_features(path, labelled=False)

    assert names(list(raw.COLUMNS)).keys() == set(raw.COLUMNS)
    with pytest.raises(ValueError, match="its column names refer to more than words"):
        names(Trap(tmp_path / "marker"))
    with pytest.raises(ValueError, match="its column names refer to more than words"):
        names([*raw.COLUMNS[:-1], Trap(tmp_path / "marker")])
    assert not (tmp_path / "marker").exists()


def test_a_pickled_intermediate_result_is_not_loaded(tmp_path):
    path = tmp_path / "result.npz"
    trap = np.array([Trap(tmp_path / "marker")], dtype=object)
    np.savez(path, allow_pickle=True, z=trap)
    with pytest.raises(ValueError, match="Object arrays cannot be loaded"):
        files.read_npz(path)
    assert not (tmp_path / "marker").exists()


def test_a_yaml_object_in_the_configuration_is_not_built(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(f"run: !!python/object/apply:os.mkdir ['{tmp_path / 'marker'}']\n")
    (told,) = check.unreadable(path)
    assert "line 1, column 6 is not valid YAML" in told
    assert not (tmp_path / "marker").exists()


def test_a_shell_command_as_mirror_is_the_name_of_a_folder(tmp_path):
    marker = tmp_path / "marker"
    for mirror in (f"$(touch {marker})", f"`touch {marker}`", f"x; touch {marker}"):
        with pytest.raises(ValueError, match="is not a directory"):
            addresses.sources(entry(b"x"), mirror)
    assert not marker.exists()


# Addresses: https, and what is plain stays on this machine


@pytest.fixture
def redirector():
    """Yield a loopback server that sends every request on, and what it was asked."""
    plan, asked = [], []

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            asked.append(self.path)
            self.send_response(302)
            self.send_header("Location", plan.pop(0))
            self.send_header("Content-Length", "0")
            self.end_headers()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", plan, asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)


PLAIN = "it redirects to {}, which is not an https address"


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("http://example.org/x.npy", PLAIN),
        ("HTTP://EXAMPLE.ORG/x.npy", PLAIN.format("http://EXAMPLE.ORG/x.npy")),
        ("//example.org/x.npy", PLAIN.format("http://example.org/x.npy")),
        ("http://127.0.0.1@example.org/x.npy", PLAIN),
        ("http://127.0.0.1.example.org/x.npy", PLAIN),
        ("http://10.0.0.1/x.npy", PLAIN),
        ("http://169.254.169.254/latest", PLAIN),
        ("http://[::ffff:10.0.0.1]/x.npy", PLAIN),
        ("http://2130706434.example/x.npy", PLAIN),
        ("ftp://127.0.0.1/x.npy", PLAIN),
        ("https:///x.npy", PLAIN),
        # these two urllib refuses by itself
        ("file:///etc/passwd", "Redirection to url 'file:///etc/passwd' is not allowed"),
        ("http://[/x.npy", "it redirects to what is no address"),
    ],
)
def test_a_redirection_to_a_plain_address_elsewhere_is_refused(redirector, tmp_path, where, why):
    """The reason is matched: without the check these would fail too, some hosts later."""
    address, plan, asked = redirector
    plan.append(where)
    with pytest.raises(download.FetchError, match=re.escape(why.format(where))):
        download.fetch(entry(b"x", address=f"{address}/a"), tmp_path, retry=QUICK)
    assert asked == ["/a"]
    assert not list(tmp_path.iterdir())


def test_a_chain_of_redirections_is_watched_to_its_end(redirector, tmp_path):
    address, plan, asked = redirector
    plan += [f"{address}/b", "http://example.org/x.npy"]
    with pytest.raises(
        download.FetchError, match=re.escape(PLAIN.format("http://example.org/x.npy"))
    ):
        download.fetch(entry(b"x", address=f"{address}/a"), tmp_path, retry=QUICK)
    assert asked == ["/a", "/b"]


@pytest.mark.parametrize(
    "address",
    [
        *("http://example.org/x.npy", "ftp://example.org/x.npy", "file:///etc/passwd"),
        *("https:///x.npy", "https://[/x.npy", "https://exämple.org/x.npy", "example.org/x.npy"),
        *("https://example.org/a b", "https://example.org/\x00", "javascript:alert(1)"),
    ],
)
def test_the_registry_takes_https_addresses_only(address):
    lines = (ROOT / "resources" / "lhco" / "registry.csv").read_text().splitlines()
    fields = lines[1].split(",")
    fields[registry.COLUMNS.index("address")] = address
    with pytest.raises(
        ValueError, match="line 2, column address of the registry: must be an https address"
    ):
        registry.parse("\n".join([lines[0], ",".join(fields)]))


@pytest.mark.parametrize(
    "path",
    [
        *("../x.npy", "/etc/x.npy", "a/../../x.npy", ".", "..", "a//b", "a/", "./a", ".ssh/key"),
        *("a\\b", "-rf", "a b", "a\x00b", "~/x.npy", "$(id)", "C:x"),
    ],
)
def test_the_registry_takes_plain_paths_only(path):
    lines = (ROOT / "resources" / "lhco" / "registry.csv").read_text().splitlines()
    fields = lines[1].split(",")
    fields[registry.COLUMNS.index("path")] = path
    with pytest.raises(
        ValueError, match="line 2, column path of the registry: must be a plain relative path"
    ):
        registry.parse("\n".join([lines[0], ",".join(fields)]))


# Paths and addresses of the configuration


def problems(**changes):
    config = {**SHIPPED, **changes}
    if "mirror" in changes:
        config["lhco"] = {**SHIPPED["lhco"], "mirror": config.pop("mirror")}
    return check.problems(config)


@pytest.mark.parametrize(
    "run",
    [
        *("../x", "..", ".", "", "/tmp/x", "a/b", "a\\b", "x\n", ".hidden", "-x", "a b", "~"),
        *("$(id)", "{m}", "x;ls", "ß", "x" * 101),
    ],
)
def test_the_name_of_a_run_stays_in_the_results(run):
    (told, *_) = problems(run=run)
    assert told.startswith("run is ")


@pytest.mark.parametrize(
    "mirror",
    [
        *("", "data/lhco", "/data/lhco", "file:///data/lhco", "file://localhost/data/lhco"),
        *("https://example.org/lhco", "http://127.0.0.1:8000/lhco", "http://localhost/lhco"),
        *("http://[::1]:8000/lhco",),
    ],
)
def test_a_mirror_inside_by_its_full_path_or_by_a_safe_address_is_taken(mirror):
    assert problems(mirror=mirror) == []


@pytest.mark.parametrize(
    ("mirror", "says"),
    [
        ("../lhco", "outside the project must be given by its full path"),
        ("data/../../lhco", "outside the project must be given by its full path"),
        ("http://example.org/lhco", "must be an https address"),
        ("http://127.0.0.1@example.org/lhco", "must be an https address"),
        ("http://169.254.169.254/", "must be an https address"),
        ("https://", "must be an https address"),
        ("https://exämple.org/", "must be an https address"),
        ("https://example.org/a b", "must be an https address"),
        ("http://[", "must be a directory or an https or file address"),
        ("ftp://example.org/lhco", "must be a directory or an https or file address"),
        ("file://example.org/lhco", "must be a file address of this machine"),
        ("a\x00b", "one line of plain characters"),
        ("a\nb", "one line of plain characters"),
    ],
)
def test_any_other_mirror_is_refused(mirror, says):
    (told,) = problems(mirror=mirror)
    assert told.startswith("lhco.mirror is ")
    assert says in told


@pytest.mark.parametrize("letter", [" ", "\x7f", "ß"])
def test_an_address_with_a_letter_that_none_has_is_not_asked(letter):
    assert addresses.trusted("https://example.org/ab")
    assert not addresses.trusted(f"https://example.org/a{letter}b")


def test_the_real_workflow_does_not_leave_the_results(tmp_path):
    project = copy_of_the_sources(tmp_path / "project")
    before = sorted(tmp_path.iterdir())
    overlay = project.root / "config" / "mine.yaml"
    overlay.write_text("run: ../../outside\nlhco: {mirror: ../outside}\n")
    done = project.snakemake("exp1_targets", "--configfile", str(overlay), check=False)
    assert done.returncode == 1
    assert 'run is "../../outside"; it must consist of letters' in done.stdout
    assert "Traceback" not in done.stdout
    assert sorted(tmp_path.iterdir()) == before
