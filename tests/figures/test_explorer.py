"""The explorer's parts for a page; tests/workflow/test_explorer.py uses them in a browser."""

import base64
import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest
from localizer.figures import explorer

BAND = pd.DataFrame({"rank": [1, 2], "low": [0.1, 0.0], "high": [0.3, 0.2]})


def events(features, n=30):
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"event": [f"e{k}" for k in range(n)], "rank": rng.permutation(n) + 1})
    table["loo"] = -0.01 * table["rank"] + 0.1
    return table.assign(**{name: rng.normal(size=n) for name in features})


def parts(features, **words):
    return explorer.explorer(
        events(features), BAND, features=features, words={"loo": "score"}, **words
    )


def columns(made):
    """Return the largest set of columns that the page is given."""
    content = json.loads(re.search(r"const docs_json = '(.*?)';\n", made.script).group(1))
    found = []

    def search(part):
        if isinstance(part, dict):
            if part.get("name") == "ColumnDataSource":
                entries = part["attributes"]["data"]["entries"]
                found.append({name: _array(values) for name, values in entries})
            list(map(search, part.values()))
        elif isinstance(part, list):
            list(map(search, part))

    search(content)
    return max(found, key=lambda one: len(one.get("event", ())))


def _array(values):
    if isinstance(values, dict) and values.get("type") == "ndarray":
        data = values["array"]
        if isinstance(data := data.get("data") if isinstance(data, dict) else data, str):
            return np.frombuffer(gzip.decompress(base64.b64decode(data)), dtype=values["dtype"])
        return np.array(data)
    return np.array(values)


@pytest.mark.parametrize("features", [["a"], ["a", "b"], ["rank of it", "<b>x</b>", "$$x^2$$"]])
def test_every_event_is_there_with_its_numbers(features):
    made, table = parts(features), events(features)
    found = columns(made)
    ordered = table.sort_values("rank", ascending=False)
    assert found["event"].tolist() == ordered["event"].tolist()
    for name, key in (("rank", "rank"), ("loo", "loo"), (features[-1], f"f{len(features) - 1}")):
        assert found[key].tolist() == ordered[name].tolist()
    assert made.events == 30
    assert list(made.features.values()) == features
    assert made.columns["loo"] == "score"
    for part in (made.script, made.table):
        assert "<b>" not in part
    # nothing is fetched
    assert not re.search(r"<(script|link)[^>]+(src|href)=", made.resources + made.script)


def test_many_features_are_cut_to_the_first():
    features = [f"x{k}" for k in range(explorer.MOST + 3)]
    made = parts(features)
    assert list(made.features.values()) == features[: explorer.MOST]
    found = columns(made)
    assert "f11" in found
    assert not set(features) & set(found)


def test_the_size_is_that_of_all_parts():
    made = parts(["a", "b"])
    whole = made.resources + made.script + made.ranking + made.pairs + made.table
    assert made.size == len(whole.encode())
    # of the library's parts, those that are used
    assert 1e6 < made.size < 3e6
