"""Tables for LaTeX, in booktabs style."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

_SPECIAL = {
    **{"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$"},
    **{"#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},
}


def escape(text: str) -> str:
    r"""Return ``text`` so that LaTeX prints it as it is.

    Examples
    --------
    >>> print(escape("R m^2 & 5 %"))
    R m\textasciicircum{}2 \& 5 \%
    """
    return "".join(_SPECIAL.get(letter, letter) for letter in text)


def booktabs(
    table: pd.DataFrame, *, formats: Mapping[str, Callable[[Any], str]] | None = None
) -> str:
    """Return ``table`` as a tabular environment; numbers to the right, text to the left.

    ``formats`` says how to print the values of a column; its text is escaped too.
    """
    printing = formats or {}
    columns = [str(name) for name in table.columns]
    sides = "".join("r" if pd.api.types.is_numeric_dtype(table[c]) else "l" for c in columns)
    lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
    lines += [" & ".join(escape(name) for name in columns) + r" \\", r"\midrule"]
    for values in table.itertuples(index=False):
        cells = [
            "" if pd.isna(value) else escape(printing.get(name, str)(value))
            for name, value in zip(columns, values, strict=True)
        ]
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"
