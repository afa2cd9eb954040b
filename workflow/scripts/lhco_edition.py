"""Decide which edition of the LHC Olympics sample is used, and say so."""

import os
import sys
from pathlib import Path

import _packages
from localizer.lhco import download, editions, registry
from stage import Stage, files

with Stage(snakemake) as stage:
    path = Path(snakemake.input.registry)
    mirror = download.chosen_mirror(snakemake.params.mirror, os.environ)
    edition = editions.resolve(
        snakemake.params.source, registry.read(path), path.parent, mirror=mirror
    )
    stage.say(f"{edition.name}: {edition.why}")
    if edition.name != "full":
        line = "!" * 78
        asked = f"--cores all{os.environ.get('RUN_OPTIONS', '')}"
        refresh = edition.refresh.replace("--cores all", asked)
        print(
            f"\n{line}\nLHC Olympics sample: edition {edition.name.upper()}, not the full one.\n"
            f"{edition.why}\n{refresh}\n{line}\n",
            file=sys.stderr,
        )
    files.write_json(edition.as_dict(), snakemake.output[0])
