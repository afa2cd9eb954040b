"""Trees of ROOT files, TTree and RNTuple, read by uproot in blocks of rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from localizer.own.tables import BLOCK, LISTS, SaidError, Table, nearest

if TYPE_CHECKING:
    import uproot

#: what a tree is called by its class in the file
_TREES = re.compile(r"TTree|TNtupleD?|TChain|ROOT::(Experimental::)?RNTuple")
#: types of a branch that holds one number for each event
_NUMBER = re.compile(r"(std::)?u?int\d+_t|float|double|bool|Float16_t|Double32_t|std::byte|char")
#: and those of one that holds text, or several numbers
_TEXT = re.compile(r"char\*|(std::)?string|TString")
_LIST = re.compile(r".*(\[\d*\])+|(std::|ROOT::)?(vector|array|set|list|VecOps::RVec|RVec)<.*")


def tree(path: Path, name: str) -> Table:
    """Return a tree of a file; ``name`` may be empty if it is the only one."""
    with _opened(path) as file:
        chosen = _chosen(path, file, name)
        found = file[chosen]
        # counted by uproot: a tree of objects has branches in branches
        kinds = found.typenames()
        rows = int(found.num_entries)

    def blocks(columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        with _opened(path) as again:
            taken = list(columns)
            for arrays in again[chosen].iterate(taken, step_size=BLOCK, library="np"):
                yield pd.DataFrame({column: arrays[column] for column in taken})
            if rows == 0:
                yield pd.DataFrame({column: [] for column in taken}, dtype=float)

    return Table(tuple(kinds), rows, blocks, {n: r for n, k in kinds.items() if (r := _reason(k))})


def _opened(path: Path) -> uproot.ReadOnlyFile:
    try:
        import uproot
    except ImportError:
        raise SaidError(
            f"{path} is a ROOT file, and reading it needs uproot: install it with "
            "`pip install uproot`, or this package with `pip install .[root]`"
        ) from None
    # a path by itself could hold a colon, which uproot would take for the name of a tree
    return uproot.open({str(path): None})


def _chosen(path: Path, file: Any, name: str) -> str:
    classes = file.classnames(cycle=False)
    trees = [key for key, kind in classes.items() if _TREES.fullmatch(kind)]
    if not trees:
        raise SaidError(f"{path} holds no tree")
    if name and name.partition(";")[0].strip("/") not in trees:
        raise SaidError(f"{path} has no tree {name}; {nearest(name, trees)}")
    if not name and len(trees) > 1:
        raise SaidError(
            f"{path} holds several trees ({', '.join(trees[:8])}); name one, as {path}:{trees[0]}"
        )
    return name or trees[0]


def _reason(kind: str) -> str:
    """Say why a branch of this type can be no feature, or nothing."""
    if _NUMBER.fullmatch(kind):
        return ""
    if _TEXT.fullmatch(kind):
        return "it holds text; turn it into numbers, one column for each category"
    if _LIST.fullmatch(kind):
        return LISTS
    return f"it holds objects of type {kind}; write their numbers as branches of their own"
