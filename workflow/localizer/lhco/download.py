"""Getting a data file and making sure that it is the right one.

A file is received beside its place as ``<name>.part``, checked there, and only then given its
name in one step: under its name there is the verified file or nothing. A transfer that breaks
off is resumed, by the same call or a later one, if a checksum can tell whether the pieces fit.
"""

from __future__ import annotations

import contextlib
import http.client
import logging
import os
import queue
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

from localizer.base import checks
from localizer.lhco import addresses, verify
from localizer.lhco.registry import DataFile

Progress: TypeAlias = Callable[[str, int, int | None], None]

# How an obstacle begins when nobody answered at all.
SILENCE = "no connection"

_CHUNK = 1 << 16
# What a server may say now and take back a moment later; any other 4xx is final.
_PASSING = {408, 425, 429}

_log = logging.getLogger(__name__)


class FetchError(RuntimeError):
    """A file could not be obtained; the message says which, why, and how to continue."""


class _SourceError(Exception):
    """A source does not give the file, and asking it again would not help."""


class _PassingError(Exception):
    """The transfer failed in a way that another try may mend."""


class _ResumeError(_PassingError):
    """The server does not continue where the received part ends."""


class _DiskError(Exception):
    """The file cannot be written here, wherever it comes from."""


@dataclass(frozen=True)
class Retry:
    """How patient a download is.

    Parameters
    ----------
    tries
        How often each source is asked.
    backoff
        Seconds before the second try; doubled before each further one.
    timeout
        Seconds of silence after which a try counts as failed.
    """

    tries: int = 4
    backoff: float = 1.0
    timeout: float = 20.0

    def __post_init__(self) -> None:
        checks.integer(self.tries, "tries")
        checks.positive(self.backoff, "backoff")
        checks.positive(self.timeout, "timeout")


def fetch(
    file: DataFile,
    folder: Path,
    *,
    mirror: str | None = None,
    retry: Retry | None = None,
    progress: Progress | None = None,
) -> Path:
    """Return the verified ``file`` below ``folder``, getting it first if it is not there.

    Parameters
    ----------
    file
        The registry's entry.
    folder
        Where the data files live; the file lands at ``folder / file.path``.
    mirror
        A directory or an address that is asked before the file's own address.
    retry
        How patient to be; the default is :class:`Retry` as it stands.
    progress
        Called with the file's path, the bytes that are there and the bytes in all (None where
        they are not known).

    Raises
    ------
    FetchError
        If no source gives the right file.
    """
    patience = retry or Retry()
    target = folder / file.path
    failures: list[str] = []
    try:
        if target.exists():
            wrong = verify.fault(target, file)
            if wrong is None:
                return target
            _log.warning("%s is removed, it is not the registry's file: %s", target, wrong)
            with _writing(target):
                target.unlink()
        for address in addresses.sources(file, mirror):
            try:
                _from_source(address, file, target, patience, progress)
                return target
            except _SourceError as error:
                failures.append(f"from {address}: {error}")
    except _DiskError as error:
        failures = [str(error)]
    raise FetchError(
        f"{file.path} could not be obtained ({'; '.join(failures)}). {ways_on(target)}"
    )


def ways_on(target: Path) -> str:
    """Return the sentence that tells a user what can be done about a missing ``target``."""
    return (
        "There are three ways to continue: run again (a partial download resumes if possible); "
        f"put the file by hand at {target}; or name a directory or an address that holds it "
        "in lhco.mirror of the configuration or in the environment variable LHCO_MIRROR."
    )


def chosen_mirror(configured: str | None, environment: Mapping[str, str]) -> str | None:
    """Return the mirror to use: LHCO_MIRROR if it is set, else ``lhco.mirror``, else none.

    Examples
    --------
    >>> chosen_mirror("/data/lhco", {"LHCO_MIRROR": "https://example.org/lhco"})
    'https://example.org/lhco'
    >>> chosen_mirror("", {}) is None
    True
    """
    return environment.get("LHCO_MIRROR") or configured or None


def obstacle(address: str, file: DataFile, *, seconds: float) -> str | None:
    """Return why ``address`` would not give ``file``, or None if it seems to have it.

    A file:// address is read and verified. Of any other only the answer's header is awaited,
    for at most ``seconds`` in all, name lookup included.
    """
    if address.startswith("file:"):
        path = addresses.as_path(address)
        return verify.fault(path, file) if path.is_file() else "it is not there"
    limit = checks.positive(seconds, "seconds")

    def ask() -> str | None:
        try:
            with _connect(address, 0, limit) as stream:
                return _size_fault(stream.total, file)
        except (_SourceError, _PassingError) as error:
            return str(error)

    # A name lookup heeds no timeout: the question is asked in a thread that can be left behind.
    answer: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=lambda: answer.put(ask()), daemon=True).start()
    try:
        return answer.get(timeout=limit)
    except queue.Empty:
        return f"{SILENCE}: no answer within {limit:.1f} s"


@dataclass(frozen=True)
class _Stream:
    """An open source: its chunks begin at byte ``start`` of ``total``."""

    start: int
    total: int | None
    chunks: Iterator[bytes]


def _from_source(
    address: str, file: DataFile, target: Path, retry: Retry, progress: Progress | None
) -> None:
    """Receive, verify and name ``target``."""
    part = target.with_name(target.name + ".part")
    with _writing(part):
        part.parent.mkdir(parents=True, exist_ok=True)
    problem = ""
    for attempt in range(retry.tries):
        if attempt:
            time.sleep(retry.backoff * 2 ** (attempt - 1))
        if not file.verifiable:
            part.unlink(missing_ok=True)
        try:
            _receive(address, file, part, retry.timeout, progress)
        except _PassingError as error:
            problem = str(error)
            if isinstance(error, _ResumeError):
                part.unlink(missing_ok=True)
            continue
        wrong = verify.fault(part, file)
        if wrong is None:
            with _writing(part):
                part.replace(target)
            return
        part.unlink()
        problem = wrong
        if address.startswith("file:"):
            # A directory gives the same bytes however often it is asked.
            raise _SourceError(problem)
    raise _SourceError(f"{problem}, after {retry.tries} {'try' if retry.tries == 1 else 'tries'}")


def _receive(
    address: str, file: DataFile, part: Path, timeout: float, progress: Progress | None
) -> None:
    """Bring ``part`` to its full length."""
    have = part.stat().st_size if part.exists() else 0
    if file.size is not None and have >= file.size:
        if have == file.size:
            return
        part.unlink()
        have = 0
    with _connect(address, have, timeout) as stream:
        wrong = _size_fault(stream.total, file)
        if wrong is not None:
            raise _SourceError(wrong)
        done = stream.start
        expected = file.size if stream.total is None else stream.total
        with _writing(part), part.open("ab" if done else "wb") as out:
            for chunk in stream.chunks:
                if done == 0 and verify.PAGE.match(chunk):
                    part.unlink()
                    raise _SourceError("it answers with a web page, not data")
                done += len(chunk)
                if expected is not None and done > expected:
                    part.unlink()
                    raise _SourceError(f"expected {expected} bytes, it sends more")
                out.write(chunk)
                if progress is not None:
                    progress(file.path, done, expected)
            out.flush()
            os.fsync(out.fileno())
        if expected is not None and done < expected:
            raise _PassingError(f"expected {expected} bytes, got {done}, the transfer broke off")


def _size_fault(total: int | None, file: DataFile) -> str | None:
    if total is None or file.size is None or total == file.size:
        return None
    return f"expected {file.size} bytes, it announces {total}"


@contextlib.contextmanager
def _writing(part: Path) -> Iterator[None]:
    """Turn trouble with the disk into one sentence, and free what ``part`` took of it."""
    try:
        yield
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise _DiskError(f"cannot write {part}: {error.strerror or error}") from None


@contextlib.contextmanager
def _connect(address: str, have: int, timeout: float) -> Iterator[_Stream]:
    """Open ``address``, if possible at byte ``have``."""
    if address.startswith("file:"):
        path = addresses.as_path(address)
        try:
            with path.open("rb") as content:
                yield _Stream(0, path.stat().st_size, _chunks(content))
        except OSError as error:
            raise _SourceError(error.strerror or str(error)) from None
        return
    headers = {"User-Agent": "localizer", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    with _respond(address, headers, timeout) as response:
        if response.headers.get_content_type() in ("text/html", "application/xhtml+xml"):
            raise _SourceError("it answers with a web page, not data")
        start = have if response.status == 206 else 0
        length = response.headers.get("Content-Length", "")
        total = start + int(length) if length.isdecimal() else None
        if start:
            given = response.headers.get("Content-Range", "")
            if not given.startswith(f"bytes {start}-"):
                raise _ResumeError(f"asked for the bytes from {start} on, got {given!r}")
        yield _Stream(start, total, _chunks(response))


@contextlib.contextmanager
def _respond(
    address: str, headers: dict[str, str], timeout: float
) -> Iterator[http.client.HTTPResponse]:
    """Yield the server's answer; every failure says whether another try may help."""
    if not addresses.trusted(address):
        raise _SourceError("only https addresses are used")
    handlers: list[urllib.request.BaseHandler] = [_Redirects()]
    if addresses.loopback(address):
        handlers.append(urllib.request.ProxyHandler({}))
    opener = urllib.request.build_opener(*handlers)
    try:
        try:
            opened = opener.open(urllib.request.Request(address, headers=headers), timeout=timeout)
        except ValueError as error:
            raise _SourceError(f"it redirects to what is no address: {error}") from None
        with opened as response:
            yield response
    except urllib.error.HTTPError as error:
        error.close()
        answer = f"the server answers {error.code} {error.reason}"
        if error.code == 416:
            raise _ResumeError(answer) from None
        if error.code >= 500 or error.code in _PASSING:
            raise _PassingError(answer) from None
        raise _SourceError(answer) from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLCertVerificationError):
            raise _SourceError(f"its certificate is not valid: {reason.verify_message}") from None
        raise _PassingError(f"{SILENCE}: {reason or type(reason).__name__}") from None


def _chunks(content: IO[bytes] | http.client.HTTPResponse) -> Iterator[bytes]:
    """Yield what can be read; trouble while reading may pass."""
    while True:
        try:
            chunk = content.read(_CHUNK)
        except (OSError, http.client.HTTPException) as error:
            raise _PassingError(f"the transfer broke off: {error}") from None
        if not chunk:
            return
        yield chunk


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follow a redirection only to where the file would have been asked for directly."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """Refuse to leave https; only this machine may send on to itself without."""
        secure = addresses.split(newurl).scheme == "https"
        if not addresses.trusted(newurl) or not (secure or addresses.loopback(req.full_url)):
            fp.close()
            raise _SourceError(f"it redirects to {newurl}, which is not an https address")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
