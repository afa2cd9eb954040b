"""Tables for LaTeX: every special character is escaped, numbers stand to the right."""

import pandas as pd
from stage import latex


def test_booktabs():
    table = pd.DataFrame({"name_1": ["a & b", "50 %"], "x": [0.5, None]})
    text = latex.booktabs(table, formats={"x": lambda value: f"{value:.2f}"})
    assert text.splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"name\_1 & x \\",
        r"\midrule",
        r"a \& b & 0.50 \\",
        r"50 \% &  \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_every_special_character_is_escaped():
    for letter in "\\{}&%$#_~^<>|":
        escaped = latex.escape(letter)
        assert escaped.startswith("\\")
        assert len(escaped) > 1
