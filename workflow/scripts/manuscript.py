"""Write the numbers as LaTeX macros, and the map from the manuscript's labels to results."""

from pathlib import Path

import _packages
import pandas as pd
from stage import Stage, files, latex, manuscript

with Stage(snakemake, record=False):
    numbers = files.read_json(snakemake.input.numbers)
    edition = files.read_edition(snakemake.input.edition)
    commands = latex.macros(numbers)
    head = [
        "The numbers of this reproduction, one macro each, rounded to its error. The name is",
        r"\Found and the words of the number's id in numbers.json, digits spelled out; the error",
        "has the same name with Unc at its end. Of a single realization (one toy, one draw of",
        "features) the error is the spread over draws.",
        f"Run: {snakemake.params.run}. Edition of the LHC Olympics sample: {edition}.",
    ]
    text = "".join(f"% {line}\n" for line in head)
    files.write_text(text + latex.definitions(commands), snakemake.output.numbers)

    published = pd.read_csv(snakemake.input.published, dtype=str).set_index("id")["where"]
    makers = manuscript.found_by(snakemake.params.findings)
    places = [
        (label, command, *makers[name].values())
        for name in numbers
        if (command := latex.macro(name)) in commands
        for label in manuscript.labels_of(published.get(name, ""))
    ]
    table = manuscript.mapped(
        manuscript.read_labels(pd.read_csv(snakemake.input.labels, dtype=str)),
        items=snakemake.params.content,
        numbers=places,
        modules=map(Path, snakemake.input.modules),
    )
    files.write_csv(table, snakemake.output.map)
    files.write_text(manuscript.printed(table), snakemake.output.map_tex)
