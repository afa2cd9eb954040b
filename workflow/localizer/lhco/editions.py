"""Which edition of the LHC Olympics sample is available, and why (sec. exp-lhco).

An edition is chosen once and written down; it is never mixed with another: a reference of
surrogate events against real ones would measure the surrogate's misfit.
"""

from __future__ import annotations

import time
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from localizer.base import checks
from localizer.base.randomness import stream
from localizer.lhco import addresses, download, raw, samples, surrogate, verify
from localizer.lhco.registry import DataFile, of_edition

SOURCES = ("auto", "full", "subset", "surrogate", "zenodo")
# From best to last resort. The raw files lead to the same samples as `full` and weigh more.
_AUTO = ("full", "subset")

_IS = {
    "full": "the paper's own samples",
    "subset": "the paper's mixed sample and evaluation signal, with 30000 reference and 10000 "
    "evaluation background events instead of 272858 and 340000",
    "surrogate": "events of a generator fitted to the real ones; no real event is used",
    "zenodo": "samples like the paper's, from a new split of the published features",
}
_REFRESH = (
    "To choose again: snakemake --cores all --forcerun lhco_edition. "
    "To insist on an edition, set lhco.source."
)


class EditionError(RuntimeError):
    """An edition that was requested by name is not available."""


@dataclass(frozen=True)
class Found:
    """Where one file of an edition is.

    Parameters
    ----------
    path
        The registry's path.
    where
        ``"here"`` (in its place, verified), ``"mirror"`` or ``"network"``.
    address
        The path or address that answered.
    """

    path: str
    where: str
    address: str


@dataclass(frozen=True)
class Edition:
    """An edition that is available.

    Parameters
    ----------
    name
        ``"full"``, ``"subset"``, ``"surrogate"`` or ``"zenodo"``.
    asked
        The source that the configuration names.
    why
        What the edition is and, if it is not the best, what stood in the way.
    files
        The files it is made of; none for the surrogate.
    refresh
        How to have the choice made again.
    """

    name: str
    asked: str
    why: str
    files: tuple[Found, ...]
    refresh: str = _REFRESH

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain lists, dicts and strings."""
        record = asdict(self)
        record["files"] = list(record["files"])
        return record

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Edition:
        """Return the edition that :meth:`as_dict` recorded."""
        try:
            files = tuple(Found(**file) for file in record["files"])
            edition = cls(**{**record, "files": files})
        except (KeyError, TypeError) as error:
            raise ValueError(f"this is not a record of an edition: {error}") from None
        if edition.name not in _IS:
            raise ValueError(f"the edition's name must be one of {', '.join(_IS)}")
        return edition


def resolve(
    source: str,
    files: Sequence[DataFile],
    folder: Path,
    *,
    mirror: str | None = None,
    seconds: float | None = None,
) -> Edition:
    """Return the edition to use.

    Parameters
    ----------
    source
        ``"auto"`` for the best that is available (full, else subset, else surrogate), or the
        name of an edition, which is used or refused, never replaced.
    files
        The registry.
    folder
        Where the data files live.
    mirror
        A directory or an address that is asked before the files' own addresses.
    seconds
        How long to try to connect, in all: by default 10 for ``"auto"``, 25 for a name.

    Raises
    ------
    EditionError
        If the named edition is not available.
    """
    if source not in SOURCES:
        raise ValueError(f"source must be one of {', '.join(SOURCES)}, not {source!r}")
    if source == "surrogate":
        return _edition("surrogate", source, ())
    patience = seconds if seconds is not None else (10.0 if source == "auto" else 25.0)
    search = _Search(folder, mirror, checks.positive(patience, "seconds"))
    if source != "auto":
        found, missing = search.look(of_edition(tuple(files), source))
        if missing:
            raise EditionError(
                f"the edition {source} of the LHC Olympics sample is not available: "
                f"{_sentence(missing)}. {download.ways_on(folder / next(iter(missing)))}"
            )
        return _edition(source, source, found)
    obstacles: list[str] = []
    for name in _AUTO:
        found, missing = search.look(of_edition(tuple(files), name))
        if not missing:
            return _edition(name, source, found, obstacles)
        obstacles.append(f"{name} is not available: {_sentence(missing)}")
    return _edition("surrogate", source, (), obstacles)


def load(edition: str, folder: Path, files: Sequence[DataFile], *, seed: int) -> samples.Samples:
    """Return the samples of ``edition`` from its files, all of which are in ``folder``.

    Parameters
    ----------
    edition
        The name of an edition that :func:`resolve` has found.
    folder
        Where the data files live, and below it ``surrogate/parameters.json``.
    files
        The registry.
    seed
        For what is drawn: the surrogate's events, or the split of the raw files.
    """
    if edition == "surrogate":
        text = (folder / "surrogate" / "parameters.json").read_text(encoding="utf-8")
        return samples.from_surrogate(surrogate.parse(text), seed)
    paths = [file.path for file in of_edition(tuple(files), edition)]
    if edition == "zenodo":
        main, extra = (folder / path for path in paths)
        return raw.from_features(
            raw.read_features(main, labelled=True),
            raw.read_features(extra, labelled=False),
            stream(seed, "lhco", "zenodo"),
        )
    return samples.from_tables({path: samples.read_table(folder / path) for path in paths}, edition)


def _edition(
    name: str, asked: str, files: tuple[Found, ...], obstacles: Sequence[str] = ()
) -> Edition:
    chosen = "as requested" if asked == name else "the best available"
    why = "; ".join([f"{name}, {chosen}: {_IS[name]}", *obstacles])
    return Edition(name, asked, why, files)


def _sentence(missing: Mapping[str, str]) -> str:
    path, why = next(iter(missing.items()))
    others = f" (and {len(missing) - 1} more files)" if len(missing) > 1 else ""
    return f"{path}{others}: {why}"


class _Search:
    """Looks for files, each once, and gives up on a host that has not answered."""

    def __init__(self, folder: Path, mirror: str | None, seconds: float) -> None:
        self.folder = folder
        self.mirror = mirror
        self.left = seconds
        self.silent: dict[str, str] = {}
        self.known: dict[str, Found | str] = {}

    def look(self, files: Sequence[DataFile]) -> tuple[tuple[Found, ...], dict[str, str]]:
        """Return what was found and, by path, why the rest was not."""
        for file in files:
            if file.path not in self.known:
                self.known[file.path] = self._find(file)
        answers = {file.path: self.known[file.path] for file in files}
        found = tuple(answer for answer in answers.values() if isinstance(answer, Found))
        return found, {path: why for path, why in answers.items() if isinstance(why, str)}

    def _find(self, file: DataFile) -> Found | str:
        place = self.folder / file.path
        reasons: list[str] = []
        if place.is_file():
            wrong = verify.fault(place, file)
            if wrong is None:
                return Found(file.path, "here", str(place))
            reasons.append(f"{place}: {wrong}")
        for address in addresses.sources(file, self.mirror):
            why = self._ask(address, file)
            if why is None:
                where = "network" if address == file.address else "mirror"
                return Found(file.path, where, address)
            reasons.append(f"{address}: {why}")
        return ", ".join(reasons)

    def _ask(self, address: str, file: DataFile) -> str | None:
        host = urllib.parse.urlsplit(address).netloc
        if host in self.silent:
            return self.silent[host]
        if not host:
            return download.obstacle(address, file, seconds=1.0)
        if self.left <= 0:
            return "the time limit for connecting was used up"
        begun = time.monotonic()
        why = download.obstacle(address, file, seconds=self.left)
        self.left -= time.monotonic() - begun
        if why is not None and why.startswith(download.SILENCE):
            self.silent[host] = why
        return why
