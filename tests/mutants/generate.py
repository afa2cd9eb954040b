"""Bugs to plant: mechanical ones from the syntax tree, realistic ones from planted.toml.

A mutant replaces a few bytes of one file. Its name says where and what, so that it can be
planted again: ``workflow/localizer/own/score.py:201:14:inverted``, or the sentence of planted.toml.
"""

from __future__ import annotations

import ast
import difflib
import io
import random
import re
import subprocess
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

STRICT = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
INVERTED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
INVERTED |= {"is": "is not", "is not": "is", "in": "not in", "not in": "in"}
OPPOSITE = {"min": "max", "minimum": "maximum", "argmin": "argmax", "any": "all", "floor": "ceil"}
OPPOSITE |= {value: key for key, value in OPPOSITE.items()}
DROPPED_CALLS = ("sqrt", "abs")
#: what is the same with its arguments swapped
SYMMETRIC = ("min", "max", "minimum", "maximum", "hypot", "zip", "isinstance")
#: what is said to a reader is not looked at word by word
TALK = ("print", "say", "warn", "warning", "info", "debug", "error", "log_to")
#: numbers up to this one are tolerances of rounding: twice as much does no harm
ROUNDING = 1e-5
#: of a rule: what changes how fast a job runs, and nothing else
SPEED_ONLY = ("threads", "priority")


@dataclass(frozen=True)
class Mutant:
    """One bug: ``new`` in place of the bytes from ``start`` to ``end`` of a file."""

    name: str
    path: str
    start: int
    end: int
    new: bytes

    def applied(self, source: bytes) -> bytes:
        """Return the file with the bug in it."""
        return source[: self.start] + self.new + source[self.end :]

    def line(self, source: bytes) -> int:
        """Return the number of the line where it begins."""
        return source.count(b"\n", 0, self.start) + 1

    def diff(self, source: bytes) -> str:
        """Return what changes, as a unified diff without context."""
        old, new = (text.decode().splitlines() for text in (source, self.applied(source)))
        lines = difflib.unified_diff(old, new, self.path, self.path, n=0, lineterm="")
        return "\n".join(lines)

    def brief(self, source: bytes) -> str:
        """Return what changes in one line."""
        old, new = (source[self.start : self.end].decode(), self.new.decode())
        return " -> ".join(" ".join(text.split())[:60] or "(nothing)" for text in (old, new))


def sources(root: Path) -> list[str]:
    """Return the files of the workflow that hold code: modules, scripts and rules."""
    said = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "workflow"]
    listed = subprocess.run(said, cwd=root, capture_output=True, text=True, check=True).stdout
    return sorted(name for name in listed.splitlines() if name.endswith((".py", ".smk")))


def candidates(root: Path, path: str) -> list[Mutant]:
    """Return every mechanical mutant of a file, in the order of the text."""
    source = (root / path).read_bytes()
    found = _Tree(source).edits() if path.endswith(".py") else _of_rules(source)
    mutants = {}
    for start, end, new, kind in found:
        line, column = source.count(b"\n", 0, start) + 1, start - source.rfind(b"\n", 0, start)
        name = f"{path}:{line}:{column}:{kind}"
        if source[start:end] != new:
            mutants.setdefault(name, Mutant(name, path, start, end, new))
    return sorted(mutants.values(), key=lambda mutant: (mutant.start, mutant.name))


def sample(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Draw one from each of ``count`` equal stretches, so that each file gets its share."""
    rng, total, count = random.Random(seed), len(mutants), min(count, len(mutants))
    return [
        mutants[rng.randrange(i * total // count, (i + 1) * total // count)] for i in range(count)
    ]


def planted(root: Path, listed: Path) -> list[Mutant]:
    """Return the realistic bugs; one whose place is not found exactly once is an error."""
    found, wrong = [], []
    for entry in tomllib.loads(listed.read_text(encoding="utf-8"))["bug"]:
        path, old, new = entry["path"], entry["old"].encode(), entry["new"].encode()
        source = (root / path).read_bytes() if (root / path).is_file() else b""
        if source.count(old) != 1 or old == new:
            wrong.append(f"{entry['says']}: {entry['old']!r} stands {source.count(old)} times")
            wrong[-1] += f" in {path}; it must stand there once"
            continue
        start = source.index(old)
        found.append(Mutant(entry["says"], path, start, start + len(old), new))
    if wrong:
        raise ValueError("\n".join(wrong))
    return found


Edit = tuple[int, int, bytes, str]


class _Tree:
    """The mechanical edits of a Python file; offsets are in bytes, as the syntax tree's are."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def edits(self) -> Iterator[Edit]:
        yield from self._walk(ast.parse(self.source))

    def _walk(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
            return
        if isinstance(node, ast.If) and re.search(
            rb"TYPE_CHECKING|__name__", self._text(node.test)
        ):
            return
        if isinstance(node, ast.Call) and _called(node) in TALK:
            return
        yield from self._of(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self._walk(child)

    def _of(self, node: ast.AST) -> Iterator[Edit]:
        match node:
            case ast.Compare():
                for left, right in zip([node.left, *node.comparators], node.comparators):  # noqa: B905
                    yield from self._operator(left, right, INVERTED, "inverted")
                    if _counts(left) or _counts(right):
                        yield from self._operator(left, right, STRICT, "strict")
            case ast.BoolOp():
                for left, right in zip(node.values, node.values[1:]):  # noqa: B905
                    yield from self._operator(left, right, {"and": "or", "or": "and"}, "bool")
            case ast.Constant(value=bool()):
                yield *self._span(node), str(not node.value).encode(), "bool"
            case ast.Constant(value=int() | float()):
                yield *self._span(node), _other_number(self._text(node)), "number"
            case ast.UnaryOp(op=ast.USub() | ast.Not()):
                kind, length = ("sign", 1) if isinstance(node.op, ast.USub) else ("not", 3)
                yield self._start(node), self._start(node) + length, b"", kind
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                if not any(map(_joins, (node.left, node.right))):
                    yield from self._operator(node.left, node.right, {"+": "-", "-": "+"}, "sign")
            case ast.BinOp(op=ast.Mult() | ast.Div() | ast.Pow()):
                gap = self.source[self._end(node.left) : self._start(node.right)]
                operator = re.search(rb"\*\*|\*|/", gap)
                assert operator
                keep = self._end(node.left) + len(gap[: operator.start()].rstrip())
                yield keep, self._end(node), b"", "factor"
            case ast.Call():
                yield from self._call(node)
            case ast.If():
                yield self._start(node.body[0]), self._end(node.body[-1]), b"pass", "branch"
                yield *self._span(node.test), b"not (" + self._text(node.test) + b")", "negated"
            case ast.IfExp():
                yield *self._span(node.test), b"not (" + self._text(node.test) + b")", "negated"

    def _call(self, node: ast.Call) -> Iterator[Edit]:
        called = _called(node)
        if called in OPPOSITE:
            end = self._end(node.func)
            yield end - len(called), end, OPPOSITE[called].encode(), "opposite"
        if called in DROPPED_CALLS and len(node.args) == 1:
            yield *self._span(node), b"(" + self._text(node.args[0]) + b")", "root"
        if called not in SYMMETRIC and not any(isinstance(a, ast.Starred) for a in node.args):
            for left, right in zip(node.args, node.args[1:]):  # noqa: B905
                between = self.source[self._end(left) : self._start(right)]
                nonsense = _is_text(left) != _is_text(right)
                if (
                    self._text(left) != self._text(right)
                    and between.strip() == b","
                    and not nonsense
                ):
                    swapped = self._text(right) + between + self._text(left)
                    yield self._start(left), self._end(right), swapped, "swapped"

    def _operator(
        self, left: ast.AST, right: ast.AST, table: dict[str, str], kind: str
    ) -> Iterator[Edit]:
        start, end = self._end(left), self._start(right)
        gap = re.sub(rb"#[^\n]*", lambda found: b" " * len(found[0]), self.source[start:end])
        words = re.search(rb"[<>=!]=?|[-+]|[a-z]+( +[a-z]+)?", gap)
        if words and (new := table.get(words[0].decode())):
            yield start + words.start(), start + words.end(), new.encode(), kind

    def _start(self, node: ast.AST) -> int:
        return self.lines[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.AST) -> int:
        return self.lines[node.end_lineno - 1] + node.end_col_offset

    def _span(self, node: ast.AST) -> tuple[int, int]:
        return self._start(node), self._end(node)

    def _text(self, node: ast.AST) -> bytes:
        return self.source[self._start(node) : self._end(node)]


def _called(node: ast.Call) -> str:
    return getattr(node.func, "id", None) or getattr(node.func, "attr", "")


def _joins(node: ast.AST) -> bool:
    """Tell whether a plus joins texts or lists here, where a minus would be no bug but nonsense."""
    return _is_text(node) or isinstance(node, ast.List | ast.Tuple | ast.ListComp)


def _is_text(node: ast.AST) -> bool:
    plain = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return plain or isinstance(node, ast.JoinedStr)


def _counts(node: ast.AST) -> bool:
    """Tell whether this is a whole number: real ones are hardly ever equal to a threshold."""
    number = isinstance(node, ast.Constant) and isinstance(node.value, int)
    return number or (isinstance(node, ast.Call) and _called(node) == "len")


def _other_number(text: bytes) -> bytes:
    """Return a whole number plus one, a tolerance of rounding as 1, any other number doubled."""
    value = ast.literal_eval(text.decode())
    if isinstance(value, int):
        return repr(value + 1).encode()
    return repr(2 * value if abs(value) > ROUNDING else 1.0).encode()


def _of_rules(source: bytes) -> Iterator[Edit]:
    """Yield the edits of a file of rules, which is Python in its tokens only."""
    lines = source.splitlines(keepends=True)
    starts = [sum(map(len, lines[:i])) for i in range(len(lines) + 1)]
    tokens = list(tokenize.tokenize(io.BytesIO(source).readline))
    for before, token, after in zip(tokens, tokens[1:], tokens[2:]):  # noqa: B905
        text = token.line
        column, stop = (len(text[: at[1]].encode()) for at in (token.start, token.end))
        start, end = starts[token.start[0] - 1] + column, starts[token.end[0] - 1] + stop
        if token.type == tokenize.NUMBER and text.split(":")[0].strip() not in SPEED_ONLY:
            yield start, end, _other_number(token.string.encode()), "number"
        for kind, table in (("strict", STRICT), ("inverted", INVERTED), ("opposite", OPPOSITE)):
            # `in` of a loop and the words of `not in` and `is not` are left alone
            known = token.string in table and token.string not in ("in", "is")
            if known and (kind != "opposite" or after.string == "("):
                yield start, end, table[token.string].encode(), kind
        if token.string in ("and", "or"):
            yield start, end, b"or" if token.string == "and" else b"and", "bool"
        if token.string == "not" and after.string != "in" and before.string != "is":
            yield start, end, b"", "not"
        if token.string == "if" and "lambda" not in text and text.strip().endswith(":"):
            yield end, end, b" not", "negated"
    # the values of two neighbouring names change places
    named = re.compile(
        rb"^( +)(\w+)=(rules\.[^\n]*|[A-Z_]+\[[^\n]*|config\[[^\n]*),$", re.MULTILINE
    )
    for one, other in zip(found := list(named.finditer(source)), found[1:]):  # noqa: B905
        if one.end() + 1 == other.start() and one[1] == other[1]:
            between = source[one.end(3) : other.start(3)]
            yield one.start(3), other.end(3), other[3] + between + one[3], "swapped"
