"""Each published row has exactly one function that makes its finding, and none is left over."""

import ast
import re
from pathlib import Path

from claims import PUBLISHED

FOLDER = Path(__file__).resolve().parents[2] / "workflow/localizer/verdicts"
#: names that are put together: their pattern and the function that makes them
FAMILIES = {
    r"e1\.relative_rms_\d+": "_relative_rms",
    r"e2\.auc_loo_\d+": "of_n_scan",
    r"e2\.gap_\d+": "of_n_scan",
    r"e2\.(one|control)_(auc|rho)_(loo|marginal|pair|pair_target)": "of_recovery",
    r"e3\.(auc|sic)_(witness|evaluation|single|\w+_m\d+_R\d+)|e3\.C": "of_draws",
    r"e3\.rho_\w+_m\d+_R\d+": "of_correlations",
}


def makers():
    """Return the functions that call something with a published id first, by id."""
    found = {}
    for path in FOLDER.glob("findings*.py"):
        for function in ast.parse(path.read_text()).body:
            if isinstance(function, ast.FunctionDef):
                for call in ast.walk(function):
                    if isinstance(call, ast.Call) and call.args:
                        name = getattr(call.args[0], "value", None)
                        if isinstance(name, str) and re.match(r"(t|e[123])\.\w", name):
                            found.setdefault(name, set()).add(f"{path.stem}.{function.name}")
    # the scan of levels names its rows in a loop, the scatter is named by its row
    found["e2.scan_level_lr"] = found["e2.scan_level_mmd"] = {"findings2.of_n_scan"}
    found["e3.scatter"] = {"findings3_batches._scatter"}
    return found


def test_every_row_has_exactly_one_maker():
    found = makers()
    for name in PUBLISHED:
        of_families = [where for pattern, where in FAMILIES.items() if re.fullmatch(pattern, name)]
        assert len(found.get(name, of_families)) == 1, (name, found.get(name), of_families)


def test_no_maker_is_left_over():
    assert set(makers()) <= set(PUBLISHED)
    for pattern in FAMILIES:
        assert any(re.fullmatch(pattern, name) for name in PUBLISHED), pattern
