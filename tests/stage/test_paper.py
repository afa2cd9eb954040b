"""The paper's sources: no typed number, nothing read that its rule does not name, clear errors."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from stage import typesetting

ROOT = Path(__file__).resolve().parents[2]
PAPER = ROOT / "paper"
SOURCES = sorted(PAPER.rglob("*.typ"))
#: files that hold no prose: numbers in their code are how things look, not what was found
MACHINERY = PAPER / "lib"

UNITS = r"(?:pt|em|cm|mm|in|fr|deg|%)"
NUMBER = re.compile(r"(?<![\w.#-])\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])")
STATEMENTS = re.compile(r"(?:let|set|show|import|include|if|for|while|context)\b")


@dataclass(frozen=True)
class Piece:
    """A run of characters of one mode: markup, math, code or string."""

    mode: str
    text: str
    line: int


class Scanner:
    """Tell Typst's modes apart: what is read as text, as math, as code, and as a string.

    Comments, raw text and labels are left out. It knows as much of the grammar as the paper
    uses.
    """

    def __init__(self, text):
        self.text, self.at, self.pieces = text, 0, []
        self.markup(end="")

    def ahead(self, what):
        return self.text.startswith(what, self.at)

    def add(self, mode, text):
        if text:
            line = self.text.count("\n", 0, self.at) + 1
            self.pieces.append(Piece(mode, text, line))

    def take(self, mode, pattern):
        """Consume what the pattern matches here, as a piece of the mode (or of none)."""
        match = re.compile(pattern, re.DOTALL).match(self.text, self.at)
        if not match:
            return False
        if mode:
            self.add(mode, match.group())
        self.at = match.end()
        return True

    def comment(self):
        return self.take(None, r"//[^\n]*") or self.take(None, r"/\*.*?\*/")

    def markup(self, end):
        while self.at < len(self.text):
            if end and self.ahead(end):
                self.at += 1
                return
            if self.take("markup", r"https?://\S+") or self.comment():
                continue
            if self.take(None, r"```.*?```|`[^`]*`|\\.|<[a-zA-Z][\w-]*>|@[a-zA-Z][\w-]*"):
                continue
            if self.ahead("$"):
                self.at += 1
                self.math()
            elif self.ahead("#"):
                self.at += 1
                self.expression()
            elif self.ahead("["):
                self.at += 1
                self.markup("]")
            elif not self.take("markup", r"[^\s#$\[\]`\\<@/]+"):
                self.at += 1

    def math(self):
        while self.at < len(self.text):
            if self.take(None, r"\$"):
                return
            # a power of ten whose exponent is read, not typed, is structure
            if self.take(None, r"\\.|10\^(?=#)"):
                continue
            if self.ahead('"'):
                self.string()
            elif self.ahead("#"):
                self.at += 1
                self.expression()
            elif not self.take("math", r"\d+(?:\.\d+)?|[^\d\"#$\\]+"):
                self.at += 1

    def string(self):
        self.take("string", r'"(?:\\.|[^"\\])*"')

    def expression(self):
        """Read what follows a # in markup or math."""
        if STATEMENTS.match(self.text, self.at):
            self.code(end="\n")
            return
        if self.ahead('"'):
            self.string()
            return
        if self.ahead("{") or self.ahead("("):
            self.bracket()
        else:
            self.take("code", r"[A-Za-z_][\w-]*|[\d.]+")
        while self.at < len(self.text):
            if self.ahead("(") or self.ahead("["):
                self.bracket()
            elif not self.take("code", r"\.[A-Za-z_][\w-]*"):
                return

    def bracket(self):
        opening = self.text[self.at]
        self.at += 1
        if opening == "[":
            self.markup("]")
        else:
            self.code(end={"(": ")", "{": "}"}[opening])

    def code(self, end):
        while self.at < len(self.text):
            if self.ahead(end):
                self.at += 1
                return
            if end == "\n" and (self.ahead("]") or self.ahead("}")):
                return
            if self.comment() or self.take(None, r"`[^`]*`|<[a-zA-Z][\w-]*>"):
                continue
            if self.ahead('"'):
                self.string()
            elif self.ahead("$"):
                self.at += 1
                self.math()
            elif self.text[self.at] in "([{":
                self.bracket()
            elif not self.take("code", r"[\w.%-]+"):
                self.at += 1


def typed_numbers(text, *, machinery=False):
    """Return (line, number) of every result or parameter that is typed and not read.

    In prose and captions any digit counts. In math a single digit is structure (exponents,
    indices, m - 1) and more is not. In code and strings a number counts if it has two digits
    or a decimal point, unless it has a unit of length, or stands in the machinery.
    """
    found = []
    for piece in Scanner(text).pieces:
        if piece.mode == "markup":
            numbers = re.findall(r"\d[\d.,]*", piece.text)
        elif piece.mode == "math":
            numbers = [n for n in re.findall(r"\d+(?:\.\d+)?", piece.text) if len(n) > 1]
        elif piece.mode == "string":
            numbers = [n for n in NUMBER.findall(piece.text) if len(n) > 1 and not machinery]
        elif machinery:
            numbers = []
        else:
            code = re.sub(rf"\d+(?:\.\d+)?{UNITS}", "", piece.text)
            numbers = [n for n in NUMBER.findall(code) if len(n) > 1]
        found += [(piece.line, number) for number in numbers]
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_number_is_typed(path):
    assert typed_numbers(path.read_text(), machinery=path.parent == MACHINERY) == []


@pytest.mark.parametrize(
    ("planted", "number"),
    [
        ("The AUC is 0.9023 on average.", "0.9023"),
        ("There are 4 claims.", "4"),
        ('#drawn("fig02_roc", width: 60%)[ROC of 500 toys.] <fig>', "500"),
        ("#figure(table(), caption: [At $m = 20$ it falls.])", "20"),
        ("$alpha = 0.9995$", "0.9995"),
        ("$ q = 6.8 times #sig(x) $", "6.8"),
        ("at $R = 10^6$ batches", "10"),
        ("#let separation = 9.2172e-4", "9.2172e-4"),
        ("#sig(0.46086, digits: 5)", "0.46086"),
        ('#text("an AUC of 0.94")', "0.94"),
        ("#if failing.len() > 0 [\n  There are 148 rows.\n]", "148"),
        ("#{\n  let c = 1417\n  [#c]\n}", "1417"),
        ("- a list with 3 items", "3"),
        ("#booktabs(([$m$], [320]), ())", "320"),
    ],
)
def test_a_planted_number_is_found(planted, number):
    """The control: the rule above can fail, in every place where a number can hide."""
    assert [one.rstrip(".") for _, one in typed_numbers(planted)] == [number]


@pytest.mark.parametrize(
    "innocent",
    [
        '#drawn("fig01_resampled_analytic", width: 56%)[Scores.] <fig-1>',
        "#set text(size: 8.5pt)\nText.",
        "$ (m - 1)^2 zeta_1 + 2 b $",
        'As @fig-01 shows, #found("e1.relative_rms_640", digits: 3) is read.',
        "`snakemake results/paper/figures/fig05.pdf` // 12 comments",
    ],
)
def test_layout_names_and_structure_are_not_results(innocent):
    assert typed_numbers(innocent) == []


def test_the_line_is_right():
    assert typed_numbers("one\n\nthree 3.5 here")[0][0] == 3


def test_the_nine_figures_are_in_it():
    text = "\n".join(path.read_text() for path in SOURCES)
    drawn = sorted(set(re.findall(r'\bdrawn\(\s*"(fig\d\d)', text)))
    assert drawn == [f"fig0{number}" for number in range(1, 10)]


def test_every_row_that_is_named_is_published():
    rows = (ROOT / "resources/published.csv").read_text().splitlines()[1:]
    names = {row.split(",", 1)[0] for row in rows}
    text = "\n".join(path.read_text() for path in SOURCES)
    used = {one for one in re.findall(r'"(e\d\.\w+)"', text) if not one.endswith("_")}
    assert used
    assert used <= names


def test_no_sentence_begins_after_a_swallowed_semicolon():
    """A semicolon after a call in markup ends the call and is not printed."""
    for path in SOURCES:
        if path.parent != MACHINERY:
            assert not re.search(r"\);\s+[a-z]", path.read_text()), path.name


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a small document; places are named from the folder the compiler runs in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "part.typ").write_text("one\n\n#nonsense(3)\n")
    (tmp_path / "main.typ").write_text('= Title\n#include "part.typ"\n')
    (tmp_path / "good.typ").write_text("#set document(date: none)\n#sys.inputs.word $x^2$\n")
    return tmp_path


def test_a_mistake_is_named_with_file_and_line(folder):
    with pytest.raises(ValueError, match=r"^part\.typ, line 3: unknown variable: nonsense$"):
        typesetting.compiled(folder / "main.typ", root=folder, inputs={})


def test_a_missing_result_is_named(folder):
    (folder / "main.typ").write_text('text\n#csv("/gone.csv")\n')
    with pytest.raises(ValueError, match=r"^main\.typ, line 2: file not found .*gone\.csv"):
        typesetting.compiled(folder / "main.typ", root=folder, inputs={})


def test_a_missing_source_is_named(folder):
    with pytest.raises(ValueError, match=r"none\.typ is missing"):
        typesetting.compiled(folder / "none.typ", root=folder, inputs={})


def test_warnings_are_told(folder):
    (folder / "main.typ").write_text('#set text(font: "No Such Font")\ntext\n')
    _, warnings = typesetting.compiled(folder / "main.typ", root=folder, inputs={})
    assert warnings == ["main.typ, line 1: unknown font family: no such font"]


def test_the_same_bytes_twice(folder):
    first, second = (
        typesetting.compiled(folder / "good.typ", root=folder, inputs={"word": "hello"})[0]
        for _ in range(2)
    )
    assert first.startswith(b"%PDF")
    assert first == second
    other, _ = typesetting.compiled(folder / "good.typ", root=folder, inputs={"word": "bye"})
    assert other != first


def test_numbers_are_formatted_as_they_should(folder):
    """The formatting functions of the paper itself, on cases worked out by hand."""
    results = folder / "results"
    (results / "lhco").mkdir(parents=True)
    (results / "numbers.json").write_text("{}")
    (results / "lhco/edition.json").write_text('{"name": "full"}')
    header = "id,published,published_error,published_error_from,experiment,verdict,kind\n"
    (results / "scoreboard.csv").write_text(
        header
        + "a,9.2287e-4,1.25e-06,printed,I,agrees,fit\nb,0.948,0.0005,rounding,I,agrees,fit\n"
        + "c,272858,0.5,rounding,I,agrees,fit\n"
    )
    (folder / "data.typ").write_text((MACHINERY / "data.typ").read_text())
    cases = {
        "fixed(0.5, 3)": "0.500",
        "fixed(-0.0004, 3)": "0.000",
        "fixed(-1.25, 1)": "−1.3",
        "fixed(121352, 0)": "121\u2009352",
        "sig(9.996, digits: 3)": "10.0",
        "sig(0.0264, digits: 2)": "0.026",
        "sig(0, digits: 2)": "0",
        "sig(41.4185, digits: 3)": "41.4",
        'as-printed("0.420")': "0.420",
        'published("b")': "0.948",
        'published("c")': "272\u2009858",
        "plain(1000)": "1000",
        "plain(0.25)": "0.25",
        "plain((1, 2.5))": "1, 2.5",
        'repr(published("a")).contains("0.0125")': "true",
        'repr(with-error(0.98916, 0.0097)).contains("0.9892")': "true",
        'found("absent")': "[–]",
        "with-error(0.02, 1.7e-16)": "0.020000",
        "with-error(0.5, 0)": "0.50000",
        "fixed(0.1 + 0.2, 17)": "0.30000000000000004",
    }
    for case, expected in cases.items():
        shown = f"#let value = {case}\n#if type(value) != str {{ value = repr(value) }}\n"
        (folder / "main.typ").write_text(
            f'#import "data.typ": *\n{shown}'
            f"#if value != {json.dumps(expected, ensure_ascii=False)} {{ panic(value) }}\n"
        )
        typesetting.compiled(
            folder / "main.typ",
            root=folder,
            inputs={"results": "/results", "config": "{}", "other-sizes": ""},
        )
