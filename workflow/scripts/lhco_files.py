"""Get and verify the files of the edition."""

import json
import os
from pathlib import Path

from localizer.lhco import download, registry
from localizer.lhco.editions import Edition
from stage import Stage, files, provenance

with Stage(snakemake) as stage:
    path = Path(snakemake.input.registry)
    edition = Edition.from_dict(json.loads(Path(snakemake.input.edition).read_text()))
    wanted = {found.path for found in edition.files}
    mirror = download.chosen_mirror(snakemake.params.mirror, os.environ)
    got = {}
    for file in registry.read(path):
        if file.path in wanted:
            try:
                here = download.fetch(file, path.parent, mirror=mirror, progress=stage.transfer())
            except download.FetchError as error:
                raise download.FetchError(f"{error} {edition.refresh}") from None
            got[str(here)] = provenance.sha256(here)
            stage.say(f"{here}: sha256 {got[str(here)]}")
    files.write_json(got, snakemake.output[0])
