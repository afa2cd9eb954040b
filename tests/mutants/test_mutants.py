"""The planter of bugs: its list is in order, its bugs are bugs, and it tells a kill from none."""

import ast
import runpy
import subprocess
from pathlib import Path

import generate
import pytest
import runner

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
main = runpy.run_path(str(HERE / "__main__.py"))["main"]


def test_every_planted_bug_has_its_place():
    bugs = generate.planted(ROOT, HERE / "planted.toml")
    assert len({bug.name for bug in bugs}) == len(bugs) >= 40
    for bug in bugs:
        changed = bug.applied((ROOT / bug.path).read_bytes())
        if bug.path.endswith(".py"):
            ast.parse(changed)


@pytest.mark.parametrize("text", ["a = 1\n", "a = 2\na = 2\n"], ids=["vanished", "twice"])
def test_a_planted_bug_without_its_one_place_is_an_error(tmp_path, text):
    (tmp_path / "x.py").write_text(text)
    entry = '[[bug]]\npath = "x.py"\nsays = "three"\nold = "a = 2"\nnew = "a = 3"\n'
    (tmp_path / "planted.toml").write_text(entry)
    with pytest.raises(ValueError, match=r"three: 'a = 2' stands . times in x.py"):
        generate.planted(tmp_path, tmp_path / "planted.toml")


def test_mechanical_mutants_differ_and_compile():
    # all of them take minutes
    files = generate.sources(ROOT)[::10]
    assert {path.rsplit(".")[-1] for path in files} == {"py", "smk"}
    everything = [mutant for path in files for mutant in generate.candidates(ROOT, path)]
    for mutant in generate.sample(everything, 30, seed=1):
        source = (ROOT / mutant.path).read_bytes()
        assert mutant.applied(source) != source
        if mutant.path.endswith(".py"):
            ast.parse(mutant.applied(source))


SOURCE = '''"""No 1 < 2 here."""
import math
if TYPE_CHECKING:
    a = 3
def f(x: int, *, y: Literal[5] = -4) -> Literal[6]:
    if not (x < y and y):
        raise ValueError("at least 7" if x > 8 else "9")
    print(10)
    return (math.sqrt(x) * max(x, y) - g(x, y)) / 2 if x in y else True
def g(x, y):
    return abs(x) < 1e-9 or len(y) > 0.25
'''
MUTATED = {
    *("- -> (nothing)", "not -> (nothing)", "< -> >=", "and -> or"),
    *("max -> min", "math.sqrt(x) -> (x)", "* max(x, y) -> (nothing)", "- -> +", "2 -> 3"),
    *("x, y -> y, x", "/ 2 -> (nothing)", "in -> not in", "True -> False", "4 -> 5"),
    *("x in y -> not (x in y)", "not (x < y and y) -> not (not (x < y and y))"),
    'raise ValueError("at least 7" if x > 8 else "9") -> pass',
    # a count may be equal to its bound, a real number hardly ever is; a tolerance becomes none
    *("abs(x) -> (x)", "1e-9 -> 1.0", "or -> and", "> -> >=", "> -> <=", "0.25 -> 0.5"),
}


def test_what_is_changed_and_what_is_left_alone(tmp_path):
    (tmp_path / "x.py").write_text(SOURCE)
    found = generate.candidates(tmp_path, "x.py")
    assert {mutant.brief(SOURCE.encode()) for mutant in found} == MUTATED


RULES = """rule one:
    input:
        a=rules.x.output.a,
        b=rules.y.output[0],
    threads: 8
    resources:
        **needs(gb=2),
    params:
        few=lambda w: min(w.n, 3) if not w.all and w.n > 4 else 0,
"""


def test_rules_are_changed_by_their_tokens(tmp_path):
    (tmp_path / "x.smk").write_text(RULES)
    found = {mutant.brief(RULES.encode()) for mutant in generate.candidates(tmp_path, "x.smk")}
    swapped = "rules.x.output.a, b=rules.y.output[0] -> rules.y.output[0], b=rules.x.output.a"
    numbers = {"0 -> 1", "2 -> 3", "3 -> 4", "4 -> 5"}
    others = {"> -> >=", "> -> <=", "min -> max", "and -> or", "not -> (nothing)"}
    assert found == {swapped, *numbers, *others}


def test_a_sample_is_reproducible_and_gives_each_file_its_share():
    mutants = [generate.Mutant(f"{p}{i}", p, i, i, b"") for p in "ab" for i in range(100)]
    drawn = generate.sample(mutants, 20, seed=4)
    assert drawn == generate.sample(mutants, 20, seed=4) != generate.sample(mutants, 20, seed=5)
    assert [mutant.path for mutant in drawn] == ["a"] * 10 + ["b"] * 10
    assert generate.sample(mutants, 1000, seed=4) == mutants


def test_the_tests_that_are_named_exist_and_look_at_something():
    nearest = runner.Nearest(ROOT, HERE / "nearest.toml", budget=30)
    for pattern, tests in nearest.told.items():
        assert list(ROOT.glob(pattern)), pattern
        assert all("*" in test or (ROOT / test).is_file() for test in tests), tests
    assert "tests/stage/test_stage.py" in nearest.of("workflow/stage/seals.py")[0]
    assert (
        nearest.of("workflow/localizer/verdicts/board.py")[0][0] == "tests/verdicts/test_board.py"
    )


@pytest.fixture
def small(tmp_path):
    """Return a project of one module, whose test looks at one of its two functions."""
    module, test = tmp_path / "workflow/localizer/small.py", tmp_path / "tests/test_small.py"
    for path in (module, test):
        path.parent.mkdir(parents=True)
    module.write_text("def seen(x):\n    return x < 1\n\n\ndef unseen(x):\n    return x > 3\n")
    test.write_text(
        "from localizer import small\n\n\ndef test_it():\n    assert small.seen(0)\n"
        "    assert not small.seen(1)\n"
    )
    options = '[tool.pytest.ini_options]\npythonpath = "workflow"\nmarkers = ["slow"]\n'
    (tmp_path / "pyproject.toml").write_text(options)
    entry = '[[bug]]\npath = "workflow/localizer/small.py"\nsays = "never"\n'
    entry += 'old = "x < 1"\nnew = "False"\n'
    (tmp_path / "planted.toml").write_text(entry)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def test_a_bug_is_killed_and_one_that_no_test_sees_survives(small, capsys):
    names = [f"workflow/localizer/small.py:{line}:14:inverted" for line in (2, 6)]
    words = [word for name in (*names, "never") for word in ("--id", name)]
    assert main([*words, "--at-least", "70"], root=small, here=small) == 1
    said = capsys.readouterr().out
    assert [line.split()[1] for line in said.splitlines() if line[1:3] == "/3"] == [
        *("killed", "survived", "killed")
    ]
    assert "-    return x > 3  +    return x <= 3" in said
    assert "66.7 % killed" in said


def test_a_failing_test_stops_it_before_any_bug_is_planted(small, capsys):
    test = small / "tests/test_small.py"
    test.write_text(test.read_text().replace("not ", ""))
    words = ["--id", "workflow/localizer/small.py:2:14:strict"]
    assert main(words, root=small, here=small) == 2
    assert "fails without any bug planted" in capsys.readouterr().err


@pytest.mark.slow
def test_a_small_sample_of_the_project_is_killed():
    few = ["--count", "4", "--seed", "1", "--mechanical-only"]
    assert main([*few, "--files", "workflow/localizer/base/metrics.py", "--at-least", "75"]) == 0
    bugs = [bug.name for bug in generate.planted(ROOT, HERE / "planted.toml")]
    some = ["SIC without the root", "the rank 1 is the smallest score"]
    assert set(some) <= set(bugs)
    assert main([*(word for name in some for word in ("--id", name)), "--at-least", "100"]) == 0
