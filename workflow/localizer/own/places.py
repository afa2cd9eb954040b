"""Where a user's table is: a file, and the name of the table in it if the file holds several."""

from __future__ import annotations

#: how the place of a tree begins to be more than its file: ``events.root:tree``
_ROOT = ".root:"


def parted(place: str) -> tuple[str, str]:
    """Return the file and the name of the table in it, empty if none is given.

    Examples
    --------
    >>> parted("a.npz::new"), parted("run.root:fit/tree"), parted("a.csv")
    (('a.npz', 'new'), ('run.root', 'fit/tree'), ('a.csv', ''))
    """
    file, _, name = place.partition("::")
    if not name and _ROOT in place:
        file, _, name = place.partition(_ROOT)
        file += _ROOT.rstrip(":")
    return file, name
