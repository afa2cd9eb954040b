"""Writing results: each file appears under its name complete, or not at all.

Every writer writes to a temporary name beside the target and renames it when all is
on disk, so that a killed job, a full disk or an error in the middle never leaves half
a file under its final name. The bytes depend on the content alone (no dates).
"""

from __future__ import annotations

import glob
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@contextmanager
def complete(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the target's folder; rename it to ``path`` on success."""
    target = Path(path)
    # the suffix stays, because savefig and pandas choose a format by it
    temporary = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(target)
    except Exception as error:
        trouble = _trouble_with_the_disk(error)
        if trouble is None:
            raise
        raise OSError(trouble.errno, f"{target} cannot be written: {trouble.strerror}") from error
    finally:
        # a folder that cannot be written holds nothing to remove
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def remove_leftovers(path: str | Path) -> None:
    """Remove what killed writers of ``path`` have left under their temporary names."""
    target = Path(path)
    for leftover in target.parent.glob(f".{glob.escape(target.stem)}.*.part{target.suffix}"):
        leftover.unlink(missing_ok=True)


def _trouble_with_the_disk(error: BaseException | None) -> OSError | None:
    """Return the error of the system behind ``error``: a writer may fail again while closing."""
    while error is not None:
        if isinstance(error, OSError) and error.errno is not None:
            return error
        error = error.__context__
    return None


def write_text(text: str, path: str | Path) -> None:
    """Write ``text`` as UTF-8."""
    with complete(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def copy(source: str | Path, path: str | Path) -> None:
    """Write the content of another file."""
    with complete(path) as temporary:
        shutil.copyfile(source, temporary)


def write_json(content: Any, path: str | Path) -> None:
    """Write ``content`` as indented JSON; NaN is refused."""
    write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", path)


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    """Write ``table`` with full precision: each number reads back as the same number."""
    with complete(path) as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n")


def write_parquet(table: pd.DataFrame, path: str | Path) -> None:
    """Write ``table`` in columns, for tables with a row for each of many events."""
    with complete(path) as temporary:
        table.to_parquet(temporary, index=False)


def write_npz(arrays: Mapping[str, npt.NDArray[Any]], path: str | Path) -> None:
    """Write named arrays, uncompressed."""
    with complete(path) as temporary:
        np.savez(temporary, allow_pickle=False, **arrays)


def read_json(path: str | Path) -> Any:
    """Return the content of a JSON file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def read_edition(path: str | Path) -> str:
    """Return the name of the edition of the LHC Olympics sample that a run uses."""
    return str(read_json(path)["name"])


def read_npz(path: str | Path) -> dict[str, npt.NDArray[Any]]:
    """Read what :func:`write_npz` wrote; pickled objects are refused."""
    with Path(path).open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def write_figure(figure: Figure, *paths: str | Path) -> None:
    """Write ``figure`` once for each path, the format by its ending, without dates."""
    for path in map(Path, paths):
        dateless = {".pdf": {"CreationDate": None}, ".png": {"Software": None}}
        with complete(path) as temporary:
            figure.savefig(temporary, metadata=dateless[path.suffix])
