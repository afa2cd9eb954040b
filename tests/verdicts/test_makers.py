"""Each published id has exactly one function, which one finds by the id."""

import inspect
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from claims import PUBLISHED
from localizer.verdicts import registry
from localizer.verdicts.board import Finding

FOLDER = Path(__file__).resolve().parents[2] / "workflow/localizer/verdicts"
MODULES = [
    import_module(f"localizer.verdicts.{path.stem}") for path in sorted(FOLDER.glob("findings*.py"))
]
MAKERS = registry.makers(*MODULES)


def test_every_published_id_has_exactly_one_function():
    assert sorted(MAKERS) == sorted(PUBLISHED)


def test_the_functions_are_short():
    """A screen each, so that it can be read beside the sentence of the paper."""
    lengths = {name: len(inspect.getsource(maker).splitlines()) for name, maker in MAKERS.items()}
    assert max(lengths.values()) <= 45, max(lengths, key=lengths.get)


@registry.finding("one", "two")
def sizes(name, sizes, *, least=1):
    if not sizes:
        raise ValueError("it has no sizes")
    return Finding(value=float(len(name) + len(sizes))) if len(sizes) > least else None


def test_a_function_gets_what_it_names():
    module = SimpleNamespace(sizes=sizes)
    found = registry.findings(module, sizes=[1, 2], other=3)
    assert [(each.id, each.value) for each in found] == [("one", 5.0), ("two", 5.0)]
    assert registry.findings(module, sizes=[1, 2], least=2) == []
    with pytest.raises(ValueError, match="finding one: it has no sizes"):
        registry.findings(module, sizes=[])
    with pytest.raises(TypeError, match="sizes"):
        registry.findings(module, other=3)


def test_an_id_with_two_functions_is_refused():
    with pytest.raises(ValueError, match="finding one: two functions make it"):
        registry.makers(SimpleNamespace(sizes=sizes), SimpleNamespace(sizes=sizes))
