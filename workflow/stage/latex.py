r"""Tables and numbers for LaTeX, in booktabs style.

A document that includes them needs ``\usepackage{array,booktabs,longtable}``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from stage import tables

_SPECIAL = {
    **{"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$"},
    **{"#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},
}
#: the words of a column's name that are set in another way than they are written
_WORDS = {
    **{"auc": "AUC", "sic": "SIC", "lr": "LR", "mmd": "MMD", "loo": "LOO", "rff": "RFF"},
    **{"rho": r"$\rho$", "alpha": r"$\alpha$", "f": "$f$"},
    **{letter: f"${letter}$" for letter in ("m", "N", "R", "C", "D")},
}
#: a table with more columns is set on its side, if it then has fewer of them
WIDE = 9
#: the letters that a line of a table holds; a wider table is cut into several
WIDEST = 115
#: a table with more rows goes over pages
LONG = 40
#: a power of ten is as wide as this many digits
_POWER = 7
#: the letters of a header's line
_HEADER = 11


def escape(text: str) -> str:
    r"""Return ``text`` so that LaTeX prints it as it is.

    Examples
    --------
    >>> print(escape("R m^2 & 5 %"))
    R m\textasciicircum{}2 \& 5 \%
    """
    return "".join(_SPECIAL.get(letter, letter) for letter in text)


def number(text: str, exponent: int = 0) -> str:
    r"""Return a number that works in text and in formulas.

    Examples
    --------
    >>> print(number("9.2172", -4))
    \ensuremath{9.2172\times10^{-4}}
    """
    power = rf"\times10^{{{exponent}}}" if exponent else ""
    return rf"\ensuremath{{{text}{power}}}"


def header(name: str) -> str:
    r"""Return the name of a column in words.

    Examples
    --------
    >>> print(header("rho_predicted_raw"))
    $\rho$ predicted raw
    """
    return " ".join(_WORDS.get(word, escape(word)) for word in name.split("_"))


def typeset(table: pd.DataFrame) -> str:
    """Return ``table`` rounded to its errors, with headers in words.

    A table of many columns is set on its side where that fits a page. One that is wider than
    a page is cut between columns, and each part repeats the words that begin a row, or the
    first column where no words do. The edition of the data stands above the first rule.
    """
    prepared = tables.prepare(table)
    columns = prepared.columns
    above = "; ".join(f"{name}: {value}" for name, value in prepared.common.items())
    if len(columns) > WIDE and _width_on_its_side(columns) <= WIDEST:
        first, *others = [(header(column.name), *_cells(column)) for column in columns]
        return environment("l" + "r" * len(table), first, others, above=above)
    words = list(itertools.takewhile(lambda column: not column.numeric, columns)) or [columns[0]]
    parts: list[list[tables.Column]] = [[]]
    for column in columns:
        if sum(map(_width, [*parts[-1], column])) > WIDEST and parts[-1] != words:
            parts.append(words.copy())
        parts[-1].append(column)
    return "\\par\\medskip\n".join(_part(part, above) for part in parts)


def _part(columns: Sequence[tables.Column], above: str) -> str:
    sides = "".join("r" if column.numeric else "l" for column in columns)
    heads = [_stacked(column.name, side) for column, side in zip(columns, sides, strict=True)]
    return environment(sides, heads, list(zip(*map(_cells, columns), strict=True)), above=above)


def _cells(column: tables.Column) -> list[str]:
    return [
        number(cell.text, cell.exponent)
        if column.numeric and (cell.exponent or cell.text.startswith("-"))
        else escape(cell.text)
        for cell in column.cells
    ]


def _letters(cell: tables.Cell) -> int:
    """Return about how many digits wide an entry is: a minus sign of mathematics is wide, too."""
    minus = 1 if cell.text.startswith("-") else 0
    return len(cell.text) + minus + (_POWER if cell.exponent else 0)


def _width(column: tables.Column) -> int:
    """Return about how many letters a column takes, the space beside it included."""
    return 2 + max([*map(len, column.name.split("_")), *map(_letters, column.cells)])


def _width_on_its_side(columns: Sequence[tables.Column]) -> int:
    """Return about how many letters a table takes with its columns as rows."""
    rows = zip(*(column.cells for column in columns), strict=True)
    cells = (max(map(_letters, row)) for row in rows)
    return max(len(column.name) for column in columns) + sum(2 + width for width in cells)


def _stacked(name: str, side: str) -> str:
    """Return a header on as many lines as keep its column narrow."""
    lines: list[list[str]] = [[]]
    for word in name.split("_"):
        if lines[-1] and len(" ".join([*lines[-1], word])) > _HEADER:
            lines.append([])
        lines[-1].append(word)
    text = r" \\ ".join(header("_".join(line)) for line in lines)
    return text if len(lines) == 1 else rf"\shortstack[{side}]{{{text}}}"


def environment(
    sides: str, heads: Sequence[str], rows: Sequence[Sequence[str]], *, above: str = ""
) -> str:
    """Return a tabular, or a longtable that repeats its head on every page."""
    head = [rf"\multicolumn{{{len(heads)}}}{{l}}{{{escape(above)}}} \\"] if above else []
    head += [r"\toprule", " & ".join(heads) + r" \\", r"\midrule"]
    body = [" & ".join(row) + r" \\" for row in rows]
    if len(rows) <= LONG:
        lines = [rf"\begin{{tabular}}{{{sides}}}", *head, *body, r"\bottomrule", r"\end{tabular}"]
    else:
        begin = [rf"\begin{{longtable}}{{{sides}}}", *head, r"\endhead"]
        foot = [r"\midrule", r"\endfoot", r"\bottomrule", r"\endlastfoot"]
        lines = [*begin, *foot, *body, r"\end{longtable}"]
    return "\n".join(lines) + "\n"


# --- macros ------------------------------------------------------------------------

#: what every macro begins with, and what the macro of an error ends with
PREFIX, UNCERTAINTY = "Found", "Unc"

_ONES = (
    *("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten"),
    *("Eleven", "Twelve", "Thirteen", "Fourteen", "Fifteen", "Sixteen", "Seventeen"),
    *("Eighteen", "Nineteen"),
)
_TENS = ("Twenty", "Thirty", "Forty", "Fifty", "Sixty", "Seventy", "Eighty", "Ninety")
_SCALES = ((10**9, "Billion"), (10**6, "Million"), (10**3, "Thousand"), (100, "Hundred"))


def spelled(value: int) -> str:
    """Return a whole number in words, because the name of a macro has no digits.

    Examples
    --------
    >>> spelled(200000), spelled(320)
    ('TwoHundredThousand', 'ThreeHundredTwenty')
    """
    for scale, name in _SCALES:
        if value >= scale:
            rest = value % scale
            return spelled(value // scale) + name + (spelled(rest) if rest else "")
    if value < len(_ONES):
        return _ONES[value]
    return _TENS[value // 10 - 2] + (_ONES[value % 10] if value % 10 else "")


def macro(name: str) -> str:
    r"""Return the macro of a number: its id's words in one, numbers spelled out.

    Examples
    --------
    >>> print(macro("e3.rho_pair_m1000_R500000"))
    \FoundEThreeRhoPairMOneThousandRFiveHundredThousand
    """
    bad = re.search(r"[^A-Za-z0-9._-]", name)
    if bad:
        raise ValueError(
            f"the id {name!r} has the character {bad.group()!r}, which no macro can be named "
            "after; an id may hold the letters a to z, digits, dots, hyphens and underscores"
        )
    words = re.findall(r"[A-Za-z]+|[0-9]+", name)
    if not words:
        raise ValueError(f"the id {name!r} has no letter or digit to name a macro after")
    return (
        "\\"
        + PREFIX
        + "".join(
            spelled(int(word)) if word.isdigit() else word[0].upper() + word[1:] for word in words
        )
    )


def macros(numbers: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the macros of ``numbers`` (the content of numbers.json) and what they print.

    Each number has one, rounded to its error, and each number with an error a second
    one for it, with the same power of ten.
    """
    found: dict[str, str] = {}
    owners: dict[str, str] = {}
    for name, content in numbers.items():
        if content["value"] is None:
            continue
        value, error, exponent = tables.rounded(content["value"], content["error"])
        made = {macro(name): number(value, exponent)}
        if error:
            made[macro(name) + UNCERTAINTY] = number(error, exponent)
        for command, text in made.items():
            if command in found:
                raise ValueError(
                    f"the ids {owners[command]!r} and {name!r} both ask for the macro "
                    f"{command}; rename one of them"
                )
            found[command], owners[command] = text, name
    return found


def definitions(commands: Mapping[str, str]) -> str:
    r"""Return the lines that define ``commands``; one that exists already is an error."""
    return "".join(f"\\newcommand{{{name}}}{{{text}}}\n" for name, text in commands.items())
