"""Where the rules are defined: every one is found, at the line where it begins."""

from pathlib import Path

import pytest
from stage import listing

ROOT = Path(__file__).resolve().parents[2]
RULES = [path for path in sorted((ROOT / "workflow/rules").glob("*.smk")) if path.stem != "common"]


def test_every_rule_is_found_at_its_line():
    found = listing.definitions(RULES)
    assert len(found) > 80
    for name, definition in found.items():
        line = Path(definition.file).read_text().splitlines()[definition.line - 1]
        begins = (f"rule {name}:", f"use rule {definition.base} as {name} with:", f'    "{name}')
        assert line.startswith(begins)
        assert definition.text.startswith(line)


def test_a_rule_ends_where_the_next_thing_begins(tmp_path):
    (tmp_path / "a.smk").write_text("rule one:\n    input: 1\n\n\nX = 3\n")
    (tmp_path / "b.smk").write_text("rule one:\n    input: 2\n")
    assert listing.definitions([tmp_path / "a.smk"])["one"].text == "rule one:\n    input: 1"
    with pytest.raises(ValueError, match=r"one is defined in .*a\.smk and .*b\.smk"):
        listing.definitions([tmp_path / "a.smk", tmp_path / "b.smk"])


def test_a_rule_made_from_another_has_its_script(tmp_path):
    (tmp_path / "a.smk").write_text(
        'rule one:\n    script:\n        "../scripts/a.py"\n\n\n'
        "use rule one as two with:\n    input: 2\n\n\n"
        "use rule two as three with:\n    input: 3\n\n\n"
        'rule four:\n    script:\n        "../scripts/b.py"\n\n\nrule all:\n    input: 1\n'
    )
    assert listing.scripts(listing.definitions([tmp_path / "a.smk"])) == {
        **dict.fromkeys(("one", "two", "three"), "workflow/scripts/a.py"),
        "four": "workflow/scripts/b.py",
    }


def test_a_figure_is_an_entry_of_a_table(tmp_path):
    (tmp_path / "a.smk").write_text(
        'FIGURES["a"] = {\n    "fig01_one": drawn(\n        "One",\n        x=1,\n    ),\n'
        '    "supp_two": drawn("Two", y=2),\n}\n\n\nrule three:\n    input: 1\n'
    )
    found = listing.definitions([tmp_path / "a.smk"])
    assert {name: where.line for name, where in found.items()} == {
        "fig01": 2,
        "supp_two": 6,
        "three": 10,
    }
    assert found["fig01"].text == '    "fig01_one": drawn(\n        "One",\n        x=1,\n    ),'
    assert found["supp_two"].text == '    "supp_two": drawn("Two", y=2),'
    drawn = dict.fromkeys(("fig01", "supp_two"), "workflow/scripts/draw.py")
    assert listing.scripts(found) == drawn


def test_every_script_is_there():
    scripts = listing.scripts(listing.definitions(RULES))
    assert len(scripts) > 70
    assert all((ROOT / script).exists() for script in scripts.values())
