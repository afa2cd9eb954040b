"""With STRICT=1 no test is skipped in silence."""

from pathlib import Path

import pytest

SKIPPED = {
    "by a mark": """
        import shutil, pytest
        @pytest.mark.skipif(not shutil.which("no-such-program"), reason="no such program")
        def test_it(): pass
    """,
    "in its body": """
        import pytest
        def test_it(): pytest.skip("no such program")
    """,
    "by its fixture": """
        import pytest
        @pytest.fixture
        def program(): pytest.skip("no such program")
        def test_it(program): pass
    """,
    "as a whole module": """
        import pytest
        pytest.skip("no such program", allow_module_level=True)
    """,
}


@pytest.fixture
def outcome(pytester, monkeypatch):
    """Return what runs a module of tests, strictly or not, and says what became of them."""
    pytester.makeconftest((Path(__file__).parents[1] / "conftest.py").read_text())

    def run(source, strict):
        monkeypatch.setenv("STRICT", strict)
        pytester.makepyfile(source)
        return pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider")

    return run


@pytest.mark.parametrize("how", SKIPPED)
def test_what_is_skipped_fails_with_strict(outcome, how):
    strictly = outcome(SKIPPED[how], "1")
    assert strictly.ret != 0
    strictly.stdout.fnmatch_lines(["*STRICT=1 allows no skip: *no such program"])
    assert "skipped" not in strictly.parseoutcomes()


def test_without_strict_it_is_skipped(outcome):
    outcome(SKIPPED["by a mark"], "0").assert_outcomes(skipped=1)


def test_an_expected_failure_is_no_skip(outcome):
    source = """
        import pytest
        @pytest.mark.xfail
        def test_it(): assert False
    """
    outcome(source, "1").assert_outcomes(xfailed=1)
