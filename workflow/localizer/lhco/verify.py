"""Whether a file's content is what the registry says."""

from __future__ import annotations

import hashlib
import logging
import re
from pathlib import Path

from localizer.lhco.registry import DataFile

PAGE = re.compile(rb"\s*<(!doctype|html|head|body|\?xml)", re.IGNORECASE)
"""How a web page begins, which some servers send in place of a file."""

_CHUNK = 1 << 16
_SIGNATURES = {".npy": b"\x93NUMPY", ".h5": b"\x89HDF\r\n\x1a\n"}

_log = logging.getLogger(__name__)


def fault(path: Path, file: DataFile) -> str | None:
    """Return what is wrong with the content of ``path``, or None if it is ``file``.

    Size and checksums are held against the registry; where it knows none, the content must at
    least begin as a file of its kind does.
    """
    size = path.stat().st_size
    digests = {
        "git blob SHA-1": (file.git_sha1, hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)),
        "sha256": (file.sha256, hashlib.sha256()),
        "md5": (file.md5_unverified, hashlib.md5(usedforsecurity=False)),
        "unverified sha256": (file.sha256_unverified, hashlib.sha256()),
    }
    wanted = {name: pair for name, pair in digests.items() if pair[0] is not None}
    with path.open("rb") as content:
        start = content.read(_CHUNK)
        if PAGE.match(start):
            return "it is a web page, not data"
        if file.size is not None and size != file.size:
            return f"expected {file.size} bytes, got {size}"
        kind = Path(file.path).suffix
        if not start.startswith(_SIGNATURES.get(kind, b"")):
            return f"it does not begin as a {kind} file does"
        chunk = start
        while chunk:
            for _, digest in wanted.values():
                digest.update(chunk)
            chunk = content.read(_CHUNK)
    if file.size_unverified not in (None, size):
        _differs_from_hearsay(file, "bytes", size, file.size_unverified)
    for name, (expected, digest) in wanted.items():
        got = digest.hexdigest()
        if got == expected:
            continue
        if name in ("git blob SHA-1", "sha256"):
            return f"expected {name} {expected}, got {got}"
        _differs_from_hearsay(file, name.removeprefix("unverified "), got, expected)
    return None


def _differs_from_hearsay(file: DataFile, what: str, got: object, expected: object) -> None:
    _log.warning(
        "%s has %s %s; a secondary source that nobody has verified gives %s",
        *(file.path, what, got, expected),
    )
