"""Downloads against a real server on the loopback interface that misbehaves as told."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import logging
import os
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from localizer.base.randomness import stream
from localizer.lhco import download, verify
from localizer.lhco.download import FetchError, Retry, fetch
from localizer.lhco.registry import DataFile

# The key and the self-signed certificate of 127.0.0.1 and data.example.
CERTIFICATE = Path(__file__).parent / "loopback.pem"
CONTENT = b"\x93NUMPY" + stream(1, "download", "content").bytes(300_000)
QUICK = Retry(tries=3, backoff=0.01, timeout=2.0)


@dataclass
class Server:
    """What the server will do, in the order of the requests, and what it has been asked."""

    port: int = 0
    scheme: str = "http"
    content: bytes = CONTENT
    # Each request takes the next behaviour; the last one stays.
    plan: list[str] = field(default_factory=lambda: ["good"])
    asked: list[dict[str, str | None]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def address(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"


def handler_of(server: Server) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def answer(self, code: int, body: bytes, *, cut: int | None = None, **more: str) -> None:
            self.send_response(code)
            for name, value in more.items():
                self.send_header(name.replace("_", "-"), value)
            if "Content_Length" not in more and "Transfer_Encoding" not in more:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:cut])

        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            server.asked.append({"path": self.path, "range": wanted})
            does = server.plan.pop(0) if len(server.plan) > 1 else server.plan[0]
            extra = {}
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
            body = server.content[start:]
            code = 206 if start else 200
            if start:
                last, size = len(server.content) - 1, len(server.content)
                extra["Content_Range"] = f"bytes {start}-{last}/{size}"
            if does.isdecimal():
                self.answer(int(does), b"sorry")
            elif does == "good":
                if start >= len(server.content):
                    self.answer(416, b"")
                else:
                    self.answer(code, body, **extra)
            elif does == "cut":
                self.answer(code, body, cut=100_000, **extra)
                self.close_connection = True
            elif does == "no range":
                self.answer(200, server.content)
            elif does == "wrong range":
                self.answer(206, server.content[5:], Content_Range=f"bytes 5-{10**6}/{10**6}")
            elif does == "page":
                self.answer(200, b"<!DOCTYPE html><p>Please log in", Content_Type="text/html")
            elif does == "hidden page":
                body = b"<html>" + b" " * (len(server.content) - 6)
                self.answer(200, body, Content_Type="application/octet-stream")
            elif does == "short":
                self.answer(200, server.content[:-1])
            elif does == "flipped":
                body = server.content[:1000] + b"?" + server.content[1001:]
                self.answer(200, body)
            elif does == "endless":
                self.send_response(200)
                self.end_headers()
                self.wfile.write(server.content * 2)
                self.close_connection = True
            elif does == "silent":
                server.released.wait(20)
            elif does == "redirect":
                self.answer(302, b"", Location=f"{server.address}/moved{self.path}")
            elif does.startswith("redirect "):
                self.answer(302, b"", Location=does.removeprefix("redirect "))
            else:
                raise AssertionError(does)

    return Handler


@contextlib.contextmanager
def running(scheme: str = "http") -> Iterator[Server]:
    """Run a server on loopback; its port is held from the moment it is chosen."""
    state = Server(scheme=scheme)
    real = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_of(state))
    real.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client may hang up
    if scheme == "https":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        # the handshake is for the thread of the connection: a client that leaves ends no other
        real.socket = context.wrap_socket(
            real.socket, server_side=True, do_handshake_on_connect=False
        )
    state.port = real.server_address[1]
    thread = threading.Thread(target=real.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        state.released.set()
        real.shutdown()
        thread.join(10)
        real.server_close()
    assert not thread.is_alive()


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as state:
        yield state


@pytest.fixture
def secure(monkeypatch) -> Iterator[Server]:
    """Yield a server with the certificate that nobody trusts, found by any name."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    lookup = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda _host, *rest, **more: lookup("127.0.0.1", *rest, **more)
    )
    with running("https") as state:
        yield state


@pytest.fixture
def trusted(monkeypatch) -> None:
    """Trust the certificate of ``secure``, as the owner of a machine would."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))


def entry(server: Server, **changes: Any) -> DataFile:
    content = server.content
    file = DataFile(
        path="separated_data/events.npy",
        address=f"{server.address}/separated_data/events.npy",
        size=len(content),
        git_sha1=hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest(),
        sha256=hashlib.sha256(content).hexdigest(),
        md5_unverified=None,
        rows=1,
        licence="CC-BY-4.0",
        sample="mixed",
        editions=("full",),
    )
    return replace(file, **changes)


def assert_arrived(path: Path, folder: Path) -> None:
    assert path == folder / "separated_data/events.npy"
    assert path.read_bytes() == CONTENT
    assert [p.name for p in path.parent.iterdir()] == ["events.npy"]


def assert_nothing(folder: Path) -> None:
    assert [p for p in folder.rglob("*") if p.is_file()] == []


def test_git_blob_checksum_is_gits_own(tmp_path):
    # `git hash-object` of an empty file and of "hello\n"
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "hello").write_bytes(b"hello\n")
    file = DataFile("f", "https://x/f", None, None, None, None, 1, "L", "s", ())
    empty = replace(file, git_sha1="e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
    hello = replace(file, git_sha1="ce013625030ba8dba906f756967f9e9ca394464a")
    assert verify.fault(tmp_path / "empty", empty) is None
    assert verify.fault(tmp_path / "hello", hello) is None
    assert "expected git blob SHA-1 e69de29" in str(verify.fault(tmp_path / "hello", empty))


def test_a_machine_that_forbids_weak_checksums_for_security_takes_these(tmp_path, monkeypatch):
    def strict(name):
        def made(*start, usedforsecurity=True):
            assert not usedforsecurity
            return hashlib.new(name, *start)

        return made

    weak = {name: strict(name) for name in ("sha1", "md5")}
    stand_in = SimpleNamespace(**weak, sha256=hashlib.sha256)
    monkeypatch.setattr(verify, "hashlib", stand_in)
    (tmp_path / "hello").write_bytes(b"hello\n")
    file = DataFile("f", "https://x/f", None, None, None, None, 1, "L", "s", ())
    hello = replace(file, git_sha1="ce013625030ba8dba906f756967f9e9ca394464a")
    assert verify.fault(tmp_path / "hello", hello) is None


def test_a_good_file_arrives_with_progress(server, tmp_path):
    seen = []
    path = fetch(entry(server), tmp_path, retry=QUICK, progress=lambda *what: seen.append(what))
    assert_arrived(path, tmp_path)
    done = [count for _, count, _ in seen]
    assert done == sorted(done)
    assert seen[-1] == ("separated_data/events.npy", len(CONTENT), len(CONTENT))
    assert server.asked == [{"path": "/separated_data/events.npy", "range": None}]


def test_a_file_that_is_there_is_not_asked_for(server, tmp_path):
    fetch(entry(server), tmp_path, retry=QUICK)
    fetch(entry(server), tmp_path, retry=QUICK)
    assert len(server.asked) == 1


def test_a_bad_file_under_the_name_is_replaced(server, tmp_path, caplog):
    target = tmp_path / "separated_data/events.npy"
    target.parent.mkdir()
    target.write_bytes(CONTENT[:-1] + b"?")
    with caplog.at_level(logging.WARNING):
        assert_arrived(fetch(entry(server), tmp_path, retry=QUICK), tmp_path)
    assert "is removed" in caplog.text


def test_a_bad_file_under_the_name_does_not_survive_a_failure(server, tmp_path):
    target = tmp_path / "separated_data/events.npy"
    target.parent.mkdir()
    target.write_bytes(b"damaged")
    server.plan = ["404"]
    with pytest.raises(FetchError):
        fetch(entry(server), tmp_path, retry=QUICK)
    assert_nothing(tmp_path)


def test_500_twice_then_200(server, tmp_path):
    server.plan = ["500", "503", "good"]
    assert_arrived(fetch(entry(server), tmp_path, retry=QUICK), tmp_path)
    assert len(server.asked) == 3


def test_backoff_doubles(server, tmp_path, monkeypatch):
    waits: list[float] = []
    monkeypatch.setattr(download.time, "sleep", waits.append)
    server.plan = ["500"]
    with pytest.raises(FetchError, match=r"the server answers 500 .*after 4 tries"):
        fetch(entry(server), tmp_path, retry=Retry(tries=4, backoff=0.5))
    assert waits == [0.5, 1.0, 2.0]
    assert len(server.asked) == 4


@pytest.mark.parametrize("code", ["404", "403", "410"])
def test_final_answers_are_not_retried(server, tmp_path, code):
    server.plan = [code]
    with pytest.raises(FetchError, match=f"answers {code}"):
        fetch(entry(server), tmp_path, retry=QUICK)
    assert len(server.asked) == 1
    assert_nothing(tmp_path)


def test_too_many_requests_is_retried(server, tmp_path):
    server.plan = ["429", "good"]
    assert_arrived(fetch(entry(server), tmp_path, retry=QUICK), tmp_path)


def test_the_message_says_what_and_the_three_ways_on(server, tmp_path):
    server.plan = ["flipped"]
    file = entry(server)
    with pytest.raises(FetchError) as caught:
        fetch(file, tmp_path, retry=QUICK)
    message = str(caught.value)
    got = hashlib.sha1(
        b"blob %d\0" % len(CONTENT) + CONTENT[:1000] + b"?" + CONTENT[1001:]
    ).hexdigest()
    for part in (
        file.path,
        file.address,
        f"expected git blob SHA-1 {file.git_sha1}, got {got}",
        "run again",
        f"by hand at {tmp_path / file.path}",
        "lhco.mirror",
        "LHCO_MIRROR",
    ):
        assert part in message
    assert "\n" not in message
    assert_nothing(tmp_path)


def test_sha256_is_held_too(server, tmp_path):
    wrong = entry(server, sha256="0" * 64)
    with pytest.raises(FetchError, match=f"expected sha256 {'0' * 64}, got"):
        fetch(wrong, tmp_path, retry=QUICK)
    assert_nothing(tmp_path)


def test_a_flipped_byte_is_mended_by_another_try(server, tmp_path):
    server.plan = ["flipped", "good"]
    assert_arrived(fetch(entry(server), tmp_path, retry=QUICK), tmp_path)
    assert server.asked[1]["range"] is None


@pytest.mark.parametrize("kind", ["page", "hidden page"])
def test_a_web_page_is_refused(server, tmp_path, kind):
    server.plan = [kind]
    with pytest.raises(FetchError, match="a web page, not data"):
        fetch(entry(server), tmp_path, retry=QUICK)
    assert len(server.asked) == 1
    assert_nothing(tmp_path)


def test_a_truncated_file_is_refused(server, tmp_path):
    server.plan = ["short"]
    size = len(CONTENT)
    with pytest.raises(FetchError, match=f"expected {size} bytes, it announces {size - 1}"):
        fetch(entry(server), tmp_path, retry=QUICK)
    assert_nothing(tmp_path)


def test_an_endless_file_is_refused(server, tmp_path):
    server.plan = ["endless"]
    with pytest.raises(FetchError, match="it sends more"):
        fetch(entry(server), tmp_path, retry=QUICK)
    assert_nothing(tmp_path)


def test_a_cut_connection_is_resumed(server, tmp_path):
    server.plan = ["cut", "cut", "good"]
    assert_arrived(fetch(entry(server), tmp_path, retry=QUICK), tmp_path)
    assert [a["range"] for a in server.asked] == [None, "bytes=100000-", "bytes=200000-"]


def test_a_later_call_resumes(server, tmp_path):
    server.plan = ["cut"]
    with pytest.raises(FetchError, match=r"expected 300006 bytes, got 100000, .*after 1 try"):
        fetch(entry(server), tmp_path, retry=replace(QUICK, tries=1))
    assert [p.name for p in (tmp_path / "separated_data").iterdir()] == ["events.npy.part"]
    server.plan = ["good"]
    assert_arrived(fetch(entry(server), tmp_path, retry=QUICK), tmp_path)
    assert server.asked[-1]["range"] == "bytes=100000-"


def test_a_server_that_ignores_ranges(server, tmp_path):
    server.plan = ["cut", "no range"]
    assert_arrived(fetch(entry(server), tmp_path, retry=QUICK), tmp_path)
    assert len(server.asked) == 2


def test_a_server_that_resumes_elsewhere(server, tmp_path):
    server.plan = ["cut", "wrong range", "good"]
    assert_arrived(fetch(entry(server), tmp_path, retry=QUICK), tmp_path)
    assert server.asked[-1]["range"] is None


@pytest.mark.parametrize("left", [b"x" * 70_000, b"x" * len(CONTENT), b"x" * 400_000])
def test_a_foreign_part_is_found_out(server, tmp_path, left):
    part = tmp_path / "separated_data/events.npy.part"
    part.parent.mkdir()
    part.write_bytes(left)
    assert_arrived(fetch(entry(server), tmp_path, retry=QUICK), tmp_path)


def test_a_server_that_refuses_every_range(server, tmp_path):
    server.plan = ["416"]
    with pytest.raises(FetchError, match="answers 416"):
        fetch(entry(server), tmp_path, retry=QUICK)
    assert_nothing(tmp_path)


def test_a_complete_part_needs_no_server(server, tmp_path):
    part = tmp_path / "separated_data/events.npy.part"
    part.parent.mkdir()
    part.write_bytes(CONTENT)
    assert_arrived(fetch(entry(server), tmp_path, retry=QUICK), tmp_path)
    assert server.asked == []


UNKNOWN = {"size": None, "git_sha1": None, "sha256": None}


def test_without_checksums_nothing_is_resumed(server, tmp_path):
    part = tmp_path / "separated_data/events.npy.part"
    part.parent.mkdir()
    part.write_bytes(b"of another version")
    server.plan = ["cut", "good"]
    assert_arrived(fetch(entry(server, **UNKNOWN), tmp_path, retry=QUICK), tmp_path)
    assert [a["range"] for a in server.asked] == [None, None]


def test_without_checksums_the_kind_of_file_is_checked(server, tmp_path):
    file = entry(server, path="a.h5", **UNKNOWN)
    with pytest.raises(FetchError, match=r"does not begin as a \.h5 file"):
        fetch(file, tmp_path, retry=QUICK)
    assert_nothing(tmp_path)


def test_an_unverified_md5_only_warns(server, tmp_path, caplog):
    right = hashlib.md5(CONTENT).hexdigest()
    with caplog.at_level(logging.WARNING):
        fetch(entry(server, md5_unverified=right), tmp_path / "a", retry=QUICK)
        assert caplog.text == ""
        fetch(entry(server, md5_unverified="0" * 32), tmp_path / "b", retry=QUICK)
    assert f"has md5 {right}" in caplog.text


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ({"size_unverified": len(CONTENT)}, {"size_unverified": 7}, f"has bytes {len(CONTENT)};"),
        (
            {"sha256_unverified": hashlib.sha256(CONTENT).hexdigest()},
            {"sha256_unverified": "0" * 64},
            f"has sha256 {hashlib.sha256(CONTENT).hexdigest()};",
        ),
    ],
)
def test_what_is_known_at_second_hand_only_warns(server, tmp_path, caplog, right, wrong, says):
    with caplog.at_level(logging.WARNING):
        fetch(entry(server, **UNKNOWN, **right), tmp_path / "a", retry=QUICK)
        assert caplog.text == ""
        fetch(entry(server, **UNKNOWN, **wrong), tmp_path / "b", retry=QUICK)
    assert says in caplog.text


def test_a_silent_server_times_out(server, tmp_path):
    server.plan = ["silent"]
    with pytest.raises(FetchError, match="timed out"):
        fetch(entry(server), tmp_path, retry=Retry(tries=2, backoff=0.01, timeout=0.2))
    assert len(server.asked) == 2


def test_no_server_at_all(server, tmp_path, closed_port):
    file = entry(server, address=f"http://127.0.0.1:{closed_port}/events.npy")
    with pytest.raises(FetchError, match=r"no connection: .*after 3 tries"):
        fetch(file, tmp_path, retry=QUICK)
    assert_nothing(tmp_path)


def test_a_name_that_does_not_resolve(server, tmp_path, monkeypatch):
    def lookup(*_: Any, **__: Any) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    file = entry(server, address="https://nowhere.invalid/events.npy")
    with pytest.raises(FetchError, match="Name or service not known"):
        fetch(file, tmp_path, retry=QUICK)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk(server, tmp_path):
    part = tmp_path / "separated_data/events.npy.part"
    part.parent.mkdir()
    part.symlink_to("/dev/full")
    with pytest.raises(FetchError, match=r"cannot write .*No space left on device"):
        fetch(entry(server), tmp_path, retry=QUICK)
    assert len(server.asked) == 1
    assert not os.path.lexists(part)


def test_a_folder_that_cannot_be_made(server, tmp_path):
    (tmp_path / "separated_data").write_bytes(b"a file in the way")
    with pytest.raises(FetchError, match="cannot write"):
        fetch(entry(server), tmp_path, retry=QUICK)


def test_a_redirection_is_followed(server, tmp_path):
    server.plan = ["redirect", "good"]
    assert_arrived(fetch(entry(server), tmp_path, retry=QUICK), tmp_path)
    assert server.asked[-1]["path"] == "/moved/separated_data/events.npy"


@pytest.mark.parametrize("where", ["http://example.org/x", "ftp://example.org/x", "file:///x"])
def test_a_redirection_away_from_https_is_not(server, tmp_path, where):
    server.plan = [f"redirect {where}"]
    # urllib itself refuses to follow to other kinds of addresses
    why = "the server answers 302" if where.startswith("file") else "which is not an https address"
    with pytest.raises(FetchError, match=why):
        fetch(entry(server), tmp_path, retry=QUICK)
    assert len(server.asked) == 1


# https: who answers is known, or nothing is read


@pytest.mark.usefixtures("trusted")
def test_a_trusted_certificate_is_accepted(secure, tmp_path):
    """Without this, the refusals below would prove nothing."""
    assert_arrived(fetch(entry(secure), tmp_path, retry=QUICK), tmp_path)


def test_a_self_signed_certificate_is_refused(secure, tmp_path):
    with pytest.raises(FetchError, match=r"its certificate is not valid: self.signed certificate"):
        fetch(entry(secure), tmp_path, retry=QUICK)
    assert secure.asked == []
    assert_nothing(tmp_path)
    why = download.obstacle(entry(secure).address, entry(secure), seconds=5)
    assert str(why).startswith("its certificate is not valid: self")


@pytest.mark.usefixtures("trusted")
def test_a_certificate_of_another_host_is_refused(secure, tmp_path):
    file = entry(secure, address=f"https://other.example:{secure.port}/events.npy")
    with pytest.raises(
        FetchError, match=r"its certificate is not valid: Hostname mismatch.*other\.example"
    ):
        fetch(file, tmp_path, retry=QUICK)
    assert secure.asked == []


def test_a_certificate_that_is_not_valid_is_not_retried(secure, tmp_path, monkeypatch):
    monkeypatch.setattr(download.time, "sleep", lambda _: pytest.fail("it was asked again"))
    with pytest.raises(
        FetchError,
        match=r"its certificate is not valid: [^;]*\)\. There are three ways to continue",
    ):
        fetch(entry(secure), tmp_path, retry=QUICK)


@pytest.mark.usefixtures("trusted")
def test_a_redirection_from_https_is_followed_to_https_only(secure, server, tmp_path):
    base = f"https://data.example:{secure.port}"
    file = entry(secure, address=f"{base}/events.npy")
    secure.plan = [f"redirect {base}/moved.npy", "good"]
    assert_arrived(fetch(file, tmp_path, retry=QUICK), tmp_path)
    assert [asked["path"] for asked in secure.asked] == ["/events.npy", "/moved.npy"]
    # what a host elsewhere sends on to may not even be this machine, where http is used
    for where in (f"{server.address}/x.npy", f"http://data.example:{server.port}/x.npy"):
        secure.plan = [f"redirect {where}"]
        with pytest.raises(
            FetchError, match=f"it redirects to {where}, which is not an https address"
        ):
            fetch(file, tmp_path / "other", retry=QUICK)
    assert server.asked == []


def test_plain_http_is_for_this_machine_only(server, tmp_path):
    file = entry(server, address="http://example.org/events.npy")
    with pytest.raises(FetchError, match="only https addresses"):
        fetch(file, tmp_path, retry=QUICK)


def test_a_proxy_is_not_asked_about_this_machine(server, tmp_path, monkeypatch, closed_port):
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed_port}")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert_arrived(fetch(entry(server), tmp_path, retry=QUICK), tmp_path)


# Mirrors


@pytest.fixture
def mirror(tmp_path) -> Path:
    folder = tmp_path / "a mirror"
    (folder / "separated_data").mkdir(parents=True)
    (folder / "separated_data/events.npy").write_bytes(CONTENT)
    return folder


@pytest.mark.parametrize("spelt", [str, Path.as_uri, lambda p: p.as_uri() + "/"])
def test_a_directory_as_mirror(server, tmp_path, mirror, spelt):
    folder = tmp_path / "here"
    assert_arrived(fetch(entry(server), folder, mirror=spelt(mirror), retry=QUICK), folder)
    assert server.asked == []
    assert (mirror / "separated_data/events.npy").read_bytes() == CONTENT


def test_an_address_as_mirror(server, tmp_path):
    file = entry(server, address="https://nowhere.invalid/events.npy")
    assert_arrived(fetch(file, tmp_path, mirror=f"{server.address}/lhco/", retry=QUICK), tmp_path)
    assert server.asked[0]["path"] == "/lhco/separated_data/events.npy"


@pytest.mark.parametrize("damage", ["missing", "flipped", "short"])
def test_a_bad_mirror_yields_to_the_address_and_is_left_alone(
    server, tmp_path, mirror, damage, monkeypatch
):
    monkeypatch.setattr(download.time, "sleep", lambda _: pytest.fail("a directory was retried"))
    held = mirror / "separated_data/events.npy"
    if damage == "missing":
        held.unlink()
    else:
        held.write_bytes(CONTENT[:-1] + (b"?" if damage == "flipped" else b""))
    before = held.read_bytes() if held.exists() else None
    folder = tmp_path / "here"
    assert_arrived(fetch(entry(server), folder, mirror=str(mirror), retry=QUICK), folder)
    assert len(server.asked) == 1
    assert (held.read_bytes() if held.exists() else None) == before


def test_a_failure_names_both_sources(server, tmp_path, mirror):
    (mirror / "separated_data/events.npy").unlink()
    server.plan = ["404"]
    with pytest.raises(FetchError) as caught:
        fetch(entry(server), tmp_path, mirror=str(mirror), retry=QUICK)
    assert "a%20mirror" in str(caught.value)
    assert "No such file" in str(caught.value)
    assert "answers 404" in str(caught.value)


@pytest.mark.parametrize(
    ("mirror_name", "why"),
    [
        ("http://example.org/lhco", "https address"),
        ("ftp://example.org/lhco", "directory or an https or file address"),
        ("/no/such/directory", "not a directory"),
        ("file:///no/such/directory", "not a directory"),
    ],
)
def test_bad_mirrors(server, tmp_path, mirror_name, why):
    with pytest.raises(ValueError, match=why):
        fetch(entry(server), tmp_path, mirror=mirror_name, retry=QUICK)


# Asking without fetching


def test_obstacles(server, tmp_path, mirror):
    file = entry(server)
    assert download.obstacle(file.address, file, seconds=5) is None
    assert_nothing(tmp_path / "here")
    held = mirror / "separated_data/events.npy"
    assert download.obstacle(held.as_uri(), file, seconds=5) is None
    held.write_bytes(CONTENT[:-1])
    assert "expected 300006 bytes" in str(download.obstacle(held.as_uri(), file, seconds=5))
    held.unlink()
    assert download.obstacle(held.as_uri(), file, seconds=5) == "it is not there"
    for plan, why in (("404", "answers 404"), ("page", "web page"), ("short", "announces")):
        server.plan = [plan]
        assert why in str(download.obstacle(file.address, file, seconds=5))


def test_an_obstacle_is_found_in_time_even_in_the_name_lookup(server, monkeypatch):
    file = entry(server, address="https://nowhere.invalid/events.npy")
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    held = threading.Event()

    def lookup(*_: Any, **__: Any) -> None:
        held.wait()
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    # The lookup answers when we have: without the bound only the rescue would free the call.
    rescue = threading.Timer(60, held.set)
    rescue.start()
    said = str(download.obstacle(file.address, file, seconds=0.3))
    assert not held.is_set()
    rescue.cancel()
    held.set()
    assert "no answer within" in said


@pytest.mark.parametrize(
    ("bad", "name"),
    [({"tries": 0}, "tries"), ({"backoff": 0.0}, "backoff"), ({"timeout": -1.0}, "timeout")],
)
def test_bad_patience(bad, name):
    with pytest.raises(ValueError, match=name):
        Retry(**bad)
