"""Where a data file may be asked for: its own address, a mirror, and which of them are trusted."""

from __future__ import annotations

import ipaddress
import urllib.parse
import urllib.request
from pathlib import Path

from localizer.lhco.registry import DataFile


def sources(file: DataFile, mirror: str | None = None) -> tuple[str, ...]:
    """Return the addresses to ask for ``file``, the mirror's first.

    Raises
    ------
    ValueError
        If the mirror is neither an existing directory nor a file:// or https:// address
        (http:// is accepted for this machine itself only).
    """
    if mirror is None:
        return (file.address,)
    folder = mirror_folder(mirror)
    if folder is None:
        return (f"{mirror.rstrip('/')}/{urllib.parse.quote(file.path)}", file.address)
    if not folder.is_dir():
        raise ValueError(f"the mirror {mirror} is not a directory")
    return ((folder.resolve() / file.path).as_uri(), file.address)


def mirror_folder(mirror: str) -> Path | None:
    """Return the directory that a mirror names, or None if it is a web address.

    Raises
    ------
    ValueError
        If it can be neither: only file:// and https:// addresses are used, and http:// for
        this machine itself.

    Examples
    --------
    >>> mirror_folder("file:///data/lhco").as_posix()
    '/data/lhco'
    >>> mirror_folder("https://example.org/lhco") is None
    True
    """
    if not mirror.isprintable():
        raise ValueError("the mirror must be written in one line of plain characters")
    scheme = split(mirror).scheme
    if scheme in ("http", "https"):
        if not trusted(mirror):
            raise ValueError(f"the mirror must be an https address, not {mirror}")
        return None
    if "://" in mirror and scheme != "file":
        raise ValueError(
            f"the mirror must be a directory or an https or file address, not {mirror}"
        )
    if scheme != "file":
        return Path(mirror)
    if split(mirror).netloc not in ("", "localhost"):
        raise ValueError(f"the mirror must be a file address of this machine, not {mirror}")
    return as_path(mirror)


def trusted(address: str) -> bool:
    """Say whether an address may be asked: https, or this machine itself."""
    parts = split(address)
    # what no server is named by would end in an error that names no address
    if not parts.hostname or not address.isascii() or not address.isprintable() or " " in address:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and loopback(address))


def split(address: str) -> urllib.parse.SplitResult:
    """Return the parts of an address; none of what cannot be one."""
    try:
        parts = urllib.parse.urlsplit(address)
        _ = parts.hostname, parts.port
    except ValueError:
        return urllib.parse.SplitResult("", "", "", "", "")
    return parts


def loopback(address: str) -> bool:
    """Say whether an address is of this machine."""
    host = split(address).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def as_path(address: str) -> Path:
    """Return the path of a file:// address."""
    return Path(urllib.request.url2pathname(split(address).path))
