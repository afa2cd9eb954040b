"""The one door to random numbers: same key, same numbers; other key, other numbers."""

import ast
import itertools
from pathlib import Path

import numpy as np
import pytest
from localizer.base.randomness import stream

ROOT = Path(__file__).resolve().parents[2]


def test_same_key_same_numbers():
    assert np.array_equal(stream(7, "a", 1).random(50), stream(7, "a", 1).random(50))


def test_every_difference_in_the_key_counts():
    keys = [(), ("a",), ("b",), ("a", 0), ("a", 1), (1, "a"), ("1",), (1,), (2**40,), ("a", "b")]
    draws = [stream(7, *key).random(4).tobytes() for key in keys]
    draws += [stream(8, *key).random(4).tobytes() for key in keys]
    assert len(set(draws)) == len(draws)


def test_neighbouring_streams_are_uncorrelated():
    # |z| < 5 on each of 28 correlations: a false alarm once in 60000 seeds
    n = 20000
    draws = np.array([stream(3, "toy", toy).standard_normal(n) for toy in range(8)])
    for one, other in itertools.combinations(draws, 2):
        assert abs(one @ other / np.sqrt(n)) < 5


@pytest.mark.parametrize("key", [(-1,), (1.5,), (True,), (2**64,)])
def test_a_key_must_be_text_or_whole_numbers(key):
    with pytest.raises(ValueError, match="each number of a key must be"):
        stream(1, *key)


def test_a_seed_must_not_be_negative():
    with pytest.raises(ValueError, match="seed must be at least 0"):
        stream(-1)


def doors(path):
    """Yield every source of random numbers that a file reaches for, but the type of a generator."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name == "random")
        elif isinstance(node, ast.ImportFrom) and node.module in ("random", "numpy.random"):
            yield node.module
        elif (
            isinstance(node, ast.Attribute)
            and ast.unparse(node.value) == "np.random"
            and node.attr != "Generator"
        ):
            yield f"np.random.{node.attr}"


def test_no_other_door():
    """No file of the workflow has random numbers from elsewhere."""
    allowed = ROOT / "workflow/localizer/base/randomness.py"
    sources = [path for path in (ROOT / "workflow").rglob("*.py") if path != allowed]
    assert len(sources) > 20
    found = {str(path): list(doors(path)) for path in sources}
    assert not {path: names for path, names in found.items() if names}
    assert set(doors(allowed)) == {"np.random.SeedSequence", "np.random.PCG64DXSM"}
