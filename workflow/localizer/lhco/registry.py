"""The registry of data files: where each comes from and how to know it when it has arrived."""

from __future__ import annotations

import csv
import io
import re
import urllib.parse
from dataclasses import dataclass
from pathlib import Path

COLUMNS = (
    "path",
    "address",
    "bytes",
    "git_sha1",
    "sha256",
    "md5_unverified",
    "rows",
    "licence",
    "sample",
    "editions",
    "bytes_unverified",
    "sha256_unverified",
    "standing",
)
EDITIONS = ("full", "subset", "zenodo")

# Plain names below one another: no way out of the folder, nothing that a shell or a server
# would read as anything else.
_PATH = re.compile(r"(?:\w[\w.-]*/)*\w[\w.-]*", re.ASCII)


@dataclass(frozen=True)
class DataFile:
    r"""One file of the registry.

    Parameters
    ----------
    path
        Its name below ``resources/lhco`` and below a mirror.
    address
        Where it is published.
    size
        Its length in bytes; None where that is not known.
    git_sha1
        SHA-1 of the git blob, ``sha1(b"blob <size>\0" + content)``; None where not known.
    sha256
        SHA-256 of the content; None where not known.
    md5_unverified
        An MD5 from a secondary source: a difference is reported, never enforced.
    rows
        The number of events.
    licence
        SPDX name of the licence of the events.
    sample
        Which of the paper's samples the events belong to, in words.
    editions
        The editions that need the file; none for what only fits the surrogate.
    size_unverified, sha256_unverified
        As ``md5_unverified``.
    standing
        Where size and checksums come from, in words.
    """

    path: str
    address: str
    size: int | None
    git_sha1: str | None
    sha256: str | None
    md5_unverified: str | None
    rows: int
    licence: str
    sample: str
    editions: tuple[str, ...]
    size_unverified: int | None = None
    sha256_unverified: str | None = None
    standing: str = ""

    @property
    def verifiable(self) -> bool:
        """Whether a trusted checksum is known."""
        return self.git_sha1 is not None or self.sha256 is not None


def read(path: Path) -> tuple[DataFile, ...]:
    """Return the files that the registry at ``path`` lists."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ValueError(f"the registry {path} does not exist") from None
    except UnicodeDecodeError:
        raise ValueError(f"the registry {path} is not a text file") from None
    except OSError as error:
        raise ValueError(f"the registry {path} cannot be read: {error.strerror}") from None
    return parse(text)


def parse(text: str) -> tuple[DataFile, ...]:
    """Return the files that the text of a registry lists.

    Raises
    ------
    ValueError
        In one sentence that names the line and the column.
    """
    reader = csv.reader(io.StringIO(text))
    try:
        header, *lines = [(reader.line_num, fields) for fields in reader] or [(1, [])]
    except csv.Error as error:
        raise ValueError(
            f"line {reader.line_num} of the registry is not valid csv: {error}"
        ) from None
    if tuple(header[1]) != COLUMNS:
        raise ValueError(
            f"line 1 of the registry must name the columns {','.join(COLUMNS)}, "
            f"it reads {','.join(header[1])[:200]!r}"
        )
    files: list[DataFile] = []
    seen: set[str] = set()
    for line, fields in lines:
        if not fields:
            continue
        if len(fields) != len(COLUMNS):
            raise ValueError(
                f"line {line} of the registry must have {len(COLUMNS)} fields, it has {len(fields)}"
            )
        row = _Row(line, dict(zip(COLUMNS, fields, strict=True)))
        file = row.data_file()
        if file.path in seen:
            raise row.error("path", f"{file.path} is listed twice")
        seen.add(file.path)
        files.append(file)
    if not files:
        raise ValueError("the registry lists no files")
    return tuple(files)


def of_edition(files: tuple[DataFile, ...], edition: str) -> tuple[DataFile, ...]:
    """Return the files that ``edition`` needs, in the registry's order."""
    needed = tuple(file for file in files if edition in file.editions)
    if not needed:
        raise ValueError(f"the registry lists no file of the edition {edition!r}")
    return needed


@dataclass(frozen=True)
class _Row:
    """One line of the registry on its way to a :class:`DataFile`."""

    line: int
    fields: dict[str, str]

    def data_file(self) -> DataFile:
        size = self._integer("bytes", optional=True)
        rows = self._integer("rows")
        assert rows is not None
        return DataFile(
            path=self._path(),
            address=self._address(),
            size=size,
            git_sha1=self._digest("git_sha1", 40),
            sha256=self._digest("sha256", 64),
            md5_unverified=self._digest("md5_unverified", 32),
            rows=rows,
            licence=self._words("licence"),
            sample=self._words("sample"),
            editions=self._editions(),
            size_unverified=self._integer("bytes_unverified", optional=True),
            sha256_unverified=self._digest("sha256_unverified", 64),
            standing=self._words("standing"),
        )

    def error(self, column: str, what: str) -> ValueError:
        return ValueError(f"line {self.line}, column {column} of the registry: {what}")

    def _path(self) -> str:
        text = self._words("path")
        if not _PATH.fullmatch(text):
            raise self.error("path", f"must be a plain relative path, not {text[:80]!r}")
        return text

    def _address(self) -> str:
        text = self._words("address")
        try:
            host = urllib.parse.urlsplit(text).hostname
        except ValueError:
            host = None
        if not host or not re.fullmatch(r"https://[!-.0-~]+/[!-~]+", text):
            raise self.error("address", f"must be an https address, not {text[:80]!r}")
        return text

    def _integer(self, column: str, *, optional: bool = False) -> int | None:
        text = self.fields[column]
        if optional and not text:
            return None
        if not re.fullmatch(r"[1-9][0-9]{0,17}", text):
            raise self.error(column, f"must be a whole number of at least 1, not {text[:80]!r}")
        return int(text)

    def _digest(self, column: str, length: int) -> str | None:
        text = self.fields[column]
        if not text:
            return None
        if not re.fullmatch(rf"[0-9a-f]{{{length}}}", text):
            raise self.error(column, f"must be {length} hexadecimal digits, not {text[:80]!r}")
        return text

    def _words(self, column: str) -> str:
        text = self.fields[column]
        if not text or text != text.strip():
            raise self.error(column, f"must be a word or several, not {text[:80]!r}")
        return text

    def _editions(self) -> tuple[str, ...]:
        names = tuple(self.fields["editions"].split())
        unknown = [name for name in names if name not in EDITIONS]
        if unknown or len(set(names)) < len(names):
            raise self.error(
                "editions", f"must be some of {', '.join(EDITIONS)}, not {' '.join(names)[:80]!r}"
            )
        return names
