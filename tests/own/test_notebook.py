"""The notebook that ships runs, and shows what it showed when it was written."""

from pathlib import Path

import nbclient
import nbformat
import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs/own-data.ipynb"


def texts(notebook):
    """Return the plain text of every output, by its cell."""
    return [
        [output.data["text/plain"] for output in cell.outputs if "data" in output]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.slow
def test_the_notebook_shows_what_it_showed(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "workflow"))
    # pandas words and IPython's figures are theirs
    shipped = nbformat.read(NOTEBOOK, as_version=4)
    run = nbclient.NotebookClient(
        nbformat.read(NOTEBOOK, as_version=4), timeout=300, kernel_name="python3"
    ).execute()
    assert texts(run) == texts(shipped)
    pictures = [
        output.data["text/html"].count("data:image/png;base64")
        for cell in run.cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    assert max(pictures) == 3


def test_the_notebook_is_small_and_tells_nothing_of_a_machine():
    assert NOTEBOOK.stat().st_size < 500_000
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            assert output.output_type == "execute_result", output
