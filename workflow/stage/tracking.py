"""Which of the project's own modules a script uses, read from the source.

Snakemake reruns a rule when one of its inputs changes, and knows nothing of imports.
So each rule lists the modules behind its script as inputs, and :func:`modules_of` is
what lists them: the transitive closure of the imports of ``localizer`` and ``stage``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGES = ("localizer", "stage")


def modules_of(script: Path, root: Path) -> list[Path]:
    """Return the files below ``root`` that ``script`` imports, directly or not, sorted.

    Parameters
    ----------
    script
        A Python file.
    root
        The folder that holds the packages.
    """
    found: set[Path] = set()
    waiting = [script]
    while waiting:
        for module in _imported(waiting.pop()):
            for path in _files(module, root):
                if path not in found:
                    found.add(path)
                    waiting.append(path)
    return sorted(found)


def with_kernels(script: Path, root: Path) -> list[str]:
    """Return the modules behind ``script`` that hold numba kernels, by name below ``localizer``.

    Such a module has a function ``compile_kernels``.
    """
    modules = modules_of(script, root)
    return [
        ".".join(path.relative_to(root / "localizer").with_suffix("").parts)
        for path in modules
        if "def compile_kernels(" in path.read_text()
    ]


@cache
def _imported(source: Path) -> tuple[str, ...]:
    """Return the dotted names that a file imports from the project's packages.

    Read once: most scripts share most modules, and on a cluster each job asks anew.
    """
    found: list[str] = []
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"), filename=str(source))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"{source} uses a relative import; the project's are absolute")
            # the name after `import` may be a module or a thing in one
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        found += (name for name in names if name.split(".")[0] in PACKAGES)
    return tuple(found)


def _files(module: str, root: Path) -> Iterator[Path]:
    """Yield the file of ``module`` and the ``__init__`` of each package above it."""
    parts = module.split(".")
    for length in range(1, len(parts) + 1):
        base = root.joinpath(*parts[:length])
        for path in (base / "__init__.py", base.with_suffix(".py")):
            if path.is_file():
                yield path
